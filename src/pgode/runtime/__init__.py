"""What everything stands on: files, locks, signals, processes, settings, errors."""
