"""Cutting series into training, validation and test, and these into windows.

Neighbouring frames are similar, so a random choice of windows would put nearly the same frames into
training and test. Either whole systems, or groups of them, belong to one split, or each series is
cut in time, and no window crosses a cut.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int, Shaped

from pgode.data.files.table.recipe import TableRecipe
from pgode.data.schema import SPLITS
from pgode.runtime.errors import InputError

PARTS = SPLITS[:3]
LEAST = 2
"""Least frames of a system."""

PerSystem = Int[np.ndarray, " system"]
PerSegment = Int[np.ndarray, " segment"]


@dataclass(frozen=True)
class Segments:
    """Spans of frames that belong to one split, sorted by system and first frame.

    Each has `windows` windows of `length` frames that start `stride` frames apart.
    """

    system: PerSegment
    first: PerSegment
    frames: PerSegment
    length: PerSegment
    stride: PerSegment
    windows: PerSegment
    split: Shaped[np.ndarray, " segment"]
    names: list[str]

    @property
    def first_piece(self) -> PerSegment:
        """Number of the first window of each segment, counted over all of them."""
        return np.asarray(np.cumsum(self.windows) - self.windows)

    def pieces(self) -> tuple[PerSegment, PerSegment]:
        """The segment and the first frame of each window."""
        segment = np.repeat(np.arange(len(self.windows)), self.windows)
        number = np.arange(len(segment)) - self.first_piece[segment]
        return segment, self.first[segment] + number * self.stride[segment]

    def count(self, system: Int[np.ndarray, " row"], frame: Int[np.ndarray, " row"]) -> int:
        """How many `members` there are: overlapping windows repeat a row any number of times."""
        _, segment, local = self._inside(system, frame)
        stride, length = np.maximum(self.stride, 1)[segment], self.length[segment]
        last = np.minimum(local // stride, self.windows[segment] - 1)
        first = np.maximum(-((length - 1 - local) // stride), 0)
        return int(np.maximum(last - first + 1, 0).sum())

    def _inside(
        self, system: Int[np.ndarray, " row"], frame: Int[np.ndarray, " row"]
    ) -> tuple[Int[np.ndarray, " kept"], Int[np.ndarray, " kept"], Int[np.ndarray, " kept"]]:
        """The rows that are in a segment, which one, and their frame within it."""
        most = int(max(frame.max(initial=0), self.first.max(initial=0))) + 1
        segment = np.searchsorted(self.system * most + self.first, system * most + frame, "right")
        segment -= 1
        inside = (segment >= 0) & (self.system[segment] == system)
        row = np.flatnonzero(inside & (frame < (self.first + self.frames)[segment]))
        segment = segment[row]
        return row, segment, frame[row] - self.first[segment]

    def members(
        self, system: Int[np.ndarray, " row"], frame: Int[np.ndarray, " row"]
    ) -> tuple[Int[np.ndarray, " member"], Int[np.ndarray, " member"], Int[np.ndarray, " member"]]:
        """(row, window, frame within it) of each row of each window it is in."""
        row, segment, local = self._inside(system, frame)
        stride = np.maximum(self.stride, 1)
        overlap = int(np.max(-(-self.length // stride), initial=1))
        found = []
        for back in range(overlap):
            window = local // stride[segment] - back
            start = window * stride[segment]
            ok = (window >= 0) & (window < self.windows[segment])
            ok &= local - start < self.length[segment]
            found.append((row[ok], (self.first_piece[segment] + window)[ok], (local - start)[ok]))
        rows, pieces, frames = (np.concatenate(each) for each in zip(*found, strict=True))
        return rows, pieces, frames


def segments(
    recipe: TableRecipe,
    frames: PerSystem,
    names: list[str],
    label: Callable[[str], list[str]],
    source: str,
    note: Callable[[str], None],
) -> Segments:
    """The segments of all systems. `label` gives the value of a column in each system."""
    systems = np.arange(len(frames))
    usable = frames >= (recipe.window or LEAST)
    rule = recipe.split_by
    cut_in_time = rule == "time"
    if cut_in_time:
        owner, first, length, split = _cut_in_time(recipe, frames, names, source)
    else:
        owner, first, length = systems, np.zeros_like(frames), frames
        split = np.full(len(frames), "train", dtype=object)
        if recipe.split_column:
            split = _given(label(recipe.split_column), names, recipe.split_column, source)
        elif rule != "none":
            group = systems if rule == "system" else _numbered(label(rule))
            # What is too short for a window must not be drawn for a split.
            split[usable] = _at_random(
                recipe, np.unique(group[usable], return_inverse=True)[1], source
            )
    window = np.full(len(owner), recipe.window) if recipe.window else length
    stride = np.full(len(owner), recipe.stride) if recipe.stride else window
    windows = np.where(length >= window, (length - window) // np.maximum(stride, 1) + 1, 0)
    windows[window < LEAST] = 0
    _check_windows(recipe, split, windows, length, source, note)
    several = recipe.window > 0
    tags = [f"{part}" if cut_in_time else "" for part in split]
    labels = []
    for k in range(len(owner)):
        for number in range(1, windows[k] + 1):
            tag = " ".join(filter(None, (tags[k], str(number) if several else "")))
            labels.append(f"{names[owner[k]]} [{tag}]".strip() if tag else names[owner[k]])
    return Segments(owner, first, length, window, stride, windows, split, labels)


def check_options(recipe: TableRecipe) -> None:
    """Refuse numbers that cannot cut anything."""
    shares = np.array(recipe.shares, dtype=float)
    if shares.shape != (3,) or not (shares >= 0).all() or abs(shares.sum() - 1) > 1e-6:
        raise InputError(
            f"the shares of the splits are {','.join(f'{x:g}' for x in shares)}. Expected three "
            f"from 0 to 1, for training, validation and test, that add up to 1. Use "
            f"0.7,0.15,0.15, for instance."
        )
    limits = {"--window": (recipe.window, LEAST), "--stride": (recipe.stride, 1)}
    for option, (value, least) in limits.items():
        if value and value < least:
            raise InputError(
                f"{option} is {value}. Expected at least {least} frames. Correct {option}."
            )
    if recipe.gap < 0:
        raise InputError(f"--gap is {recipe.gap}. Expected 0 or more frames. Correct --gap.")
    if recipe.stride and not recipe.window:
        raise InputError(
            f"--stride is {recipe.stride}, but there is no --window. Expected both: the stride is "
            f"the distance of windows. Give --window, or leave --stride out: training cuts windows "
            f"by itself."
        )
    if recipe.gap and recipe.split_by not in ("", "time"):
        raise InputError(
            f"--gap is {recipe.gap}, but systems are not split in time. Expected a gap only with "
            f"--split-time. Leave --gap out."
        )


def _cut_in_time(
    recipe: TableRecipe, frames: PerSystem, names: list[str], source: str
) -> tuple[PerSegment, PerSegment, PerSegment, Shaped[np.ndarray, " segment"]]:
    used = [(name, share) for name, share in zip(PARTS, recipe.shares, strict=True) if share]
    usable = frames - recipe.gap * (len(used) - 1)
    least = LEAST * len(used)
    if usable.max() < least:
        longest = int(frames.argmax())
        raise InputError(
            f'{source} cannot be split in time: its longest system, "{names[longest]}", has '
            f"{frames[longest]} frames, of which gaps leave {max(0, usable[longest])}. "
            f"Expected at least {least}. Give longer series, a shorter --gap, or --split-by none."
        )
    ends = np.round(np.cumsum([share for _, share in used]) * usable[:, None]).astype(np.int64)
    place = np.arange(1, len(used) + 1)
    # No part of a series that is long enough is too short: short shares grow at others' expense.
    ends = np.minimum(ends, usable[:, None] - LEAST * (len(used) - place))
    ends = np.maximum(ends, LEAST * place)
    ends[usable < least] = 0
    starts = np.concatenate([np.zeros((len(frames), 1), np.int64), ends[:, :-1]], axis=1)
    shift = recipe.gap * np.arange(len(used))
    owner = np.repeat(np.arange(len(frames)), len(used))
    split = np.tile(np.array([name for name, _ in used], dtype=object), len(frames))
    length = np.maximum(ends - starts, 0)
    return owner, (starts + shift).reshape(-1), length.reshape(-1), split


def _at_random(
    recipe: TableRecipe, group: Int[np.ndarray, " system"], source: str
) -> Shaped[np.ndarray, " system"]:
    """Whole groups of systems, drawn with a seed, in numbers near to the shares."""
    used = [(name, share) for name, share in zip(PARTS, recipe.shares, strict=True) if share]
    count = int(group.max(initial=-1)) + 1
    if count < len(used):
        what = "systems" if recipe.split_by == "system" else f'different "{recipe.split_by}"'
        need = recipe.window or LEAST
        raise InputError(
            f"{source} has {count} {what} of at least {need} frames, too few for "
            f"{', '.join(name for name, _ in used)}. Expected at least one for each. Use "
            f"--split-time 0.7,0.15,0.15, or shares such as --split 1,0,0."
        )
    order = np.random.default_rng(recipe.seed).permutation(count)
    sizes = np.bincount(group, minlength=count)[order]
    middle = (np.cumsum(sizes) - sizes / 2) / sizes.sum()
    part = np.searchsorted(np.cumsum([share for _, share in used])[:-1], middle)
    for k in range(len(used)):  # No split is left empty.
        if not (part == k).any():
            most = np.bincount(part, minlength=len(used)).argmax()
            part[np.flatnonzero(part == most)[-1 if k > most else 0]] = k
    chosen = np.empty(count, dtype=object)
    chosen[order] = np.array([name for name, _ in used], dtype=object)[part]
    return np.asarray(chosen[group])


def _given(
    labels: list[str], names: list[str], column: str, source: str
) -> Shaped[np.ndarray, " system"]:
    """Splits as a column of the table has them."""
    usual = {"training": "train", "validation": "val", "valid": "val", "testing": "test"}
    found = [usual.get(text.strip().lower(), text.strip().lower()) for text in labels]
    for name, text, split in zip(names, labels, found, strict=True):
        if split not in SPLITS:
            raise InputError(
                f'system "{name}" of {source} has "{text}" in the column "{column}". Expected one '
                f"of {', '.join(SPLITS)}. Correct it."
            )
    return np.array(found, dtype=object)


def _numbered(labels: list[str]) -> Int[np.ndarray, " system"]:
    number: dict[str, int] = {}
    return np.array([number.setdefault(each, len(number)) for each in labels], dtype=np.int64)


def _check_windows(
    recipe: TableRecipe,
    split: Shaped[np.ndarray, " segment"],
    windows: PerSegment,
    frames: PerSegment,
    source: str,
    note: Callable[[str], None],
) -> None:
    """Every split that was asked for gets a window; what is too short for one is noted."""
    need = recipe.window or LEAST
    for part in dict.fromkeys(split.tolist()):
        if windows[split == part].sum() == 0:
            raise InputError(
                f"no series of {source} is long enough for {part}: the longest has "
                f"{frames[split == part].max()} frames of that split. Expected at least {need}, "
                f"the length of a window. Give a shorter --window, longer series, or other shares."
            )
    short = int((windows == 0).sum())
    if short:
        note(f"{short} of {len(windows)} series are shorter than {need} frames and are left out")
