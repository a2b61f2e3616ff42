"""The floor under forecasts of noisy systems, where it is known."""

import json
from io import StringIO

import numpy as np
import pytest
from tests.test_molecules import ATOMS, molecule, motion

from pgode.errors import InputError
from pgode.evaluation.noise_floor import check_replicas, gained, noise_floor
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
    if owner == "parted later":
        settings = {"replica_of": names, "condition": CONDITION + 1}
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
    for split in ("test", "ood"):
        assert found[split] == pytest.approx([SPREAD * left**0.5] * FUTURE, rel=0.1)


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
        ("parted later", [2], "part after 3 frames, but the model sees 2"),
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
        "noise_floor": {"mse": errors(0.002), "gained": errors(0.6)},
        "curve": {"pgode": {"test": {"q": [0.0]}}},
    }
    from rich.console import Console

    console = Console(width=100, record=True, file=StringIO())
    console.print(error_table(evaluation))
    text = console.export_text()
    assert "noise floor" in text and "60 %" in text
    assert json.dumps(evaluation)


def test_gained_is_the_share_of_the_way_from_the_last_value_to_the_floor():
    ours, last, floor = ({"12": {"q": value, "qx": 1.0}} for value in (4.0, 7.0, 2.0))
    assert gained(ours, last, floor) == {"12": {"q": pytest.approx(0.6), "qx": None}}


def test_the_floor_of_unequal_conditions_is_where_the_best_forecast_lies(normaliser):
    """The curve of a forecast is a mean of roots over systems: the floor must be one too."""
    stream = np.random.default_rng(5)
    path = stream.normal(0, 0.3, (2, 3, len(ATOMS), 3))
    several = np.repeat(path, 200, axis=0)
    spread = np.repeat([0.01, 0.03], 200)[:, None, None, None]
    several[:, 1:] += spread * stream.normal(size=several[:, 1:].shape)
    names = [f"test {k // 200}" for k in range(400)]
    options = Preparation(align="raw")
    data = prepare(several, np.arange(3) * 0.2, molecule(), options, {"replica_of": names})
    floor = noise_floor(data, normaliser, 1, [2])["rmsd"]["train"]
    left = ((3 * len(ATOMS) - 6) / len(ATOMS)) ** 0.5
    assert floor == pytest.approx([0.02 * left] * 2, rel=0.05)


def test_replicas_of_other_data_are_refused():
    def made(align="raw", **settings):
        clock = np.arange(5) * 0.2
        return prepare(motion(), clock, molecule(), Preparation(align=align), settings)

    check_replicas(made(seed=0), made(seed=0))
    with pytest.raises(InputError, match="the replicas have the seed 1, the data 0"):
        check_replicas(made(seed=1), made(seed=0))
    with pytest.raises(InputError, match=r"replicas have the preparation .*superposed"):
        check_replicas(made("superposed"), made())
    with pytest.raises(InputError, match="of another molecule"):
        check_replicas(made().permuted(range(8)), made())
