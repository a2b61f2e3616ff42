"""Refining laws over long intervals, of which encounters make some chaotic."""

from dataclasses import replace

import numpy as np
import pytest
from tests.models.pgode.laws.small_laws import built, particles, trajectories

from pgode.batches.windows import Windows
from pgode.models.pgode.laws.finding import finding, refinement
from pgode.models.pgode.laws.finding.refinement import Trial, refine

pytestmark = pytest.mark.usefixtures("quickly")
FRAMES, STEPS = 16, 20


@pytest.fixture(scope="module")
def trials() -> tuple[Trial, Trial, np.ndarray]:
    """The first and the last frame of many systems, far apart in time, and their true law."""
    states = particles(lambda r: 0.5 / r**3, systems=240, lag=True, steps=STEPS, frames=FRAMES)
    data = trajectories(states[:, :, :: FRAMES - 1], np.array([0.0, 0.1 * (FRAMES - 1)]))
    model = built(data)
    steps = STEPS * (FRAMES - 1)
    model.keep_scheme(model.steps._replace(lead=0.5, fewest=float(steps), most=steps), np.inf)
    windows = Windows(data, model.normaliser, 1, 1)
    fitting, held_out = (
        finding._trial(model, windows, chosen) for chosen in (np.arange(160), np.arange(160, 240))
    )
    unknowns = fitting.unknowns
    unit = model.units.length
    level = 0.5 * unit**-3 * data.times[0, 1] ** 2
    drag = np.zeros(unknowns.drags + unknowns.outer)
    true = unknowns.packed(np.full((1, unknowns.splines), level), np.array([-2.0]), drag)
    same = fitting.forces.strength.new_ones
    trials = (
        replace(t, forces=t.forces._replace(strength=same(t.forces.strength.shape)))
        for t in (fitting, held_out)
    )
    return (*trials, true)


def spoiled(trial: Trial, true: np.ndarray) -> np.ndarray:
    """The law with a wrong power, and corrections that do not belong to it."""
    coefficients, exponents, drag = trial.unknowns.parts(true.copy())
    waves = 1 + 0.2 * np.sin(np.arange(coefficients.shape[1]))
    return trial.unknowns.packed(coefficients * waves, exponents + 0.03, drag)


def test_the_true_law_leads_to_the_last_frame(trials: tuple[Trial, Trial, np.ndarray]) -> None:
    fitting, _, true = trials
    assert float(np.nanmedian(np.abs(fitting.errors(true)))) < 1e-7


def test_a_spoiled_law_becomes_the_true_one(trials: tuple[Trial, Trial, np.ndarray]) -> None:
    fitting, held_out, true = trials
    start = spoiled(fitting, true)
    refined = refine(fitting, held_out, start, lambda share: None)
    exponent = fitting.unknowns.parts(refined.values)[1][0]
    assert refined.misfit < held_out.misfit(start) - 3
    assert exponent == pytest.approx(-2, abs=2e-3)


def test_a_doubt_takes_the_weight_of_chaotic_intervals(
    trials: tuple[Trial, Trial, np.ndarray],
) -> None:
    fitting, _, true = trials
    start = spoiled(fitting, true)
    nudge = refinement.NUDGE
    slope = (fitting.errors(start, nudge) - fitting.errors(start)) / nudge
    chaos = np.sqrt((slope**2).sum(-1)).ravel()
    shares = []
    for doubt in (0.0, 0.1):
        root = fitting.left(start, doubt)[2].ravel()
        power = (root * chaos) ** 2
        shares.append(np.sort(power)[-len(power) // 100 :].sum() / power.sum())
    assert shares[1] < shares[0]
    assert shares[1] < 0.1


def test_a_doubt_does_not_make_a_law_less_certain(
    trials: tuple[Trial, Trial, np.ndarray],
) -> None:
    fitting, _, true = trials
    plain, *doubting = refinement._steps(fitting, true, lambda share: None)
    for step in doubting:
        np.testing.assert_array_equal(step.covariance(1.0), plain.covariance(1.0))
        assert np.trace(step.matrix) < np.trace(plain.matrix)
