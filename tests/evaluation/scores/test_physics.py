"""The energy of forecasts, where the data have one."""

import numpy as np
import pytest
import torch
from tests.small_systems import uneven

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data.simulate import energy, simulate
from pgode.data.trajectories import Trajectories
from pgode.evaluation import predict
from pgode.evaluation.scores.physics import energy_drift
from pgode.models import build_model, model_config
from pgode.models.naive import LastValue


@pytest.fixture(scope="module")
def springs() -> Trajectories:
    return simulate("springs", objects=5, frames=36, seed=3, train=20, val=0, test=0, ood=0)


def windows_of(data: Trajectories, condition: int = 6, horizon: int = 30) -> Windows:
    return Windows(data, Normaliser.fit(data), condition, horizon)


def naive(windows: Windows, name: str = "last-value"):
    return predict(build_model(name, model_config(name, {}), windows.normaliser), windows)


def test_the_truth_of_springs_hardly_drifts(springs: Trajectories) -> None:
    windows = windows_of(springs)
    drift = energy_drift(windows, naive(windows))
    assert drift is not None
    assert 0 < drift["truth"] < 0.01


def test_a_forecast_that_stands_still_keeps_its_energy(springs: Trajectories) -> None:
    windows = windows_of(springs)
    drift = energy_drift(windows, naive(windows))
    assert drift is not None
    assert drift["forecast"] == pytest.approx(0, abs=1e-5)


def test_drift_is_the_median_over_systems_of_the_mean_change(springs: Trajectories) -> None:
    windows = windows_of(springs, horizon=4)
    found = naive(windows, "constant-velocity")
    raw = windows.normaliser.raw(found.mean).reshape(20, 5, 4, 4)
    start = energy(springs, springs.states[:, :, 5:6])
    ahead = energy(springs, raw)
    assert start is not None and ahead is not None
    change = (np.abs(ahead - start) / np.abs(start)).mean(1)
    drift = energy_drift(windows, found)
    assert drift is not None
    assert drift["forecast"] == pytest.approx(np.median(change), rel=1e-9)


def test_data_without_a_known_energy_has_no_drift() -> None:
    data = uneven()
    windows = Windows(data, Normaliser.fit(data), 4, 3)
    assert energy_drift(windows, naive(windows)) is None


@pytest.mark.parametrize("lacking", ["observed", "present", "parameters"])
def test_a_system_that_is_not_whole_has_no_drift(lacking: str, springs: Trajectories) -> None:
    dataset = springs.dataset.copy(deep=True)
    if lacking == "observed":
        dataset["observed"][0, 0, 20, 0] = False
    elif lacking == "present":
        kept = ~((dataset["edge_receiver"] == 4) | (dataset["edge_sender"] == 4))
        dataset = dataset.isel(edge=kept.values)
        dataset["present"][:, 4] = False
    else:
        dataset = dataset.isel(parameter=slice(0, 0))
    windows = windows_of(Trajectories.from_dataset(dataset))
    model = LastValue(model_config("last-value", {}), windows.normaliser)
    with torch.no_grad():
        assert energy_drift(windows, predict(model, windows)) is None
