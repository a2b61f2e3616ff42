"""The settings that a search varies: their domains, the default ones, and those of a file."""
