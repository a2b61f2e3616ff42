"""Inputs that are known ahead, in batches and at the times of a forecast."""

import numpy as np
import pytest
import torch

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data.labels.calendar import calendar_input, calendar_names, dates
from pgode.data.trajectories import Trajectories
from pgode.runtime.errors import InputError

FRAMES, CONDITION, HORIZON = 12, 4, 3
DAYS = np.arange(float(FRAMES))


def daily(names: tuple[str, ...], values: np.ndarray, **changes: object) -> Trajectories:
    """Two systems of two objects, one value a day from Sunday, 2020-04-12, on."""
    states = np.random.default_rng(0).normal(size=(2, 2, FRAMES, 1))
    given = {"edges": np.zeros((2, 2, 2)), "features": ("cases",), "time_units": "days"}
    given |= {"time_origin": "2020-04-12", "inputs": values, "input_names": names}
    return Trajectories.build(states, DAYS, **given | changes)


def weekdays(**changes: object) -> Trajectories:
    names = calendar_names("weekday")
    when = dates(DAYS, "2020-04-12", "days")
    days = np.stack([calendar_input(name, when) for name in names], axis=-1)
    return daily(names, np.broadcast_to(days, (2, 2, FRAMES, 7)), **changes)


def numbered() -> Trajectories:
    """The input is the number of the day, times ten for the second object."""
    return daily(("day",), (DAYS * np.array([[1.0], [10.0]]))[None, :, :, None].repeat(2, 0))


def test_a_batch_has_the_inputs_of_condition_and_horizon() -> None:
    data = numbered()
    windows = Windows(data, Normaliser.fit(data), CONDITION, HORIZON)
    batch = windows.batch(np.array([1]), np.array([2]))
    raw = batch.inputs[:, :, 0].numpy() * windows.normaliser.input_scale[0]
    raw += windows.normaliser.input_mean[0]
    np.testing.assert_allclose(raw, [np.arange(2.0, 9), 10 * np.arange(2.0, 9)], atol=1e-5)
    np.testing.assert_allclose(batch.input_times.numpy(), [np.arange(-3.0, 4)])


def test_an_input_is_in_force_on_the_way_to_its_frame() -> None:
    data = numbered()
    batch = next(Windows(data, Normaliser.fit(data), CONDITION, HORIZON).batches(2))
    asked = torch.tensor([[0.0, 0.2, 1.0, 1.0001, 3.0, 9.0]]).expand(2, -1)
    found = batch.inputs_at(asked)[0, :, 0]
    at = batch.inputs[0, CONDITION - 1 :, 0]  # the last frame of the condition and those after it
    torch.testing.assert_close(found, at[[0, 1, 1, 1, 3, 3]])


def test_constants_are_standardised_and_unknown_ones_are_zero() -> None:
    constants = np.array([[[1.0], [3.0]], [[5.0], [np.nan]]])
    data = numbered()
    data = Trajectories.build(
        data.states,
        DAYS,
        edges=np.zeros((2, 2, 2)),
        features=("cases",),
        constants=constants,
        constant_names=("mass",),
    )
    batch = next(Windows(data, Normaliser.fit(data), CONDITION, HORIZON).batches(2))
    scale = np.std([1, 3, 5])
    expected = [[-2 / scale], [0.0], [2 / scale], [0.0]]
    np.testing.assert_allclose(batch.constants.numpy(), expected, atol=1e-6)


def test_the_day_of_the_week_is_known_for_any_future() -> None:
    data = weekdays()
    normaliser = Normaliser.fit(data)
    batch = next(Windows(data, normaliser, CONDITION, 1).last(2, np.array([1.0, 2.0, 8.0])))
    scale, mean = np.array(normaliser.input_scale), np.array(normaliser.input_mean)
    later = batch.inputs[0, CONDITION:].numpy() * scale + mean
    # The last frame is Thursday, 23 April.
    assert later.argmax(1).tolist() == [4, 5, 4]


def test_frames_without_states_are_the_future_and_hold_its_inputs() -> None:
    data = numbered()
    observed = np.ones(data.states.shape, bool)
    observed[:, :, 9:] = False
    future = daily(("day",), data.inputs, observed=observed)
    windows = Windows(future, Normaliser.fit(data), CONDITION, 1)
    batch = next(windows.last(2, np.array([1.0, 3.0])))
    raw = batch.inputs[0, :, 0].numpy() * windows.normaliser.input_scale[0]
    raw += windows.normaliser.input_mean[0]
    np.testing.assert_allclose(raw, [5, 6, 7, 8, 9, 11], atol=1e-5)
    last = windows.normaliser.states(future.states)[0, 0, 8, 0]
    np.testing.assert_allclose(batch.states[0, :, 0].numpy()[-1], last, rtol=1e-6)


def test_an_unknown_input_of_the_future_is_an_error_that_names_it() -> None:
    data = numbered()
    windows = Windows(data, Normaliser.fit(data), CONDITION, 1)
    with pytest.raises(InputError) as error:
        next(windows.last(2, np.array([1.0])))
    assert 'the input "day" of object 0 of system 0 is not known at 2020-04-24' in str(error.value)
