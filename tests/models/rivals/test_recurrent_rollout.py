"""The recurrent rollout against its equations, frame by frame."""

from dataclasses import replace

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from pgode.batches.windows import Batch
from pgode.models.rivals.recurrent import RecurrentRollout

WIDTH, FEATURES = 6, 5


@pytest.fixture(params=["gru", "lstm"])
def kind(request) -> str:
    return request.param


def rollout_of(kind: str, layers: int = 1) -> RecurrentRollout:
    return RecurrentRollout(FEATURES, WIDTH, kind=kind, layers=layers).double()


def start_of(batch: Batch) -> torch.Tensor:
    return torch.randn(batch.objects, FEATURES).double()


def literal(made: RecurrentRollout, batch: Batch, start: torch.Tensor, frames: int) -> torch.Tensor:
    """Single cells with the decoder's weights, layer after layer and frame after frame."""
    _, state = made.encoder.summary_and_state(batch)
    is_lstm = isinstance(made.decoder, nn.LSTM)
    layers = made.decoder.num_layers
    states = [tuple(part[n] for part in state) if is_lstm else state[n] for n in range(layers)]
    cells = []
    for n in range(layers):
        size = FEATURES if n == 0 else WIDTH
        cell = (nn.LSTMCell if is_lstm else nn.GRUCell)(size, WIDTH).double()
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        cell.load_state_dict({name: getattr(made.decoder, f"{name}_l{n}") for name in names})
        cells.append(cell)
    x = [start]
    for _ in range(frames):
        into = x[-1]
        for n, cell in enumerate(cells):
            states[n] = cell(into, states[n])
            into = states[n][0] if is_lstm else states[n]
        x.append(x[-1] + into @ made.change.weight.T + made.change.bias)
    return torch.stack(x, dim=1)


@pytest.mark.parametrize("layers", [1, 2])
def test_decoder_goes_on_from_the_encoders_state_and_is_fed_its_own_output(batch, kind, layers):
    made, start = rollout_of(kind, layers), start_of(batch)
    assert_close(made(batch, start, 4), literal(made, batch, start, 4))


def test_rollout_begins_with_the_start(batch, kind):
    start = start_of(batch)
    assert torch.equal(rollout_of(kind)(batch, start, 2)[:, 0], start)


def test_longer_rollout_begins_with_the_shorter(batch, kind):
    made, start = rollout_of(kind), start_of(batch)
    assert_close(made(batch, start, 7)[:, :4], made(batch, start, 3))


def test_without_changes_the_start_stays(batch, kind):
    made, start = rollout_of(kind), start_of(batch)
    for parameter in made.change.parameters():
        nn.init.zeros_(parameter)
    assert_close(made(batch, start, 3), start.unsqueeze(1).expand(-1, 4, -1))


def test_untrained_rollout_stays_near_its_start(batch, kind):
    start = start_of(batch)
    moved = rollout_of(kind)(batch, start, 1)[:, 1] - start
    bound = 0.1 * (WIDTH + 1) / WIDTH**0.5  # |h| < 1, and weights begin below 0.1 / sqrt(width)
    assert 0 < moved.abs().max() < bound


def test_last_frame_passes_gradients_to_the_first_observation(batch, kind):
    states = batch.states.clone().requires_grad_()
    start = start_of(batch)
    rollout_of(kind)(replace(batch, states=states), start, 3)[:, -1].sum().backward()
    reached = (states.grad != 0)[:, 0]
    assert torch.equal(reached, batch.observed[:, 0])
