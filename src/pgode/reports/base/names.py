"""Display names of splits, models and quantities."""

from pgode.models.registry import MODELS, NAIVE

_SPLITS = {
    "train": "training",
    "val": "validation",
    "test": "in distribution",
    "ood": "out of distribution",
}
SHORT_SPLITS = {"test": "ID", "ood": "OOD"}
"""The paper's abbreviations, for heads of narrow columns."""
NOISE_FLOOR = "noise floor"
KNOWN_LAW = "known law"


def split_name(split: str) -> str:
    """Display name of a split, for instance "out of distribution"."""
    return _SPLITS.get(split, split)


def short_split_name(split: str) -> str:
    """Abbreviation of a split, for instance "OOD"."""
    return SHORT_SPLITS.get(split, split)


def model_name(model: str) -> str:
    """Display name of a model, for instance "constant velocity"."""
    return (MODELS[model].label if model in MODELS else "") or model


def line_class(model: str) -> str:
    """The style of a naive model's line in charts; the evaluated model's is "own"."""
    return model if model in NAIVE else "other"


def labelled(name: str, unit: str) -> str:
    """`name (unit)`, or the name alone where there is no unit."""
    return f"{name} ({unit})" if unit else name
