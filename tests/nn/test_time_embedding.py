"""The sinusoidal time embedding below Eq. 3."""

import math

import pytest
import torch
from torch.testing import assert_close

from pgode.nn.time_embedding import time_embedding


@pytest.mark.parametrize("width", [1, 2, 6, 7])
def test_values_are_those_of_the_formula(width):
    times = torch.tensor([0.0, -1.0, 2.5], dtype=torch.float64)
    expected = [
        [
            (math.sin if c % 2 == 0 else math.cos)(t / 10000 ** ((c - c % 2) / width))
            for c in range(width)
        ]
        for t in times.tolist()
    ]
    assert_close(time_embedding(times, width), torch.tensor(expected, dtype=torch.float64))


def test_embedding_keeps_the_precision_of_the_times():
    assert time_embedding(torch.zeros(2), 4).dtype == torch.float32
    assert time_embedding(torch.zeros(2, dtype=torch.float64), 4).dtype == torch.float64
