"""A chain molecule that shakes in a solvent which is not shown: Langevin dynamics of its atoms."""

from pathlib import Path

import numpy as np
from jaxtyping import Float

ATOMS = 12
FRAMES, STEP, SUBSTEPS = 900, 0.1, 20
"""Frames, and picoseconds between two of them."""
SPRINGS = ((1, 400.0), (2, 60.0), (3, 60.0), (5, 20.0))
"""Atoms so far apart along the chain are joined, with this strength per mass in 1/ps^2."""
FRICTION, HEAT = 2.0, 0.02
"""1/ps, and the mean square of a velocity component in (nm/ps)^2."""

Points = Float[np.ndarray, "atom 3"]


def molecule(folder: Path, seed: int = 0) -> None:
    """`top.pdb`: one frame with the names of atoms; `run.xyz`: all frames, in Angstrom."""
    random = np.random.default_rng(seed)
    turn = 1.7 * np.arange(ATOMS)
    rest = np.stack([0.075 * np.arange(ATOMS), 0.1 * np.cos(turn), 0.1 * np.sin(turn)], 1)
    springs = [(i, i + gap, k) for gap, k in SPRINGS for i in range(ATOMS - gap)]
    one, two = (np.array([spring[end] for spring in springs]) for end in (0, 1))
    strength = np.array([spring[2] for spring in springs])
    length = np.linalg.norm(rest[one] - rest[two], axis=1)
    place, velocity = rest.copy(), random.normal(0, np.sqrt(HEAT), rest.shape)
    dt = STEP / SUBSTEPS
    keep = np.exp(-FRICTION * dt)
    kick = np.sqrt(HEAT * (1 - keep**2))
    lines: list[str] = []
    for frame in range(FRAMES):
        if frame == 0:
            (folder / "top.pdb").write_text(_pdb(place))
        lines += [str(ATOMS), f"made-up chain, frame {frame}"]
        lines += ["C " + " ".join(f"{10 * value:.4f}" for value in atom) for atom in place]
        for _ in range(SUBSTEPS):
            force = np.zeros_like(place)
            apart = place[one] - place[two]
            now = np.linalg.norm(apart, axis=1)
            pull = (-strength * (now - length) / now)[:, None] * apart
            np.add.at(force, one, pull)
            np.add.at(force, two, -pull)
            velocity = keep * (velocity + dt * force) + kick * random.normal(size=place.shape)
            place = place + dt * velocity
    (folder / "run.xyz").write_text("\n".join(lines) + "\n")


def _pdb(place: Points) -> str:
    lines = [
        f"ATOM  {k + 1:5d}  C{k + 1:<2d} LIG A   1    {x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00"
        f"           C"
        for k, (x, y, z) in enumerate(10 * place)
    ]
    return "\n".join([*lines, "END"]) + "\n"
