"""Edges from a file: a list of pairs of names, or a square matrix."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from pgode.data.files.table import columns
from pgode.data.files.table.reading.frames import read_frame
from pgode.data.files.table.reading.places import Places
from pgode.data.files.table.recipe import EdgeList, TableRecipe
from pgode.runtime.choices import did_you_mean
from pgode.runtime.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

Index = Int[np.ndarray, " edge"]


def read_edges(
    path: Path,
    recipe: TableRecipe,
    system_names: Sequence[str],
    object_names: Sequence[str],
    note: Callable[[str], None],
) -> EdgeList:
    """The edges of a file, by the names of objects; a name that no object has is an error.

    Three forms: sender, receiver and perhaps a weight in each line; a matrix with names in its
    first line and column; a bare matrix in the order of the objects. As everywhere, the row of a
    matrix receives and the column sends.
    """
    known = {name: k for k, name in enumerate(object_names)}
    frame = read_frame(path, header=False)
    first = [columns.label(each) for each in frame.iloc[0]]
    bare = _numeric(first) or set(first[:2]) <= {*known}
    frame = frame if bare else read_frame(path)
    system: list[str] = []
    if bare and len(frame) == len(frame.columns) == len(known):
        sender, receiver, weight = _matrix(frame, Places(frame, str(path)))
    elif not bare and _labelled(frame):
        sender, receiver, weight = _labelled_matrix(frame, known, path)
    else:
        sender, receiver, weight, system = _pairs(frame, recipe, known, system_names, path)
    away = sender != receiver
    sender, receiver, weight = sender[away], receiver[away], weight[away]
    system = [name for name, kept in zip(system, away, strict=True) if kept] if system else []
    if not len(sender):
        raise InputError(
            f"{path} has no edge between two different objects. Expected at least one. Use --edges "
            f"none if there are none."
        )
    pairs = set(zip(system or [""] * len(sender), sender.tolist(), receiver.tolist(), strict=True))
    both = any((name, two, one) in pairs for name, one, two in pairs)
    undirected = recipe.undirected
    if undirected is None:
        undirected = not both
        if undirected:
            note(f"edges of {path.name} act both ways, since each pair is there once (--directed)")
    if undirected:
        missing = np.array(
            [
                (name, two, one) not in pairs
                for name, one, two in zip(
                    system or [""] * len(sender), sender.tolist(), receiver.tolist(), strict=True
                )
            ]
        )
        sender, receiver, weight, system = (
            np.concatenate([sender, receiver[missing]]),
            np.concatenate([receiver, sender[missing]]),
            np.concatenate([weight, weight[missing]]),
            system + [name for name, kept in zip(system, missing, strict=True) if kept]
            if system
            else [],
        )
    used = np.unique(np.concatenate([sender, receiver]))
    place = np.zeros(len(object_names), dtype=np.int64)
    place[used] = np.arange(len(used))
    return EdgeList(
        tuple(object_names[k] for k in used),
        tuple(place[sender].tolist()),
        tuple(place[receiver].tolist()),
        tuple(weight.tolist()),
        tuple(system),
    )


def _numeric(texts: Sequence[str]) -> bool:
    try:
        return bool(np.isfinite([float(text) for text in texts]).all())
    except ValueError:
        return False


def _labelled(frame: "pd.DataFrame") -> bool:
    """Whether the first column repeats the names of the others, as in a matrix with names."""
    heads = [columns.label(name) for name in frame.columns[1:]]
    sides = [columns.label(each) for each in frame.iloc[:, 0]]
    return len(frame.columns) > 2 and len(set(heads) & set(sides)) >= max(2, len(heads) // 2)


def _matrix(
    frame: "pd.DataFrame", places: Places
) -> tuple[Index, Index, Float[np.ndarray, " edge"]]:
    values = np.stack([columns.numbers(frame, name, places) for name in frame.columns], axis=1)
    values = np.nan_to_num(values)
    receiver, sender = np.nonzero(values)
    return sender, receiver, values[receiver, sender]


def _labelled_matrix(
    frame: "pd.DataFrame", known: dict[str, int], path: Path
) -> tuple[Index, Index, Float[np.ndarray, " edge"]]:
    places = Places(frame, str(path))
    side = frame.columns[0]
    rows = [columns.label(each) for each in frame[side]]
    heads = [columns.label(name) for name in frame.columns[1:]]
    for k, name in enumerate(rows):
        _known(name, known, places.of(k), str(side))
    for name in heads:
        _known(name, known, f"line 1 of {path}", name)
    sender, receiver, weight = _matrix(frame[frame.columns[1:]], places)
    to_row = np.array([known[name] for name in rows])
    to_head = np.array([known[name] for name in heads])
    return to_head[sender], to_row[receiver], weight


def _pairs(
    frame: "pd.DataFrame",
    recipe: TableRecipe,
    known: dict[str, int],
    system_names: Sequence[str],
    path: Path,
) -> tuple[Index, Index, Float[np.ndarray, " edge"], list[str]]:
    places = Places(frame, str(path))
    names = [str(name) for name in frame.columns]
    with_system = bool(recipe.system) and recipe.system in names
    ends = [name for name in names if not with_system or name != recipe.system]
    if not 2 <= len(ends) <= 3:
        raise InputError(
            f"{path} has {len(names)} columns: {', '.join(names[:12])}. Expected the sender, the "
            f"receiver and perhaps a weight, or a square matrix with names. Remove the others."
        )
    codes = []
    for column in ends[:2]:
        number, unique = columns.names(frame, column, "object", places)
        found = np.array([known.get(name, -1) for name in unique])
        for row in np.flatnonzero(found[number] < 0)[:1]:
            _known(unique[number[row]], known, places.of(int(row)), column)
        codes.append(found[number])
    weight = np.ones(len(frame))
    if len(ends) == 3:
        weight = columns.numbers(frame, ends[2], places)
        for row in np.flatnonzero(np.isnan(weight))[:1]:
            raise places.error(row, ends[2], "", "the weight of the edge", "Fill it in.")
    system: list[str] = []
    if with_system:
        number, unique = columns.names(frame, recipe.system, "system", places)
        system = [unique[k] for k in number]
        for row, name in enumerate(system):
            if name not in system_names:
                _known(name, dict.fromkeys(system_names, 0), places.of(row), recipe.system)
    seen: dict[tuple[str, int, int], int] = {}
    for row, (one, two) in enumerate(zip(codes[0].tolist(), codes[1].tolist(), strict=True)):
        key = (system[row] if system else "", one, two)
        if key in seen:
            raise InputError(
                f"{places.of(seen[key])} and {places.of(row)} are the same edge. Expected each "
                f"once. Remove one of them."
            )
        seen[key] = row
    return codes[0], codes[1], weight, system


def _known(name: str, known: dict[str, int], place: str, column: str) -> None:
    if name not in known:
        raise InputError(
            f'{place} names "{name}" in the column "{column}", which the table does not have. '
            f"Expected one of its {len(known)} names. "
            f"{did_you_mean(name, known) or 'Correct it, or remove the line.'}"
        )
