"""Bodies that attract each other: a table of their places and velocities, and their masses."""

from pathlib import Path

import numpy as np
from jaxtyping import Float

MASSES = {"Sol": 5.0, "Brom": 1.0, "Cyan": 2.0, "Dusk": 0.5, "Echo": 1.5}
RUNS, FRAMES, STEP, SUBSTEPS = 20, 36, 0.1, 50
NEAREST = 0.3
"""Runs in which two bodies come nearer are left out, since one of them is then flung away."""
GRAVITY = 1.0

Points = Float[np.ndarray, "object 3"]


def bodies(folder: Path, seed: int = 0) -> None:
    """`bodies.csv`: run, body, t, x, y, z, vx, vy, vz; `masses.csv`: who pulls whom how strongly.

    Newton's law with G = 1 and leapfrog steps. The pull of a sender on a receiver is in proportion
    to the sender's mass, so that is the weight of the edge.
    """
    random = np.random.default_rng(seed)
    mass = np.array(list(MASSES.values()))
    rows = ["run,body,t,x,y,z,vx,vy,vz"]
    run = 0
    while run < RUNS:
        found = _motion(random, mass)
        if found is None:
            continue
        run += 1
        for frame, (place, velocity) in enumerate(found):
            for name, q, v in zip(MASSES, place, velocity, strict=True):
                numbers = ",".join(f"{value:.7f}" for value in (*q, *v))
                rows.append(f"{run},{name},{frame * STEP:.1f},{numbers}")
    (folder / "bodies.csv").write_text("\n".join(rows) + "\n")
    pairs = [
        f"{sender},{receiver},{MASSES[sender]}"
        for receiver in MASSES
        for sender in MASSES
        if sender != receiver
    ]
    (folder / "masses.csv").write_text("\n".join(["from,to,weight", *pairs]) + "\n")


def _motion(
    random: np.random.Generator, mass: Float[np.ndarray, " object"]
) -> list[tuple[Points, Points]] | None:
    """Places and velocities at each frame; None if two bodies come too near."""
    place = _spread(random, len(mass))
    spin = random.normal(size=3)
    velocity = 0.5 * np.cross(spin / np.linalg.norm(spin), place)
    velocity += random.normal(0, 0.4, place.shape)
    velocity -= (mass[:, None] * velocity).sum(0) / mass.sum()
    frames = []
    dt = STEP / SUBSTEPS
    for _ in range(FRAMES):
        frames.append((place.copy(), velocity.copy()))
        if _apart(place).min() < NEAREST:
            return None
        for _ in range(SUBSTEPS):
            velocity += dt / 2 * _pull(place, mass)
            place += dt * velocity
            velocity += dt / 2 * _pull(place, mass)
    return frames


def _apart(place: Points) -> Float[np.ndarray, "object object"]:
    """Distances of all pairs; that of a body from itself counts as large."""
    return np.linalg.norm(place[:, None] - place[None], axis=-1) + 99 * np.eye(len(place))


def _spread(random: np.random.Generator, count: int) -> Points:
    """Places in a ball, none of them near another, so that no run starts with a collision."""
    while True:
        place = random.uniform(-2.5, 2.5, (count, 3))
        if _apart(place).min() > 1.2:
            return place


def _pull(place: Points, mass: Float[np.ndarray, " object"]) -> Points:
    towards = place[None] - place[:, None]
    square = (towards**2).sum(-1)
    np.fill_diagonal(square, 1.0)
    pull: Points = GRAVITY * (mass[None, :, None] * towards / square[..., None] ** 1.5).sum(1)
    return pull
