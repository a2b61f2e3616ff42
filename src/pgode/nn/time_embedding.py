"""Sinusoidal embedding of observation times (paper, below Eq. 3)."""

import torch
from jaxtyping import Float
from torch import Tensor


def time_embedding(times: Float[Tensor, " nodes"], width: int) -> Float[Tensor, "nodes width"]:
    """TE(t)[2i] = sin(t / 10000^(2i/d)), TE(t)[2i+1] = cos(t / 10000^(2i/d)); t counts frames."""
    even = torch.arange(0, width, 2, device=times.device, dtype=times.dtype)
    angle = times[:, None] * torch.pow(10000.0, -even / width)
    pairs = torch.stack([angle.sin(), angle.cos()], dim=-1)
    return pairs.flatten(1)[:, :width]
