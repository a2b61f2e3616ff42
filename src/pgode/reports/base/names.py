"""Display names of splits, models and quantities."""

_SPLITS = {
    "train": "training",
    "val": "validation",
    "test": "in distribution",
    "ood": "out of distribution",
}
_NAIVE = {
    "last-value": "last value",
    "constant-velocity": "constant velocity",
    "mean-value": "mean of the condition",
}
NOISE_FLOOR = "noise floor"


def split_name(split: str) -> str:
    """Display name of a split, for instance "out of distribution"."""
    return _SPLITS.get(split, split)


def model_name(model: str) -> str:
    """Display name of a model, for instance "constant velocity"."""
    return _NAIVE.get(model, model)


def line_class(model: str) -> str:
    """The style of a naive model's line in charts; the evaluated model's is "own"."""
    return model if model in _NAIVE else "other"


def labelled(name: str, unit: str) -> str:
    """`name (unit)`, or the name alone where there is no unit."""
    return f"{name} ({unit})" if unit else name
