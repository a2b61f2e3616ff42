"""Everything that is found in the training data before a model of force laws can forecast."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float, Int

from pgode.batches.windows import Windows
from pgode.models.forecaster import Progress
from pgode.models.pgode.laws.evidence import walls
from pgode.models.pgode.laws.evidence.evidence_kernel import Splines
from pgode.models.pgode.laws.evidence.observation import Observation, Units, observations
from pgode.models.pgode.laws.finding.fitting import fit
from pgode.models.pgode.laws.finding.refinement import Refined, Trial, refine
from pgode.models.pgode.laws.finding.scheme import find_limit, find_scheme
from pgode.models.pgode.laws.finding.shooting import Frames
from pgode.models.pgode.laws.finding.turns import OUTSIDE, Fit, Found, deviation_of
from pgode.models.pgode.laws.finding.unknowns import Unknowns
from pgode.models.pgode.laws.motion.path import Forces
from pgode.models.pgode.laws.radial import SPLINES, range_of, spacing_of
from pgode.runtime.errors import InputError

if TYPE_CHECKING:
    from pgode.models.pgode.laws.model import ForceLaws

FIT_SYSTEMS = 300
"""Training systems whose frames the laws are found in."""
SCHEME_SYSTEMS, REFINE_SYSTEMS, HELD_OUT_SYSTEMS = 20, 60, 30
SINGLE_SYSTEMS = 150
"""Systems that a single law is refined with: it has few unknowns."""
COARSE, FINE = 256, 1024
"""Most steps per frame that are tried while laws are still rough, and where these do not do."""
OPEN = 0.1
"""Relative deviation from which a law's correction is taken to be open."""
TIE = 1e-3
"""Difference of misfits that means nothing."""
TURNS = 2
"""Times that steps and laws are found by turns."""
COPIES = 12
"""Frames of each system that the refinement looks ahead from."""
FAR = 5.0
"""Distance from the median, against the median distance, of strengths that tell nothing."""
JITTERS = (0.0, 1e-6, 1e-5, 1e-4, 3e-4, 1e-3, 3e-3)
"""Deviations of the start, in units of length, that an ensemble is tried with."""
JITTER_SYSTEMS = 40


def find(model: "ForceLaws", training: Windows, seed: int, progress: Progress) -> None:
    """Find walls, prototypes, laws, steps and the spread of the ensemble; all into the model."""
    order = np.random.default_rng(seed).permutation(len(training))
    fewer = COPIES / max(float(np.median(training.frames)) - 1, 1.0)
    more = max(1.0, fewer)  # Systems with few frames each: as many intervals of more systems.
    seen = list(_whole(training, model, order[: int(more * FIT_SYSTEMS)]))
    _check(seen)
    model.keep_walls(_walls(model.config.walls, seen, model.units))
    low, high = range_of(np.concatenate([each.distances for each in seen[:100]]))
    splines = Splines(np.zeros(1), low, spacing_of(low, high), SPLINES)
    how = Fit(model.numbers, model.scope, model.cells)
    found = fit(seen, how, splines, seed, _share(progress, 0.0, 0.5), more)
    model.keep_laws(found, (low, high))
    _refine(model, training, order, found, more, _share(progress, 0.5, 0.9))
    progress("spread of the ensemble", 0.9)
    _try_forecasts(model, training, order)


def _telling(progress: Progress, what: str, first: float) -> Callable[[float], None]:
    return lambda share: progress(what, first + (1 - first) * share)


def _share(progress: Progress, first: float, last: float) -> Progress:
    return lambda what, share: progress(what, first + (last - first) * share)


def _check(seen: list[Observation]) -> None:
    """Refuse data that show no force at all."""
    if not any(len(each.receivers) for each in seen):
        raise InputError(
            "the training systems have no edges, so no pair of objects can act on each other. "
            "Expected edges between objects that interact. Build the data with edges, or train "
            "message prototypes: --preset messages."
        )
    if not any(each.usable.any() for each in seen):
        raise InputError(
            "no training system has two frames in a row in which all positions and velocities "
            "are observed. Expected such frames, which show accelerations. Fill the gaps, or "
            "train message prototypes: --preset messages."
        )


def _walls(mode: str, seen: list[Observation], units: Units) -> walls.Walls:
    """Walls as the setting asks for."""
    if mode in ("none", "periodic"):
        return walls.none(seen[0].axes)
    found = walls.recognise(seen)
    if mode == "reflect" and not found.any:
        reach = np.array([walls.reach(each) for each in seen]).max(0) * units.length
        low, high = (", ".join(f"{x:.4g}" for x in side) for side in (-reach[0], reach[1]))
        raise InputError(
            f"model.walls=reflect, but no place was found in the training data where objects turn "
            f"around and which none crosses; positions go from ({low}) to ({high}). Expected at "
            f"least {walls.FEWEST} mirrored velocities at one place. Use model.walls=auto, which "
            f"takes walls only where the data show them, or none."
        )
    return found


