"""The doctor of a data file: what is in it, what is odd, what to do, which settings suit."""
