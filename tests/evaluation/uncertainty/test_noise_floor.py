"""The floor under forecasts of noisy systems, where it is known."""

import numpy as np
import pytest
from tests.data.test_molecules import ATOMS, molecule, motion

from pgode.batches.normaliser import Normaliser
from pgode.data.molecules import Preparation, prepare
from pgode.evaluation import evaluate
from pgode.evaluation.uncertainty.noise_floor import (
    check_replicas,
    compare_with_floor,
    noise_floor,
    share_of_achievable,
)
from pgode.models import build_model, model_config
from pgode.runtime.errors import InputError

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
    floor = noise_floor(replicas(), normaliser, CONDITION, [2, FUTURE])
    expected = (SPREAD / normaliser.scale[0]) ** 2
    for split in ("test", "ood"):
        for horizon in (2, FUTURE):
            row = floor.mse.row(split, horizon)
            assert row["q"] == pytest.approx(expected, rel=0.15)
            assert np.mean([row[name] for name in ("qx", "qy", "qz")]) == pytest.approx(row["q"])
    assert floor.replicas == REPLICAS and floor.conditions == CONDITIONS
    assert floor.model is floor.share is None


def test_deviation_is_that_of_the_best_forecast_without_turns_and_shifts(normaliser):
    rmsd = noise_floor(replicas(), normaliser, CONDITION, [FUTURE]).rmsd
    # Superposition takes 6 of the 3 N degrees of freedom out of the noise.
    left = (3 * len(ATOMS) - 6) / len(ATOMS)
    for split in ("test", "ood"):
        assert rmsd[split] == pytest.approx([SPREAD * left**0.5] * FUTURE, rel=0.1)


def test_no_forecast_of_a_replica_is_better_than_the_floor(normaliser):
    data = replicas()
    floor = noise_floor(data, normaliser, CONDITION, [FUTURE]).mse.at("test", FUTURE, "q")
    scaled = normaliser.states(data.states)[: CONDITIONS // 2 * REPLICAS, :, CONDITION:]
    groups = scaled.reshape(-1, REPLICAS, *scaled.shape[1:])
    of_others = (groups.sum(1, keepdims=True) - groups) / (REPLICAS - 1)
    assert ((of_others - groups) ** 2).mean() > floor


@pytest.mark.parametrize(
    "owner, horizons, message",
    [
        ([], [2], "the replicas do not state which systems share a condition"),
        ([f"test {k}" for k in range(48)], [2], "have a single future"),
        ("parted later", [2], "separate after 3 frames, but the model sees 2"),
    ],
)
def test_data_without_replicas_of_this_condition_is_refused(normaliser, owner, horizons, message):
    with pytest.raises(InputError, match=message):
        noise_floor(replicas(owner), normaliser, CONDITION, horizons)


def test_the_share_is_0_at_the_last_value_and_1_at_the_floor_with_a_range_over_conditions():
    alike = [np.full(5, value) for value in (4.0, 7.0, 2.0)]
    assert share_of_achievable(*alike) == pytest.approx((0.6, 0.6, 0.6))
    assert share_of_achievable(*(each[:1] for each in alike)) == (pytest.approx(0.6), None, None)
    assert share_of_achievable(*(np.ones(5) for _ in range(3))) == (None, None, None)
    stream = np.random.default_rng(0)
    for trial in range(3):
        ours, last = stream.normal([[4.0], [7.0]], 1.0, (2, 10))
        share, low, high = share_of_achievable(ours, last, np.full(10, 2.0))
        assert low < share < high and 0.1 < high - low < 0.6, trial


def test_a_model_is_compared_with_the_floor_on_the_systems_with_replicas(normaliser):
    mean = build_model("mean-value", model_config("mean-value", {}), normaliser)
    data = replicas()
    compared = compare_with_floor(mean, data, CONDITION, [2, FUTURE])
    expected = evaluate(
        mean, data, splits=["test", "ood"], condition=CONDITION, horizons=[2, FUTURE], samples=0
    )
    floor = noise_floor(data, normaliser, CONDITION, [2, FUTURE])
    assert (compared.mse, compared.rmsd) == (floor.mse, floor.rmsd)
    for split in ("test", "ood"):
        for horizon in (2, FUTURE):
            for name in ("q", "qy"):
                cell = (split, horizon, name)
                ours, last, share, low, high = (
                    getattr(compared, field).at(*cell)
                    for field in ("model", "last_value", "share", "share_low", "share_high")
                )
                assert ours == pytest.approx(expected.mse.at(*cell))
                assert last == pytest.approx(expected.naive_mse("last-value").at(*cell))
                best = floor.mse.at(*cell)
                assert share == pytest.approx((last - ours) / (last - best))
                assert low < share < high


def test_the_deviation_of_unequal_conditions_is_the_mean_of_their_roots(normaliser):
    """The RMSD of a forecast is a mean of roots over systems, and so must its floor be."""
    stream = np.random.default_rng(5)
    path = stream.normal(0, 0.3, (2, 3, len(ATOMS), 3))
    several = np.repeat(path, 200, axis=0)
    spread = np.repeat([0.01, 0.03], 200)[:, None, None, None]
    several[:, 1:] += spread * stream.normal(size=several[:, 1:].shape)
    names = [f"test {k // 200}" for k in range(400)]
    options = Preparation(align="raw")
    data = prepare(several, np.arange(3) * 0.2, molecule(), options, {"replica_of": names})
    floor = noise_floor(data, normaliser, 1, [2]).rmsd["train"]
    left = ((3 * len(ATOMS) - 6) / len(ATOMS)) ** 0.5
    assert floor == pytest.approx([0.02 * left] * 2, rel=0.05)


def test_replicas_of_other_data_are_refused():
    def made(align="raw", **settings):
        clock = np.arange(5) * 0.2
        return prepare(motion(), clock, molecule(), Preparation(align=align), settings)

    check_replicas(made(seed=0), made(seed=0), 2, 3)
    with pytest.raises(InputError, match="the replicas have the seed 1, the data 0"):
        check_replicas(made(seed=1), made(seed=0), 2, 3)
    with pytest.raises(InputError, match="the replicas have the implicit True, the data False"):
        check_replicas(made(implicit=True), made(implicit=False), 2, 3)
    with pytest.raises(InputError, match=r"replicas have the preparation .*superposed"):
        check_replicas(made("superposed"), made(), 2, 3)
    with pytest.raises(InputError, match="of another molecule"):
        check_replicas(made().permuted(range(8)), made(), 2, 3)
    with pytest.raises(InputError, match="have 5 frames, of which 2 are the condition"):
        check_replicas(made(), made(), 2, 4)
