"""Initial weights that are smaller than usual."""

from typing import TypeVar

import torch
from torch import nn

Module = TypeVar("Module", bound=nn.Module)


def scaled(module: Module, factor: float) -> Module:
    """The module with all its parameters multiplied by `factor`, in place.

    A last layer that starts small makes an untrained model forecast something simple, such as the
    last state or constant velocity, instead of a random walk.
    """
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.mul_(factor)
    return module