def _whole(
    training: Windows, model: "ForceLaws", systems: Int[np.ndarray, " chosen"]
) -> Iterator[Observation]:
    """All frames of some systems."""
    horizon = training.whole_horizon(len(systems))
    for first in range(0, len(systems), 50):
        chosen = systems[first : first + 50]
        batch = training.batch(chosen, np.zeros_like(chosen), horizon)
        yield from observations(batch, model.units, model.periods, targets=True)


def _refine(
    model: "ForceLaws",
    training: Windows,
    order: Int[np.ndarray, " systems"],
    found: Found,
    more: float,
    progress: Progress,
) -> None:
    """Steps per frame and limit, then the laws themselves, by solving the motion."""
    refining = REFINE_SYSTEMS if model.used > 1 else SINGLE_SYSTEMS
    sizes = [int(more * size) for size in (SCHEME_SYSTEMS, refining, HELD_OUT_SYSTEMS)]
    groups = _groups(order, *sizes)
    exponents, drag = found.splines.exponents, found.fitted.drag
    if found.fitted.outer.any():
        drag = np.concatenate([drag, found.fitted.outer])
    model.keep_scheme(model.steps._replace(fewest=10.0, most=COARSE), np.inf)
    trial = _trial(model, training, groups[0])
    starts = [trial.unknowns.packed(each, exponents, drag) for each in found.starts]
    for turn in range(TURNS):
        part = _share(progress, turn / TURNS, (turn + 1) / TURNS)
        most = FINE if turn and model.steps.most > model.steps.fewest else COARSE
        best = _with_scheme(model, trial, starts, most, part)
        fitting, held_out = (_trial(model, training, group) for group in groups[1:])
        refined = refine(fitting, held_out, best, _telling(part, "refining the laws", 0.3))
        refined = replace(refined, values=_levelled(fitting.unknowns, refined))
        inner = _inner_powers(held_out, refined.values)
        model.keep_refined(fitting.unknowns, refined, inner)
        trial, starts = _trial(model, training, groups[0]), [refined.values]
    _look_for_limit(model, _trial(model, training, groups[1]), refined.values)
    if model.scope.strength:
        _centre(model, training, groups[1])


def _look_for_limit(
    model: "ForceLaws", trial: Trial, values: Float[np.ndarray, " unknowns"]
) -> None:
    """A limit that shows, or shows better, now that laws are exact and go on with their powers."""
    if model.settings.substeps is not None:
        return
    own = replace(trial, inner=np.full_like(trial.inner, np.inf))
    limit = find_limit(own, values, trial.steps, trial.space.limit)
    clipped = replace(own, space=own.space._replace(limit=limit))
    if np.isfinite(limit) and clipped.misfit(values) < trial.misfit(values):
        model.radial.inner.fill_(np.inf)
        model.keep_scheme(trial.steps, limit)


def _centre(model: "ForceLaws", training: Windows, systems: Int[np.ndarray, " chosen"]) -> None:
    """Laws at the mean strength of the systems, as these show it when their motion is solved.

    Nothing else ties the size of the laws: every system has its own strength.
    """
    horizon = training.whole_horizon(len(systems))
    batch = training.batch(systems, np.zeros_like(systems), horizon)
    with torch.no_grad():
        now = model.situation(batch, targets=True)
    strength = now.forces.strength[0].numpy()
    middle = float(np.median(strength))
    apart = np.abs(strength - middle)
    usual = apart <= FAR * max(float(np.median(apart)), 1e-12)
    between = deviation_of(strength, now.deviation)
    # Strengths that are better known count more only as far as systems do not differ themselves.
    weights = 1 / (now.deviation**2 + between**2 + 1e-24)
    model.radial.scale(float(np.average(strength[usual], weights=weights[usual])))
    model.spread.fill_(3 * between + OUTSIDE)


def _levelled(unknowns: Unknowns, refined: Refined) -> Float[np.ndarray, " unknowns"]:
    """Laws that go on as their power law where the data leave them open, nearer than the rest."""
    coefficients, exponents, drag = unknowns.parts(refined.values.copy())
    for law, row in enumerate(coefficients):
        own = unknowns.of_law(law)[:-1]
        deviation = np.sqrt(np.maximum(np.diag(refined.covariance)[own], 0.0))
        certain = np.flatnonzero(deviation < OPEN * np.abs(row))
        if len(certain):
            row[: certain[0]] = row[certain[0]]
    return unknowns.packed(coefficients, exponents, drag)


