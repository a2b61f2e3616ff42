"""The simulator as a forecast: exact but for the strength that it has to find."""

import numpy as np
import pytest

from pgode.data.simulate import SYSTEMS, simulate
from pgode.data.trajectories import Trajectories
from pgode.evaluation.known_law import forecast_by_law, golden_section

SEEN, AHEAD = 6, 10


def small(name: str, **changes: object) -> Trajectories:
    sizes = {"objects": 4, "frames": SEEN + AHEAD, "train": 3, "val": 0, "test": 0, "ood": 3}
    return simulate(name, seed=2, **{**sizes, **changes})


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_law_continues_the_simulation(name):
    data = small(name)
    states = forecast_by_law(data, data.states[:, :, :SEEN], AHEAD)
    np.testing.assert_allclose(states, data.states[:, :, SEEN:], atol=1e-4)


def test_the_strength_is_found_and_not_read(monkeypatch):
    data = small("springs")
    names = data.dataset["parameter"].values.tolist()
    spoilt = data.parameters.copy()
    spoilt[:, names.index("strength")] = 7.0
    other = Trajectories(data.dataset.assign(parameters=(("system", "parameter"), spoilt)))
    observed = data.states[:, :, :SEEN]
    np.testing.assert_array_equal(
        forecast_by_law(other, observed, AHEAD), forecast_by_law(data, observed, AHEAD)
    )


def test_features_keep_the_order_of_the_data():
    data = small("charged")
    order = ["vx", "qx", "qy", "vy"]
    turned = Trajectories.from_dataset(data.dataset.sel(feature=order))
    index = [data.features.index(name) for name in order]
    states = forecast_by_law(turned, turned.states[:, :, :SEEN], AHEAD)
    np.testing.assert_allclose(
        states, forecast_by_law(data, data.states[:, :, :SEEN], AHEAD)[..., index], atol=1e-9
    )


def test_other_data_have_no_known_law():
    data = small("springs")
    foreign = data.dataset.assign_attrs(generator="a telescope")
    assert forecast_by_law(Trajectories(foreign), data.states[:, :, :SEEN], AHEAD) is None
    unknown = np.full_like(data.parameters, np.nan)
    lost = data.dataset.assign(parameters=(("system", "parameter"), unknown))
    assert forecast_by_law(Trajectories(lost), data.states[:, :, :SEEN], AHEAD) is None
    mixed = small("mixed")
    unlabelled = Trajectories(mixed.dataset.drop_vars("kind"))
    assert forecast_by_law(unlabelled, mixed.states[:, :, :SEEN], AHEAD) is None
    gaps = data.states[:, :, :SEEN].copy()
    gaps[0, 0, 0] = np.nan
    assert forecast_by_law(data, gaps, AHEAD) is None


def test_golden_section_finds_the_minimum_of_each_row():
    centre = np.array([0.3, 1.7, 2.9])
    found = golden_section(lambda x: (x - centre) ** 2, np.zeros(3), np.full(3, 3.0), 40)
    np.testing.assert_allclose(found, centre, atol=1e-7)
