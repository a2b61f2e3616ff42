"""The foundation of all rooms: files, locks, signals, processes, settings, errors."""
