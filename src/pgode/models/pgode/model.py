"""PGODE, top to bottom: encode, draw an initial state, gate, solve, decode."""

from collections.abc import Iterable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch
from pgode.models.flow import Flow
from pgode.models.forecaster import Forecast, Forecaster, Losses
from pgode.models.latent import variational_losses
from pgode.models.pgode.config import PRESETS, PGODEConfig
from pgode.models.pgode.encoder import TemporalGraphEncoder
from pgode.models.pgode.gates import Contexts, Gate, NoGate
from pgode.models.pgode.mutual_information import MutualInformation, same_system
from pgode.models.pgode.prototypes import Prototypes, Single, TopPrototypes, WithMLP
from pgode.models.pgode.rebuild import Rebuild
from pgode.models.pgode.state import Kinematic, Latent
from pgode.models.pgode.strength_context import Measure
from pgode.nn.gaussian import DiagonalNormal, Posterior
from pgode.nn.integrate import integrate
from pgode.ode import Solution

PAPER_OBJECTS = 10
"""Objects of a system in most of the paper's tables."""


class PGODE(Forecaster):
    """Prototypical graph ODE with disentangled object and system contexts."""

    config: PGODEConfig
    config_type = PGODEConfig
    presets = PRESETS

    def __init__(self, config: PGODEConfig, normaliser: Normaliser) -> None:
        super().__init__(config, normaliser)
        features, width = len(normaliser.features), config.width
        self.object_encoder = _encoder(features, config)
        self.system_encoder = _encoder(features, config)
        measures = config.strength and bool(normaliser.positions)
        self.measure = Measure(config, normaliser) if measures else None
        self.initial = Posterior(width, width, width, config.start)
        self.gate = _gate(config)
        kinematic = config.kinematics and bool(normaliser.velocities)
        self.state = (Kinematic if kinematic else Latent)(config, normaliser)
        self.dynamics = _dynamics(config, self.state.inputs, len(normaliser.edge_attributes))
        self.rebuild = Rebuild(normaliser) if config.rebuild else None
        known = len(normaliser.parameters) if config.parameters > 0 else 0
        self.parameter_critic = MutualInformation(width, known, width) if known else None
        disentangles = config.disentangle > 0
        self.context_critic = MutualInformation(width, width, width) if disentangles else None

    def loss(self, batch: Batch) -> Losses:
        """Negative ELBO per observed value, plus the two mutual-information terms (Eq. 15-17).

        All of it times 2 sigma^2, see `variational_losses`.
        """
        config = self.config
        contexts = self.encode(batch)
        posterior = self.posterior(contexts)
        solution = self.solve(
            batch, contexts, posterior.start(config.objective.sample), batch.target_times
        )
        terms = variational_losses(
            batch, self.state.decode(solution.states, batch), posterior, config.objective
        )
        unit, error = config.objective.unit, terms["reconstruction"]
        if self.parameter_critic is not None:
            information = self.parameter_information(batch, contexts)
            terms["parameters"] = -unit * config.parameters * information
        if self.context_critic is not None:
            information = self.context_information(batch, contexts)
            terms["disentangle"] = unit * config.disentangle * information
        return Losses(torch.stack(list(terms.values())).sum(), {**terms, "mse": error})

    def forecast(
        self, batch: Batch, times: Float[Tensor, "systems outputs"], samples: int = 0
    ) -> Forecast:
        """Forecast from the posterior mean; each sample starts from a draw of its own."""
        contexts = self.encode(batch)
        posterior = self.posterior(contexts)
        solution = self.solve(batch, contexts, posterior.mean, times)
        mean = self.state.decode(solution.states, batch)
        drawn = [
            self.state.decode(self.solve(batch, contexts, posterior.sample(), times).states, batch)
            for _ in range(samples)
        ]
        found = {
            "gate": self.gate(contexts, batch),
            "object_context": contexts.object,
            "system_context": contexts.system,
        }
        stacked = torch.stack(drawn) if drawn else mean.new_empty(0, *mean.shape)
        return Forecast(mean, stacked, found, solution.evaluations)

    @property
    def prototypes(self) -> int:
        """K; 1 for a single message function that all objects share."""
        return self.config.prototypes if self.config.dynamics == "prototypes" else 1

    def flow(self, batch: Batch) -> Flow:
        """The initial value problem whose solution is the mean forecast of a batch."""
        from pgode.models.pgode.robustness import flow

        return flow(self, batch)

    def encode(self, batch: Batch) -> Contexts:
        """Object contexts u_i and system contexts g = sum_i u'_i, from two encoders (Eq. 2-5).

        With `system_mean` g does not grow with the number of objects: a sum over a thousand would
        be far from anything the networks behind it start for.
        """
        individual = self.object_encoder(batch)
        parts = self.system_encoder(batch)
        system = parts.new_zeros(batch.systems, parts.shape[1]).index_add(0, batch.system, parts)
        if self.config.system_mean:
            objects = torch.bincount(batch.system, minlength=batch.systems)
            system = system * (PAPER_OBJECTS / objects).to(system).unsqueeze(1)
        contexts = Contexts(individual, system)
        return contexts if self.measure is None else self.measure(contexts, batch)

    def posterior(self, contexts: Contexts) -> DiagonalNormal:
        """q(z_i(0) | history) = N(psi_m(u_i), psi_v(u_i)) (Eq. 8)."""
        found: DiagonalNormal = self.initial(contexts.object)
        return found

    def solve(
        self,
        batch: Batch,
        contexts: Contexts,
        z0: Float[Tensor, "objects width"],
        times: Float[Tensor, "systems outputs"],
    ) -> Solution:
        """Integrate Eq. 10 from the last observation to every requested time.

        With the graph in force at the last observation or, with `rebuild`, with those of the
        forecast itself.
        """
        initial = self.state.initial(z0, batch)
        gate = self.gate(contexts, batch)

        def piece(batch: Batch, initial: Tensor, times: Tensor) -> Solution:
            mixture = self.dynamics.bind(gate, contexts, batch)
            derivative = self.state.derivative(mixture, contexts, batch)
            config = self.config
            return integrate(derivative, initial, batch, times, config.solver)

        if self.rebuild is None:
            return piece(batch, initial, times)

        def decode(state: Tensor) -> Tensor:
            return self.state.decode(state.unsqueeze(0), batch)[:, 0]

        return self.rebuild.solve(piece, decode, initial, batch, times)

    def parameter_information(self, batch: Batch, contexts: Contexts) -> Float[Tensor, ""]:
        """Estimate of I(g; xi) over the systems whose parameters are known (Eq. 6)."""
        assert self.parameter_critic is not None
        known = batch.parameters_known
        number = torch.arange(batch.systems, device=known.device)[known]
        estimate: Tensor = self.parameter_critic(
            contexts.system[known], batch.parameters[known], same_system(number, number)
        )
        return estimate

    def context_information(self, batch: Batch, contexts: Contexts) -> Float[Tensor, ""]:
        """Estimate of I(g; u_i): the critic ascends it, all else descends it (Eq. 7)."""
        assert self.context_critic is not None
        number = torch.arange(batch.systems, device=batch.system.device)
        estimate: Tensor = self.context_critic(
            contexts.system, contexts.object, same_system(number, batch.system)
        )
        return estimate

    def adversary(self) -> Iterable[nn.Parameter]:
        """The critic between object and system contexts."""
        return () if self.context_critic is None else self.context_critic.parameters()


def _encoder(features: int, config: PGODEConfig) -> TemporalGraphEncoder:
    return TemporalGraphEncoder(
        features,
        config.width,
        config.encoder_layers,
        normalise=config.encoder_norm,
        share=config.encoder_share,
        rates=config.encoder_rates,
        relate=config.encoder_relation,
        recompute=config.solver.recompute,
    )


def _gate(config: PGODEConfig) -> Gate | NoGate:
    """The gate, where there is more than one prototype to choose from."""
    if config.prototypes == 1 or config.dynamics != "prototypes":
        return NoGate()
    return Gate(
        config.width,
        config.prototypes,
        uses_object=config.gate != "system",
        uses_system=config.gate != "object",
        regions=config.regions,
    )


def _dynamics(config: PGODEConfig, inputs: int, attributes: int) -> Prototypes:
    """The right-hand side that the config names."""
    if config.dynamics == "single":
        return Single(inputs, config.width, attributes)
    if config.dynamics == "mlp":
        return WithMLP(inputs, config.width, attributes)
    if config.top is not None:
        return TopPrototypes(inputs, config.width, config.prototypes, attributes, config.top)
    return Prototypes(inputs, config.width, config.prototypes, attributes, config.backbone)
