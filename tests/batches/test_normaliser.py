"""Scaling: fitted on training data, invertible, and exact for the motion of positions."""

import json
from dataclasses import replace

import numpy as np
import pytest
from tests.small_systems import FEATURES, arrays, uneven

from pgode.batches.normaliser import Normaliser, upgrade_normaliser
from pgode.data.trajectories import Edges, Trajectories
from pgode.runtime.errors import InputError


def build(states, times=None, **options) -> Trajectories:
    states = np.asarray(states, float)
    systems, objects, frames, _ = states.shape
    options = {"features": ("qx", "qy", "vx", "vy"), **options}
    return Trajectories.build(
        states,
        np.arange(frames) * 0.25 if times is None else times,
        edges=np.zeros((systems, objects, objects)),
        **options,
    )


def random_states(systems=3, seed=0) -> np.ndarray:
    return np.random.default_rng(seed).normal(1, 2, (systems, 2, 5, 4))


def test_each_variable_is_mapped_to_minus_one_to_one_by_one_pair_of_numbers():
    states = random_states()
    normaliser = Normaliser.fit(build(states))
    q, v = states[..., :2], states[..., 2:]
    assert normaliser.centre == pytest.approx(
        [(q.min() + q.max()) / 2] * 2 + [(v.min() + v.max()) / 2] * 2
    )
    assert normaliser.scale == pytest.approx([np.ptp(q) / 2] * 2 + [np.ptp(v) / 2] * 2)
    scaled = normaliser.states(states)
    for part in (scaled[..., :2], scaled[..., 2:]):
        assert part.min() == pytest.approx(-1) and part.max() == pytest.approx(1)


def test_scaling_and_unscaling_are_each_others_inverse():
    normaliser = Normaliser.fit(build(random_states()))
    other = random_states(seed=1) * 10
    np.testing.assert_allclose(normaliser.raw(normaliser.states(other)), other, rtol=1e-12)


def test_missing_values_do_not_count():
    states = random_states()
    states[0, 0, 0, 0] = 1e6
    observed = np.ones(states.shape, bool)
    observed[0, 0, 0, 0] = False
    q = states[..., :2][observed[..., :2]]
    normaliser = Normaliser.fit(build(states, observed=observed))
    assert normaliser.centre[0] == pytest.approx((q.min() + q.max()) / 2)


def test_value_that_never_changes_keeps_its_scale():
    states = random_states()
    states[..., 2:] = 3.0
    normaliser = Normaliser.fit(build(states))
    assert normaliser.centre[2:] == (3.0, 3.0)
    assert normaliser.scale[2:] == (1.0, 1.0)


def test_feature_without_any_training_value_is_refused_by_name():
    observed = np.ones((3, 2, 5, 4), bool)
    observed[..., 2:] = False
    with pytest.raises(InputError, match="no observed value of vx, vy"):
        Normaliser.fit(build(random_states(), observed=observed))


def test_frame_is_the_usual_time_between_training_frames():
    times = np.array([[0, 1, 2, 3, 9.0], [0, 1, 2, np.nan, np.nan], [5, 6, 7, 8.5, 9]])
    states = random_states()
    states[1, :, 3:] = np.nan
    assert Normaliser.fit(build(states, times)).frame_duration == 1.0


def test_parameters_are_standardised_over_the_systems_that_know_them():
    known = np.array([[1.0, 5.0], [3.0, np.nan], [np.nan, 5.0]])
    normaliser = Normaliser.fit(
        build(random_states(), parameters=known, parameter_names=("a", "b"))
    )
    assert normaliser.parameter_mean == (2.0, 5.0)
    assert normaliser.parameter_scale == (1.0, 1.0)  # a deviation of 1, and one of 0
    np.testing.assert_array_equal(
        normaliser.standardised(known), [[-1, 0], [1, np.nan], [np.nan, 0]]
    )


