"""Samples of a molecule: atoms that err alike stay together, and each has its own spread."""

from pathlib import Path

import numpy as np
import pytest
from tests.evaluation.made import predictions
from tests.rigid_motions import turn

from pgode.evaluation.predictions import Predictions
from pgode.evaluation.scores.probabilistic import covered
from pgode.evaluation.uncertainty.joint_residuals import LEAST, Together
from pgode.runtime.errors import InputError

ATOMS, FRAMES = 6, 4
STRUCTURE = np.random.default_rng(0).normal(size=(ATOMS, 3))
SIZES = np.repeat([0.02, 0.1, 0.05], 2)[:, None, None]
"""Atoms 0 and 1 move as one, 2 and 3, 4 and 5; and that along the body's first axis only."""
GROWTH = np.array([0.5, 1.0, 1.5, 2.0])[:, None]
ALONG = np.array([1.0, 0.01, 0.01])


def made(systems: int, seed: int) -> Predictions:
    """Forecasts of molecules that lie anyhow; pairs of atoms err alike, in the body's own axes."""
    stream = np.random.default_rng(seed)
    body = np.repeat(stream.normal(size=(systems, ATOMS // 2, 1, 3)), 2, axis=1)
    errors = SIZES * GROWTH * ALONG * body
    turns = np.stack([turn(3, mirror=False, seed=seed + k).numpy() for k in range(systems)])
    still = np.repeat(STRUCTURE[None, :, None], FRAMES, axis=2)
    mean, error = (
        np.einsum("safi,sij->safj", np.broadcast_to(x, errors.shape), turns)
        for x in (still, errors)
    )
    found = predictions(
        mean.reshape(-1, FRAMES, 3),
        (mean + error).reshape(-1, FRAMES, 3),
        system=np.repeat(np.arange(systems), ATOMS),
    )
    object.__setattr__(found, "reference", np.tile(STRUCTURE, (systems, 1)))
    return found


def drawn(together: Together, new: Predictions, count: int = 20) -> np.ndarray:
    found = together.samples(new.mean, new.times, new.reference, count, seed=1)
    assert found is not None
    return found.reshape(count, -1, ATOMS, FRAMES, 3)


@pytest.fixture(scope="module")
def together() -> Together:
    found = Together.fit(made(60, 1))
    assert found is not None
    return found


@pytest.mark.parametrize("count", [3, 20, 150])
def test_atoms_that_err_alike_move_as_one_along_the_bodys_axes(together, count):
    new = made(5, 500)
    moved = drawn(together, new, count) - new.mean.reshape(-1, ATOMS, FRAMES, 3)
    apart = np.linalg.norm(moved[:, :, ::2] - moved[:, :, 1::2], axis=-1)
    length = np.linalg.norm(moved, axis=-1)
    assert apart.mean() < 0.02 * length.mean()
    # Turned into the body's axes the moves are along its first.
    turns = np.stack([turn(3, mirror=False, seed=500 + k).numpy() for k in range(5)])
    body = np.einsum("csafi,sji->csafj", moved, turns)
    assert np.abs(body[..., 0]).mean() > 5 * np.abs(body[..., 1:]).mean()


def test_every_atom_and_frame_has_intervals_that_hold_what_they_promise(together):
    new = made(300, 900)
    found = drawn(together, new)
    inside = covered(found, new.truth.reshape(-1, ATOMS, FRAMES, 3), 90)
    np.testing.assert_allclose(inside.mean((0, 3)), 0.9, atol=0.08)
    width = found.std(0).mean((0, 3))
    np.testing.assert_allclose(width[2] / width[0], 5, rtol=0.2)
    np.testing.assert_allclose(width[:, 3] / width[:, 0], 4, rtol=0.2)


def test_samples_between_frames_lie_between_theirs_and_the_seed_fixes_them(together):
    new = made(2, 40)
    half = new.times[:, :1] + np.array([[0.0, 0.5, 1.0, 50.0]])
    mean = np.repeat(new.mean[:, :1], 4, axis=1)
    one, two = (together.samples(mean, half, new.reference, 20, seed=3) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    spread = (one - mean).std(0).mean((0, 2))
    assert spread[0] < spread[1] < spread[2] < spread[3]
    np.testing.assert_allclose(spread[3] / spread[0], 4, rtol=0.2)


def test_other_molecules_and_few_systems_have_no_such_samples(together):
    new = made(3, 7)
    assert together.samples(new.mean, new.times, None, 5, 0) is None
    assert together.samples(new.mean, new.times, np.empty((len(new.mean), 0)), 5, 0) is None
    fewer = new.mean.reshape(-1, ATOMS, FRAMES, 3)[:, :4].reshape(-1, FRAMES, 3)
    assert together.samples(fewer, new.times, np.tile(STRUCTURE[:4], (3, 1)), 5, 0) is None
    assert Together.fit(made(LEAST - 1, 1)) is None
    unknown = made(LEAST, 1)
    unknown.known[0, 0, 0] = False
    assert Together.fit(unknown) is None


def test_a_run_folder_keeps_them(together, tmp_path: Path):
    assert Together.read(tmp_path) is None
    together.write(tmp_path)
    again = Together.read(tmp_path)
    assert again is not None
    np.testing.assert_array_equal(again.fields, together.fields)
    np.testing.assert_array_equal(drawn(again, made(2, 8)), drawn(together, made(2, 8)))
    path = tmp_path / "residuals.npz"
    whole = path.read_bytes()
    wrong = together.fields.copy()
    wrong[0] = np.nan
    for fields in (None, wrong, together.fields[:, :, :2], together.fields[0]):
        if fields is None:
            path.write_bytes(whole[:200])
        else:
            np.savez(path, frames=together.frames, fields=fields)
        with pytest.raises(InputError, match=r"residuals\.npz.*or remove it"):
            Together.read(tmp_path)
