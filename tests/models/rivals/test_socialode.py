"""Social ODE: own motion, and influence by distance, intensity and aggressiveness."""

from dataclasses import replace

import pytest
import torch
from tests.small_systems import arrays, edges, times
from torch.testing import assert_close

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data.trajectories import Trajectories
from pgode.nn.frames import last_observed

Q = [1, 3]


@pytest.fixture(scope="module")
def model(make):
    return make("social-ode")


@pytest.fixture
def z(batch):
    torch.manual_seed(0)
    return torch.randn(batch.objects, 8).double()


def slope(model, batch, z, aggressiveness):
    with torch.no_grad():
        anchor = last_observed(batch)[0]
        return model.derivative(batch, anchor, aggressiveness)(torch.zeros(batch.objects), z)


def test_derivative_is_own_motion_and_the_influence_of_each_neighbour(model, batch, z):
    aggressiveness = torch.rand(batch.objects, 1).double()
    part, relation, graph = model.influence, model.influence.relation, batch.graph
    with torch.no_grad():
        positions = (last_observed(batch)[0] + model.decoder(z))[:, Q]
        expected = model.own_motion(z)
        for row, column, attributes in zip(
            graph.receivers, graph.senders, graph.attributes, strict=True
        ):
            ends = relation.receive(z[row]) + relation.send(z[column])
            message = torch.relu(ends + relation.edge(attributes))
            square = (positions[row] - positions[column]).square().sum()
            closeness = 1 / (1 + square / torch.exp(2 * part.log_range))
            weight = torch.sigmoid(part.intensity(message)) * closeness
            expected[row] += (1 - aggressiveness[row]) * part.out(weight * message)
    assert_close(slope(model, batch, z, aggressiveness), expected)


def test_a_fully_aggressive_object_follows_its_own_motion_alone(model, batch, z):
    ones = torch.ones(batch.objects, 1).double()
    assert_close(slope(model, batch, z, ones), model.own_motion(z).detach())


def test_closeness_is_one_at_the_same_place_and_a_half_at_the_learned_range(make):
    influence = make("social-ode").influence
    with torch.no_grad():
        influence.log_range.fill_(0.7)
        length = influence.log_range.exp()
        unit = torch.tensor([[0.0, 0.0], [3.0, 4.0], [-4.0, 3.0]]).double() * length / 5
        closeness = influence.closeness(torch.cat([unit, 3 * unit[1:2]]))
    assert_close(closeness[:, 0], torch.tensor([1.0, 0.5, 0.5, 0.1]).double())


def test_aggressiveness_is_inferred_from_the_object_s_own_history(model, batch):
    with torch.no_grad():
        before = model.encode(batch).contexts["aggressiveness"]
        changed = replace(batch, states=batch.states.clone())
        changed.states[0] = -changed.states[0]
        after = model.encode(changed).contexts["aggressiveness"]
    assert ((before > 0) & (before < 1)).all()
    assert before[0] != after[0]
    assert_close(after[1:], before[1:], atol=0, rtol=0)


def test_a_neighbour_s_history_affects_those_that_its_edges_reach(model, batch):
    graph = batch.graph
    sender, reached = graph.senders[0].long(), graph.receivers[0]
    assert batch.observed[sender].any()
    changed = replace(batch, states=batch.states.clone())
    changed.states[sender] += 0.5
    with torch.no_grad():
        before = model.forecast(batch, batch.target_times).mean
        after = model.forecast(changed, batch.target_times).mean
    other = batch.system != batch.system[sender]
    # The decoder starts with small weights, so the effect is small too.
    assert (before[reached] - after[reached]).abs().max() > 1e-8
    assert_close(after[other], before[other], atol=1e-12, rtol=0)


def test_forecast_starts_where_an_object_was_last_seen(model, batch):
    with torch.no_grad():
        change = model.decoder(model.encode(batch).posterior.mean)
        forecast = model.forecast(batch, torch.zeros(5, 1).double(), samples=2)
    seen = batch.observed[:, -1]
    for start in (forecast.mean[:, 0], *forecast.samples[:, :, 0]):
        assert_close(start[seen], batch.states[:, -1][seen])
    # A feature not observed at the end of the condition has changed since its last observation.
    older = last_observed(batch)[0] + change
    assert_close(forecast.mean[:, 0][~seen], older[~seen])


def test_without_named_positions_distance_is_over_all_features(make):
    data = Trajectories.build(
        arrays()["states"][..., :2],
        times(),
        edges=edges(),
        features=("cases", "deaths"),
        present=arrays()["present"],
    )
    normaliser = Normaliser.fit(data)
    model = make("social-ode", like=normaliser)
    batch = next(Windows(data, normaliser, 4, 2).batches(5)).to(dtype=torch.float64)
    assert model.places == [0, 1]
    assert model.forecast(batch, batch.target_times).mean.shape == batch.targets.shape
