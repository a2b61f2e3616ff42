"""`Trajectories`: observed systems of interacting objects, as one validated, labelled dataset.

All sources of data (simulators, importers) produce it and all users of data start from it, so
its checks need not be repeated anywhere else.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from pgode.data import validation
from pgode.data.edge_validation import validated_edges
from pgode.data.edges import Edges
from pgode.data.labels import annotations
from pgode.data.labels.calendar import check_origin
from pgode.data.labels.columns import Names, feature_columns, parameter_columns
from pgode.data.labels.text import check_texts_hold
from pgode.data.large.edges import StoredEdges
from pgode.data.large.examination import examined_hash
from pgode.data.large.masked import masked
from pgode.data.large.stored import StoredArray
from pgode.data.schema import REQUIRED, SPLITS, STATE_DIMS, edges_of, strings, values, with_edges
from pgode.data.summary import summary
from pgode.data.view import DatasetView
from pgode.runtime.errors import InputError

__all__ = ["Edges", "Trajectories"]

BUILDING = 18.0
"""Bytes at the peak for each value of states and inputs while trajectories are built."""
PER_OBJECT = (
    *("states", "observed", "present", "group"),
    *("kind", "object_name", "constants", "inputs"),
)
"""Variables with dimensions (system, object, ...)."""


@dataclass(frozen=True, eq=False)
class Trajectories(DatasetView):
    """States (system, object, time, feature) with times, masks, graphs, parameters and splits.

    Make one with `build` or `from_dataset`; both validate. `dataset` is the content of a file.
    Values that are not observed are NaN in memory, so nothing can use them by accident.
    """

    @classmethod
    def build(
        cls,
        states: Any,
        times: Any,
        *,
        edges: Any,
        features: Names,
        roles: Names | None = None,
        variables: Names | None = None,
        units: Names | None = None,
        observed: Any = None,
        present: Any = None,
        parameters: Any = None,
        parameter_names: Names = (),
        parameter_units: Names | None = None,
        group: Any = None,
        kind: Any = None,
        split: Any = None,
        time_units: str = "",
        title: str = "",
        generator: str = "",
        generator_version: str = "",
        generator_settings: str = "{}",
        seed: int = -1,
        topology: str = "",
        graph_cutoff: float = 0.0,
        graph_interval: float = 0.0,
        system_names: Any = None,
        object_names: Any = None,
        constants: Any = None,
        constant_names: Names = (),
        inputs: Any = None,
        input_names: Names = (),
        transforms: Names | None = None,
        time_origin: str = "",
        source: str = "the given arrays",
    ) -> "Trajectories":
        """Build from states (system, object, time, feature) and times (time) or (system, time).

        `edges` is an `Edges`, or matrices (system, object, object) or (system, time, object,
        object) with the receiver as row. Without `observed` every value of a present object up to
        the last frame of its system counts as observed; without `present` every object is present;
        without `split` every system is for training. `topology` is the text of a PDB file whose
        atoms are the objects. `kind` is the true kind of each object, a number from 0 on, for data
        where it is known but hidden: no model sees it. With `graph_cutoff` the edges join objects
        nearer than this, updated each `graph_interval` of time. `source` names the data in errors.

        `system_names` (system) and `object_names` (system, object) appear wherever results do.
        `constants` (system, object, constant) are known of an object and do not change; `inputs`
        (system, object, time, input) are known ahead, such as the day of the week. `transforms`
        (feature) names those of `pgode.data.labels.transforms` under which a model sees a feature.
        `time_origin` is the date of time 0, where times have dates.
        """
        x: Any = states
        is_observed: Any
        if not isinstance(states, StoredArray):
            x = validation.numbers("states", states, STATE_DIMS, (None,) * 4, source)
        for dim, size in zip(STATE_DIMS, x.shape, strict=True):
            if size == 0:
                raise InputError(
                    f"{source} has no {dim}: states has shape {x.shape}. Expected at least one "
                    f"system, object, time and feature. Check how the data was selected."
                )
        systems, objects, _, width = x.shape
        names = validation.texts("features", features, width, "feature", source)
        validation.check_names("feature", names, source)
        t = validation.frame_times(times, systems, x.shape[2], source)
        t[np.isnan(t)] = np.nan  # One bit pattern for NaN: the hash must not depend on it.

        is_present = np.ones((systems, objects), dtype=bool)
        if present is not None:
            is_present = validation.mask(
                "present", present, ("system", "object"), is_present.shape, source
            )
            validation.check_present(is_present, source)
        if isinstance(states, StoredArray):
            # Values are checked in blocks, when everything else is known to be right.
            x, is_observed, inputs = masked(states, observed, inputs, is_present, t, source)
            checked: Any = np.empty((0, 0, 0, width))
        else:
            possible = is_present[:, :, None, None] & np.isfinite(t)[:, None, :, None]
            if observed is None:
                is_observed = np.broadcast_to(possible, x.shape).copy()
            else:
                mask = validation.mask("observed", observed, STATE_DIMS, x.shape, source)
                is_observed = mask & possible
            validation.check_states(x, is_observed, t, names, source)
            x[~is_observed] = np.nan
            checked = x

        columns = feature_columns(names, roles, variables, units, source)
        role = tuple(columns["feature_role"][1].tolist())
        columns |= annotations.transforms(transforms, checked, names, role, source)
        constant, constant_columns = annotations.constants(
            constants, constant_names, is_present, source
        )
        if isinstance(inputs, StoredArray):
            known, known_columns = annotations.stored_inputs(inputs, input_names, source)
        else:
            known, known_columns = annotations.inputs(inputs, input_names, is_present, t, source)
        origin = check_origin(time_origin, time_units, source)
        p, named_parameters = parameter_columns(
            parameters, parameter_names, parameter_units, systems, source
        )
        if group is None:
            group = np.full((systems, objects), -1, dtype=np.int32)
        parts = ("train",) * systems
        if split is not None:
            parts = validation.texts("split", split, systems, "system", source)
            validation.check_split(parts, source)
        validation.check_settings(generator_settings, source)
        about = {"title": title, "time_units": time_units, "topology": topology}
        about |= {"generator": f"{generator} {generator_version} {generator_settings}"}
        check_texts_hold(about, source)
        if not isinstance(edges, Edges):
            edges = Edges.from_dense(edges, t, source, objects)
        dataset = xr.Dataset(
            data_vars={
                **validation.topology(topology, objects, source),
                **validation.kinds(kind, is_present, source),
                **annotations.names(system_names, object_names, is_present, source),
                **constant,
                **known,
                "states": (STATE_DIMS, x),
                "times": (("system", "time"), t, {"units": time_units}),
                "observed": (STATE_DIMS, is_observed),
                "present": (("system", "object"), is_present),
                "parameters": (("system", "parameter"), p),
                "group": (("system", "object"), validation.groups(group, is_present.shape, source)),
                "split": ("system", strings(parts)),
            },
            coords={**columns, **named_parameters, **constant_columns, **known_columns},
            attrs={
                "title": title,
                "time_units": time_units,
                "generator": generator,
                "generator_version": generator_version,
                "generator_settings": generator_settings,
                "seed": validation.seed_number(seed, source),
                **validation.graph_rule(graph_cutoff, graph_interval, role, source),
                **({"time_origin": origin} if origin else {}),
            },
        )
        complete = cls(with_edges(dataset, validated_edges(edges, t[:, 0], is_present, source)))
        if isinstance(x, StoredArray):
            complete.dataset.attrs["content_hash"] = examined_hash(complete.dataset, source)
        return complete

    @classmethod
    def from_dataset(cls, ds: xr.Dataset, source: str = "the dataset") -> "Trajectories":
        """Validate a dataset of the schema, in memory or just opened from a file."""
        missing = [name for name in REQUIRED if name not in ds.variables]
        if missing:
            raise InputError(
                f"{source} has no variable {', '.join(missing)}; it has "
                f"{', '.join(str(name) for name in ds.variables) or 'none'}. Expected a file "
                f"written by pgode. Build one with pgode.data.trajectories.Trajectories.build."
            )
        pair = ("system", "object")

        def optional(name: str, *dims: str) -> Any:
            return values(ds, name, dims, source) if name in ds.variables else None

        def named(dim: str) -> Any:
            found = optional(dim, dim)
            return () if found is None else found

        flat = ds["times"].ndim == 1
        return cls.build(
            values(ds, "states", STATE_DIMS, source),
            values(ds, "times", ("time",) if flat else ("system", "time"), source),
            edges=edges_of(ds, source),
            features=ds["feature"].values,
            roles=optional("feature_role", "feature"),
            variables=optional("feature_variable", "feature"),
            units=optional("feature_units", "feature"),
            observed=optional("observed", *STATE_DIMS),
            present=optional("present", *pair),
            parameters=optional("parameters", "system", "parameter"),
            parameter_names=named("parameter"),
            parameter_units=optional("parameter_units", "parameter"),
            group=optional("group", *pair),
            kind=optional("kind", *pair),
            split=optional("split", "system"),
            time_units=str(ds.attrs.get("time_units", ds["times"].attrs.get("units", ""))),
            title=str(ds.attrs.get("title", "")),
            generator=str(ds.attrs.get("generator", "")),
            generator_version=str(ds.attrs.get("generator_version", "")),
            generator_settings=str(ds.attrs.get("generator_settings", "{}")),
            seed=ds.attrs.get("seed", -1),
            topology=str(ds["topology"].values) if "topology" in ds.variables else "",
            graph_cutoff=ds.attrs.get("graph_cutoff", 0.0),
            graph_interval=ds.attrs.get("graph_interval", 0.0),
            system_names=optional("system_name", "system"),
            object_names=optional("object_name", *pair),
            constants=optional("constants", *pair, "constant"),
            constant_names=named("constant"),
            inputs=optional("inputs", *pair, "time", "input"),
            input_names=named("input"),
            transforms=optional("feature_transform", "feature"),
            time_origin=str(ds.attrs.get("time_origin", "")),
            source=source,
        )

    def select(self, systems: Any) -> "Trajectories":
        """Some systems, by indices (kept in the given order) or by a boolean mask."""
        chosen = np.atleast_1d(np.asarray(systems))
        if chosen.dtype == bool and chosen.shape == (self.systems,):
            chosen = np.flatnonzero(chosen)
        ok = chosen.ndim == 1 and chosen.size > 0 and chosen.dtype.kind in "iu"
        if not ok or chosen.min() < -self.systems or chosen.max() >= self.systems:
            raise InputError(
                f"cannot select {_short(systems)} from {self.systems} systems. Expected at least "
                f"one index from 0 to {self.systems - 1}, or a mask of {self.systems} values of "
                f"which one is True. Correct the selection."
            )
        chosen = chosen.astype(np.int64) % self.systems
        return Trajectories(with_edges(self.dataset.isel(system=chosen), self.edges.select(chosen)))

    def in_memory(self) -> "Trajectories":
        """The same data with all values in memory, if they fit."""
        if not self.is_stored:
            return self
        held = {
            name: (self.dataset[name].dims, np.asarray(stored))
            for name in ("states", "observed", "inputs")
            if (stored := self.stored(name)) is not None
        }
        edges = self.edges
        return Trajectories(
            with_edges(
                self.dataset.assign(held),
                edges.loaded() if isinstance(edges, StoredEdges) else edges,
            )
        )

    def split_of(self, name: str) -> "Trajectories":
        """The systems of one split."""
        chosen = self.split == name
        if not chosen.any():
            existing = [each for each in SPLITS if (self.split == each).any()]
            raise InputError(
                f'no system is in the split "{name}". Expected one of those in the data: '
                f"{', '.join(existing)}. Choose one of them, or add systems for {name}."
            )
        return self.select(chosen)

    def frames_between(self, start: int, stop: int) -> "Trajectories":
        """Frames start, ..., stop - 1 of every system, with only the graphs in force then."""
        if not 0 <= start < stop <= self.frames:
            raise InputError(
                f"cannot take the frames from {start} to before {stop} of {self.frames} frames. "
                f"Expected 0 <= start < stop <= {self.frames}. Correct the range."
            )
        for system in np.flatnonzero(self.n_frames <= start)[:1]:
            raise InputError(
                f"system {system} has {self.n_frames[system]} frames, none of them from frame "
                f"{start} on. Expected a frame in every system. Drop the system first."
            )
        times = self.times[:, start:stop]
        kept = self.edges.between(times[:, 0], np.nanmax(times, axis=1))
        return Trajectories(with_edges(self.dataset.isel(time=slice(start, stop)), kept))

    def permuted(self, order: Any) -> "Trajectories":
        """Reorder the objects of every system: object k is then what object `order[k]` was.

        Objects absent from a system stay last, as the schema requires. A topology is dropped: it
        lists the objects in the old order.
        """
        index = np.asarray(order)
        if not np.array_equal(np.sort(index, axis=None), np.arange(self.objects)):
            raise InputError(
                f"the order {_short(order)} is not a permutation of {self.objects} objects. "
                f"Expected each of 0 to {self.objects - 1} once. Correct the order."
            )
        absent_last = np.argsort(~self.present[:, index], axis=1, kind="stable")
        old = index[absent_last]
        place = np.argsort(old, axis=1)
        rows = np.arange(self.systems)[:, None]
        moved = {
            name: (self.dataset[name].dims, self._array(name)[rows, old])
            for name in PER_OBJECT
            if name in self.dataset
        }
        kept = self.dataset.drop_vars("topology", errors="ignore").assign(moved)
        return Trajectories(with_edges(kept, self.edges.permuted(place)))

    def summary(self) -> dict[str, Any]:
        """The content of `pgode info`: plain numbers, text, lists and dicts, ready for JSON."""
        assert self.hash  # Made here, where the values stay in a file.
        scan = self.scan()
        return summary(self.dataset, None if scan is None else int(scan.count.sum()))


def _short(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
