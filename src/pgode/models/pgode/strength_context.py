"""Adds the estimated interaction strength to both contexts (not in the paper)."""

import torch
from torch import Tensor, nn

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch
from pgode.models.pgode.gates import Contexts
from pgode.nn.geometry import Geometry
from pgode.nn.strength import Strength


class StrengthContext(nn.Module):
    """Adds a linear map of the estimated strengths to both contexts.

    The encoders alone hardly recover the strength of a system's forces: it is the ratio of the
    observed accelerations to those that the neighbours would cause at unit strength. Without it
    the error of a forecast grows with the distance of the strength from its mean over the training
    systems. The system context gets the strength of the system only, so that it holds nothing
    about single objects, which the variant w/o O must not see.
    """

    def __init__(self, width: int, normaliser: Normaliser) -> None:
        super().__init__()
        self.geometry = Geometry(normaliser, "model.encoder.strength_context")
        self.strength = Strength(width, len(normaliser.edge_attributes))
        inputs = self.strength.outputs
        self.to_object = nn.Linear(2 * inputs, width, bias=False)
        self.to_system = nn.Linear(inputs, width, bias=False)

    def forward(self, contexts: Contexts, batch: Batch) -> Contexts:
        """The contexts with the strengths added."""
        # One frame shows no change: a second is extrapolated with the velocity.
        motion = self.geometry.observe(batch, max(2, batch.states.shape[1]))
        own, system = self.strength(motion, batch)
        # The system's values are the same for all its objects: take those of the first.
        first = torch.searchsorted(batch.system, torch.arange(batch.systems, device=own.device))
        individual: Tensor = contexts.object + self.to_object(torch.cat([own, system], dim=1))
        return Contexts(individual, contexts.system + self.to_system(system[first]))
