"""The form of what training stores: state of training, tensors, rows of the log."""
