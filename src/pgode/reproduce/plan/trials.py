"""A trial: one model trained once on one data set and scored. A grid consists of trials."""

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pgode.reproduce.datasets.registry import DATASETS
from pgode.training.config import RunConfig, fitting_config
from pgode.training.presets import PRESETS


@dataclass(frozen=True)
class Trial:
    """Everything that determines the numbers of one trial.

    `settings` change the preset ("model.dynamics.prototypes", 3). `condition` and `horizon` are
    those of the data set where they are 0. `systems` is how many training systems it sees
    (0: all), for the short runs that choose a learning rate. `digest` is that of all settings, see
    `current`; results of version 0.2 have none.
    """

    dataset: str
    budget: str
    model: str
    preset: str = "default"
    settings: tuple[tuple[str, Any], ...] = ()
    epochs: int = 10
    rate: float = 1e-3
    seed: int = 0
    condition: int = 0
    horizon: int = 0
    systems: int = 0
    digest: str = ""

    def __post_init__(self) -> None:
        dataset = DATASETS[self.dataset]
        object.__setattr__(self, "condition", self.condition or dataset.condition)
        object.__setattr__(self, "horizon", self.horizon or dataset.horizon)

    @property
    def tuning(self) -> bool:
        """Whether it only serves to choose a learning rate; test systems are then not scored."""
        return self.systems > 0

    @property
    def key(self) -> str:
        """A readable name for its files, unique to its settings."""
        content = {key: value for key, value in asdict(self).items() if key != "digest" or value}
        return f"{self.dataset}-{self.model}-{_digest(content)}"

    @property
    def description(self) -> str:
        """The trial in short, without default values."""
        dataset = DATASETS[self.dataset]
        parts = [self.dataset, self.model]
        parts += [] if self.preset == "default" else [self.preset]
        parts += [f"{key.removeprefix('model.')}={value}" for key, value in self.settings]
        parts += [f"rate {self.rate:g}"] if self.tuning else [f"seed {self.seed}"]
        parts += [] if self.condition == dataset.condition else [f"condition {self.condition}"]
        usual = self.tuning or self.horizon == dataset.horizon
        parts += [] if usual else [f"horizon {self.horizon}"]
        return " ".join(parts)

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "Trial":
        """Read back what `to_json` made."""
        settings = tuple((str(key), value) for key, value in content["settings"])
        return cls(**{**content, "settings": settings})

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        content = {**asdict(self), "settings": [list(pair) for pair in self.settings]}
        return {key: value for key, value in content.items() if key != "digest" or value}

    def config(self, threads: int | None) -> RunConfig:
        """The settings of its run: the same windows, steps and optimiser for every model."""
        dataset = DATASETS[self.dataset]
        shared: dict[str, Any] = {
            **dataset.settings_of(self.model),
            "window.starts": dataset.starts,
            "window.stride": dataset.stride,
            "window.condition": self.condition,
            "window.horizon": self.horizon,
            "training.batch": dataset.batch,
            "training.curriculum": dataset.curriculum,
            "training.optimiser": "adamw",
            "training.schedule": "one-cycle",
            "training.clip": 1.0,
            "training.epochs": self.epochs,
            "training.learning_rate": self.rate,
            "training.seed": self.seed,
            "training.threads": threads,
        }
        return fitting_config(self.model, self.preset, None, {**shared, **dict(self.settings)})


def current(trial: Trial) -> Trial:
    """A trial of a model with presets, tied to what they say today.

    Its name alone does not tell which settings a preset had: a result of an earlier `paper` must
    not be taken for one of this.
    """
    if trial.model not in PRESETS:
        return trial
    return replace(trial, digest=_digest(trial.config(None).model_dump(mode="json")))


def _digest(content: dict[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def run_folder(trial: Trial, root: Path) -> Path:
    """The run of a trial, finished or not."""
    return root / "runs" / trial.key
