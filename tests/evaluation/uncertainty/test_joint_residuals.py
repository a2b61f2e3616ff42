"""Joint samples: objects with correlated errors move jointly, each with its own spread."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.evaluation.made import predictions
from tests.rigid_motions import turn

from pgode.evaluation.predictions import Predictions
from pgode.evaluation.scores.probabilistic import covered, interval
from pgode.evaluation.uncertainty.joint_residuals import MIN_SYSTEMS, JointResiduals
from pgode.runtime.errors import InputError

ATOMS, FRAMES = 6, 4
REFERENCE = np.random.default_rng(0).normal(size=(ATOMS, 3))
SIZES = np.repeat([0.02, 0.1, 0.05], 2)[:, None, None]
"""Atoms 0 and 1 have the same error, 2 and 3, 4 and 5; along the first axis of the body only."""
GROWTH = np.array([0.5, 1.0, 1.5, 2.0])[:, None]
ALONG = np.array([1.0, 0.01, 0.01])


def made(systems: int, seed: int) -> Predictions:
    """Forecasts of randomly oriented molecules; pairs of atoms have the same error in body axes."""
    stream = np.random.default_rng(seed)
    body = np.repeat(stream.normal(size=(systems, ATOMS // 2, 1, 3)), 2, axis=1)
    errors = SIZES * GROWTH * ALONG * body
    turns = np.stack([turn(3, mirror=False, seed=seed + k).numpy() for k in range(systems)])
    still = np.repeat(REFERENCE[None, :, None], FRAMES, axis=2)
    mean, error = (
        np.einsum("safi,sij->safj", np.broadcast_to(x, errors.shape), turns)
        for x in (still, errors)
    )
    found = predictions(
        mean.reshape(-1, FRAMES, 3),
        (mean + error).reshape(-1, FRAMES, 3),
        system=np.repeat(np.arange(systems), ATOMS),
    )
    return replace(found, reference=np.tile(REFERENCE, (systems, 1)))


def drawn(joint: JointResiduals, new: Predictions, count: int = 20) -> np.ndarray:
    found = joint.samples(new.mean, new.times, new.reference, count, seed=1)
    assert found is not None
    return found.reshape(count, -1, ATOMS, FRAMES, 3)


@pytest.fixture(scope="module")
def joint() -> JointResiduals:
    found = JointResiduals.fit(made(60, 1))
    assert found is not None
    return found


@pytest.mark.parametrize("count", [3, 20, 150])
def test_objects_with_the_same_error_move_jointly_along_the_axes_of_the_body(joint, count):
    new = made(5, 500)
    moved = drawn(joint, new, count) - new.mean.reshape(-1, ATOMS, FRAMES, 3)
    apart = np.linalg.norm(moved[:, :, ::2] - moved[:, :, 1::2], axis=-1)
    length = np.linalg.norm(moved, axis=-1)
    assert apart.mean() < 0.02 * length.mean()
    # Turned into the body's axes the moves are along its first.
    turns = np.stack([turn(3, mirror=False, seed=500 + k).numpy() for k in range(5)])
    body = np.einsum("csafi,sji->csafj", moved, turns)
    assert np.abs(body[..., 0]).mean() > 5 * np.abs(body[..., 1:]).mean()


def test_intervals_of_every_object_and_frame_have_their_coverage(joint):
    new = made(300, 900)
    found = drawn(joint, new)
    inside = covered(interval(found, 90), new.truth.reshape(-1, ATOMS, FRAMES, 3))
    np.testing.assert_allclose(inside.mean((0, 3)), 0.9, atol=0.08)
    width = found.std(0).mean((0, 3))
    np.testing.assert_allclose(width[2] / width[0], 5, rtol=0.2)
    np.testing.assert_allclose(width[:, 3] / width[:, 0], 4, rtol=0.2)


def test_samples_between_frames_lie_between_theirs_and_the_seed_fixes_them(joint):
    new = made(2, 40)
    half = new.times[:, :1] + np.array([[0.0, 0.5, 1.0, 50.0]])
    mean = np.repeat(new.mean[:, :1], 4, axis=1)
    one, two = (joint.samples(mean, half, new.reference, 20, seed=3) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    spread = (one - mean).std(0).mean((0, 2))
    assert spread[0] < spread[1] < spread[2] < spread[3]
    np.testing.assert_allclose(spread[3] / spread[0], 4, rtol=0.2)


def test_systems_with_another_reference_and_few_systems_have_no_joint_samples(joint):
    new = made(3, 7)
    assert joint.samples(new.mean, new.times, None, 5, 0) is None
    assert joint.samples(new.mean, new.times, np.empty((len(new.mean), 0)), 5, 0) is None
    fewer = new.mean.reshape(-1, ATOMS, FRAMES, 3)[:, :4].reshape(-1, FRAMES, 3)
    assert joint.samples(fewer, new.times, np.tile(REFERENCE[:4], (3, 1)), 5, 0) is None
    assert JointResiduals.fit(made(MIN_SYSTEMS - 1, 1)) is None
    unknown = made(MIN_SYSTEMS, 1)
    unknown.known[0, 0, 0] = False
    assert JointResiduals.fit(unknown) is None


def test_a_run_folder_keeps_the_residuals(joint, tmp_path: Path):
    assert JointResiduals.read(tmp_path) is None
    joint.write(tmp_path)
    again = JointResiduals.read(tmp_path)
    assert again is not None
    np.testing.assert_array_equal(again.fields, joint.fields)
    np.testing.assert_array_equal(drawn(again, made(2, 8)), drawn(joint, made(2, 8)))
    path = tmp_path / "residuals.npz"
    whole = path.read_bytes()
    wrong = joint.fields.copy()
    wrong[0] = np.nan
    for fields in (None, wrong, joint.fields[:, :, :2], joint.fields[0]):
        if fields is None:
            path.write_bytes(whole[:200])
        else:
            np.savez(path, frames=joint.frames, fields=fields)
        with pytest.raises(InputError, match=r"residuals\.npz.*or remove it"):
            JointResiduals.read(tmp_path)
