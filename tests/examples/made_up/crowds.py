"""People who walk and players who run after a ball, in files such as trackers write."""

from pathlib import Path

import numpy as np
from jaxtyping import Float

Points = Float[np.ndarray, "object 2"]

WALKERS, MOMENTS = 90, 260
CORRIDOR = (16.0, 7.0)
SPACING = 0.4
"""Seconds between two annotated frames of the ETH and UCY files; the frame number grows by 10."""
MATCHES, SECONDS, RATE = 8, 36, 5
PITCH = (40.0, 20.0)
TEAMS = {
    "Rovers": ("Ada", "Bo", "Cem", "Dana", "Eli"),
    "United": ("Finn", "Gus", "Hana", "Ines", "Jon"),
}


def pedestrians(folder: Path, seed: int = 0) -> None:
    """`crowd.txt`: frame, person, x, y, separated by tabs, without a header.

    Social forces: everyone is drawn to a preferred velocity, to the left or to the right, and gives
    way to those who are near.
    """
    random = np.random.default_rng(seed)
    length, width = CORRIDOR
    enters = np.sort(random.integers(0, MOMENTS - 20, WALKERS))
    side = random.choice([-1.0, 1.0], WALKERS)
    wish = np.stack([side * random.normal(1.3, 0.2, WALKERS), np.zeros(WALKERS)], 1)
    place = np.stack([-side * length / 2, random.uniform(-width / 2, width / 2, WALKERS)], 1)
    velocity = wish.copy()
    steps = 8
    dt = SPACING / steps
    lines = []
    for moment in range(MOMENTS):
        here = np.flatnonzero((enters <= moment) & (np.abs(place[:, 0]) <= length / 2))
        for k in here:
            noise = random.normal(0, 0.01, 2)
            x, y = place[k] + noise
            lines.append(f"{780 + 10 * moment:.1f}\t{k + 1:.1f}\t{x:.4f}\t{y:.4f}")
        for _ in range(steps):
            pull = (wish[here] - velocity[here]) / 0.6 + _social(place[here], velocity[here])
            pull[:, 1] -= (
                3.0 * np.sign(place[here, 1]) * np.maximum(0, np.abs(place[here, 1]) - width / 2)
            )
            velocity[here] += dt * pull
            place[here] += dt * velocity[here]
    (folder / "crowd.txt").write_text("\n".join(lines) + "\n")


def _social(place: Points, velocity: Points) -> Points:
    """Repulsion that fades with distance, with a turn to the right to settle who gives way."""
    apart = place[:, None] - place[None]
    distance = np.linalg.norm(apart, axis=-1)
    np.fill_diagonal(distance, np.inf)
    away = apart / distance[..., None]
    turn = np.stack([-away[..., 1], away[..., 0]], -1)
    ahead = -(away * velocity[:, None]).sum(-1) > 0
    size = 2.5 * np.exp(-(distance - 0.5) / 0.6) * np.where(ahead, 1.0, 0.4)
    push: Points = (size[..., None] * (away + 0.5 * turn)).sum(1)
    return push


def matches(folder: Path, seed: int = 0) -> None:
    """`season.csv`: match, player, team, t, x, y; the ball is one more object.

    The ball is passed from player to player. The two who are nearest run to where it is, the others
    keep to their own place in a formation that shifts with the ball.
    """
    random = np.random.default_rng(seed)
    names = [name for team in TEAMS.values() for name in team]
    teams = [team for team, players in TEAMS.items() for _ in players]
    half = np.array(PITCH) / 2
    rows = ["match,player,team,t,x,y"]
    for match in range(1, MATCHES + 1):
        home = random.uniform(-0.7, 0.7, (len(names), 2)) * half
        home[:, 0] = np.abs(home[:, 0]) * np.where(np.array(teams) == "Rovers", -1, 1)
        place, velocity = home.copy(), np.zeros_like(home)
        ball, target = np.zeros(2), random.uniform(-0.8, 0.8, 2) * half
        dt = 1 / (4 * RATE)
        for frame in range(SECONDS * RATE):
            for name, team, (x, y) in zip(
                [*names, "ball"], [*teams, "none"], [*place, ball], strict=True
            ):
                rows.append(f"M{match:02d},{name},{team},{frame / RATE:.1f},{x:.3f},{y:.3f}")
            for _ in range(4):
                way = target - ball
                if np.linalg.norm(way) < 1.0:
                    target = place[random.integers(len(names))] * 0.9
                ball = ball + dt * 7.0 * way / max(1.0, np.linalg.norm(way))
                aim = home + 0.4 * ball
                near = np.argsort(np.linalg.norm(place - ball, axis=1))[:2]
                aim[near] = ball
                pull = 1.5 * (aim - place) - 1.8 * velocity
                velocity = velocity + dt * np.clip(pull, -6, 6)
                place = place + dt * velocity
    (folder / "season.csv").write_text("\n".join(rows) + "\n")
