"""`Dataset`: one data set of the tables, its files, and how models are compared on it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from rich.console import Console

from pgode.data import files
from pgode.data.trajectories import Trajectories
from pgode.models.registry import model_class


@dataclass(frozen=True)
class Sizes:
    """Numbers of systems at one budget."""

    train: int
    held_out: int
    """In each of the splits val, test and ood."""
    tuning: int
    """Training systems of the short runs that choose a learning rate."""

    @property
    def counts(self) -> dict[str, int]:
        """Systems of each split."""
        return {"train": self.train} | dict.fromkeys(("val", "test", "ood"), self.held_out)


@dataclass(frozen=True)
class Resources:
    """What making a data set may use: processes, an engine, and a console for its progress."""

    jobs: int = 1
    engine: str = "local"
    console: Console | None = None


ALONE = Resources()


@dataclass(frozen=True)
class Dataset(ABC):
    """A data set by name, with options of training, scoring and printing shared by all models.

    A subclass defines how the data is made. A new data set is an entry of `DATASETS`, with a
    subclass in a new file if it is made in a new way.
    """

    sizes: ClassVar[Mapping[str, Sizes]]
    """By budget."""

    name: str
    title: str
    horizons: tuple[int, ...]
    """Scored forecast lengths in frames, ascending. One model trained at the longest serves all."""
    variables: tuple[str, ...]
    """Variables whose errors the tables print, unless a table selects others."""
    curriculum: tuple[tuple[float, int], ...]
    """(share, horizon) pairs: until that share of the epochs, forecast that far."""
    batch: int
    """Systems per step."""
    digits: int
    """Errors are printed in units of 1e-digits, as in the paper."""
    condition: int = 12
    """Observed frames, unless a figure varies them."""
    splits: tuple[str, ...] = ("test", "ood")
    """Splits that are scored."""
    starts: str = "random"
    """Training windows of an epoch, see `window.starts`."""
    stride: int = 1
    """Frames between two of them, where they are all windows."""
    settings: tuple[tuple[str, Any], ...] = ()
    """Settings of every model that has them."""

    @property
    def horizon(self) -> int:
        """Forecast frames that a model is trained for."""
        return max(self.horizons)

    @property
    def tuning_horizon(self) -> int:
        """Forecast frames of the short runs that choose a learning rate."""
        return min(self.horizons)

    def settings_of(self, model: str) -> dict[str, Any]:
        """The settings that apply to a model."""
        fields = model_class(model).config_type.model_fields
        return {name: value for name, value in self.settings if name.split(".")[1] in fields}

    def file(self, budget: str, root: Path) -> Path:
        """Path of the data file, whether simulated or supplied by the user."""
        return root / "data" / f"{self.name}-{self.sizes[budget].train}.nc"

    def replicas_file(self, budget: str, root: Path) -> Path:
        """Path of the replicas, if any: several futures of one state, for a noise floor."""
        data = self.file(budget, root)
        return data.with_stem(f"{data.stem}-replicas")

    @abstractmethod
    def is_ready(self, budget: str, root: Path) -> bool:
        """Whether trials can start: the data exists, or a trial makes it in seconds."""

    @abstractmethod
    def make(self, budget: str, root: Path, resources: Resources = ALONE) -> Path:
        """Make the data if it does not exist, with progress on the console; returns its path."""

    @abstractmethod
    def read(self, budget: str, root: Path) -> Trajectories:
        """The data, for a trial."""

    def read_tuning(self, budget: str, root: Path) -> Trajectories:
        """The data of the short runs that choose a learning rate; here the same."""
        return self.read(budget, root)

    def read_replicas(self, budget: str, root: Path) -> Trajectories | None:
        """The replicas, for a trial; None where there are none."""
        path = self.replicas_file(budget, root)
        return files.read(path) if path.exists() else None
