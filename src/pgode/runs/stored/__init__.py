"""The files of a run folder as they are stored: their form, and the check of all of them."""
