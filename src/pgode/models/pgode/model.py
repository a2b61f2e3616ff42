"""PGODE, top to bottom: encode, draw an initial state, gate, solve, decode."""

import math
from collections.abc import Iterable, Mapping
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch, Windows
from pgode.models.flow import Flow
from pgode.models.forecaster import Forecaster, KnownInputs, Losses, ModelConfig, Progress
from pgode.models.latent import Encoded
from pgode.models.latent_ode import InitialValueProblem, LatentODE
from pgode.models.pgode.config import PGODEConfig
from pgode.models.pgode.dynamics import MessagesConfig, build_dynamics
from pgode.models.pgode.dynamics.drive import Drive
from pgode.models.pgode.encoder import TemporalGraphEncoder
from pgode.models.pgode.gates import Contexts, Gate, NoGate, contexts_of
from pgode.models.pgode.laws.config import LawsConfig
from pgode.models.pgode.mutual_information import INDEPENDENT, MutualInformation, same_system
from pgode.models.pgode.rebuild import GraphProblem, GraphRebuilder
from pgode.models.pgode.state import (
    Kinematic,
    KinematicConfig,
    Latent,
    Regressed,
    RegressedConfig,
)
from pgode.nn.exogenous import NOTHING, Driven, Exogenous
from pgode.nn.gaussian import DiagonalNormal, Posterior
from pgode.ode import Solution


