"""`Trajectories`: observed systems of interacting objects, as one validated, labelled dataset.

Everything that makes data (simulators, importers) ends here and everything that uses data starts
here, so what is checked once here need not be checked again anywhere else.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Shaped

from pgode.data import validation as checks
from pgode.data.edges import Edges
from pgode.data.schema import REQUIRED, STATE_DIMS, edges_of, strings, values, with_edges
from pgode.data.splits import SPLITS
from pgode.data.summary import summary
from pgode.data.view import Contents
from pgode.runtime.errors import InputError

__all__ = ["Edges", "Trajectories"]

Names = Sequence[str] | Shaped[np.ndarray, " name"]


@dataclass(frozen=True, eq=False)
class Trajectories(Contents):
    """States (system, object, time, feature) with times, masks, graphs, parameters and splits.

    Make one with `build` or `from_dataset`; both validate. `dataset` is also exactly what a file
    holds. Values that are not observed are NaN in memory, so nothing can use them by accident.
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
        source: str = "the given arrays",
    ) -> "Trajectories":
        """Build from states (system, object, time, feature) and times (time) or (system, time).

        `edges` is an `Edges`, or matrices (system, object, object) or (system, time, object,
        object) with the receiver as row. Without `observed` every value of a present object up to
        its system's last frame counts as observed; without `present` every object is there;
        without `split` every system is for training. `topology` is the text of a PDB file whose
        atoms are the objects. `graph_cutoff` says that the edges join positions nearer than this,
        looked up anew each `graph_interval` of time. `source` names the data in errors.
        """
        x = checks.numbers("states", states, STATE_DIMS, (None,) * 4, source)
        for dim, size in zip(STATE_DIMS, x.shape, strict=True):
            if size == 0:
                raise InputError(
                    f"{source} has no {dim}: states has shape {x.shape}. Expected at least one "
                    f"system, object, time and feature. Check how the data was selected."
                )
        systems, objects, frames, width = x.shape
        names = checks.words("features", features, width, "feature", source)
        checks.check_names("feature", names, source)

        times = checks.array("times", times, source)
        if times.ndim == 1:
            times = np.broadcast_to(times, (systems, len(times)))
        t = checks.numbers("times", times, ("system", "time"), (systems, frames), source)
        checks.check_times(t, source)
        t[np.isnan(t)] = np.nan  # one bit pattern for NaN, so that the hash sees one value

        here = np.ones((systems, objects), dtype=bool)
        if present is not None:
            here = checks.mask("present", present, ("system", "object"), here.shape, source)
            checks.check_present(here, source)
        possible = here[:, :, None, None] & np.isfinite(t)[:, None, :, None]
        if observed is None:
            seen = np.broadcast_to(possible, x.shape).copy()
        else:
            seen = checks.mask("observed", observed, STATE_DIMS, x.shape, source) & possible
        checks.check_states(x, seen, t, names, source)
        x[~seen] = np.nan

        if roles is None:
            roles = checks.guess_roles(names)
        role = checks.words("roles", roles, width, "feature", source)
        checks.check_roles(names, role, source)
        if variables is None:
            variables = checks.guess_variables(names, role)
        if units is None:
            units = ("",) * width

        count = len(parameter_names)
        if parameters is None:
            parameters = np.empty((systems, 0))
        p = checks.numbers(
            "parameters", parameters, ("system", "parameter"), (systems, count), source
        )
        known = checks.words("parameter_names", parameter_names, count, "parameter", source)
        checks.check_names("parameter", known, source)
        checks.check_parameters(p, known, source)
        p[np.isnan(p)] = np.nan
        if parameter_units is None:
            parameter_units = ("",) * count

        if group is None:
            group = np.full((systems, objects), -1, dtype=np.int32)
        parts = ("train",) * systems
        if split is not None:
            parts = checks.words("split", split, systems, "system", source)
            checks.check_split(parts, source)
        checks.check_settings(generator_settings, source)
        number = checks.seed_number(seed, source)

        if not isinstance(edges, Edges):
            edges = Edges.from_dense(edges, t, source, objects)
        links = edges.checked(t[:, 0], here, source)

        rule = checks.graph_rule(graph_cutoff, graph_interval, role, source)
        dataset = xr.Dataset(
            data_vars={
                **checks.topology(topology, objects, source),
                "states": (STATE_DIMS, x),
                "times": (("system", "time"), t, {"units": time_units}),
                "observed": (STATE_DIMS, seen),
                "present": (("system", "object"), here),
                "parameters": (("system", "parameter"), p),
                "group": (("system", "object"), checks.groups(group, here.shape, source)),
                "split": ("system", strings(parts)),
            },
            coords={
                "feature": strings(names),
                "feature_role": ("feature", strings(role)),
                "feature_variable": (
                    "feature",
                    strings(checks.words("variables", variables, width, "feature", source)),
                ),
                "feature_units": (
                    "feature",
                    strings(checks.words("units", units, width, "feature", source)),
                ),
                "parameter": strings(known),
                "parameter_units": (
                    "parameter",
                    strings(
                        checks.words("parameter_units", parameter_units, count, "parameter", source)
                    ),
                ),
            },
            attrs={
                "title": title,
                "time_units": time_units,
                "generator": generator,
                "generator_version": generator_version,
                "generator_settings": generator_settings,
                "seed": number,
                **rule,
            },
        )
        return cls(with_edges(dataset, links))

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

        flat = ds["times"].ndim == 1
        parameter_names = optional("parameter", "parameter")
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
            parameter_names=() if parameter_names is None else parameter_names,
            parameter_units=optional("parameter_units", "parameter"),
            group=optional("group", *pair),
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
            source=source,
        )

    def select(self, systems: Any) -> "Trajectories":
        """Some systems, by indices (kept in the given order) or by a boolean mask."""
        wanted = np.atleast_1d(np.asarray(systems))
        if wanted.dtype == bool and wanted.shape == (self.systems,):
            wanted = np.flatnonzero(wanted)
        ok = wanted.ndim == 1 and wanted.size > 0 and wanted.dtype.kind in "iu"
        if not ok or wanted.min() < -self.systems or wanted.max() >= self.systems:
            raise InputError(
                f"cannot select {_short(systems)} from {self.systems} systems. Expected at least "
                f"one index from 0 to {self.systems - 1}, or a mask of {self.systems} values of "
                f"which one is True. Correct the selection."
            )
        wanted = wanted.astype(np.int64) % self.systems
        return Trajectories(with_edges(self.dataset.isel(system=wanted), self.edges.select(wanted)))

    def split_of(self, name: str) -> "Trajectories":
        """The systems of one split."""
        chosen = self.split == name
        if not chosen.any():
            there = [word for word in SPLITS if (self.split == word).any()]
            raise InputError(
                f'no system is in the split "{name}". Expected one of those that exist here: '
                f"{', '.join(there)}. Choose one of them, or add systems for {name}."
            )
        return self.select(chosen)

    def frames_between(self, start: int, stop: int) -> "Trajectories":
        """Frames start, ..., stop - 1 of every system, with only the graphs in force there."""
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

        Objects absent from a system stay at its end, as the schema asks. A topology is left out:
        it lists the objects in the old order.
        """
        index = np.asarray(order)
        if not np.array_equal(np.sort(index, axis=None), np.arange(self.objects)):
            raise InputError(
                f"the order {_short(order)} is no permutation of {self.objects} objects. "
                f"Expected each of 0 to {self.objects - 1} once. Correct the order."
            )
        absent_last = np.argsort(~self.present[:, index], axis=1, kind="stable")
        old = index[absent_last]
        place = np.argsort(old, axis=1)
        rows = np.arange(self.systems)[:, None]
        moved = {
            name: (self.dataset[name].dims, self._array(name)[rows, old])
            for name in ("states", "observed", "present", "group")
        }
        kept = self.dataset.drop_vars("topology", errors="ignore").assign(moved)
        return Trajectories(with_edges(kept, self.edges.permuted(place)))

    def with_provenance(
        self,
        *,
        title: str | None = None,
        generator: str | None = None,
        generator_version: str | None = None,
        generator_settings: str | None = None,
        seed: int | None = None,
    ) -> "Trajectories":
        """The same content (and hash) with other words about where it comes from."""
        if generator_settings is not None:
            checks.check_settings(generator_settings, "the given provenance")
        given = {
            "title": title,
            "generator": generator,
            "generator_version": generator_version,
            "generator_settings": generator_settings,
            "seed": None if seed is None else checks.seed_number(seed, "the given provenance"),
        }
        changed = {name: value for name, value in given.items() if value is not None}
        return Trajectories(self.dataset.assign_attrs(changed))

    def summary(self) -> dict[str, Any]:
        """What `pgode info` shows: plain numbers, words, lists and dicts, ready for JSON."""
        return summary(self.dataset)


def _short(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