def test_drift_moves_scaled_positions_exactly_as_the_velocity_moves_raw_ones():
    normaliser = Normaliser.fit(uneven())
    raw = np.random.default_rng(1).normal(size=(6, len(FEATURES))) * 4
    q, v = [1, 3], [0, 4]
    moved = raw.copy()
    moved[:, q] += raw[:, v] * normaliser.frame_duration
    gain, offset = normaliser.drift()
    scaled = normaliser.states(raw)
    expected = scaled[:, q] + np.array(gain) * scaled[:, v] + np.array(offset)
    np.testing.assert_allclose(normaliser.states(moved)[:, q], expected, rtol=1e-12)


def test_positions_pair_with_velocities_in_order_whatever_their_places():
    normaliser = Normaliser.fit(uneven())
    assert normaliser.positions == [1, 3]
    assert normaliser.velocities == [0, 4]
    assert normaliser.variable_features == {"v": [0, 4], "q": [1, 3], "m": [2]}


def test_normaliser_survives_json():
    normaliser = Normaliser.fit(uneven())
    assert Normaliser.from_json(json.loads(json.dumps(normaliser.to_json()))) == normaliser


def test_the_format_of_earlier_versions_is_refused_and_can_be_upgraded():
    content = Normaliser.fit(uneven()).to_json()
    old = {k: v for k, v in content.items() if k not in ("reference", "frame_duration")}
    old |= {"frame": content["frame_duration"], "structure": [], "atoms": ""}
    with pytest.raises(InputError, match="written by an earlier version"):
        Normaliser.from_json(old)
    assert upgrade_normaliser(old) == content == upgrade_normaliser(content)


def test_data_like_the_trained_is_accepted():
    data = uneven()
    Normaliser.fit(data).check(data, "my.nc")


@pytest.mark.parametrize(
    "field, value, message",
    [
        ("features", ("vx", "qx", "weight", "qy", "vy"), "my.nc has the features vx, qx, mass"),
        ("roles", ("value",) * 5, "my.nc has the feature roles velocity, position, value"),
        ("edge_attributes", ("weight",), "my.nc has the edge attributes weight, distance"),
    ],
)
def test_data_unlike_the_trained_is_refused_with_both_lists(field, value, message):
    normaliser = replace(Normaliser.fit(uneven()), **{field: value})
    with pytest.raises(InputError, match=message) as raised:
        normaliser.check(uneven(), "my.nc")
    assert f"trained on {', '.join(value)}." in str(raised.value)


def test_one_edge_attribute_is_enough():
    given = arrays()
    edges = Edges.from_dense(np.zeros((5, 4, 4)), given["times"])
    assert Normaliser.fit(uneven(edges=edges)).edge_attributes == ("weight",)


def test_transformed_features_are_scaled_after_and_come_back_exactly() -> None:
    states = np.random.default_rng(2).uniform(0, 1000, (3, 4, 5, 2))
    data = Trajectories.build(
        states,
        np.arange(5.0),
        edges=np.zeros((3, 4, 4)),
        features=("cases", "beds"),
        transforms=("log1p", ""),
    )
    normaliser = Normaliser.fit(data)
    scaled = normaliser.states(states)
    assert scaled.min() == -1 and scaled.max() == 1
    logs = np.log1p(states[..., 0])
    middle, half = (logs.max() + logs.min()) / 2, (logs.max() - logs.min()) / 2
    np.testing.assert_allclose(scaled[..., 0], (logs - middle) / half)
    np.testing.assert_allclose(normaliser.raw(scaled), states)
    again = Normaliser.from_json(json.loads(json.dumps(normaliser.to_json())))
    assert again == normaliser
    # A forecast far outside stays finite, and counts are never below -1.
    assert np.isfinite(normaliser.raw(np.full((1, 2), 1e4))).all()
    assert normaliser.raw(np.full((1, 2), -1e4))[0, 0] >= -1
