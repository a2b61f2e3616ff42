"""Contexts that were told how strong the interactions are (not in the paper)."""

import torch
from torch import Tensor, nn

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch
from pgode.models.pgode.config import PGODEConfig
from pgode.models.pgode.gates import Contexts
from pgode.nn.geometry import Geometry
from pgode.nn.strength import Strength


class Measure(nn.Module):
    """Adds a map of the measured strengths to both contexts.

    The encoders alone hardly find the strength of a system's forces: it is a quotient of what
    moved an object and what its neighbours would have made it do, and without it the error of a
    forecast grew with the distance of the strength from the usual one. The system context is told
    that of the system alone, so that it says nothing of single objects (w/o O stays without).
    """

    def __init__(self, config: PGODEConfig, normaliser: Normaliser) -> None:
        super().__init__()
        self.geometry = Geometry(normaliser, "model.strength")
        self.strength = Strength(config.width, len(normaliser.edge_attributes))
        inputs = self.strength.outputs
        self.to_object = nn.Linear(2 * inputs, config.width, bias=False)
        self.to_system = nn.Linear(inputs, config.width, bias=False)

    def forward(self, contexts: Contexts, batch: Batch) -> Contexts:
        """The contexts with what was measured added."""
        # One frame alone shows no change; before it a position moves with its velocity.
        motion = self.geometry.observe(batch, max(2, batch.states.shape[1]))
        own, system = self.strength(motion, batch)
        # Every object of a system holds the same values for it: one of them is enough.
        first = torch.searchsorted(batch.system, torch.arange(batch.systems, device=own.device))
        individual: Tensor = contexts.object + self.to_object(torch.cat([own, system], dim=1))
        return Contexts(individual, contexts.system + self.to_system(system[first]))
