"""Force laws with message prototypes: fast steps by the laws, slow kicks by the networks."""

from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch, Windows
from pgode.models.flow import Flow
from pgode.models.forecaster import Progress
from pgode.models.latent import Encoded
from pgode.models.pgode.config import PGODEConfig
from pgode.models.pgode.gates import contexts_of
from pgode.models.pgode.laws.model import ForceLaws
from pgode.models.pgode.laws.situation import Situation
from pgode.models.pgode.model import PGODE
from pgode.models.pgode.slow.kicks import Fast, Watch, kicked
from pgode.models.pgode.slow.unexplained import frames
from pgode.models.pgode.state import Kinematic
from pgode.ode.intervals import Intervals


@dataclass(frozen=True)
class EncodedWithLaws(Encoded):
    """An encoding, what the laws infer from the same condition, and what its motions met."""

    situation: Situation = field(kw_only=True)
    watch: Watch = field(kw_only=True)


class LawsWithMessages(PGODE):
    """PGODE with the state [q, v, z] whose fast part is the motion under force laws.

    Laws act in fine steps. The message prototypes (Eq. 9) are evaluated once per frame and change
    velocities by half kicks before and after it: they take what is no pair force, and start at
    zero. Constants and known inputs are no part of laws, nor of the networks beside them. `prepare`
    finds the laws, which stay as they are while epochs train the networks.
    """

    known_inputs = "none"
    needs_doubles = True
    state: Kinematic

    def __init__(self, config: PGODEConfig, normaliser: Normaliser) -> None:
        laws = ForceLaws(config, normaliser)  # Refuses data without positions and velocities.
        super().__init__(config, normaliser)
        self.laws = laws
        nn.init.zeros_(self.state.acceleration.weight)

    def encode(self, batch: Batch) -> EncodedWithLaws:
        """Contexts and posterior, and the laws' own inference from the same condition."""
        encoded = super().encode(batch)
        with torch.no_grad():
            now = self.laws.situation(batch)
        watch = Watch(np.ones(batch.systems), np.full(batch.systems, np.inf))
        return EncodedWithLaws(encoded.posterior, encoded.contexts, situation=now, watch=watch)

    def rollout(
        self,
        batch: Batch,
        encoded: Encoded,
        initial: Float[Tensor, "objects latent"],
        times: Float[Tensor, "systems outputs"],
    ) -> tuple[Float[Tensor, "objects outputs features"], int]:
        """Features at `times`, and how often the message prototypes were evaluated."""
        assert isinstance(encoded, EncodedWithLaws)
        contexts, solver = contexts_of(encoded), self.config.solver
        mixture = self.dynamics.bind(self.gate(contexts, batch), contexts, batch)
        intervals = Intervals.between(times.new_zeros(len(times)), times, batch.system_ids)
        step = solver.step / solver.frame_time
        pieces = intervals.steps(step)
        states = kicked(
            Fast(self.laws, batch, encoded.situation, encoded.watch),
            self.state,
            mixture,
            initial,
            [
                (length / count, count)
                for length, count in zip(intervals.lengths, pieces, strict=True)
            ],
            recompute=solver.recompute,
        )
        return self.state.decode(states, batch, times).transpose(0, 1), sum(pieces) + 1

    def prepare(self, training: Windows, seed: int, progress: Progress) -> bool:
        """Find the laws; all else is left to the epochs.

        Laws that do not explain everything may be wrong where distances were hardly seen, and kicks
        lead there: no fine step changes a velocity by more than a frame of the training data did.
        Laws that it has already, of another run, stay: the networks were trained beside them.
        """
        if self.laws.has_laws:
            return False
        self.laws.prepare(training, seed, progress)
        seen = frames(self.laws, training, seed)
        largest = max(float(np.abs(each.changes[:, :, 0]).max()) for each in seen)
        limit = min(self.laws.space.limit, largest * self.laws.steps.fewest)
        self.laws.keep_scheme(self.laws.steps, limit)
        return True

    def findings(self) -> tuple[str, ...]:
        """What the laws are, and that they are not alone."""
        return (
            *self.laws.findings(),
            f"messages: {self.prototypes} message prototypes change velocities once per frame, for "
            f"what is no pair force",
        )

    def inferred(self, batch: Batch, encoded: Encoded) -> dict[str, Tensor]:
        """The gate of the laws, that of the message prototypes, contexts, strengths and steps."""
        assert isinstance(encoded, EncodedWithLaws)
        own = super().inferred(batch, encoded)
        now, watch = encoded.situation, encoded.watch
        gate = own["gate"].new_zeros(batch.objects, self.prototypes)
        gate[:, : self.laws.used] = torch.from_numpy(now.weights).to(gate)
        rows = {
            "system_strength": now.forces.strength[0].numpy(),
            "system_nearest": watch.closest * self.laws.units.length,
            "system_substeps": watch.substeps,
        }
        named = {name: torch.from_numpy(values)[:, None].to(gate) for name, values in rows.items()}
        return {**own, "gate": gate, "message_gate": own["gate"], **named}

    def flow(self, batch: Batch) -> Flow | None:
        """None: kicks and fast steps are no single initial value problem."""
        return None
