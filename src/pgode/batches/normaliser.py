"""Scaling of states, times and parameters: fitted on the training split, stored with a model."""

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from jaxtyping import Float

from pgode.batches.reference import Reference
from pgode.batches.stored.scales import checked_scales
from pgode.data.edges import Edges
from pgode.data.labels.transforms import TRANSFORMS
from pgode.data.large.edges import StoredEdges
from pgode.data.large.stored import StoredArray
from pgode.data.trajectories import Trajectories
from pgode.runtime.errors import InputError

OLD_KEYS = ("frame", "structure", "atoms")
"""Entries of the JSON of earlier versions, see `upgrade_normaliser`."""


@dataclass(frozen=True)
class Normaliser:
    """Maps each variable to [-1, 1] by one min/max pair, and time to frames.

    A feature with a transform is transformed first; `raw` undoes both.

    One pair per variable, not per feature, so that all directions have the same scale. The pairs
    come from the training split alone and apply unchanged to every other split.
    """

    features: tuple[str, ...]
    roles: tuple[str, ...]
    variables: tuple[str, ...]
    units: tuple[str, ...]
    centre: tuple[float, ...]
    scale: tuple[float, ...]
    frame_duration: float
    time_units: str
    edge_attributes: tuple[str, ...]
    parameters: tuple[str, ...]
    parameter_mean: tuple[float, ...]
    parameter_scale: tuple[float, ...]
    edge_centre: tuple[float, ...] = ()
    edge_scale: tuple[float, ...] = ()
    graph_rule: tuple[float, ...] | None = None
    """(cutoff, interval) in data units, where edges join positions nearer than a cutoff."""
    reference: Reference | None = None
    """Mean arrangement of the objects, where they are the same in all systems (a molecule)."""
    transforms: tuple[str, ...] = ()
    """Name of each feature's transform (`pgode.data.labels.transforms`); empty if none has one."""
    constants: tuple[str, ...] = ()
    constant_mean: tuple[float, ...] = ()
    constant_scale: tuple[float, ...] = ()
    inputs: tuple[str, ...] = ()
    input_mean: tuple[float, ...] = ()
    input_scale: tuple[float, ...] = ()

    @classmethod
    def fit(cls, training: Trajectories) -> "Normaliser":
        """Take every scale from the frames of the training split."""
        if training.n_frames.max() < 2:
            raise InputError(
                "the systems of the training split have one frame each. Expected at least two, "
                "which give the time between frames. Give longer trajectories."
            )
        transforms = training.transforms if any(training.transforms) else ()
        low, high = _extremes(training, transforms)
        spread = (high - low) / 2
        mean, deviation = _standard(training.parameters)
        constant_mean, constant_scale = _standard(training.constants)
        stored = training.stored("inputs")
        input_mean, input_scale = (
            _standard(training.inputs) if stored is None else _standard_of_pieces(stored)
        )
        dataset = training.dataset
        centre, scale = _edge_scaling(training.edges)
        return cls(
            features=training.features,
            roles=_texts(dataset["feature_role"].values),
            variables=_texts(dataset["feature_variable"].values),
            units=_texts(dataset["feature_units"].values),
            centre=_floats((low + high) / 2),
            scale=_floats(np.where(spread > 0, spread, 1.0)),
            frame_duration=float(
                np.nanmedian(np.diff(training.times, axis=1), overwrite_input=True)
            ),
            time_units=str(dataset.attrs["time_units"]),
            edge_attributes=training.edges.attribute_names,
            parameters=_texts(dataset["parameter"].values),
            parameter_mean=mean,
            parameter_scale=deviation,
            edge_centre=centre,
            edge_scale=scale,
            graph_rule=training.graph_rule,
            reference=Reference.fit(training),
            transforms=transforms,
            constants=training.constant_names,
            constant_mean=constant_mean,
            constant_scale=constant_scale,
            inputs=training.input_names,
            input_mean=input_mean,
            input_scale=input_scale,
        )

    @classmethod
    def from_json(cls, content: dict[str, Any], where: str = "the normaliser") -> "Normaliser":
        """Read back what `to_json` wrote; `where` names it in errors."""
        if isinstance(content, dict) and any(key in content for key in OLD_KEYS):
            raise InputError(
                f"{where} was written by an earlier version of pgode. Expected the entries "
                '"frame_duration" and "reference". Convert the run: pgode convert OLD -o NEW.'
            )
        values: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v
            for k, v in checked_scales(content, where).items()
        }
        reference = values.pop("reference", None)
        return cls(
            **values, reference=None if reference is None else Reference.from_json(reference)
        )

    def to_json(self) -> dict[str, Any]:
        """Plain numbers and text, for a run folder."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        content = {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}
        return {**content, "reference": self.reference and self.reference.to_json()}

    @property
    def positions(self) -> list[int]:
        """Features that are positions."""
        return [k for k, role in enumerate(self.roles) if role == "position"]

    @property
    def velocities(self) -> list[int]:
        """Features that are velocities, in the order of their positions."""
        return [k for k, role in enumerate(self.roles) if role == "velocity"]

    @property
    def variable_features(self) -> dict[str, list[int]]:
        """The features of each reported variable."""
        names = dict.fromkeys(self.variables)
        return {n: [k for k, v in enumerate(self.variables) if v == n] for n in names}

    def states(
        self, raw: Float[np.ndarray, "*batch feature"]
    ) -> Float[np.ndarray, "*batch feature"]:
        """Data units to [-1, 1]."""
        seen = _transformed(raw, self.transforms)
        return np.asarray((seen - np.array(self.centre)) / np.array(self.scale))

    def raw(
        self, states: Float[np.ndarray, "*batch feature"]
    ) -> Float[np.ndarray, "*batch feature"]:
        """[-1, 1] back to data units."""
        seen = np.asarray(states * np.array(self.scale) + np.array(self.centre))
        for k, name in enumerate(self.transforms):
            if name:
                seen[..., k] = TRANSFORMS[name].backward(seen[..., k])
        return seen

    def standardised(
        self, parameters: Float[np.ndarray, "*batch parameter"]
    ) -> Float[np.ndarray, "*batch parameter"]:
        """System parameters with mean 0 and standard deviation 1 over the training split."""
        mean, scale = np.array(self.parameter_mean), np.array(self.parameter_scale)
        return np.asarray((parameters - mean) / scale)

    def scaled_constants(
        self, raw: Float[np.ndarray, "*batch constant"]
    ) -> Float[np.ndarray, "*batch constant"]:
        """Constants with mean 0 and standard deviation 1 over the training split, 0 if unknown."""
        mean, scale = np.array(self.constant_mean), np.array(self.constant_scale)
        return np.asarray(np.nan_to_num((raw - mean) / scale))

    def scaled_inputs(
        self, raw: Float[np.ndarray, "*batch input"]
    ) -> Float[np.ndarray, "*batch input"]:
        """Known inputs with mean 0 and standard deviation 1 over the training split."""
        mean, scale = np.array(self.input_mean), np.array(self.input_scale)
        return np.asarray(np.nan_to_num((raw - mean) / scale))

    def attributes(
        self, raw: Float[np.ndarray, "edge attribute"]
    ) -> Float[np.ndarray, "edge attribute"]:
        """Edge attributes with mean 0 and standard deviation 1, except the weight (the first)."""
        if not self.edge_scale:
            return raw
        return np.asarray((raw - np.array(self.edge_centre)) / np.array(self.edge_scale))

    def reference_of(self, data: Trajectories) -> Float[np.ndarray, "object axes"] | None:
        """The scaled reference positions of the data's objects; None where there are none."""
        raw = None if self.reference is None else self.reference.of(data)
        if raw is None:
            return None
        axes = self.positions
        return np.asarray((raw - np.array(self.centre)[axes]) / np.array(self.scale)[axes])

    def drift(self) -> tuple[list[float], list[float]]:
        """(gain, offset) of each position: in scaled units dq/dframe = gain v + offset exactly."""
        pairs = list(zip(self.positions, self.velocities, strict=True))
        gain = [self.frame_duration * self.scale[v] / self.scale[q] for q, v in pairs]
        offset = [self.frame_duration * self.centre[v] / self.scale[q] for q, v in pairs]
        return gain, offset

    def check(self, data: Trajectories, source: str) -> None:
        """Refuse data whose features, roles or edge attributes differ from the training data."""
        roles = _texts(data.dataset["feature_role"].values)
        for what, actual, expected in (
            ("features", data.features, self.features),
            ("feature roles", roles, self.roles),
            ("edge attributes", data.edges.attribute_names, self.edge_attributes),
            ("known inputs", data.input_names, self.inputs),
        ):
            if tuple(actual) != tuple(expected):
                raise InputError(
                    f"{source} has the {what} {', '.join(actual) or '(none)'}, but the model was "
                    f"trained on {', '.join(expected) or 'none'}. Expected the same names in the "
                    f"same order. Rename or reorder them in the file, or train a model on this "
                    f"data."
                )
        rule, trained = data.graph_rule, self.graph_rule
        if rule and trained and not np.isclose(rule[0], trained[0], rtol=1e-6):
            raise InputError(
                f"{source} joins objects nearer than {rule[0]:g}, but the model was trained "
                f"with {trained[0]:g}. Expected the same cutoff. Build the graphs again with "
                f"{trained[0]:g}, or train a model on this data."
            )


