"""Presets: whole runs (window, training, model) by name. Settings left out are defaults."""

from collections.abc import Mapping
from typing import Any

from pgode.data.trajectories import Trajectories
from pgode.models.registry import MODELS
from pgode.runtime.choices import did_you_mean, one_of
from pgode.runtime.errors import InputError
from pgode.runtime.settings import merged

Preset = Mapping[str, Any]
DEFAULT: Preset = {}
"""The defaults of a model's settings."""

LAWS: Preset = {"model": {"dynamics": {"kind": "laws"}}}
"""Prototypes that are force laws, found without gradients; they need positions and velocities."""

PAPER: Preset = {
    "model": {
        "encoder": {
            "layer_norm": False,
            "degree_normalise": False,
            "rates": False,
            "relation": False,
            "reference_objects": None,
        },
        "state": {
            "kind": "latent",
            "residual_decoder": False,
            "history_readout": False,
            "mean_structure": False,
            "trend": False,
        },
        "objective": {
            "scale": "system",
            "sigma": 0.01,
            "parameter_info_weight": 1.0,
            "context_info_weight": 1.0,
            "context_info_floor": True,
            "initial_log_variance": 0.0,
        },
    },
    "window": {"starts": "first"},
    "training": {
        "optimiser": "adam",
        "learning_rate": 5e-4,
        "batch": 256,
        "curriculum": (),
        "schedule": "constant",
        "clip": None,
    },
}
"""PGODE as the paper describes it, as far as settings reach; docs/differences.md has the rest."""

PAPER_ANCHORED: Preset = merged(PAPER, {"model": {"state": {"residual_decoder": True}}})
"""`paper`, but decoded as a change since the last observation, which all compared models have."""

MOLECULES: Preset = {
    "model": {"width": 64, "solver": {"method": "euler"}, "state": {"trend": False}},
    "window": {"horizon": 24},
    "training": {"batch": 4, "epochs": 10},
}
"""For hundreds of atoms: half the width and one Euler step per frame reach the same error, which
thermal noise sets, at a seventh of the cost. Atoms fluctuate and have no trend to continue."""

PRESETS: Mapping[str, Mapping[str, Preset]] = {
    "pgode": {
        "default": LAWS,
        "messages": DEFAULT,
        "paper": PAPER,
        "paper-anchored": PAPER_ANCHORED,
        "molecules": MOLECULES,
    },
}
"""By model; a model that is not here has `default` alone."""


def presets_of(model: str) -> Mapping[str, Preset]:
    """The presets of a model, by name."""
    return PRESETS.get(one_of("model", model, MODELS), {"default": DEFAULT})


def find_preset(model: str, name: str) -> Preset:
    """A preset of a model, by name."""
    presets = presets_of(model)
    if name not in presets:
        hint = did_you_mean(name, presets)
        raise InputError(
            f'the model "{model}" has no preset "{name}". Expected one of {", ".join(presets)}. '
            f"{hint or 'Choose one of these.'}"
        )
    return presets[name]


def preset_for(data: Trajectories, model: str) -> str:
    """The preset where none is named, by what the data are of and what they name."""
    presets = presets_of(model)
    if data.topology and "molecules" in presets:
        return "molecules"
    named = len(data.position_features) > 0 and len(data.velocity_features) > 0
    joined = data.edges.number > 0
    driven = len(data.input_names) > 0  # Laws do not use known inputs.
    suits_laws = named and joined and not driven
    return "default" if suits_laws or "messages" not in presets else "messages"
