"""What a molecular data set is: its structure, solvent, parameters, samples and their seeds."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import isfinite
from types import MappingProxyType
from typing import Any

import numpy as np

from pgode.errors import InputError
from pgode.systems.parameters import Ranges
from pgode.systems.sampling import SPLITS
from pgode.systems.simulation import whole

RANGES = Ranges(
    inner={"temperature": (290.0, 310.0), "pressure": (0.9, 1.1), "friction": (0.9, 1.1)},
    outer={"temperature": (280.0, 320.0), "pressure": (0.8, 1.2), "friction": (0.8, 1.2)},
)
"""The paper's: temperature in K, pressure in bar, friction in 1/ps."""
UNITS = MappingProxyType({"temperature": "K", "pressure": "bar", "friction": "1/ps"})

STREAM = 2
"""Enters every random stream of this source of data, as the particle systems have 0 and 1."""


@dataclass(frozen=True)
class Settings:
    """Everything that decides the numbers; two equal settings give equal data on one machine."""

    structure: str
    """What was asked for: the name of a file, a PDB entry or a sequence."""
    structure_hash: str
    implicit: bool = False
    """No water and no box: for quick checks."""
    open_ring: bool = False
    """Leave out bonds between the first residue and a side chain (a lasso's ring)."""
    seed: int = 0
    train: int = 200
    val: int = 50
    test: int = 50
    ood: int = 50
    frames: int = 48
    frame_time: float = 0.2
    settle: float = 2.0
    """Time (ps) between setting a sample's parameters and its first frame."""
    equilibrate: float = 100.0
    """Time (ps) that the solvated molecule runs once, before anything else."""
    separate: float = 10.0
    """Time (ps) that each branch runs before its first sample, to leave the others behind."""
    branch: int = 25
    """Samples of one branch, each going on where the last one ended."""
    replicas: int = 0
    """Further futures of each system of `replicated`, from the end of its condition."""
    replicated: int = 10
    """Test systems that have such replicas, as many in and out of distribution."""
    condition: int = 12
    """Frames before the replicas part."""
    horizon: int = 24
    """Frames that they run."""
    step: float = 4.0
    """Time step (fs); hydrogens weigh 3 g/mol so that it can be this long."""

    def __post_init__(self) -> None:
        """Refuse numbers that make no data set."""
        for name in SPLITS:
            whole(name, getattr(self, name), 0)
        for name, least in (("frames", 2), ("branch", 1), ("condition", 1), ("horizon", 1)):
            whole(name, getattr(self, name), least)
        for name in ("replicas", "replicated"):
            whole(name, getattr(self, name), 0)
        whole("seed", self.seed, 0, 2**32 - 1)
        if not any(self.counts.values()):
            raise InputError(
                "there is nothing to simulate: train, val, test and ood are all 0. Expected at "
                "least one sample. Ask for some, for instance train=200."
            )
        for name, shortest in (("frame_time", self.step / 1000), ("settle", 0.0)):
            value = getattr(self, name)
            if not (isfinite(value) and value >= shortest):
                raise InputError(
                    f"{name} is {value}. Expected a time in ps, at least {shortest:g}. Use "
                    f"{getattr(type(self), name)}, for instance."
                )
        if self.replicas and self.condition >= self.frames:
            raise InputError(
                f"replicas part after {self.condition} frames, but a sample has {self.frames}. "
                f"Expected a longer sample. Ask for more frames, or for no replicas."
            )

    @property
    def counts(self) -> dict[str, int]:
        """Samples of each split."""
        return {split: getattr(self, split) for split in SPLITS}

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the system parameters: without a box there is no pressure."""
        return tuple(name for name in RANGES.names if not (self.implicit and name == "pressure"))

    @property
    def steps_per_frame(self) -> int:
        """Time steps between two frames."""
        return max(1, round(1000 * self.frame_time / self.step))

    def steps(self, time: float) -> int:
        """Time steps that make `time` ps."""
        return round(1000 * time / self.step)

    def branches(self) -> list["Branch"]:
        """All branches, the longest splits first; each has the samples of one split only."""
        return [
            Branch(split, first, min(first + self.branch, count))
            for split, count in self.counts.items()
            for first in range(0, count, self.branch)
        ]

    def replicas_of(self, split: str, index: int) -> int:
        """Further futures that this sample gets."""
        return self.replicas if split in ("test", "ood") and index < self.replicated else 0

    def stream(self, split: str, index: int) -> np.random.Generator:
        """The random stream of one sample, whatever else is simulated."""
        key = (self.seed, STREAM, SPLITS.index(split), index)
        return np.random.default_rng(np.random.SeedSequence(key))

    def branch_stream(self, branch: "Branch") -> np.random.Generator:
        """The random stream with which a branch leaves the others."""
        key = (self.seed, STREAM, SPLITS.index(branch.split), branch.first, 1)
        return np.random.default_rng(np.random.SeedSequence(key))

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Settings":
        """Read back what `to_json` gave."""
        return cls(**content)


@dataclass(frozen=True)
class Branch:
    """Samples first, ..., stop - 1 of a split: one simulation, its parameters set anew for each.

    Branches part from the one equilibrated state with velocities of their own, so that no split
    is the continuation of another, and run side by side.
    """

    split: str
    first: int
    stop: int

    @property
    def name(self) -> str:
        """Unique among the branches of a data set."""
        return f"{self.split}-{self.first:04d}"
