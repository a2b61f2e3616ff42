"""Graphs by distance that follow the forecast."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.data.test_molecules import ATOMS, molecule
from torch.testing import assert_close

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data.molecules import Preparation, prepare
from pgode.models import build_model, model_config
from pgode.models.pgode.rebuild import GraphProblem, GraphRebuilder
from pgode.nn.exogenous import Driven, Exogenous
from pgode.ode import SolverConfig
from pgode.runtime.errors import InputError

CONDITION, HORIZON, UPDATE = 4, 7, 3


@pytest.fixture(scope="module")
def data():
    stream = np.random.default_rng(2)
    start = stream.normal(0, 0.25, (3, 1, len(ATOMS), 3))
    moves = start + np.cumsum(stream.normal(0, 0.04, (3, 12, len(ATOMS), 3)), 1)
    clock = np.arange(12) * 0.2
    return prepare(moves, clock, molecule(), Preparation(cutoff=0.45, update=UPDATE), {})


@pytest.fixture(scope="module")
def normaliser(data):
    return Normaliser.fit(data)


@pytest.fixture(scope="module")
def batch(data, normaliser):
    windows = Windows(data, normaliser, CONDITION, HORIZON)
    return windows.batch(np.arange(3), np.zeros(3, int)).to(dtype=torch.float64)


def model(normaliser, **settings):
    torch.manual_seed(0)
    config = model_config("pgode", {"width": 8, "dynamics": {"prototypes": 3}, **settings})
    return build_model("pgode", config, normaliser).double()


def test_looking_up_the_observed_positions_gives_the_datas_own_graph(data, normaliser):
    windows = Windows(data, normaliser, CONDITION, HORIZON)
    starts = np.full(3, 2 * UPDATE - CONDITION + 1)  # so that a graph begins at the last frame
    batch = windows.batch(np.arange(3), starts).to(dtype=torch.float64)
    made = GraphRebuilder(normaliser).graph(batch.states[:, -1], batch)
    assert_close(made.offsets, batch.graph.offsets)
    assert_close(made.senders, batch.graph.senders)
    assert_close(made.attributes, batch.graph.attributes, rtol=1e-5, atol=1e-5)


def test_each_output_comes_from_the_piece_its_time_lies_in(normaliser, batch):
    """A state that only counts time: outputs must not notice the cuts."""
    rebuild, graphs = GraphRebuilder(normaliser), []

    def on_graph(given):
        graphs.append(given.graph)
        return lambda t, state: torch.ones_like(state)

    solver = SolverConfig(method="euler", frame_time=1.0, step=1.0)
    zero = torch.zeros(batch.objects, 1).double()
    problem = GraphProblem(
        on_graph(batch), zero, lambda states, times: batch.states[:, 0].unsqueeze(0), on_graph
    )
    graphs.clear()
    uneven = torch.tensor([[0.0, 1, 3, 3.5, 8], [0.5, 2, 2.5, 7, 7.5], [3, 6, 6, 6.1, 9]]).double()
    solution = rebuild.solve(problem, batch, uneven, solver)
    assert_close(solution.states[:, :, 0], uneven.T[:, batch.system])
    assert len(graphs) == 3 and graphs[0] is batch.graph and graphs[1] is not batch.graph


def test_inputs_keep_their_times_over_the_cuts(normaliser, batch):
    """A state that adds up an input that is 1 at every frame but the last, where it is 100."""
    rebuild = GraphRebuilder(normaliser)
    steps = batch.input_times.shape[1]
    inputs = torch.ones(batch.objects, steps, 1).double()
    inputs[:, -1] = 100
    told = replace(batch, inputs=inputs)

    def on_graph(given):
        return Driven(Exogenous(0, 1), lambda known: lambda t, state: known)

    solver = SolverConfig(method="rk4", frame_time=1.0, step=1.0)
    zero = torch.zeros(batch.objects, 1).double()
    features = batch.states[:, :1].transpose(0, 1)
    problem = GraphProblem(on_graph(told), zero, lambda states, times: features, on_graph)
    times = torch.arange(1.0, HORIZON + 1).double().expand(3, -1)
    expected = torch.tensor([*range(1, HORIZON), HORIZON - 1 + 100]).double()
    solution = rebuild.solve(problem, told, times, solver)
    assert_close(solution.states[:, 0, 0], expected)


def test_before_the_first_look_up_nothing_differs_and_after_it_something_does(normaliser, batch):
    times = torch.arange(1.0, HORIZON + 1).double().expand(3, -1)
    with torch.no_grad():
        held = model(normaliser).forecast(batch, times).mean
        rebuilt = model(normaliser, rebuild_graph=True).forecast(batch, times).mean
    assert_close(held[:, :UPDATE], rebuilt[:, :UPDATE])
    # Untrained changes are small, but float64 tells them from none.
    assert (held[:, UPDATE:] - rebuilt[:, UPDATE:]).abs().max() > 1e-9


def test_gradients_reach_every_parameter_through_the_pieces(normaliser, batch):
    trained = model(normaliser, rebuild_graph=True)
    trained.loss(batch).total.backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in trained.parameters())


def test_graphs_that_do_not_follow_from_distances_cannot_be_rebuilt(normaliser):
    plain = replace(normaliser, graph_rule=None)
    with pytest.raises(InputError, match=r"model\.rebuild_graph needs graphs defined by distance"):
        model(plain, rebuild_graph=True)
