"""The recurrent encoder against the equations of its cells, one object and frame at a time."""

from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from torch.testing import assert_close

from pgode.batches.windows import Batch
from pgode.nn.recurrent import RecurrentEncoder

WIDTH = 6


def encoder(kind: str = "gru", *, layers: int = 1, backwards: bool = False) -> RecurrentEncoder:
    made = RecurrentEncoder(5, WIDTH, kind=kind, layers=layers, backwards=backwards)
    return made.double()


def observations(batch: Batch, i: int) -> list[torch.Tensor]:
    """Values, mask and time until the next frame of object i, frame by frame."""
    times = batch.times[batch.system[i]].tolist()
    gaps = [*(later - earlier for earlier, later in pairwise(times)), 0.0]
    known = batch.observed[i].double()
    return [
        torch.cat([batch.states[i, t] * known[t], known[t], torch.tensor([gaps[t]]).double()])
        for t in range(len(times))
    ]


def gru(cells: torch.nn.GRU, sequence: list[torch.Tensor]) -> torch.Tensor:
    h = torch.zeros(WIDTH).double()
    for x in sequence:
        into = cells.weight_ih_l0 @ x + cells.bias_ih_l0
        back = cells.weight_hh_l0 @ h + cells.bias_hh_l0
        reset = torch.sigmoid(into[:WIDTH] + back[:WIDTH])
        keep = torch.sigmoid(into[WIDTH : 2 * WIDTH] + back[WIDTH : 2 * WIDTH])
        new = torch.tanh(into[2 * WIDTH :] + reset * back[2 * WIDTH :])
        h = (1 - keep) * new + keep * h
    return h


def lstm(cells: torch.nn.LSTM, sequence: list[torch.Tensor]) -> torch.Tensor:
    h, c = torch.zeros(2, WIDTH).double()
    for x in sequence:
        both = cells.weight_ih_l0 @ x + cells.bias_ih_l0 + cells.weight_hh_l0 @ h + cells.bias_hh_l0
        write, forget, candidate, show = both.split(WIDTH)
        c = torch.sigmoid(forget) * c + torch.sigmoid(write) * torch.tanh(candidate)
        h = torch.sigmoid(show) * torch.tanh(c)
    return h


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("kind, literal", [("gru", gru), ("lstm", lstm)])
def test_summary_is_the_state_after_the_last_frame_read(batch, kind, literal, backwards):
    made = encoder(kind, backwards=backwards)
    summary = made(batch)
    for i in range(batch.objects):
        sequence = observations(batch, i)
        expected = literal(made.cells, sequence[::-1] if backwards else sequence)
        assert_close(summary[i], expected)


@pytest.mark.parametrize("kind", ["gru", "lstm"])
def test_summary_is_the_top_layer_of_the_state(batch, kind):
    summary, state = encoder(kind, layers=2).summary_and_state(batch)
    hidden = state[0] if kind == "lstm" else state
    assert hidden.shape == (2, batch.objects, WIDTH)
    assert torch.equal(hidden[1], summary)


def test_values_that_were_not_observed_have_no_influence(batch):
    made = encoder()
    spoilt = torch.where(batch.observed, batch.states, torch.full_like(batch.states, 1e3))
    assert torch.equal(made(replace(batch, states=spoilt)), made(batch))


def test_zero_that_was_observed_is_not_a_value_that_was_missing(batch):
    made = encoder()
    states, observed = batch.states.clone(), batch.observed.clone()
    states[0, 1, 3], observed[0, 1, 3] = 0.0, True
    seen = made(replace(batch, states=states, observed=observed))
    observed[0, 1, 3] = False
    missing = made(replace(batch, states=states, observed=observed))
    assert not torch.allclose(seen[0], missing[0])
    assert torch.equal(seen[1:], missing[1:])


def test_longer_gap_in_time_is_noticed_by_that_system_alone(batch):
    made = encoder()
    times = batch.times.clone()
    times[2, 0] -= 1
    changed = (made(replace(batch, times=times)) != made(batch)).any(1)
    assert torch.equal(changed, batch.system == 2)


def test_objects_that_were_never_seen_differ_only_by_their_clock(batch):
    nothing = replace(batch, observed=torch.zeros_like(batch.observed))
    summary = encoder()(nothing)
    assert_close(summary[:6], summary[:1].expand(6, -1))  # systems 0 and 1 have one clock
    assert not torch.allclose(summary[0], summary[batch.system == 2][0])
