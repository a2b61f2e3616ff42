"""The form of a stored normaliser.

Lists that belong together have the same length, and scales are positive: a scale of zero, or one
too few, would be noticed as NaN forecasts, or not at all.
"""

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from pgode.data.labels.transforms import TRANSFORMS
from pgode.runtime.stored.schema import Positive, Stored, check_lengths, parsed

FIX = "Restore the file from a copy, or train again."
Names = list[str]
Numbers = list[float]
Scales = list[Positive]


class StoredReference(Stored):
    """The entries of `pgode.batches.reference.Reference`."""

    positions: Annotated[list[Numbers], Field(min_length=1)]
    objects: str


class StoredScales(Stored):
    """The entries of `pgode.batches.normaliser.Normaliser`; later ones have defaults."""

    features: Annotated[Names, Field(min_length=1)]
    roles: Names
    variables: Names
    units: Names
    centre: Numbers
    scale: Scales
    frame_duration: Positive
    time_units: str
    edge_attributes: Names
    parameters: Names
    parameter_mean: Numbers
    parameter_scale: Scales
    edge_centre: Numbers = Field(default_factory=list)
    edge_scale: Scales = Field(default_factory=list)
    graph_rule: Annotated[list[Positive], Field(min_length=2, max_length=2)] | None = None
    reference: StoredReference | None = None
    transforms: Names = Field(default_factory=list)
    constants: Names = Field(default_factory=list)
    constant_mean: Numbers = Field(default_factory=list)
    constant_scale: Scales = Field(default_factory=list)
    inputs: Names = Field(default_factory=list)
    input_mean: Numbers = Field(default_factory=list)
    input_scale: Scales = Field(default_factory=list)

    @model_validator(mode="after")
    def _belong_together(self) -> Self:
        for names, others in (
            ("features", ("roles", "variables", "units", "centre", "scale")),
            ("parameters", ("parameter_mean", "parameter_scale")),
            ("constants", ("constant_mean", "constant_scale")),
            ("inputs", ("input_mean", "input_scale")),
        ):
            own: Names = getattr(self, names)
            check_lengths(names, len(own), {other: getattr(self, other) for other in others})
            _check_different(names, own)
        if self.edge_centre or self.edge_scale:
            found = {"edge_centre": self.edge_centre, "edge_scale": self.edge_scale}
            check_lengths("edge_attributes", len(self.edge_attributes), found)
        if self.transforms:
            check_lengths("features", len(self.features), {"transforms": self.transforms})
        self._check_words()
        self._check_reference()
        return self

    def _check_words(self) -> None:
        for name in self.transforms:
            if name not in TRANSFORMS:
                known = ", ".join(each for each in TRANSFORMS if each)
                raise ValueError(f'the entry "transforms" has {name!r}. Expected one of {known}.')

    def _check_reference(self) -> None:
        axes = self.roles.count("position")
        for number, place in enumerate(self.reference.positions if self.reference else ()):
            if len(place) != axes:
                raise ValueError(
                    f'the entry "reference.positions" has {len(place)} numbers for object '
                    f"{number}. Expected {axes}, one for each position."
                )


def checked_scales(content: Any, where: str) -> dict[str, Any]:
    """The entries of a stored normaliser, after a check of their form; `where` names the file."""
    parsed(StoredScales, content, where, FIX)
    found: dict[str, Any] = content
    return found


def _check_different(what: str, names: Names) -> None:
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f'the entry "{what}" has {twice!r} twice. Expected different names.')
