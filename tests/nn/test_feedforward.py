"""The two-layer networks."""

import torch
from torch.testing import assert_close

from pgode.nn.feedforward import FeedForward


def test_network_is_two_linear_maps_with_a_silu_between():
    network = FeedForward(3, 5, 2).double()
    x = torch.randn(4, 6, 3, dtype=torch.float64)
    first = x @ network.first.weight.T + network.first.bias
    hidden = first / (1 + torch.exp(-first))
    assert_close(network(x), hidden @ network.second.weight.T + network.second.bias)
