"""Splits: whether there are any, and whether one leaks into another."""

import numpy as np
from jaxtyping import Int

from pgode.data.checkup.finding import Finding, counted
from pgode.data.checkup.subject import Subject

RUN = 6
"""Frames in a row that two systems must share; a single one may be a common start."""
SMALL_RUN = 12
"""The same where a frame holds few numbers, which may agree by chance."""
FEW_NUMBERS = 4
PAIRS = 2000
"""Pairs of systems that are compared as continuations of each other."""
SMOOTH = 3.0
"""A step from one system into the next, in usual large steps, that still continues a series."""


def missing_splits(subject: Subject) -> list[Finding]:
    """Splits that training and scoring need."""
    present = {name for name, _ in subject.splits()}
    advice = "by system or in time (pgode import table --split-time 0.7,0.15,0.15)"
    if "train" not in present:
        return [
            Finding(
                "problem",
                "splits",
                f"no system is for training; there is {', '.join(sorted(present))} only.",
                f"Give the split train to most systems, {advice}.",
            )
        ]
    findings = []
    if "val" not in present:
        findings.append(
            Finding(
                "warning",
                "splits",
                "no validation split: weights would be chosen, and intervals calibrated, on the "
                "training systems.",
                f"Set some systems aside, {advice}.",
            )
        )
    if not present & {"test", "ood"}:
        findings.append(
            Finding(
                "warning",
                "splits",
                "no test split: scores would be those of systems that the model was fitted to.",
                f"Set some systems aside, {advice}.",
            )
        )
    return findings


def shared_frames(subject: Subject) -> list[Finding]:
    """The same frames in two splits (a leak), or twice in one."""
    leaks: dict[tuple[int, int], tuple[int, int]] = {}
    doubles: dict[tuple[int, int], tuple[int, int]] = {}
    for first, second, frame, count in _shared(subject):
        split = subject.data.split
        found = doubles if split[first] == split[second] else leaks
        found[first, second] = frame, count
    findings = []
    for found, is_leak in ((leaks, True), (doubles, False)):
        if not found:
            continue
        (first, second), (frame, count) = max(found.items(), key=lambda entry: entry[1][1])
        splits = subject.data.split[[first, second]]
        label = subject.data.system_label
        whole = count >= subject.frames[second]
        findings.append(
            Finding(
                "problem" if is_leak else "warning",
                "leak" if is_leak else "duplicated systems",
                f"{label(second)} ({splits[1]}) and {label(first)} ({splits[0]}) hold "
                + ("the same frames" if whole else f"{counted(int(count), 'frame')} in common")
                + (
                    f"; {counted(len(found), 'such pair')} of systems in all."
                    if len(found) > 1
                    else "."
                ),
                "Remove one of the two, and keep what belongs to one series in one split."
                if is_leak
                else "Remove the copies, or windows of one series count twice.",
                subject.place(second, None, frame),
            )
        )
    return findings


def continued_series(subject: Subject) -> list[Finding]:
    """A series that goes on in another split without a gap, so that their windows are alike."""
    data, step = subject.data, subject.step
    if data.systems < 2 or not np.isfinite(step):
        return []
    start, end = subject.times[:, 0], subject.times[np.arange(data.systems), subject.frames - 1]
    order = np.argsort(start, kind="stable")
    low = np.searchsorted(start[order], end + 0.5 * step)
    high = np.searchsorted(start[order], end + 1.5 * step)
    counts = high - low
    before = np.repeat(np.arange(data.systems), counts)[:PAIRS]
    offset = (np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts))[:PAIRS]
    after = order[low[before] + offset]
    other = (data.split[before] != data.split[after]) & (
        data.n_objects[before] == data.n_objects[after]
    )
    before, after = before[other], after[other]
    if not len(before):
        return []
    jump = np.abs(
        subject.states[after, :, 0] - subject.states[before, :, subject.frames[before] - 1]
    )
    usual = np.array([_large_step(subject, k) for k in range(len(data.features))])
    known = np.isfinite(jump)
    smooth = (jump <= SMOOTH * usual) | ~known
    joined = np.flatnonzero(smooth.all(axis=(1, 2)) & known.any(axis=(1, 2)))
    if not len(joined):
        return []
    first, second = int(before[joined[0]]), int(after[joined[0]])
    return [
        Finding(
            "note",
            "neighbouring splits",
            f"{data.system_label(first)} ({data.split[first]}) goes on as "
            f"{data.system_label(second)} ({data.split[second]}) without a gap"
            + (f", and so do {len(joined) - 1} more." if len(joined) > 1 else "."),
            "Leave out frames between two splits of a series (--gap of pgode import table), or "
            "scores flatter.",
            subject.place(second, None, 0),
        )
    ]


def _large_step(subject: Subject, feature: int) -> float:
    changes = np.abs(subject.changes(feature))
    known = changes[np.isfinite(changes)]
    return float(np.quantile(known, 0.95)) if known.size else 0.0


def _shared(subject: Subject) -> list[tuple[int, int, int, int]]:
    """Pairs of systems with frames in common: both, a frame of the second, and how many frames.

    Frames are compared by exact hashes of runs of them, so that a common start, a time without
    change or a coincidence of a few small numbers is not a copy.
    """
    data = subject.data
    length = SMALL_RUN if data.objects * len(data.features) < FEW_NUMBERS else RUN
    if data.frames < length or data.systems < 2:
        return []
    frames = _frame_hashes(subject)
    runs = np.lib.stride_tricks.sliding_window_view(frames, length, axis=1)
    moving = (np.diff(np.sort(runs, axis=2), axis=2) != 0).all(axis=2)
    inside = np.arange(runs.shape[1]) < (subject.frames - length + 1)[:, None]
    weights = _odd_numbers(length)
    hashes = (runs * weights).sum(axis=2, dtype=np.uint64)
    system, frame = np.nonzero(moving & inside)
    keys = hashes[system, frame]
    order = np.argsort(keys, kind="stable")
    same = keys[order][1:] == keys[order][:-1]
    if not same.any():
        return []
    left, right = system[order][:-1][same], system[order][1:][same]
    where = frame[order][1:][same]
    differ = left != right
    left, right, where = left[differ], right[differ], where[differ]
    pairs, first, counts = np.unique(
        left * data.systems + right, return_index=True, return_counts=True
    )
    return [
        (
            int(pair // data.systems),
            int(pair % data.systems),
            int(where[k]),
            int(count) + length - 1,
        )
        for pair, k, count in zip(pairs, first, counts, strict=True)
    ]


def _frame_hashes(subject: Subject) -> Int[np.ndarray, "system time"]:
    """One whole number for the content of each frame; equal where all its values are."""
    systems, objects, frames, features = subject.states.shape
    weights = _odd_numbers(objects * features).reshape(objects, 1, features)
    hashes = np.zeros((systems, frames), np.uint64)
    # In parts: the bits of all states at once would double the memory.
    part = max(1, 2_000_000 // max(1, objects * frames * features))
    for start in range(0, systems, part):
        block = np.ascontiguousarray(subject.states[start : start + part])
        bits = block.view(np.uint64)
        bits = np.bitwise_xor(bits, bits >> np.uint64(29))
        hashes[start : start + part] = (bits * weights).sum(axis=(1, 3), dtype=np.uint64)
    return hashes


def _odd_numbers(count: int) -> Int[np.ndarray, " number"]:
    numbers = np.random.default_rng(0).integers(0, 2**63, count, dtype=np.uint64)
    return numbers * np.uint64(2) + np.uint64(1)