def upgrade_normaliser(old: dict[str, Any]) -> dict[str, Any]:
    """The JSON of an earlier version in the present format, with the same numbers.

    Earlier versions had the duration of a frame under "frame", and the reference positions flat
    under "structure" with the identity of the objects under "atoms".
    """
    new = {key: value for key, value in old.items() if key not in OLD_KEYS}
    axes = sum(role == "position" for role in old["roles"])
    flat = old.get("structure") or []
    positions = [flat[k : k + axes] for k in range(0, len(flat), axes)]
    reference = {"positions": positions, "objects": old["atoms"]} if flat else None
    frame = old["frame"] if "frame" in old else old["frame_duration"]
    return {**new, "frame_duration": frame, "reference": old.get("reference", reference)}


def _transformed(
    raw: Float[np.ndarray, "*batch feature"], transforms: tuple[str, ...]
) -> Float[np.ndarray, "*batch feature"]:
    """Values as a model sees them, before scaling."""
    if not any(transforms):
        return raw
    seen = np.array(raw, dtype=np.float64)
    for k, name in enumerate(transforms):
        if name:
            # Values that have none appear only in forecasts of other models: they become NaN.
            with np.errstate(invalid="ignore", divide="ignore"):
                seen[..., k] = TRANSFORMS[name].forward(seen[..., k])
    return seen


