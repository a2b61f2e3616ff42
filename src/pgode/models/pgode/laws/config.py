"""Settings of the force laws."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from pgode.runtime.limits.bounds import ENSEMBLE, LARGE, LAYERS, SMALL, SUBSTEPS
from pgode.runtime.settings import Settings

Length = Annotated[float, Field(ge=SMALL, le=LARGE)]


class LawsConfig(Settings):
    """Prototypes are kinds of objects; between each two acts a radial law, found in the data."""

    kind: Literal["laws"] = "laws"
    prototypes: int = Field(
        5, ge=1, le=LAYERS, description="K, the most kinds of objects to be told apart"
    )
    disentangled: bool = Field(
        True, description="one strength for all of a system, not one for each object (w/o D)"
    )
    third_law: bool = Field(
        True, description="two prototypes act on each other by the same law (Newton's third)"
    )
    substeps: int | None = Field(
        None,
        ge=1,
        le=SUBSTEPS,
        description="fine steps per frame; null: as many as suit the training data",
    )
    most_substeps: int = Field(
        4096,
        ge=1,
        le=SUBSTEPS,
        description="most fine steps per frame, for systems with close encounters",
    )
    box: tuple[Length, ...] | None = Field(
        None, description="lengths of a periodic box along each axis, in the units of the data"
    )
    ensemble: int = Field(
        16, ge=1, le=ENSEMBLE, description="runs whose mean is the forecast; 1: a single run"
    )
    messages: bool | None = Field(
        None,
        description="add message prototypes as slow kicks, for what is no pair force; null: where "
        "the laws leave something unexplained",
    )

    @model_validator(mode="after")
    def _steps_are_within_the_most(self) -> "LawsConfig":
        """Refuse more steps per frame than there may be."""
        if self.substeps is not None and self.substeps > self.most_substeps:
            raise ValueError(
                f"substeps is {self.substeps}, but most_substeps allows {self.most_substeps} per "
                f"frame; raise most_substeps, or lower substeps"
            )
        return self
