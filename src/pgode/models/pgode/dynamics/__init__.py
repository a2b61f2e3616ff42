"""Right-hand sides of PGODE: a new kind is a config, a module, and a line in each table here."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from pgode.models.pgode.dynamics.prototypes import (
    MessagesConfig,
    MLPConfig,
    Prototypes,
    Single,
    SingleConfig,
    WithMLP,
)
from pgode.models.pgode.dynamics.sparse import SparsePrototypes
from pgode.models.pgode.laws.config import LawsConfig
from pgode.runtime.settings import kind_of

__all__ = ["DynamicsConfig", "MessagesConfig", "Prototypes", "build_dynamics"]

DynamicsConfig = Annotated[
    MessagesConfig | SingleConfig | MLPConfig | LawsConfig,
    Field(discriminator="kind"),
    BeforeValidator(kind_of("messages")),
]


def build_dynamics(
    config: MessagesConfig | SingleConfig | MLPConfig | LawsConfig,
    inputs: int,
    width: int,
    attributes: int,
) -> Prototypes:
    """The right-hand side that a config names; for force laws, what is evaluated beside them."""
    if isinstance(config, LawsConfig):
        return Prototypes(inputs, width, config.prototypes, attributes)
    if isinstance(config, SingleConfig):
        return Single(inputs, width, attributes)
    if isinstance(config, MLPConfig):
        return WithMLP(inputs, width, attributes)
    if config.top_k is not None:
        return SparsePrototypes(inputs, width, config.prototypes, attributes, config.top_k)
    return Prototypes(inputs, width, config.prototypes, attributes, config.backbone)
