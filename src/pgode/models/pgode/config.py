"""Settings of PGODE: the paper's model, its variants, and what we found to measure better."""

from typing import Any, Literal

from pydantic import Field, model_validator

from pgode.models.latent import LatentConfig
from pgode.nn.gaussian import NARROW
from pgode.ode import SolverConfig


class PGODEConfig(LatentConfig):
    """Each field is one choice; the defaults are the `default` preset.

    Variants of the paper: w/o O is `gate="system"`, w/o system `gate="object"`, w/o F
    `prototypes=1`, w/o D `disentangle=0`, w. Single `dynamics="single"`, w. MLP `dynamics="mlp"`,
    PGODE-S `top=2`.
    """

    width: int = Field(128, ge=1, description="width of contexts, latent states and networks")
    prototypes: int = Field(5, ge=1, description="K, the number of GNN prototypes")
    encoder_layers: int = Field(2, ge=1, description="L, attention layers of each encoder")
    gate: Literal["full", "system", "object"] = Field(
        "full", description="contexts the gate sees: both, only g (w/o O), only u (w/o system)"
    )
    regions: bool = Field(False, description="give the gate a context of each object's group")
    dynamics: Literal["prototypes", "single", "mlp"] = Field(
        "prototypes", description="right-hand side: Eq. 10, w. Single, or w. MLP"
    )
    top: int | None = Field(None, ge=1, description="PGODE-S: prototypes used per object")
    backbone: Literal["message", "gcn", "gin", "sage"] = Field(
        "message", description="how a prototype gathers its neighbours"
    )
    recovery: bool = Field(True, description="the term -z of Eq. 10")
    kinematics: bool = Field(
        True, description="integrate named positions and velocities themselves, dq/dt = v exact"
    )
    anchor: bool = Field(
        True, description="decode a change from the last observation, not the state itself"
    )
    recall: bool = Field(
        True, description="with anchor: changes include a weighted mean of an object's own past"
    )
    relax: bool = Field(
        True, description="with recall: atoms go some of the way to the molecule's mean structure"
    )
    encoder_norm: bool = Field(True, description="layer norm before each attention")
    encoder_share: bool = Field(True, description="divide spatial weights by the degree")
    encoder_rates: bool = Field(True, description="encoders see changes between frames too")
    encoder_relation: bool = Field(
        True, description="encoders see a relation network's sum over each observation's neighbours"
    )
    system_mean: bool = Field(
        True, description="g is ten times the mean over objects: for ten, the paper's sum"
    )
    coupling: bool = Field(
        True, description="with kinematics: a pull along the line to each neighbour, too"
    )
    strength: bool = Field(
        True, description="contexts are told how strongly the pull of the neighbours was felt"
    )
    rebuild: bool = Field(
        False, description="graphs by distance: look them up anew in the forecast itself"
    )
    start: float = Field(
        NARROW, description="logarithm of the posterior's variance before training"
    )
    parameters: float = Field(10.0, ge=0, description="weight of L_sys, I(g; xi) maximised")
    disentangle: float = Field(0.01, ge=0, description="weight of L_dis, I(g; u) minimised")
    solver: SolverConfig = SolverConfig()

    @model_validator(mode="after")
    def _settings_have_effect(self) -> "PGODEConfig":
        """Refuse combinations of which a part would do nothing."""
        if self.dynamics != "prototypes" and (self.top is not None or self.backbone != "message"):
            raise ValueError("top and backbone belong to dynamics=prototypes; leave them out")
        if self.regions and self.gate == "system":
            raise ValueError("regions are made of object contexts, which gate=system must not see")
        if self.top is not None and self.top > self.prototypes:
            raise ValueError(f"top is above the number of prototypes, {self.prototypes}")
        if self.top is not None and self.backbone != "message":
            raise ValueError("top works with backbone=message only; leave one of them out")
        return self


PRESETS: dict[str, dict[str, Any]] = {
    "default": {},
    "paper": {
        "model": {
            "kinematics": False,
            "anchor": False,
            "recall": False,
            "relax": False,
            "encoder_share": False,
            "encoder_rates": False,
            "encoder_relation": False,
            "system_mean": False,
            "strength": False,
            "coupling": False,
            "parameters": 0.01,
        },
        "window": {"starts": "first"},
        "training": {
            "optimiser": "adam",
            "learning_rate": 5e-4,
            "batch": 256,
            "curriculum": (),
        },
    },
    "molecules": {
        "model": {"width": 64, "solver": {"method": "euler"}},
        "window": {"horizon": 24},
        "training": {"batch": 4, "epochs": 10},
    },
}
"""Whole run settings by name; what a preset leaves out is the default."""
