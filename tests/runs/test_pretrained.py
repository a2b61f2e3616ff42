"""The model that comes with the package: it opens, forecasts, and is far better than nothing."""

import pytest

from pgode.data.simulate import simulate
from pgode.runs.folder import PRETRAINED
from pgode.runs.run import Run


@pytest.mark.parametrize("name", sorted(folder.name for folder in PRETRAINED.iterdir()))
def test_a_shipped_model_forecasts_new_systems_far_better_than_constant_velocity(name):
    run = Run.open(name)
    data = simulate("springs", frames=48, seed=7, train=0, val=0, test=6, ood=6)
    result = run.evaluate(data, samples=0)
    for split in ("test", "ood"):
        for variable in ("q", "v"):
            naive = result.naive_mse("constant-velocity").at(split, 36, variable)
            assert result.mse.at(split, 36, variable) < naive / 100
