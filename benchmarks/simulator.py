"""The compiled simulator compared with the same scheme as a plain numpy loop over steps.

Both run one after the other, on one thread and on the same systems. The plain loop runs few
systems, since its time per system does not depend on their number.
"""

import json
from time import perf_counter
from typing import Any

import numba
import numpy as np
from jaxtyping import Float

from pgode.data.simulate.charged import CHARGED
from pgode.data.simulate.particles import COULOMB, integrate
from pgode.data.simulate.simulation import columns
from pgode.data.simulate.springs import SPRINGS
from pgode.data.simulate.system import draw

FRAMES, SAMPLE_EVERY, DT = 96, 100, 0.001


def plain_force(
    law: int, couplings: Float[np.ndarray, "object object"], q: Float[np.ndarray, "object 2"]
) -> Float[np.ndarray, "object 2"]:
    """Force on every object, each coordinate differenced over all pairs at once, then clipped."""
    difference = q[:, None] - q[None]
    factor = -couplings
    if law == COULOMB:
        distance = np.sqrt((difference**2).sum(-1))
        np.fill_diagonal(distance, 1.0)
        factor = couplings / distance**3
    total: np.ndarray = (factor[..., None] * difference).sum(1)
    return total.clip(-0.1 / DT, 0.1 / DT)


def plain(
    law: int,
    q: Float[np.ndarray, "object 2"],
    v: Float[np.ndarray, "object 2"],
    couplings: Float[np.ndarray, "object object"],
    wall: float,
) -> Float[np.ndarray, "object frame 4"]:
    """One system by the published scheme, as numpy code is usually written."""
    record = [np.concatenate([q, v], -1)]
    v = v + DT * plain_force(law, couplings, q)
    for step in range(1, (FRAMES - 1) * SAMPLE_EVERY + 1):
        q = q + DT * v
        over, under = q > wall, q < -wall
        q[over] = 2 * wall - q[over]
        v[over] = -np.abs(v[over])
        q[under] = -2 * wall - q[under]
        v[under] = np.abs(v[under])
        if step % SAMPLE_EVERY == 0:
            record.append(np.concatenate([q, v], -1))
        v = v + DT * plain_force(law, couplings, q)
    return np.stack(record, axis=1)


def run(systems: int = 100, plain_systems: int = 5, objects: int = 10) -> dict[str, Any]:
    """Time both; `ratio` is the smaller of the two systems' ratios of time per system."""
    result: dict[str, Any] = {"benchmark": "simulator", "objects": objects, "frames": FRAMES}
    settings: Any = numba.config
    threads, settings.NUMBA_NUM_THREADS = settings.NUMBA_NUM_THREADS, 1
    try:
        for kind in (SPRINGS, CHARGED):
            parameters, initial = draw(kind, objects, {"train": systems}, seed=0)
            named = columns(kind, parameters)
            couplings = named["strength"][:, None, None] * initial.weights
            arrays = (initial.positions, initial.velocities, couplings, named["box"])
            integrate(kind.law, *(a[:1] for a in arrays), frames=2, sample_every=1, dt=DT)

            # The best of several on both sides: a busy machine then slows neither.
            compiled_times, plain_times, expected = [], [], []
            for k in range(plain_systems):
                begun = perf_counter()
                states = integrate(
                    kind.law, *arrays, frames=FRAMES, sample_every=SAMPLE_EVERY, dt=DT
                )
                compiled_times.append((perf_counter() - begun) / systems)
                begun = perf_counter()
                expected.append(plain(kind.law, *(a[k] for a in arrays)))
                plain_times.append(perf_counter() - begun)
            compiled_seconds, plain_seconds = min(compiled_times), min(plain_times)

            # Charged is chaotic: rounding grows along a trajectory, so only its start must agree.
            difference = np.abs(states[:plain_systems, :, :10] - np.array(expected)[:, :, :10])
            result[kind.name] = {
                "ratio": round(plain_seconds / compiled_seconds, 1),
                "compiled_ms_per_system": round(1e3 * compiled_seconds, 3),
                "plain_ms_per_system": round(1e3 * plain_seconds, 1),
                "largest_difference_in_10_frames": float(difference.max()),
            }
    finally:
        settings.NUMBA_NUM_THREADS = threads
    result["ratio"] = min(result[kind.name]["ratio"] for kind in (SPRINGS, CHARGED))
    return result


if __name__ == "__main__":
    print(json.dumps(run()))
