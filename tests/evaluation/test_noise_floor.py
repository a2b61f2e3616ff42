"""The floor under forecasts of noisy systems, where it is known."""

import json
from io import StringIO

import numpy as np
import pytest
from tests.test_molecules import ATOMS, molecule, motion

from pgode.errors import InputError
from pgode.evaluation.noise_floor import noise_floor
from pgode.molecules import Preparation, prepare
from pgode.normaliser import Normaliser
from pgode.reports.tables import error_table

CONDITION, REPLICAS, CONDITIONS, FUTURE = 2, 6, 8, 5
SPREAD = 0.03


def replicas(owner: list[str] | None = None, frames: int = FUTURE):
    """Futures that scatter around one path by a known amount."""
    stream = np.random.default_rng(3)
    shape = (CONDITIONS, CONDITION + frames, len(ATOMS), 3)
    path = stream.normal(0, 0.3, shape)
    several = np.repeat(path, REPLICAS, axis=0)
    several[:, CONDITION:] += stream.normal(0, SPREAD, several[:, CONDITION:].shape)
    names = [f"test {k // REPLICAS}" for k in range(len(several))]
    settings = {"replica_of": names if owner is None else owner}
    clock = np.arange(CONDITION + frames) * 0.2
    split = ["test"] * (len(several) // 2) + ["ood"] * (len(several) // 2)
    options = Preparation(align="raw")
    return prepare(several, clock, molecule(), options, settings, split=split)


@pytest.fixture(scope="module")
def normaliser():
    clock = np.arange(5) * 0.2
    return Normaliser.fit(prepare(motion(), clock, molecule(), Preparation(), {}))


def test_floor_is_the_variance_of_the_futures(normaliser):
    found = noise_floor(replicas(), normaliser, CONDITION, [2, FUTURE])
    expected = (SPREAD / normaliser.scale[0]) ** 2
    for split in ("test", "ood"):
        for horizon in ("2", str(FUTURE)):
            assert found["mse"][split][horizon]["q"] == pytest.approx(expected, rel=0.15)
            parts = [found["mse"][split][horizon][name] for name in ("qx", "qy", "qz")]
            assert np.mean(parts) == pytest.approx(found["mse"][split][horizon]["q"])
    assert found["replicas"] == REPLICAS and found["conditions"] == CONDITIONS


def test_deviation_is_that_of_the_best_forecast_without_turns_and_shifts(normaliser):
    found = noise_floor(replicas(), normaliser, CONDITION, [FUTURE])["rmsd"]
    # Superposition takes 6 of the 3 N degrees of freedom out of the noise.
    left = (3 * len(ATOMS) - 6) / len(ATOMS)
    assert found == pytest.approx([SPREAD * left**0.5] * FUTURE, rel=0.1)


def test_no_forecast_of_a_replica_is_better_than_the_floor(normaliser):
    data = replicas()
    floor = noise_floor(data, normaliser, CONDITION, [FUTURE])["mse"]["test"][str(FUTURE)]["q"]
    scaled = normaliser.states(data.states)[: CONDITIONS // 2 * REPLICAS, :, CONDITION:]
    groups = scaled.reshape(-1, REPLICAS, *scaled.shape[1:])
    of_others = (groups.sum(1, keepdims=True) - groups) / (REPLICAS - 1)
    assert ((of_others - groups) ** 2).mean() > floor


@pytest.mark.parametrize(
    "owner, horizons, message",
    [
        ([], [2], "does not say which of its systems share a condition"),
        ([f"test {k}" for k in range(48)], [2], "one future only"),
        (None, [FUTURE + 1], "has 7 frames, of which 2 are the condition"),
    ],
)
def test_what_are_no_replicas_is_refused(normaliser, owner, horizons, message):
    with pytest.raises(InputError, match=message):
        noise_floor(replicas(owner), normaliser, CONDITION, horizons)


def test_the_table_shows_the_floor_and_how_much_of_the_way_to_it_was_gained():
    def errors(value):
        return {"test": {"12": {"q": value}}}

    evaluation = {
        "model": "pgode",
        "mse": errors(0.004),
        "naive": {"last-value": errors(0.007), "constant-velocity": errors(0.05)},
        "noise_floor": {"mse": errors(0.002)},
        "curve": {"pgode": {"test": {"q": [0.0]}}},
    }
    from rich.console import Console

    console = Console(width=100, record=True, file=StringIO())
    console.print(error_table(evaluation))
    text = console.export_text()
    assert "noise floor" in text and "60 %" in text
    assert json.dumps(evaluation)
