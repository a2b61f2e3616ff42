"""Edges by a rule: all pairs, objects within a radius, nearest neighbours, a given list, none."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float, Int

from pgode.data.edges import Edges
from pgode.data.files.table.dense import Dense
from pgode.data.files.table.graphs.edge_file import read_edges
from pgode.data.files.table.reading.choice import has_usual_positions
from pgode.data.files.table.recipe import AUTO, STATIC, EdgeList, TableRecipe
from pgode.runtime.errors import InputError
from pgode.runtime.limits.bounds import COUNT, LARGE

FEW = 20
"""Up to this many objects all pairs are joined by default; beyond it the nearest."""
NEAREST = 8
MANY_EDGES = 5 * 10**6
"""Edges above which graphs are rebuilt less often by default."""
MOST_EDGES = 3 * 10**7
LISTED = "listed"
"""The rule of a recipe whose graph came from a file, and is now in the recipe."""

Note = Callable[[str], None]


@dataclass(frozen=True)
class Rule:
    """A recipe with a definite rule, and the features that it takes for positions."""

    recipe: TableRecipe
    positions: tuple[str, ...] = ()


def check_rule(recipe: TableRecipe) -> None:
    """Refuse a rule that cannot be read, and a rebuilding of graphs that do not change."""
    kind, _ = parsed(recipe.edges) if recipe.edges else ("knn", 0)
    if recipe.undirected is not None and kind not in ("file", LISTED):
        raise InputError(
            "--undirected or --directed is given, but edges come from no file. Expected it only "
            "with one. Leave it out."
        )
    if kind == "file" and not Path(recipe.edges).exists():
        raise InputError(
            f"cannot read {recipe.edges}: there is no such file. Expected all, none, radius:R, "
            f"knn:K, or a file of edges. Correct --edges."
        )
    if recipe.edges_every != AUTO and kind not in ("radius", "knn"):
        raise InputError(
            f"--edges-every is given, but the graph is {recipe.edges}, which does not change. "
            f"Expected it only with radius or knn. Leave it out."
        )


def resolved_rule(
    recipe: TableRecipe,
    present: Bool[np.ndarray, "system object"],
    names: tuple[str, ...],
    roles: tuple[str, ...],
    source: str,
    note: Note,
) -> Rule:
    """The rule that is in force; by default all pairs of few objects, the nearest of many."""
    if recipe.edges:
        return Rule(recipe)
    largest = int(present.sum(axis=1).max())
    if largest <= FEW:
        note(f"edges: all pairs, since there are at most {FEW} objects (--edges)")
        return Rule(recipe.resolved(edges="all"))
    usual = () if "position" in roles else has_usual_positions(names)
    if "position" in roles or usual:
        note(f"edges: the {NEAREST} nearest objects, since there are up to {largest} (--edges)")
        return Rule(recipe.resolved(edges=f"knn:{NEAREST}"), usual)
    note(
        f"edges: all pairs of up to {largest} objects, since nothing says who is near whom; a "
        f"file of edges makes training faster (--edges FILE)"
    )
    return Rule(recipe.resolved(edges="all"))


def parsed(edges: str) -> tuple[str, float]:
    """The kind of a rule and its number: radius:3 is ("radius", 3.0); a path is a file."""
    kind, colon, text = edges.partition(":")
    if edges in ("all", "none", LISTED):
        return edges, 0.0
    if kind not in ("radius", "knn"):
        return "file", 0.0
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    most = COUNT if kind == "knn" else LARGE
    if not 0 < number <= most or (kind == "knn" and number % 1):
        example = "radius:3, in units of position," if kind == "radius" else "knn:8"
        raise InputError(
            f'the edges "{edges}" have no usable number{"" if colon else " after a colon"}. '
            f"Expected, for instance, {example} above 0. Correct --edges."
        )
    return kind, number


def with_listed_edges(
    recipe: TableRecipe, system_names: Sequence[str], object_names: Sequence[str], note: Note
) -> TableRecipe:
    """The recipe with the content of its file of edges."""
    if not recipe.edges or recipe.graph is not None or parsed(recipe.edges)[0] != "file":
        return recipe
    graph = read_edges(Path(recipe.edges), recipe, system_names, object_names, note)
    return recipe.resolved(edges=LISTED, graph=graph)


def edges_of_rule(
    recipe: TableRecipe,
    layout: Dense,
    system_names: Sequence[str],
    object_names: Sequence[str],
    axes: Sequence[int],
    source: str,
    note: Note,
) -> tuple[Edges, float, float, TableRecipe]:
    """The graphs of all systems, cutoff and interval for those by distance, and the recipe."""
    kind, number = parsed(recipe.edges)
    if kind == LISTED and recipe.graph is not None:
        return _listed(recipe.graph, layout, system_names, object_names, source), 0.0, 0.0, recipe
    if kind in ("all", "none"):
        counts = layout.present.sum(axis=1) if kind == "all" else np.zeros(len(layout.times), int)
        return _all_pairs(counts, layout.times[:, 0], source), 0.0, 0.0, recipe
    from pgode.data.neighbours import distance_edges, nearest_edges  # numba is slow to import

    if not axes:
        raise InputError(
            f"--edges {recipe.edges} needs positions, but no feature of {source} is one. Expected "
            f"the role position. Name them, such as --positions x,y."
        )
    positions = layout.states[..., list(axes)].transpose(0, 2, 1, 3)
    # Where nothing was observed the graph before stays in force.
    times = np.where(np.isfinite(positions).any(axis=(2, 3)), layout.times, np.nan)
    times[:, 0] = layout.times[:, 0]
    every = _interval(recipe, positions, times, kind, number, note)
    recipe = recipe.resolved(edges_every=every)
    frames = times.shape[1] if every == STATIC else every
    if kind == "radius":
        edges = distance_edges(positions, times, number, frames)
    else:
        edges = nearest_edges(positions, times, int(number), frames)
    _refuse_many(len(edges.edge_graph), recipe.edges, source)
    if kind == "knn" or every == STATIC:
        return edges, 0.0, 0.0, recipe
    step = recipe.step or float(np.nanmedian(np.diff(layout.times, axis=1)))
    return edges, number, every * step, recipe


def _interval(
    recipe: TableRecipe,
    positions: Float[np.ndarray, "system time object axis"],
    times: Float[np.ndarray, "system time"],
    kind: str,
    number: float,
    note: Note,
) -> int:
    """Frames after which graphs are rebuilt: each frame, unless that makes very many edges."""
    if recipe.edges_every != AUTO:
        return recipe.edges_every
    if kind == "knn":
        edges = float(np.isfinite(positions[..., 0]).sum()) * number
    else:
        from pgode.data.neighbours import distance_edges

        frames = np.linspace(0, times.shape[1] - 1, 3).astype(int)
        few = distance_edges(positions[:, frames], times[:, frames], number, 1)
        edges = len(few.edge_graph) * times.shape[1] / 3
    every = max(1, int(np.ceil(edges / MANY_EDGES)))
    if every > 1:
        note(
            f"graphs are rebuilt every {every} frames, since each frame would make about "
            f"{edges:.0e} edges (--edges-every)"
        )
    return every


def _all_pairs(
    counts: Int[np.ndarray, " system"], start: Float[np.ndarray, " system"], source: str
) -> Edges:
    each = counts * np.maximum(counts - 1, 0)
    _refuse_many(int(each.sum()), "all", source)
    graph = np.repeat(np.arange(len(counts)), each)
    place = np.arange(len(graph)) - np.repeat(np.cumsum(each) - each, each)
    others = np.maximum(counts - 1, 1)[graph]
    receiver, sender = place // others, place % others
    sender = sender + (sender >= receiver)
    return Edges(np.arange(len(counts)), start, graph, receiver, sender, np.ones((len(graph), 1)))


def _listed(
    graph: EdgeList,
    layout: Dense,
    system_names: Sequence[str],
    object_names: Sequence[str],
    source: str,
) -> Edges:
    """The listed edges of each system, as far as both their objects are in it."""
    number = {name: k for k, name in enumerate(object_names)}
    code = np.array([number.get(name, -1) for name in graph.names], dtype=np.int64)
    slot = np.full((len(layout.item), len(object_names) + 1), -1)
    system, place = np.nonzero(layout.present)
    slot[system, layout.item[system, place]] = place
    receiver = code[np.array(graph.receiver, dtype=np.int64)]
    sender = code[np.array(graph.sender, dtype=np.int64)]
    weight = np.array(graph.weight, dtype=np.float64)
    if graph.system:
        for k in np.unique(layout.origin):
            if system_names[k] not in graph.system:
                raise InputError(
                    f'the edges have none for the system "{system_names[k]}" of {source}. Expected '
                    f"edges of each system. Add them to the file."
                )
        owner = {name: k for k, name in enumerate(system_names)}
        of_edge = np.array([owner.get(name, -1) for name in graph.system])
        fits = layout.origin[:, None] == of_edge
    else:
        fits = np.ones((len(slot), 1), dtype=bool)
    _refuse_many(len(slot) * len(weight), "FILE", source)
    ends = (slot[:, receiver], slot[:, sender])
    owner_of, edge = np.nonzero((ends[0] >= 0) & (ends[1] >= 0) & fits)
    return Edges(
        np.arange(len(slot)),
        layout.times[:, 0],
        owner_of,
        ends[0][owner_of, edge],
        ends[1][owner_of, edge],
        weight[edge][:, None],
    )


def _refuse_many(count: int, rule: str, source: str) -> None:
    if count > MOST_EDGES:
        raise InputError(
            f"--edges {rule} gives {source} about {count:.0e} edges. Expected at most "
            f"{MOST_EDGES:.0e}. Use knn:{NEAREST}, a file with fewer edges, a larger "
            f"--edges-every, or leave --window out (training cuts windows by itself)."
        )
