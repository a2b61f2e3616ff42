"""Used by all other packages: files, locks, signals, processes, settings, errors."""
