"""Settings that suit the data, as a command."""

import shlex
from pathlib import Path

import numpy as np

from pgode.data.checkup.checks.window import CONDITION
from pgode.data.checkup.subject import Subject

STEPS = 4000
"""Training steps that are usually enough."""
BATCH = 16
"""Windows of a step, as `pgode train` has it by default."""
FEWEST, MOST = 10, 200
"""Epochs that are suggested at least and at most."""


def suitable_preset(subject: Subject) -> str:
    """The preset that `pgode train` would choose, see `pgode.training.presets.preset_for`."""
    data = subject.data
    if data.topology:
        return "molecules"
    named = len(data.position_features) > 0 and len(data.velocity_features) > 0
    return "default" if named and data.edges.number > 0 else "messages"


def suitable_epochs(subject: Subject) -> int | None:
    """Epochs that make about `STEPS` steps; None where the preset knows best."""
    if suitable_preset(subject) != "messages":
        return None
    frames = subject.frames[subject.data.split == "train"]
    length = subject.condition + subject.horizon
    windows = int(np.maximum(frames - length + 1, 1).sum())
    # Long series give an epoch all their windows, thinned to some thousand; others one each.
    each = len(frames) if len(frames) >= 200 else min(windows, 2000)
    return int(np.clip(round(STEPS * BATCH / max(1, each)), FEWEST, MOST))


def train_command(subject: Subject, data: str) -> str:
    """The command that trains with settings that suit, on a data file of this name."""
    words = ["pgode", "train", data, "-o", f"runs/{Path(data).stem}"]
    words += ["--preset", suitable_preset(subject), "--horizon", str(subject.horizon)]
    if subject.condition != CONDITION:
        words += ["--set", f"window.condition={subject.condition}"]
    epochs = suitable_epochs(subject)
    if epochs is not None:
        words += ["--epochs", str(epochs)]
    return shlex.join(words)
