"""Reading the force laws of a model: closed forms with errors, ranges, words."""
