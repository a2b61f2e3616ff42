"""Initial weights that are smaller than usual."""

import torch
from torch.testing import assert_close

from pgode.nn.initialisation import scaled


def test_all_parameters_of_the_module_are_scaled_in_place():
    layer = torch.nn.Linear(3, 2)
    weight, bias = layer.weight.detach().clone(), layer.bias.detach().clone()
    assert scaled(layer, 0.1) is layer
    assert_close(layer.weight.detach(), 0.1 * weight)
    assert_close(layer.bias.detach(), 0.1 * bias)
    assert layer.weight.requires_grad
