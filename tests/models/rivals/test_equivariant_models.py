"""EGNN and EqMotion: exact symmetry, and motion with constant velocity in the absence of forces."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.rigid_motions import in_space, moved, moved_batch, strong, turn, whole_vectors
from torch.testing import assert_close

from pgode.batches.normaliser import Normaliser
from pgode.data.trajectories import Trajectories
from pgode.runtime.errors import InputError

SHIFT = torch.tensor([3.0, -2.0, 0.7], dtype=torch.float64)
EXACT = {"atol": 1e-10, "rtol": 1e-10}
FAR = torch.arange(1.0, 7.0).double()
"""Beyond the frames that EqMotion forecasts at once here."""

CASES = [
    pytest.param("egnn", {}, id="egnn"),
    pytest.param("eqmotion", {"frames": 4, "history": 4}, id="eqmotion"),
    pytest.param("eqmotion", {"frames": 4, "history": 4, "pairs": "complete"}, id="all-pairs"),
]


def forecast(model, batch, times=None):
    with torch.no_grad():
        return model.forecast(batch, batch.target_times if times is None else times)


@pytest.mark.parametrize("mirror", [False, True])
@pytest.mark.parametrize("name, settings", CASES)
def test_rotating_and_shifting_the_data_does_the_same_to_the_forecast(
    make, batch, normaliser, name, settings, mirror
):
    model, matrix, shift = strong(make(name, **settings)), turn(2, mirror=mirror), SHIFT[:2]
    original = whole_vectors(batch, normaliser)
    before = forecast(model, original)
    after = forecast(model, moved_batch(original, normaliser, matrix, shift))
    assert_close(after.mean, moved(before.mean, normaliser, matrix, shift), **EXACT)
    assert_close(after.contexts, before.contexts, **EXACT)
    straight = forecast(make("constant-velocity"), original).mean
    assert (before.mean - straight).abs().max() > 0.1


@pytest.mark.parametrize("velocities", [True, False])
@pytest.mark.parametrize("name, settings", CASES[:2])
def test_symmetry_holds_in_three_dimensions_with_and_without_named_velocities(
    make, name, settings, velocities
):
    normaliser, batch = in_space(velocities=velocities)
    model, matrix = strong(make(name, like=normaliser, **settings)), turn(3, mirror=True)
    far = FAR.expand(batch.systems, -1)
    before = forecast(model, batch, far).mean
    after = forecast(model, moved_batch(batch, normaliser, matrix, SHIFT), far).mean
    assert_close(after, moved(before, normaliser, matrix, SHIFT), **EXACT)


@pytest.mark.parametrize("name, settings", CASES[:2])
def test_constants_and_inputs_are_invariant(make, name, settings):
    like, batch = in_space(velocities=True)
    like = replace(like, constants=("mass",), inputs=("wind", "rain"))
    steps = batch.input_times.shape[1]
    batch = replace(
        batch,
        constants=torch.randn(batch.objects, 1).double(),
        inputs=torch.randn(batch.objects, steps, 2).double(),
    )
    model, matrix = strong(make(name, like=like, **settings)), turn(3, mirror=True)
    far = FAR.expand(batch.systems, -1)
    before = forecast(model, batch, far).mean
    after = forecast(model, moved_batch(batch, like, matrix, SHIFT), far).mean
    assert_close(after, moved(before, like, matrix, SHIFT), **EXACT)
    other = forecast(model, replace(batch, inputs=batch.inputs + 1), far).mean
    assert (other - before).abs().max() > 1e-3


def outputs(model) -> list[torch.nn.Module]:
    """The last layers of the networks that change velocities and values."""
    if hasattr(model, "decoder"):
        networks = (model.decoder, *(n for x in model.layers for n in (x.attract, x.inertia)))
        return [network.second for network in networks]
    return [model.position, model.velocity, model.value]


@pytest.mark.parametrize("velocities", [True, False])
@pytest.mark.parametrize("name", ["egnn", "eqmotion"])
def test_without_forces_velocities_are_constant(make, name, velocities):
    like, batch = in_space(velocities=velocities)
    model = make(name, like=like)
    for layer in outputs(model):
        for parameter in layer.parameters():
            torch.nn.init.zeros_(parameter)
    seen = batch.observed.any(1).all(1)
    ours = forecast(model, batch).mean
    assert_close(ours[seen], forecast(make("constant-velocity", like=like), batch).mean[seen])


@pytest.mark.parametrize("name, title", [("egnn", "EGNN"), ("eqmotion", "EqMotion")])
def test_data_without_positions_are_refused(make, name, title):
    data = Trajectories.build(
        np.random.default_rng(0).normal(size=(3, 2, 7, 2)),
        np.arange(7) * 1.0,
        edges=np.ones((3, 2, 2)) - np.eye(2),
        features=("a", "b"),
    )
    with pytest.raises(InputError, match=rf"{title} needs positions.*a, b.*role"):
        make(name, like=Normaliser.fit(data))
