"""A dataset of the schema by name: sizes, arrays, graphs, and the roles of its features."""

from dataclasses import dataclass

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float, Int, Shaped

from pgode.data.edges import Edges
from pgode.data.labels.calendar import dates
from pgode.data.large.scan import Scan
from pgode.data.large.stored import StoredArray
from pgode.data.schema import content_hash, edges_of, is_stored


@dataclass(frozen=True, eq=False)
class DatasetView:
    """Read access to a dataset of the schema."""

    dataset: xr.Dataset

    @property
    def systems(self) -> int:
        """Number of systems."""
        return int(self.dataset.sizes["system"])

    @property
    def objects(self) -> int:
        """Size of the object axis: no system has more objects."""
        return int(self.dataset.sizes["object"])

    @property
    def frames(self) -> int:
        """Size of the time axis: no system has more frames."""
        return int(self.dataset.sizes["time"])

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(str(name) for name in self.dataset["feature"].values)

    @property
    def n_objects(self) -> Int[np.ndarray, " system"]:
        """Number of objects of each system."""
        return np.asarray(self.present.sum(axis=1))

    @property
    def n_frames(self) -> Int[np.ndarray, " system"]:
        """Number of frames of each system."""
        return np.asarray(np.isfinite(self.times).sum(axis=1))

    @property
    def is_stored(self) -> bool:
        """Whether values stay in a file, because they are too large to be held in memory.

        `states` and the like then still give all of them at once, but only if they fit.
        """
        return is_stored(self.dataset)

    def stored(self, name: str) -> StoredArray | None:
        """A variable that stays in a file and is read in pieces; None if it is in memory."""
        held = self.dataset[name].variable.data if name in self.dataset else None
        return held if isinstance(held, StoredArray) else None

    def scan(self) -> Scan | None:
        """Extremes and counts of each system's states, where these stay in a file."""
        states = self.stored("states")
        return None if states is None else Scan.of(states, self.transforms)

    @property
    def last_observed(self) -> Int[np.ndarray, " system"]:
        """Frames of each system up to the last at which anything was observed; 0 if nothing was."""
        if (scan := self.scan()) is not None:
            return scan.last
        known = np.asarray(self.observed.any((1, 3)))
        return np.asarray(np.where(known, np.arange(self.frames) + 1, 0).max(1, initial=0))

    def frames_of(
        self, systems: Int[np.ndarray, " n"], frames: slice
    ) -> Float[np.ndarray, "n object time feature"]:
        """States of some systems and frames, read alone where they stay in a file."""
        stored = self.stored("states")
        if stored is None:
            return np.asarray(self.states[systems, :, frames])
        return stored.read(systems, frames=frames)

    def inputs_of(self, system: int) -> Float[np.ndarray, "object time input"]:
        """Known inputs of one system."""
        stored = self.stored("inputs")
        values = self.inputs[system] if stored is None else stored.read(np.array([system]))[0]
        return np.asarray(values)

    @property
    def states(self) -> Float[np.ndarray, "system object time feature"]:
        """Observed values, NaN where there are none."""
        return self._array("states")

    @property
    def times(self) -> Float[np.ndarray, "system time"]:
        """Time of each frame, NaN after a system's last."""
        return self._array("times")

    @property
    def observed(self) -> Bool[np.ndarray, "system object time feature"]:
        """True where a value is known."""
        return self._array("observed")

    @property
    def present(self) -> Bool[np.ndarray, "system object"]:
        """True where the object exists."""
        return self._array("present")

    @property
    def parameters(self) -> Float[np.ndarray, "system parameter"]:
        """Parameters of each system, NaN where unknown."""
        return self._array("parameters")

    @property
    def constants(self) -> Float[np.ndarray, "system object constant"]:
        """What is known of each object and does not change, NaN where unknown."""
        if "constants" not in self.dataset:
            return np.empty((*self.present.shape, 0))
        return self._array("constants")

    @property
    def constant_names(self) -> tuple[str, ...]:
        """Names of the constants."""
        return self._names("constant")

    @property
    def inputs(self) -> Float[np.ndarray, "system object time input"]:
        """What is known ahead at each frame, such as the day of the week, NaN where unknown."""
        if "inputs" not in self.dataset:
            return np.empty((*self.present.shape, self.frames, 0))
        return self._array("inputs")

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of the known inputs."""
        return self._names("input")

    @property
    def transforms(self) -> tuple[str, ...]:
        """The transform under which a model sees each feature; empty for none."""
        return self._names("feature_transform") or ("",) * len(self.features)

    @property
    def time_origin(self) -> str:
        """The date of time 0; empty where times have no dates."""
        return str(self.dataset.attrs.get("time_origin", ""))

    @property
    def time_units(self) -> str:
        """The unit of time; empty if unknown."""
        return str(self.dataset.attrs["time_units"])

    def system_label(self, system: int) -> str:
        """The name of a system, for people; its number if it has none."""
        name = str(self._array("system_name")[system]) if "system_name" in self.dataset else ""
        return name or f"system {system}"

    def object_label(self, system: int, item: int) -> str:
        """The name of an object of a system, for people; its number if it has none."""
        named = "object_name" in self.dataset
        return (str(self._array("object_name")[system, item]) if named else "") or f"object {item}"

    def when(self, time: float) -> str:
        """A time for people: its date where times have dates, else the number with its unit."""
        if not self.time_origin:
            return f"{time:g} {self.time_units}".strip()
        date = str(dates(np.array(time), self.time_origin, self.time_units))
        return date.removesuffix(".000").removesuffix("T00:00:00")

    @property
    def kinds(self) -> Int[np.ndarray, "system object"] | None:
        """The true kind of each object, -1 where absent; None if unknown. No model may use it."""
        return self._array("kind") if "kind" in self.dataset else None

    @property
    def split(self) -> Shaped[np.ndarray, " system"]:
        """The split of each system, one of `pgode.data.schema.SPLITS`."""
        return self._array("split")

    @property
    def hash(self) -> str:
        """SHA-256 of the content, the same however and wherever it is stored."""
        if "content_hash" not in self.dataset.attrs:
            self.dataset.attrs["content_hash"] = content_hash(self.dataset)
        return str(self.dataset.attrs["content_hash"])

    @property
    def edges(self) -> Edges:
        """The graphs of all systems."""
        return edges_of(self.dataset, "the dataset")

    @property
    def topology(self) -> str:
        """Text of a PDB file whose atoms are the objects; empty where objects are not atoms."""
        return str(self.dataset["topology"].values) if "topology" in self.dataset else ""

    @property
    def graph_rule(self) -> tuple[float, float] | None:
        """(cutoff, interval) where edges join objects nearer than a cutoff, else None."""
        attrs = self.dataset.attrs
        if "graph_cutoff" not in attrs:
            return None
        return float(attrs["graph_cutoff"]), float(attrs["graph_interval"])

    @property
    def position_features(self) -> Int[np.ndarray, " position"]:
        """Indices of the features that are positions."""
        return np.flatnonzero(self.dataset["feature_role"].values == "position")

    @property
    def velocity_features(self) -> Int[np.ndarray, " velocity"]:
        """Indices of the features that are velocities, in the order of their positions."""
        return np.flatnonzero(self.dataset["feature_role"].values == "velocity")

    @property
    def variables(self) -> dict[str, Int[np.ndarray, " component"]]:
        """The features each reported variable consists of, in order of first appearance."""
        names = self.dataset["feature_variable"].values
        return {str(name): np.flatnonzero(names == name) for name in dict.fromkeys(names)}

    def _names(self, name: str) -> tuple[str, ...]:
        return tuple(map(str, self.dataset[name].values)) if name in self.dataset.variables else ()

    def _array(self, name: str) -> Shaped[np.ndarray, "..."]:
        array: Shaped[np.ndarray, "..."] = self.dataset[name].values
        return array
