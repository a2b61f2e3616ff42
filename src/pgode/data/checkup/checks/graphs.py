"""Graphs: whether there are edges, how many, and what their weights are."""

import numpy as np
from jaxtyping import Int

from pgode.data.checkup.finding import Finding, counted, number
from pgode.data.checkup.subject import Subject

MANY = 100
"""Objects from which all pairs cost far more than near neighbours."""


def degrees(subject: Subject) -> Int[np.ndarray, "graph object"]:
    """Number of edges that each object receives in each graph, -1 where it is absent."""
    edges, objects = subject.data.edges, subject.data.objects
    place = edges.edge_graph.astype(np.int64) * objects + edges.edge_receiver
    count = np.bincount(place, minlength=len(edges.graph_system) * objects)
    count = count.reshape(-1, objects)
    return np.where(subject.data.present[edges.graph_system], count, -1)


def no_edges(subject: Subject) -> list[Finding]:
    """Data in which no object acts on another."""
    if len(subject.data.edges.edge_sender) or (subject.data.n_objects == 1).all():
        return []
    return [
        Finding(
            "warning",
            "graph",
            "there are no edges, so objects cannot act on each other.",
            "Give a graph: --edges all, radius:R or knn:K (pgode import table), or edges= "
            "(Trajectories.build).",
        )
    ]


def isolated(subject: Subject) -> list[Finding]:
    """Objects without any edge, in systems where others have some."""
    edges, data = subject.data.edges, subject.data
    if not len(edges.edge_sender):
        return []
    joined = np.zeros(data.present.shape, dtype=bool)
    owner = edges.graph_system[edges.edge_graph]
    joined[owner, edges.edge_receiver] = joined[owner, edges.edge_sender] = True
    alone = data.present & ~joined & (data.n_objects > 1)[:, None]
    if not alone.any():
        return []
    share = alone.sum() / data.present.sum()
    system, item = (int(place) for place in np.argwhere(alone)[0])
    return [
        Finding(
            "warning" if share > 0.2 else "note",
            "graph",
            f"no edge at any time: {counted(int(alone.sum()), 'object')} ({100 * share:.1f} %).",
            "Fine where they are really alone; otherwise use a larger radius or more neighbours."
            if share <= 0.2
            else "Use a larger radius or nearest neighbours (--edges knn:K).",
            subject.place(system, item),
        )
    ]


def complete_and_large(subject: Subject) -> list[Finding]:
    """All pairs of many objects, whose cost grows with the square of their number."""
    count = degrees(subject)
    size = (count >= 0).sum(axis=1)
    large = (size > MANY) & (np.where(count >= 0, count, 0).sum(axis=1) == size * (size - 1))
    if not large.any():
        return []
    graph = int(np.flatnonzero(large)[0])
    system = int(subject.data.edges.graph_system[graph])
    return [
        Finding(
            "warning",
            "graph",
            f"all pairs of {size[graph]} objects are joined, which is {size[graph] - 1} edges for "
            f"each: training is slow and takes much memory.",
            "Join near objects only: --edges knn:8 or radius:R (pgode import table).",
            subject.place(system),
        )
    ]


def weights(subject: Subject) -> list[Finding]:
    """Weights that say nothing, or that are negative."""
    weight = subject.data.edges.edge_attributes[:, 0]
    if not len(weight):
        return []
    findings = []
    if weight.min() == weight.max() and weight[0] != 1:
        findings.append(
            Finding(
                "note",
                "graph",
                f"all edges have the weight {number(weight[0])}, so weights tell nothing.",
                "Use the weight 1, or give weights that differ.",
            )
        )
    negative = (weight < 0).mean()
    if negative:
        findings.append(
            Finding(
                "note",
                "graph",
                f"{100 * negative:.0f} % of the edges have a negative weight.",
                "Fine where a sign is meant, as of charges; distances or costs should be turned "
                "into weights that are large where objects act strongly.",
            )
        )
    return findings
