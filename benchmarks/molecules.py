"""Training on the atoms of molecules: memory and time at 166 and 223 atoms, and one of 5000.

Each case runs in a separate process, as in `benchmarks.memory`.
"""

import json
import sys
from time import perf_counter

import numpy as np
import torch
from jaxtyping import Float

from benchmarks import Figure, Measurements, measured_alone
from benchmarks.memory import peak_bytes
from benchmarks.training_step import CONDITION, Training, fresh_model
from pgode.data.neighbours import distance_edges
from pgode.data.trajectories import Trajectories
from pgode.runtime.allocation import freed_memory_kept

DENSITY, CUTOFF, UPDATE = 100.0, 0.4, 12
"""Atoms per nm^3 of a protein, and how `pgode simulate protein` joins them."""
HORIZON, BATCH = 24, 64


def globule(atoms: int, stream: np.random.Generator) -> Float[np.ndarray, "atom 3"]:
    """Atoms about as dense as in a protein, none of them too close to another."""
    spacing = DENSITY ** (-1 / 3)
    side = int(np.ceil((2 * atoms) ** (1 / 3))) + 2
    grid = (np.indices((side,) * 3).reshape(3, -1).T - (side - 1) / 2) * spacing
    nearest = np.argsort((grid**2).sum(1), kind="stable")[:atoms]
    return np.asarray(grid[nearest] + stream.uniform(-0.25, 0.25, (atoms, 3)) * spacing)


def molecules(systems: int, atoms: int, horizon: int) -> Trajectories:
    """Globules whose atoms have thermal fluctuations, with graphs by distance."""
    stream = np.random.default_rng(0)
    frames = CONDITION + horizon
    start = np.stack([globule(atoms, stream) for _ in range(systems)])
    places = start[:, None] + stream.normal(0, 0.05, (systems, frames, atoms, 3))
    times = np.broadcast_to(0.2 * np.arange(frames), (systems, frames))
    return Trajectories.build(
        places.swapaxes(1, 2),
        times,
        edges=distance_edges(places, times, CUTOFF, UPDATE),
        features=("qx", "qy", "qz"),
        roles=("position",) * 3,
        graph_cutoff=CUTOFF,
        graph_interval=UPDATE * 0.2,
    )


@freed_memory_kept()
def measure(atoms: int, systems: int, horizon: int, threads: int, recompute: bool) -> Measurements:
    """A warm-up step, then one training step, in this process."""
    torch.set_num_threads(threads)
    data = molecules(systems, atoms, horizon)
    training = Training(fresh_model(data, {"solver": {"recompute": recompute}}), data)
    training.step(systems, min(horizon, 2))
    start = perf_counter()
    training.step(systems, horizon)
    seconds = perf_counter() - start
    edges = len(data.edges.edge_graph) / len(data.edges.graph_start)
    return {
        "atoms": atoms,
        "systems": systems,
        "horizon": horizon,
        "recompute": recompute,
        "edges_each": round(edges),
        "seconds": round(seconds, 2),
        "gigabytes": round(peak_bytes() / 1e9, 2),
    }


def run(threads: int = 2, quick: bool = False) -> Measurements:
    """166 and 223 atoms at batch 64, and one molecule of 5000, all with recompute."""
    horizon = 4 if quick else HORIZON
    cases = [(atoms, 4 if quick else BATCH, True) for atoms in (166, 223)]
    cases += [(500 if quick else 5000, 1, True)]
    results = []
    for atoms, systems, recompute in cases:
        settings = [atoms, systems, horizon, threads, recompute]
        results.append(measured_alone("benchmarks.molecules", settings))
    return {"benchmark": "molecules", "cases": results}


def figures(measured: Measurements) -> list[Figure]:
    """Memory of the three cases."""
    return [
        Figure(
            f"memory, {case['atoms']} atoms at batch {case['systems']}, horizon {case['horizon']}"
            f"{', recompute' if case['recompute'] else ''}",
            case["gigabytes"],
            6.0,
            "GB",
        )
        for case in measured["cases"]
    ]


if __name__ == "__main__":
    print(json.dumps(measure(*json.loads(sys.argv[1]))))
