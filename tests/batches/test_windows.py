"""Batches: the input of a model, from data with every difficulty at once."""

import numpy as np
import pytest
import torch
from tests.small_systems import CONDITION, FRAMES, HORIZON, OBJECTS, arrays, uneven
from torch.testing import assert_close

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch, Windows
from pgode.data.trajectories import Trajectories
from pgode.runtime.errors import InputError


@pytest.fixture
def data() -> Trajectories:
    return uneven()


@pytest.fixture
def windows(data) -> Windows:
    return Windows(data, Normaliser.fit(data.split_of("train")), CONDITION, HORIZON)


@pytest.fixture
def batch(windows) -> Batch:
    return next(windows.batches(5))


def rows(system: int) -> slice:
    """The objects of a system in a batch of all systems."""
    first = OBJECTS[:system].sum()
    return slice(first, first + OBJECTS[system])


def raw(windows: Windows, scaled: torch.Tensor) -> np.ndarray:
    return windows.normaliser.raw(scaled.numpy())


def test_objects_of_all_systems_share_one_axis_without_padding(batch):
    assert batch.objects == OBJECTS.sum()
    assert batch.systems == 5
    assert batch.system.tolist() == np.repeat(np.arange(5), OBJECTS).tolist()
    assert batch.system_ids.tolist() == [0, 1, 2, 3, 4]
    assert batch.states.shape == (14, CONDITION, 5)
    assert batch.targets.shape == (14, HORIZON, 5)


@pytest.mark.parametrize("system", range(5))
def test_condition_and_targets_are_the_data_in_scaled_units(data, windows, batch, system):
    here, count = rows(system), OBJECTS[system]
    seen = batch.observed[here].numpy()
    np.testing.assert_array_equal(seen, data.observed[system, :count, :CONDITION])
    np.testing.assert_allclose(
        raw(windows, batch.states[here])[seen],
        data.states[system, :count, :CONDITION][seen],
        rtol=1e-5,
    )
    ahead = min(HORIZON, FRAMES[system] - CONDITION)
    known = batch.targets_observed[here, :ahead].numpy()
    later = slice(CONDITION, CONDITION + ahead)
    np.testing.assert_array_equal(known, data.observed[system, :count, later])
    np.testing.assert_allclose(
        raw(windows, batch.targets[here, :ahead])[known],
        data.states[system, :count, later][known],
        rtol=1e-5,
    )


def test_values_that_were_not_observed_are_zero(batch):
    assert (batch.states[~batch.observed] == 0).all()
    assert not batch.observed.all()


def test_times_count_training_frames_from_the_last_frame_of_the_condition(batch):
    assert_close(batch.times[0], torch.tensor([-3.0, -2, -1, 0]))
    assert_close(batch.times[2], torch.tensor([-2.5, -1.5, -0.9, 0]))
    assert_close(batch.times[4], torch.tensor([-1.5, -1, -0.5, 0]))
    assert_close(batch.target_times[0], torch.tensor([1.0, 2, 3]))
    assert_close(batch.target_times[4], torch.tensor([0.5, 1, 1.5]))


def test_targets_beyond_the_end_of_a_system_are_masked_and_repeat_its_last_time(batch):
    assert not batch.targets_observed[rows(2), 2:].any()
    assert_close(batch.target_times[2], torch.tensor([1.0, 1.7, 1.7]))
    assert batch.targets_observed[rows(0), 2:].any()


def test_large_times_keep_their_precision():
    given = arrays()
    late = Windows(
        uneven(times=given["times"] + 1e6, edges=np.zeros((5, 4, 4))),
        Normaliser.fit(uneven()),
        CONDITION,
        HORIZON,
    )
    assert_close(next(late.batches(5)).target_times[2], torch.tensor([1.0, 1.7, 1.7]))


def test_scales_are_those_of_the_normaliser_not_of_the_data(data):
    training = Normaliser.fit(data)
    given = arrays()
    larger = Windows(uneven(states=given["states"] * 10), training, CONDITION, HORIZON)
    batch = next(larger.batches(5))
    expected = training.states(given["states"] * 10)[0, :4, :CONDITION]
    seen = batch.observed[:4].numpy()
    np.testing.assert_allclose(batch.states[:4].numpy()[seen], expected[seen], rtol=1e-5)
    assert batch.states.abs().max() > 5


