"""Going on from a trained run: its weights, on new data, in a run of its own."""