class PGODE(LatentODE):
    """Prototypical graph ODE with disentangled object and system contexts."""

    config: PGODEConfig
    config_type = PGODEConfig
    known_inputs: ClassVar[KnownInputs] = "ahead"

    def __init__(self, config: PGODEConfig, normaliser: Normaliser) -> None:
        super().__init__(config, normaliser)
        features, width, objective = len(normaliser.features), config.width, config.objective
        laws = isinstance(config.dynamics, LawsConfig)
        self.exogenous = NOTHING if laws else Exogenous.of(normaliser)
        self.object_encoder, self.system_encoder = (
            TemporalGraphEncoder(
                *(features, width, config.encoder),
                recompute=config.solver.recompute,
                exogenous=self.exogenous,
            )
            for _ in range(2)
        )
        self.initial = Posterior(width, width, width, objective.initial_log_variance)
        constants = self.exogenous.constants
        gate = (width, self.prototypes, config.gate, constants)
        self.gate = Gate(*gate) if config.gated else NoGate()
        self.state = _state(config, normaliser, self.exogenous)
        attributes = len(normaliser.edge_attributes)
        dynamics = config.dynamics
        if isinstance(dynamics, LawsConfig):  # Beside laws, messages have as many prototypes.
            dynamics = MessagesConfig(prototypes=dynamics.prototypes)
        inputs = self.state.inputs + self.exogenous.width
        self.dynamics = build_dynamics(dynamics, inputs, width, attributes)
        self.drive = Drive(inputs, width) if self.exogenous.width else None
        self.rebuild = GraphRebuilder(normaliser) if config.rebuild_graph else None
        parameters = len(normaliser.parameters) if objective.parameter_info_weight > 0 else 0
        self.parameter_critic = MutualInformation(width, parameters, width) if parameters else None
        disentangles = objective.context_info_weight > 0
        self.context_critic = MutualInformation(width, width, width) if disentangles else None

    @classmethod
    def build(cls, config: ModelConfig, normaliser: Normaliser) -> Forecaster:
        """PGODE with message prototypes, with force laws, or with both."""
        if isinstance(config, PGODEConfig) and isinstance(config.dynamics, LawsConfig):
            from pgode.models.pgode.laws.model import ForceLaws
            from pgode.models.pgode.slow.model import LawsWithMessages

            kind = LawsWithMessages if config.dynamics.messages else ForceLaws
            return kind(config, normaliser)
        return super().build(config, normaliser)

    def prepare(self, training: Windows, seed: int, progress: Progress) -> bool:
        """Fit the linear regression that the forecast starts from, where there is one.

        One that it has already, of another run, stays: the networks were trained beside it.
        """
        if not isinstance(self.state, Regressed) or bool(self.state.linear.weights.any()):
            return False
        progress("regression on the past", 0.0)
        self.state.linear.fit(training)
        return True

    @property
    def prototypes(self) -> int:
        """K; 1 for the variants with a single message function."""
        return self.config.dynamics.prototypes

    def contexts(self, batch: Batch) -> Contexts:
        """Object contexts u_i and system contexts g = sum_i u'_i, from two encoders (Eq. 2-5).

        With `reference_objects` g does not grow with the number of objects: a sum over a thousand
        would be far outside the range that the next networks are initialised for.
        """
        individual = self.object_encoder(batch)
        parts = self.system_encoder(batch)
        system = parts.new_zeros(batch.systems, parts.shape[1]).index_add(0, batch.system, parts)
        reference = self.config.encoder.reference_objects
        if reference is not None:
            objects = torch.bincount(batch.system, minlength=batch.systems)
            system = system * (reference / objects).to(system).unsqueeze(1)
        return Contexts(individual, system)

    def posterior(self, contexts: Contexts) -> DiagonalNormal:
        """q(z_i(0) | history) = N(psi_m(u_i), psi_v(u_i)) (Eq. 8)."""
        posterior: DiagonalNormal = self.initial(contexts.object)
        return posterior

    def encode(self, batch: Batch) -> Encoded:
        """Contexts, and the posterior of the initial state."""
        contexts = self.contexts(batch)
        return Encoded(self.posterior(contexts), contexts.named())

    def problem(
        self, batch: Batch, encoded: Encoded, initial: Float[Tensor, "objects latent"]
    ) -> GraphProblem:
        """Eq. 10 from the last observation on, with the graph in force then."""
        contexts = contexts_of(encoded)
        start = self.state.initial(initial, batch)
        gate = self.gate(contexts, batch)

        def on_graph(batch: Batch) -> Driven:
            return self.derivative(gate, contexts, batch)

        def decode(states: Tensor, times: Tensor) -> Tensor:
            return self.state.decode(states, batch, times)

        return GraphProblem(on_graph(batch), start, decode, on_graph)

    def derivative(
        self, gate: Float[Tensor, "objects prototypes"], contexts: Contexts, batch: Batch
    ) -> Driven:
        """The right-hand side of Eq. 10 with these weights, on the graph of a batch."""
        mixture, drive = self.dynamics.bind(gate, contexts, batch), self.drive
        return Driven(
            self.exogenous,
            lambda given: self.state.derivative(drive.bind(mixture, given) if drive else mixture),
        )

    def solve(
        self, problem: InitialValueProblem, batch: Batch, times: Float[Tensor, "systems outputs"]
    ) -> Solution:
        """Integrate; with `rebuild_graph` on graphs that are rebuilt from the forecast."""
        if self.rebuild is None or not isinstance(problem, GraphProblem):
            return super().solve(problem, batch, times)
        return self.rebuild.solve(problem, batch, times, self.config.solver)

    def loss(self, batch: Batch) -> Losses:
        """The terms of Eq. 17, per observed value or, as it is printed, per system."""
        losses, objective = super().loss(batch), self.config.objective
        if objective.scale == "value":
            return losses
        systems = batch.share.systems(batch.systems)
        factor = batch.share.values(batch.targets_observed) / (systems * objective.unit)
        terms = {
            k: v * factor if k in ("reconstruction", "kl") else v for k, v in losses.terms.items()
        }
        total = torch.stack([value for name, value in terms.items() if name != "mse"]).sum()
        return Losses(total, terms)

    def extra_losses(self, batch: Batch, encoded: Encoded) -> dict[str, Float[Tensor, ""]]:
        """The two mutual-information terms (Eq. 16-17), in the unit of the bound."""
        objective, contexts, terms = self.config.objective, contexts_of(encoded), {}
        if self.parameter_critic is not None:
            weight = -objective.information_unit * objective.parameter_info_weight
            terms["parameter_info"] = weight * self.parameter_information(batch, contexts)
        if self.context_critic is not None:
            weight = objective.information_unit * objective.context_info_weight
            terms["context_info"] = weight * self.context_information(batch, contexts)
        return terms

    def parameter_information(self, batch: Batch, contexts: Contexts) -> Float[Tensor, ""]:
        """Estimate of I(g; xi) over the systems whose parameters are known (Eq. 6)."""
        assert self.parameter_critic is not None
        known, share = batch.parameters_known, batch.share
        number = share.own(torch.arange(batch.systems, device=known.device)[known])
        rows = (number + share.first_system).unsqueeze(1)
        pairs = same_system(rows[:, 0], share.gather(rows)[:, 0])
        estimate: Tensor = self.parameter_critic(
            contexts.system[number], batch.parameters[number], pairs, share
        )
        return estimate

    def context_information(self, batch: Batch, contexts: Contexts) -> Float[Tensor, ""]:
        """Estimate of I(g; u_i): the critic ascends it, all else descends it (Eq. 7).

        With `context_info_floor` the contexts have no part in an estimate below that of independent
        ones. It has no lower bound, so encoders would lower it for ever by longer contexts.
        """
        assert self.context_critic is not None
        share = batch.share
        number = torch.arange(batch.systems, device=batch.system.device)
        columns = (batch.system + share.first_system).unsqueeze(1)
        pairs = same_system(share.own(number) + share.first_system, share.gather(columns)[:, 0])
        system, individual = share.own(contexts.system), share.own(contexts.object)
        estimate: Tensor = self.context_critic(system, individual, pairs, share)
        floor = INDEPENDENT if self.config.objective.context_info_floor else -math.inf
        if math.isfinite(floor) and float(share.total(estimate.detach())) < floor:
            system, individual = system.detach(), individual.detach()
            estimate = self.context_critic(system, individual, pairs, share)
        return estimate

    def adversary(self) -> Iterable[nn.Parameter]:
        """The critic between object and system contexts."""
        return () if self.context_critic is None else self.context_critic.parameters()

    def encoders(self) -> Mapping[str, nn.Module]:
        """Those of object and system contexts."""
        return {"object": self.object_encoder, "system": self.system_encoder}

    def inferred(self, batch: Batch, encoded: Encoded) -> dict[str, Tensor]:
        """Gate weights and contexts."""
        return {"gate": self.gate(contexts_of(encoded), batch), **encoded.contexts}

    def flow(self, batch: Batch) -> Flow | None:
        """The initial value problem of Eq. 10, see `pgode.models.pgode.flow`."""
        from pgode.models.pgode.flow import flow

        return flow(self, batch)


def _state(config: PGODEConfig, normaliser: Normaliser, exogenous: Exogenous) -> Latent | Kinematic:
    """The kinematic state if configured and if the data name velocities; else the latent one."""
    if isinstance(config.state, RegressedConfig):
        return Regressed(config.state, config.width, normaliser, exogenous)
    if isinstance(config.state, KinematicConfig) and normaliser.velocities:
        frame_time = config.solver.frame_time
        return Kinematic(config.state, config.width, normaliser, frame_time, exogenous)
    return Latent(config.state, config.width, normaliser, exogenous)
