"""Raw tables: what their columns probably mean, and the command that imports them."""