def _standard(
    values: Float[np.ndarray, "*batch column"],
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Mean and standard deviation of each column over the known values; a deviation of 0 is 1."""
    columns = values.reshape(math.prod(values.shape[:-1]), values.shape[-1])
    known = np.isfinite(columns)
    count = np.maximum(known.sum(0), 1)
    mean = np.where(known, columns, 0).sum(0) / count
    deviation = np.sqrt((np.where(known, columns - mean, 0) ** 2).sum(0) / count)
    return _floats(mean), _floats(np.where(deviation > 0, deviation, 1.0))


def _standard_of_pieces(
    stored: StoredArray,
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The same of values that stay in a file, in two passes."""
    mean, square = np.zeros(stored.shape[3]), np.zeros(stored.shape[3])
    count = np.zeros(stored.shape[3], np.int64)
    for piece in stored.pieces():
        known = np.isfinite(piece)
        count += known.sum((0, 1, 2))
        mean += np.where(known, piece, 0).sum((0, 1, 2))
    count = np.maximum(count, 1)
    mean /= count
    for piece in stored.pieces():
        square += (np.where(np.isfinite(piece), piece - mean, 0) ** 2).sum((0, 1, 2))
    deviation = np.sqrt(square / count)
    return _floats(mean), _floats(np.where(deviation > 0, deviation, 1.0))


def _extremes(
    training: Trajectories, transforms: tuple[str, ...]
) -> tuple[Float[np.ndarray, " feature"], Float[np.ndarray, " feature"]]:
    """Least and greatest value of each feature's variable, as a model sees it."""
    low, high = np.empty(len(training.features)), np.empty(len(training.features))
    scan = training.scan()
    states = _transformed(training.states, transforms) if scan is None else np.empty(0)
    for index in training.variables.values():
        if scan is None:
            values = states[..., index]
            known = np.isfinite(values).any()
        else:
            known = scan.count[:, index].any()
        if not known:
            names = ", ".join(training.features[i] for i in index)
            raise InputError(
                f"the training split has no observed value of {names}. Expected at least one. "
                f"Drop the feature, or put systems that have it into the training split."
            )
        if scan is None:
            low[index], high[index] = np.nanmin(values), np.nanmax(values)
        else:
            low[index], high[index] = scan.low[:, index].min(), scan.high[:, index].max()
    return low, high


def _edge_scaling(edges: Edges) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Centre and scale of each attribute; empty where there is only the weight."""
    if len(edges.attribute_names) < 2 or not edges.number:
        return (), ()
    if isinstance(edges, StoredEdges):
        # Two passes, as for values in memory, of which no more than a block is held.
        total = sum(each.edge_attributes.sum(0) for _, each in edges.blocks())
        centre = np.asarray(total / edges.number)
        squares = sum(((each.edge_attributes - centre) ** 2).sum(0) for _, each in edges.blocks())
        scale = np.sqrt(squares / edges.number)
    else:
        centre, scale = edges.edge_attributes.mean(0), edges.edge_attributes.std(0)
    centre[0], scale[0] = 0.0, 1.0
    return _floats(centre), _floats(np.where(scale > 0, scale, 1.0))


def _texts(values: np.ndarray) -> tuple[str, ...]:
    return tuple(str(value) for value in values)


def _floats(values: np.ndarray) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