def test_constant_velocity_in_data_units_is_constant_drift_in_scaled_units():
    start, velocity = np.array([3.0, -1.0]), np.array([0.7, -0.2])
    times = np.array([[0.0, 0.5, 1.0, 1.5, 2.1, 2.2, 4.0]])
    q = start + velocity * times[0, :, None]
    states = np.concatenate([q, np.broadcast_to(velocity, q.shape)], axis=1)[None, None]
    training = Normaliser.fit(uneven_motion())
    moving = Trajectories.build(
        states, times, edges=np.zeros((1, 1, 1)), features=("qx", "qy", "vx", "vy")
    )
    batch = next(Windows(moving, training, 4, 3).batches(1))
    gain, offset = (torch.tensor(part) for part in training.drift())
    now = batch.states[:, -1]
    rate = now[:, 2:] * gain + offset
    moved = now[:, None, :2] + rate[:, None] * batch.target_times[0, :, None]
    assert_close(moved, batch.targets[..., :2], rtol=1e-5, atol=1e-6)


def uneven_motion() -> Trajectories:
    """Positions and velocities with different centres and scales."""
    states = np.random.default_rng(0).normal([2, 2, 5, 5], [1, 1, 3, 3], (2, 3, 6, 4))
    return Trajectories.build(
        states,
        np.arange(6) * 0.4,
        edges=np.zeros((2, 3, 3)),
        features=("qx", "qy", "vx", "vy"),
    )


def test_forecast_graph_is_the_one_in_force_at_the_end_of_the_condition(data, windows, batch):
    edges = data.edges
    in_force = {0: 1, 1: 3, 2: 4, 3: 5, 4: 6}  # graph 1 starts within system 0's condition
    expected = np.zeros((14, 14, 2))
    for system, number in in_force.items():
        here, first = edges.edge_graph == number, OBJECTS[:system].sum()
        places = edges.edge_receiver[here] + first, edges.edge_sender[here] + first
        expected[places] = windows.normaliser.attributes(edges.edge_attributes[here])
    graph = batch.graph
    dense = np.zeros_like(expected)
    dense[graph.receivers.numpy(), graph.senders.numpy()] = graph.attributes.numpy()
    np.testing.assert_allclose(dense, expected, rtol=1e-6)


def test_later_window_uses_a_later_graph(data, windows):
    batch = windows.batch(np.array([0]), np.array([3]))  # ends when graph 2 starts
    assert batch.graph.edges == (data.edges.edge_graph == 2).sum()
    assert batch.graph.edges != (data.edges.edge_graph == 1).sum()


def test_groups_are_numbered_through_the_batch(batch):
    expected = [0, 0, 1, -1, 2, 2, -1, -1, -1, 4, 3, 4, 3, 5]
    assert batch.group.tolist() == expected
    assert int(batch.group.max()) + 1 == 6


def test_parameters_are_standardised_and_unknown_ones_are_marked(data, windows, batch):
    assert batch.parameters_known.tolist() == [True] * 4 + [False]
    np.testing.assert_allclose(
        batch.parameters[:4].numpy(),
        windows.normaliser.standardised(data.parameters[:4]),
        rtol=1e-5,
        atol=1e-7,
    )
    assert (batch.parameters[4] == 0).all()
    assert_close(batch.parameters[:4].mean(0), torch.zeros(2), atol=1e-6, rtol=0)


def test_data_without_parameters_knows_none(data):
    states, times = arrays()["states"], arrays()["times"]
    plain = Trajectories.build(
        np.where(np.isnan(times)[:, None, :, None], np.nan, states),
        times,
        edges=np.zeros((5, 4, 4)),
        features=("a", "b", "c", "d", "e"),
    )
    batch = next(Windows(plain, Normaliser.fit(plain), CONDITION, HORIZON).batches(5))
    assert batch.parameters.shape == (5, 0)
    assert not batch.parameters_known.any()


def test_condition_longer_than_a_system_is_refused_by_its_number(data):
    with pytest.raises(InputError, match="system 2 has 6 frames, fewer than the condition of 7"):
        Windows(data, Normaliser.fit(data), 7, HORIZON)


