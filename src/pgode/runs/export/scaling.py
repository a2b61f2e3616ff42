"""The normaliser in torch: data units to the scale of a model and back, inside the program."""

from collections.abc import Callable, Mapping

import torch
from jaxtyping import Float
from torch import Tensor, nn

from pgode.batches.normaliser import Normaliser
from pgode.data.labels.transforms import LARGEST

Function = Callable[[Tensor], Tensor]

FORWARD: Mapping[str, Function] = {"log1p": torch.log1p, "log": torch.log, "sqrt": torch.sqrt}
BACKWARD: Mapping[str, Function] = {
    "log1p": lambda y: torch.expm1(y.clamp(max=LARGEST)),
    "log": lambda y: torch.exp(y.clamp(max=LARGEST)),
    "sqrt": lambda y: y.clamp(min=0).square(),
}
"""Those of `pgode.data.labels.transforms`, by name."""


class Scaling(nn.Module):
    """Scales of states, constants, inputs and edge attributes, in float64."""

    centre: Tensor
    scale: Tensor
    edge_centre: Tensor
    edge_scale: Tensor
    constant_mean: Tensor
    constant_scale: Tensor
    input_mean: Tensor
    input_scale: Tensor

    def __init__(self, normaliser: Normaliser) -> None:
        super().__init__()
        self.transforms, self.frame_duration = normaliser.transforms, normaliser.frame_duration
        attributes = len(normaliser.edge_attributes)
        numbers = {
            "centre": normaliser.centre,
            "scale": normaliser.scale,
            "edge_centre": normaliser.edge_centre or [0.0] * attributes,
            "edge_scale": normaliser.edge_scale or [1.0] * attributes,
            "constant_mean": normaliser.constant_mean,
            "constant_scale": normaliser.constant_scale,
            "input_mean": normaliser.input_mean,
            "input_scale": normaliser.input_scale,
        }
        for name, values in numbers.items():
            self.register_buffer(name, torch.tensor(values, dtype=torch.float64))

    def states(self, raw: Float[Tensor, "*batch feature"]) -> Float[Tensor, "*batch feature"]:
        """Data units to [-1, 1]; NaN stays NaN."""
        return (self._each(FORWARD, raw) - self.centre) / self.scale

    def raw(self, states: Float[Tensor, "*batch feature"]) -> Float[Tensor, "*batch feature"]:
        """[-1, 1] back to data units."""
        return self._each(BACKWARD, states * self.scale + self.centre)

    def clock(
        self, times: Float[Tensor, "systems condition"]
    ) -> Float[Tensor, "systems condition"]:
        """Times in frames, the last of them 0."""
        return (times - times[:, -1:]) / self.frame_duration

    def attributes(self, raw: Float[Tensor, "edges attribute"]) -> Float[Tensor, "edges attribute"]:
        """Edge attributes with mean 0 and deviation 1, except the weight."""
        return (raw - self.edge_centre) / self.edge_scale

    def constants(self, raw: Float[Tensor, "*batch constant"]) -> Float[Tensor, "*batch constant"]:
        """Constants with mean 0 and deviation 1; 0 if unknown."""
        return torch.nan_to_num((raw - self.constant_mean) / self.constant_scale)

    def inputs(self, raw: Float[Tensor, "*batch input"]) -> Float[Tensor, "*batch input"]:
        """Known inputs with mean 0 and deviation 1."""
        return torch.nan_to_num((raw - self.input_mean) / self.input_scale)

    def _each(self, functions: Mapping[str, Function], values: Tensor) -> Tensor:
        if not any(self.transforms):
            return values
        columns = zip(values.unbind(-1), self.transforms, strict=True)
        changed = [functions[name](column) if name else column for column, name in columns]
        return torch.stack(changed, dim=-1)
