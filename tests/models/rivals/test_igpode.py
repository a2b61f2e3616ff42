"""I-GPODE: state-space motion made of one own and one pairwise Gaussian-process function."""

import pytest
import torch
from tests.small_systems import arrays, edges, times
from torch.testing import assert_close

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch, Windows
from pgode.data.trajectories import Trajectories

# The state of the small systems is [qx, qy, vx, vy, mass].
ORDER = [1, 3, 0, 4, 2]


@pytest.fixture
def model(make):
    made = make("i-gpode", points=20)
    torch.manual_seed(0)
    with torch.no_grad():
        for process in (made.alone, made.pair):
            process.mean.normal_(std=0.1)
    return made


@pytest.fixture
def state(batch):
    torch.manual_seed(1)
    return torch.rand(batch.objects, 5).double() * 2 - 1


def slope(model, batch: Batch, state: torch.Tensor, latent: torch.Tensor) -> torch.Tensor:
    derivative = model.derivative(batch, latent, model.functions(draw=False))
    with torch.no_grad():
        return derivative(torch.zeros(batch.objects), state)


def without_velocities(features: tuple[str, ...], roles: tuple[str, ...]):
    data = Trajectories.build(
        arrays()["states"][..., : len(features)],
        times(),
        edges=edges(),
        features=features,
        roles=roles,
        present=arrays()["present"],
    )
    normaliser = Normaliser.fit(data)
    return normaliser, next(Windows(data, normaliser, 4, 2).batches(5)).to(dtype=torch.float64)


def test_acceleration_is_the_own_function_and_the_sum_of_the_pair_function(model, batch, state):
    latent = torch.randn(batch.objects, 4).double()
    alone, pair = model.functions(draw=False)
    graph = batch.graph
    with torch.no_grad():
        expected = alone(torch.cat([state, latent], dim=-1))
        for row, column, attributes in zip(
            graph.receivers, graph.senders, graph.attributes, strict=True
        ):
            i, j = state[row], state[column]
            inputs = torch.cat([i[:2] - j[:2], i[2:], j[2:], attributes.asinh(), latent[row]])
            expected[row] += pair(inputs[None])[0]
    assert_close(slope(model, batch, state, latent)[:, 2:], expected)


def test_position_changes_by_the_velocity_in_data_units(model, batch, state, normaliser):
    per_time = slope(model, batch, state, torch.zeros(batch.objects, 4).double())[:, :2]
    velocity = state[:, 2:4] * normaliser.scale[0] + normaliser.centre[0]
    # One frame is 0.1 of the solver's time; the two factors are stored in float32.
    expected = velocity * normaliser.frame_duration / normaliser.scale[1]
    assert_close(per_time * 0.1, expected, rtol=1e-6, atol=1e-6)


def test_interaction_depends_on_positions_by_their_differences_only(model, batch, state):
    latent = torch.zeros(batch.objects, 4).double()
    with torch.no_grad():
        model.alone.mean.zero_()
    moved = state + torch.tensor([3.0, -2.0, 0.0, 0.0, 0.0]).double()
    assert_close(slope(model, batch, moved, latent), slope(model, batch, state, latent))


def test_without_functions_and_corrections_objects_keep_their_velocity(model, make, batch):
    with torch.no_grad():
        for parameter in (model.alone.mean, model.pair.mean, *model.start.mean.second.parameters()):
            parameter.zero_()
        mean = model.forecast(batch, batch.target_times).mean
    expected = make("constant-velocity").forecast(batch, batch.target_times).mean
    # In both, a position older than its velocity is extrapolated from its own time.
    assert_close(mean, expected, rtol=1e-6, atol=1e-6)


def test_samples_differ_by_their_functions_and_agree_when_nothing_is_uncertain(model, batch):
    with torch.no_grad():
        model.start.log_variance.second.bias.fill_(-60.0)
        by_functions = model.forecast(batch, batch.target_times, samples=2)
        for process in (model.alone, model.pair):
            process.log_deviation.fill_(-60.0)
        certain = model.forecast(batch, batch.target_times, samples=2)
    assert (by_functions.samples[0] - by_functions.samples[1]).abs().max() > 1e-3
    assert_close(certain.samples, certain.mean.expand(2, *certain.mean.shape))


def test_loss_holds_the_divergence_of_both_functions_in_units_of_the_squared_error(make, batch):
    model = make("i-gpode", objective={"sigma": 0.1, "kl_weight": 3.0})
    terms = model.loss(batch).terms
    divergence = model.alone.divergence() + model.pair.divergence()
    values = batch.targets_observed.sum()
    assert_close(terms["functions"], 2 * 0.1**2 * 3.0 * divergence / values)


@pytest.mark.parametrize(
    "roles, relative", [(("value", "value"), 2), (("value", "position"), 1)], ids=["none", "one"]
)
def test_without_velocities_every_feature_follows_a_first_order_equation(make, roles, relative):
    normaliser, batch = without_velocities(("a", "b"), roles)
    model = make("i-gpode", like=normaliser)
    assert model.relative == relative
    assert model.alone.mean.shape[1] == 2
    with torch.no_grad():
        model.alone.mean.normal_(std=0.1)
        state = model.last_state(batch)
        latent = torch.zeros(batch.objects, 4).double()
        rate = slope(model, batch, state, latent)
        for parameter in model.start.mean.second.parameters():
            parameter.zero_()
        near = model.forecast(batch, torch.full((5, 1), 1e-4).double()).mean[:, 0]
    place = torch.tensor(model.order)
    assert_close((near[:, place] - state) / 1e-5, rate, atol=1e-4, rtol=1e-4)
