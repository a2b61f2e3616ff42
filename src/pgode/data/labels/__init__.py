"""What a dataset names: features, constants, inputs, transforms and dates."""