def test_window_in_the_middle_is_the_first_window_of_the_data_cut_there(data, windows):
    middle = windows.batch(np.array([3, 0]), np.array([0, 2]))
    cut = data.select([0]).frames_between(2, 8)
    first = next(Windows(cut, windows.normaliser, CONDITION, HORIZON).batches(1))
    assert_close(middle.states[4:], first.states)
    assert_close(middle.targets[4:, :2], first.targets[:, :2])
    assert_close(middle.times[1:], first.times)
    assert_close(middle.target_times[1:, :2], first.target_times[:, :2])
    assert middle.system_ids.tolist() == [3, 0]


def test_shorter_horizon_is_the_beginning_of_the_usual_one(windows, batch):
    short = windows.batch(np.arange(5), np.zeros(5, int), horizon=1)
    assert_close(short.targets, batch.targets[:, :1])
    assert_close(short.target_times, batch.target_times[:, :1])
    assert torch.equal(short.targets_observed, batch.targets_observed[:, :1])
    assert_close(short.states, batch.states)


def test_last_windows_end_with_each_systems_last_frame(data, windows):
    batch = next(windows.last(5, np.arange(1.0, 4.0)))
    assert not batch.targets_observed.any()
    np.testing.assert_array_equal(
        batch.observed[rows(2)].numpy(), data.observed[2, :3, FRAMES[2] - CONDITION : FRAMES[2]]
    )
    np.testing.assert_array_equal(batch.target_times.numpy(), np.zeros((5, HORIZON)))


def test_batches_cover_all_systems_in_order(windows, batch):
    parts = list(windows.batches(2))
    assert [part.system_ids.tolist() for part in parts] == [[0, 1], [2, 3], [4]]
    assert_close(torch.cat([part.states for part in parts]), batch.states)
    assert len(windows) == 5


def test_system_may_be_in_a_batch_twice(windows):
    batch = windows.batch(np.array([1, 1]), np.array([0, 1]))
    assert_close(batch.states[:2, 1:], batch.states[2:, :-1])
    assert batch.group.tolist() == [0, 0, 1, 1]


def test_moving_to_another_precision_changes_only_what_is_measured(batch):
    moved = batch.to(dtype=torch.float64)
    for name in ("states", "times", "targets", "target_times", "parameters"):
        assert getattr(moved, name).dtype == torch.float64
    assert moved.graph.attributes.dtype == moved.history.graph.attributes.dtype == torch.float64
    assert moved.system.dtype == torch.int64
    assert moved.observed.dtype == torch.bool
    assert_close(moved.to(dtype=torch.float32).states, batch.states)


def tensors(part) -> list[torch.Tensor]:
    """All tensors of a batch and of its graphs."""
    if isinstance(part, torch.Tensor):
        return [part]
    return [tensor for each in vars(part).values() for tensor in tensors(each)]


def test_the_true_kinds_of_objects_are_hidden_from_models(data):
    """A batch of data with other kinds, or without, has the same bits."""
    kinds = np.arange(data.systems * data.objects).reshape(data.systems, data.objects)
    batches = []
    for kind in (None, kinds, kinds // 3):
        changed = (
            data
            if kind is None
            else Trajectories.from_dataset(data.dataset.assign(kind=(("system", "object"), kind)))
        )
        normaliser = Normaliser.fit(changed.split_of("train"))
        batches.append(next(Windows(changed, normaliser, CONDITION, HORIZON).batches(5)))
    first, *others = (tensors(batch) for batch in batches)
    assert len(first) > len(vars(batches[0]))  # Those of the graphs too.
    for other in others:
        assert_close(other, first, rtol=0, atol=0, equal_nan=True)


def test_an_object_that_enters_after_the_condition_has_no_target_in_that_window():
    states = np.random.default_rng(0).normal(size=(1, 2, 10, 1))
    observed = np.ones(states.shape, dtype=bool)
    observed[0, 1, :5] = False
    data = Trajectories.build(
        states, np.arange(10.0), edges=np.zeros((1, 2, 2)), features=("a",), observed=observed
    )
    windows = Windows(data, Normaliser.fit(data), 4, 3)
    first, later = (windows.batch(np.array([0]), np.array([start])) for start in (0, 2))
    assert first.targets_observed[:, :, 0].tolist() == [[True] * 3, [False] * 3]
    assert later.targets_observed.all()
