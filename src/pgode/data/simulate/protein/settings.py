"""The definition of a molecular data set: structure, solvent, parameters, samples and seeds."""

from dataclasses import asdict, dataclass
from math import isfinite
from types import MappingProxyType
from typing import Any

import numpy as np

from pgode.data.schema import SPLITS
from pgode.data.simulate.parameters import Ranges
from pgode.runtime.choices import check_int
from pgode.runtime.errors import InputError

RANGES = Ranges(
    inner={"temperature": (290.0, 310.0), "pressure": (0.9, 1.1), "friction": (0.9, 1.1)},
    outer={"temperature": (280.0, 320.0), "pressure": (0.8, 1.2), "friction": (0.8, 1.2)},
)
"""Those of the paper: temperature in K, pressure in bar, friction in 1/ps."""
WITHOUT_PRESSURE = Ranges(
    *({k: v for k, v in box.items() if k != "pressure"} for box in (RANGES.inner, RANGES.outer))
)
UNITS = MappingProxyType({"temperature": "K", "pressure": "bar", "friction": "1/ps"})

STREAM = 2
"""Part of the key of every random stream, as `ParticleSystem.stream` (0 and 1 are taken)."""
EQUILIBRATION = 4
"""In the place of the split, in the key of the random stream of the equilibration."""
VERSION = "1"
"""Version of the numbers, not of the library: raised whenever the same seed gives other values."""

EXTENSIBLE = (*SPLITS, "replicas", "replicated", "condition", "horizon")
"""Settings that determine which samples and replicas exist, but do not change existing ones."""

MOST = 10**6
"""Most samples, replicas, frames of one and steps of a frame: each is simulated."""


@dataclass(frozen=True)
class ProteinSettings:
    """Everything that determines the numbers: equal settings give equal data on one machine."""

    structure: str
    """The name of a file, a PDB entry or a sequence."""
    structure_hash: str
    implicit: bool = False
    """No water and no box: for quick checks."""
    open_ring: bool = False
    """Leave out bonds between the first residue and a side chain (the ring of a lasso)."""
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
    """Time (ps) of the one run of the solvated molecule before everything else."""
    separate: float = 10.0
    """Time (ps) that each branch runs before its first sample, to diverge from the others."""
    branch: int = 25
    """Samples per branch; each continues from the end of the one before."""
    replicas: int = 0
    """Further futures of each replicated system, from the end of its condition."""
    replicated: int = 10
    """Systems of test, and of ood, that have such replicas."""
    condition: int = 12
    """Frames before the replicas diverge."""
    horizon: int = 24
    """Frames of each replica."""
    step: float = 4.0
    """Time step (fs); hydrogens weigh 3 g/mol so that it can be this long."""

    def __post_init__(self) -> None:
        """Refuse numbers that do not define a data set."""
        for name in SPLITS:
            check_int(name, getattr(self, name), 0, MOST)
        for name, least in (("frames", 2), ("branch", 1), ("condition", 1), ("horizon", 1)):
            check_int(name, getattr(self, name), least, MOST)
        for name in ("replicas", "replicated"):
            check_int(name, getattr(self, name), 0, MOST)
        check_int("seed", self.seed, 0, 2**32 - 1)
        if not any(self.counts.values()):
            raise InputError(
                "there is nothing to simulate: train, val, test and ood are all 0. Expected at "
                "least one sample. Ask for some, for instance train=200."
            )
        for name in ("settle", "equilibrate", "separate"):
            value = getattr(self, name)
            if not (isfinite(value) and value >= 0):
                raise InputError(
                    f"{name} is {value}. Expected a time in ps, at least 0. Use "
                    f"{getattr(type(self), name)}, for instance."
                )
        self._check_frame_time()
        futures = self.replicas + (self.frames >= self.condition + self.horizon)
        if self.replicas and (self.condition >= self.frames or futures < 2):
            raise InputError(
                f"replicas diverge after {self.condition} frames and have {self.horizon}, but a "
                f"sample has {self.frames} frames and {self.replicas} replica. Expected at least "
                f"two futures to compare. Ask for {self.condition + self.horizon} frames, or for "
                f"more replicas, or for none."
            )

    def _check_frame_time(self) -> None:
        """A frame must be a whole number of steps, or its time in the file would be wrong."""
        steps = 1000 * self.frame_time / self.step
        if 1 <= steps <= MOST and abs(steps - round(steps)) < 1e-6:
            return
        near = max(1, round(steps)) * self.step / 1000 if isfinite(steps) else 0.2
        raise InputError(
            f"frame_time is {self.frame_time} ps. Expected a whole number of time steps of "
            f"{self.step:g} fs. Use {near:g}, for instance."
        )

    @property
    def counts(self) -> dict[str, int]:
        """Samples of each split."""
        return {split: getattr(self, split) for split in SPLITS}

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the system parameters; without a box there is no pressure."""
        return self.ranges.names

    @property
    def ranges(self) -> Ranges:
        """Ranges that parameters are drawn from."""
        return WITHOUT_PRESSURE if self.implicit else RANGES

    @property
    def steps_per_frame(self) -> int:
        """Time steps between two frames."""
        return self.steps(self.frame_time)

    def steps(self, time: float) -> int:
        """Number of time steps in `time` ps."""
        return round(1000 * time / self.step)

    def branches(self) -> list["Branch"]:
        """All branches, the longest first; each has samples of one split only."""
        branches = [
            Branch(split, first, min(first + self.branch, count))
            for split, count in self.counts.items()
            for first in range(0, count, self.branch)
        ]
        return sorted(branches, key=lambda branch: -self._frames_of(branch))

    def _frames_of(self, branch: "Branch") -> int:
        replicas = sum(self.replicas_of(branch.split, k) for k in range(branch.first, branch.stop))
        return (branch.stop - branch.first) * self.frames + replicas * self.horizon

    def replicated_of(self, split: str) -> tuple[int, ...]:
        """Samples with replicas: spread over the split, not adjacent in a branch."""
        count = self.counts[split] if self.replicas and split in ("test", "ood") else 0
        some = min(self.replicated, count)
        return tuple(k * count // some for k in range(some))

    def replicas_of(self, split: str, index: int) -> int:
        """Number of replicas of this sample."""
        return self.replicas if index in self.replicated_of(split) else 0

    def stream(self, split: str, index: int) -> np.random.Generator:
        """The random stream of one sample, independent of all others."""
        key = (self.seed, STREAM, SPLITS.index(split), index)
        return np.random.default_rng(np.random.SeedSequence(key))

    def equilibration_stream(self) -> np.random.Generator:
        """The random stream of the equilibration."""
        key = (self.seed, STREAM, EQUILIBRATION)
        return np.random.default_rng(np.random.SeedSequence(key))

    def branch_stream(self, branch: "Branch") -> np.random.Generator:
        """The random stream with which a branch diverges from the others."""
        key = (self.seed, STREAM, SPLITS.index(branch.split), branch.first, 1)
        return np.random.default_rng(np.random.SeedSequence(key))

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Branch:
    """Samples first, ..., stop - 1 of a split: one simulation with new parameters for each sample.

    Branches start from the same equilibrated state with different velocities, so that no split
    continues another, and can run in parallel.
    """

    split: str
    first: int
    stop: int

    @property
    def name(self) -> str:
        """Unique among the branches of a data set."""
        return f"{self.split}-{self.first:04d}"
