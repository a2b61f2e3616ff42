"""The models that come with the package: they open, forecast, and are far better than nothing."""

import pytest

from pgode.data.simulate import simulate
from pgode.runs.folder import PRETRAINED
from pgode.runs.laws import laws_of
from pgode.runs.run import Run

SYSTEMS = {"springs-10": "springs", "charged-10": "charged", "nbody-5": "nbody"}
LAWS = [("springs-10", -0.1, 1), ("charged-10", 1.0, -2), ("nbody-5", 1.0, -2)]


def test_all_shipped_models_are_here() -> None:
    assert {folder.name for folder in PRETRAINED.iterdir()} == set(SYSTEMS)


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_shipped_model_forecasts_new_systems_far_better_than_constant_velocity(name: str) -> None:
    run = Run.open(name)
    data = simulate(SYSTEMS[name], frames=36, seed=7, train=0, val=0, test=6, ood=6)
    result = run.evaluate(data, horizons=[12, 24], samples=20)
    for split in ("test", "ood"):
        # Velocities of charges are chaotic after an encounter.
        for variable, factor in (("q", 100), ("v", 5 if name == "charged-10" else 20)):
            naive = result.naive_mse("constant-velocity").at(split, 12, variable)
            assert result.mse.at(split, 12, variable) < naive / factor
        assert result.score("coverage_90").at(split, 24, "q") > 0.7


@pytest.mark.parametrize("name, strength, power", LAWS)
def test_a_shipped_model_has_found_the_law(name: str, strength: float, power: int) -> None:
    (law,) = laws_of(Run.open(name)).laws
    assert law.fit is not None
    assert law.fit.form.name == "power"
    assert law.fit.values == pytest.approx([strength, power], rel=0.02)


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_shipped_model_is_small(name: str) -> None:
    assert sum(file.stat().st_size for file in (PRETRAINED / name).iterdir()) < 5e6