def _inner_powers(
    held_out: Trial, values: Float[np.ndarray, " unknowns"]
) -> Float[np.ndarray, " laws"]:
    """The power of each law nearer than its range: its own, or one where that explains more.

    In proportion to distance a force vanishes where two objects meet, so a guess can do no harm
    there. Where encounters do not decide, a law that is a pure power stays one.
    """
    coefficients = held_out.unknowns.parts(values)[0]
    pure = np.ptp(coefficients, axis=1) < TIE * np.abs(coefficients).max(1)
    chosen = np.full(held_out.unknowns.laws, np.inf)
    misfit = replace(held_out, inner=chosen).misfit(values)
    for law in range(len(chosen)):
        tried = chosen.copy()
        tried[law] = 1.0
        new = replace(held_out, inner=tried).misfit(values)
        if new < misfit + (-TIE if pure[law] else TIE):
            chosen, misfit = tried, new
    return chosen


def _with_scheme(
    model: "ForceLaws",
    trial: Trial,
    starts: list[Float[np.ndarray, " unknowns"]],
    most: int,
    part: Progress,
) -> Float[np.ndarray, " unknowns"]:
    """The best of several laws, each with the steps and limit that suit it, which are kept."""
    if model.settings.substeps is not None:
        return min(starts, key=trial.misfit)
    tried = []
    for number, start in enumerate(starts):

        def tell(share: float, number: int = number) -> None:
            part("steps per frame", 0.3 * (number + share) / len(starts))

        steps, limit = find_scheme(trial, start, most, tell)
        given = replace(trial, steps=steps, space=trial.space._replace(limit=limit))
        tried.append((given.misfit(start), number, steps, limit))
    _, number, steps, limit = min(tried, key=lambda each: each[0])
    if steps.most == most > steps.fewest:
        steps = steps._replace(most=model.settings.most_substeps)
    model.keep_scheme(steps, limit)
    return starts[number]


def _groups(order: Int[np.ndarray, " systems"], *sizes: int) -> list[Int[np.ndarray, " chosen"]]:
    """Different systems for each purpose where there are enough, from the end of the order."""
    ends = np.cumsum(sizes)
    turned = np.resize(order[::-1], max(int(ends[-1]), len(order)))
    return [np.unique(turned[end - size : end]) for size, end in zip(sizes, ends, strict=True)]


def _trial(model: "ForceLaws", training: Windows, systems: Int[np.ndarray, " chosen"]) -> Trial:
    """Intervals of whole systems, with what the model infers of them."""
    horizon = training.whole_horizon(len(systems))
    batch = training.batch(systems, np.zeros_like(systems), horizon)
    with torch.no_grad():
        now = model.situation(batch, targets=True)
    frames = Frames.of(now.seen).few(COPIES, np.random.default_rng(0))
    radial, used = model.radial, model.used
    laws = int(model.numbers[:used, :used].max()) + 1
    outer = len(model.outer) if model.outer.any() else 0
    unknowns = Unknowns(laws, SPLINES, used, outer, radial.low, radial.spacing, model.cells)
    forces = Forces(*(each.detach() for each in now.forces))
    inner = radial.inner[:laws].numpy().copy()
    given = (frames, forces, now.weights, now.layout, model.space, model.steps, unknowns)
    return Trial(*given, inner)


def _try_forecasts(
    model: "ForceLaws", training: Windows, order: Int[np.ndarray, " systems"]
) -> None:
    """The spread of starts with the best mean forecast; no laws if free motion forecasts better.

    Noise that looks like forces between near objects would throw them apart. Free motion must be
    better in the median too: a single encounter can decide the mean.
    """
    systems = order[-JITTER_SYSTEMS:]
    room = np.maximum(training.frames[systems] - training.condition - training.horizon + 1, 1)
    starts = np.random.default_rng(0).integers(0, room)
    batch = training.batch(systems, starts)
    known = batch.targets_observed

    @torch.no_grad()
    def errors(jitter: float) -> Float[np.ndarray, " systems"]:
        model.jitter.fill_(jitter)
        mean = model.ensemble_mean(batch, now, batch.target_times)
        squares = torch.where(known, (mean - batch.targets).square(), 0.0).sum((1, 2))
        sums = squares.new_zeros(batch.systems).index_add(0, batch.system, squares)
        return np.asarray(torch.nan_to_num(sums, nan=torch.inf).numpy())

    now = model.situation(batch)
    jitters = JITTERS if model.settings.ensemble > 1 else JITTERS[:1]
    tried = [errors(jitter) for jitter in jitters]
    best = int(np.argmin([each.mean() for each in tried]))
    found = model.state_dict(keep_vars=False)
    kept = {name: value.clone() for name, value in found.items()}
    model.forget_laws()
    now = model.situation(batch)
    free, found_errors = errors(0.0), tried[best]
    if found_errors.mean() < free.mean() or np.median(found_errors) < np.median(free):
        model.load_state_dict(kept)
        model.jitter.fill_(jitters[best])
