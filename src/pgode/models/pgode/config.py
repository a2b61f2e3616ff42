"""Settings of PGODE: the paper's model, its variants, and additions that reduced the error."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from pgode.batches.windows import Windows
from pgode.models.forecaster import ModelConfig
from pgode.models.latent import Elbo, LatentConfig
from pgode.models.latent_ode import LatentODEConfig
from pgode.models.pgode.dynamics import DynamicsConfig, MessagesConfig
from pgode.models.pgode.encoder import EncoderConfig
from pgode.models.pgode.gates import GateConfig
from pgode.models.pgode.laws.config import LawsConfig
from pgode.models.pgode.state import KinematicConfig, RegressedConfig, StateConfig
from pgode.nn.gaussian import NARROW
from pgode.ode import SolverConfig
from pgode.runtime.limits.bounds import LARGE, LOGARITHM, WIDTH

MOVED: Mapping[str, str] = {
    "encoder_layers": "encoder.layers",
    "encoder_norm": "encoder.layer_norm",
    "encoder_share": "encoder.degree_normalise",
    "encoder_rates": "encoder.rates",
    "encoder_relation": "encoder.relation",
    "regions": "gate.group_context",
    "prototypes": "dynamics.prototypes",
    "top": "dynamics.top_k",
    "backbone": "dynamics.backbone",
    "anchor": "state.residual_decoder",
    "recall": "state.history_readout",
    "relax": "state.mean_structure",
    "rebuild": "rebuild_graph",
    "start": "objective.initial_log_variance",
    "parameters": "objective.parameter_info_weight",
    "disentangle": "objective.context_info_weight",
    "frame_time": "solver.frame_time",
}
"""Settings of version 0.1 that have the same values under another name."""

CHANGED: Mapping[str, str] = {
    "system_mean": "encoder.reference_objects (10 for true, null for false)",
    "gate": "gate.contexts (both, system or object)",
    "dynamics=prototypes": "dynamics.kind=messages",
    "kinematics": "state.kind (kinematic or latent)",
}
"""Settings of version 0.1 whose values changed too."""


class Objective(Elbo):
    """The evidence lower bound and the two mutual-information terms (Eq. 15-17)."""

    parameter_info_weight: float = Field(
        10.0, ge=0, le=LARGE, description="weight of L_sys, raises I(g; xi)"
    )
    context_info_weight: float = Field(
        0.01, ge=0, le=LARGE, description="weight of L_dis, lowers I(g; u)"
    )
    context_info_floor: bool = Field(
        False, description="encoders lower I(g; u) no further than that of independent contexts"
    )
    initial_log_variance: float = Field(
        NARROW,
        ge=-LOGARITHM,
        le=LOGARITHM,
        description="logarithm of the posterior's variance before training",
    )
    scale: Literal["value", "system"] = Field(
        "value",
        description="the loss: bound per observed value, times 2 sigma^2; or Eq. 17 per system",
    )

    @property
    def information_unit(self) -> float:
        """Factor on the weights of L_sys and L_dis: 1 in the scale of Eq. 17."""
        return self.unit if self.scale == "value" else 1.0


class PGODEConfig(LatentODEConfig):
    """Groups of settings, each owned by the module that uses it; the defaults are `default`.

    Variants of the paper: w/o O is `gate.contexts=system`, w/o system `gate.contexts=object`,
    w/o F `dynamics.prototypes=1`, w/o D `objective.context_info_weight=0`, w. Single
    `dynamics=single`, w. MLP `dynamics=mlp`, PGODE-S `dynamics.top_k=2`.
    """

    renamed: ClassVar[Mapping[str, str]] = {**LatentConfig.renamed, **MOVED, **CHANGED}
    removed: ClassVar[Mapping[str, str]] = {
        "recovery": "the recovery term -z of Eq. 10 is always part of the model",
        "strength": EncoderConfig.removed["strength_context"],
        "coupling": KinematicConfig.removed["coupling"],
    }

    width: int = Field(
        128, ge=1, le=WIDTH, description="width of contexts, latent states and networks"
    )
    encoder: EncoderConfig = EncoderConfig()
    gate: GateConfig = GateConfig()
    dynamics: DynamicsConfig = MessagesConfig()
    walls: Literal["auto", "none", "reflect", "periodic"] = Field(
        "auto", description="force laws: walls as the data show them, none, mirrors, or a box"
    )
    state: StateConfig = KinematicConfig()
    objective: Objective = Objective()
    rebuild_graph: bool = Field(
        False, description="rebuild graphs defined by distance from the forecast itself"
    )

    @property
    def gated(self) -> bool:
        """Whether there is more than one prototype to choose from."""
        return self.dynamics.prototypes > 1

    @model_validator(mode="after")
    def _settings_have_effect(self) -> "PGODEConfig":
        """Refuse settings of networks where there are only laws, and the reverse."""
        if not isinstance(self.dynamics, LawsConfig):
            if self.walls != "auto":
                raise ValueError("walls has an effect with dynamics=laws only")
            return self
        if (self.walls == "periodic") != (self.dynamics.box is not None):
            raise ValueError(
                "walls=periodic needs the lengths of the box, dynamics.box, and only it has them"
            )
        if self.dynamics.messages is not False:
            if not isinstance(self.state, KinematicConfig):
                raise ValueError("state=latent has no velocities that messages beside laws change")
            changed = [name for name in ("rebuild_graph",) if getattr(self, name)]
            steps = {"frame_time", "step", "recompute"}
            if self.solver != SolverConfig(**self.solver.model_dump(include=steps)):
                changed.append("solver")
            reason = "which has its own steps and keeps its graph"
        else:
            changed = [name for name, value in _unused().items() if getattr(self, name) != value]
            if self.gate != GateConfig(contexts=self.gate.contexts):
                changed.append("gate")
            reason = "which has no networks"
        if changed:
            raise ValueError(
                f"{changed[0]} has no effect with dynamics=laws, {reason}; choose another "
                f"dynamics, or leave it out"
            )
        return self

    @model_validator(mode="after")
    def _gate_has_effect(self) -> "PGODEConfig":
        """Refuse settings of a gate where there is none."""
        if isinstance(self.dynamics, LawsConfig) and not self.dynamics.messages:
            return self
        laws = isinstance(self.dynamics, LawsConfig)  # They have weights from contexts too.
        if not self.gated and self.gate.group_context:
            raise ValueError("gate.group_context has no effect with a single prototype")
        if not self.gated and not laws and self.gate.contexts != "both":
            raise ValueError("gate.contexts has no effect with a single prototype")
        return self

    def settled(self, training: Windows, seed: int) -> tuple[ModelConfig, str]:
        """What is left open: messages beside laws, or the size of a regression on the past."""
        if isinstance(self.state, RegressedConfig):
            linear = self.state.linear.settled(training)
            state = self.state.model_copy(update={"linear": linear})
            return self.model_copy(update={"state": state}), ""
        from pgode.models.pgode.slow.unexplained import chosen

        return chosen(self, training, seed)

    def resolved(self, messages: bool) -> "PGODEConfig":
        """The settings with message prototypes beside the laws, or with laws alone.

        Settings of networks are those of the defaults where there are none.
        """
        assert isinstance(self.dynamics, LawsConfig)
        update = {} if messages else {**_unused(), "gate": GateConfig(contexts=self.gate.contexts)}
        dynamics = self.dynamics.model_copy(update={"messages": messages})
        return self.model_copy(update={**update, "dynamics": dynamics})


def _unused() -> dict[str, Any]:
    """Settings of networks, as they are where there are none."""
    names = ("encoder", "state", "width", "objective", "solver", "rebuild_graph")
    return {name: PGODEConfig.model_fields[name].default for name in names}
