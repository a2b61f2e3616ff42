"""A skeleton that walks: joint angles swing like pendulums, each trial at its own pace."""

from pathlib import Path

import numpy as np

TRIALS, FRAMES, FRAME_TIME = 10, 150, 1 / 30


def walk(folder: Path, seed: int = 0) -> None:
    """`walk_01.bvh` to `walk_10.bvh`: two legs, a spine and two arms, 30 frames a second."""
    random = np.random.default_rng(seed)
    for trial in range(1, TRIALS + 1):
        pace, reach = random.uniform(0.8, 1.2), random.uniform(0.8, 1.2)
        phase = random.uniform(0, 2 * np.pi)
        speed = 110.0 * pace * reach
        rows, hurry, way = [], 0.0, 0.0
        for _ in range(FRAMES):
            hurry = 0.9 * hurry + random.normal(0, 0.06)
            phase += 2 * np.pi * pace * (1 + hurry) * FRAME_TIME
            way += speed * (1 + hurry) * FRAME_TIME
            height = 90 + 2.5 * np.cos(2 * phase)
            root = [0.0, height, way, 0.0, 3 * np.sin(phase), 0.0]
            angles = [
                [0.0, -4 * np.sin(phase), 2.0],  # spine
                [0.0, 0.0, 0.0],  # head
                *_arm(phase, reach),
                *_arm(phase + np.pi, reach),
                *_leg(phase + np.pi, reach),
                *_leg(phase, reach),
            ]
            noise = random.normal(0, 0.5, 3 * len(angles))
            rows.append([*root, *(np.concatenate(angles) + noise)])
        text = "\n".join(" ".join(f"{value:.4f}" for value in row) for row in rows)
        head = f"MOTION\nFrames: {FRAMES}\nFrame Time: {FRAME_TIME:.7f}\n"
        (folder / f"walk_{trial:02d}.bvh").write_text(SKELETON + head + text + "\n")


def _leg(phase: float, reach: float) -> list[list[float]]:
    hip = 28 * reach * np.sin(phase)
    knee = 30 * reach * max(0.0, np.cos(phase)) ** 2 + 5
    return [[0.0, 0.0, -hip], [0.0, 0.0, knee], [0.0, 0.0, hip / 2 - knee / 2]]


def _arm(phase: float, reach: float) -> list[list[float]]:
    swing = 20 * reach * np.sin(phase)
    return [[0.0, 0.0, -swing], [0.0, 0.0, -15 - swing / 2]]


def _joint(name: str, offset: str, depth: int, *inner: str) -> str:
    pad = "\t" * depth
    body = "".join(inner) or f"{pad}\tEnd Site\n{pad}\t{{\n{pad}\t\tOFFSET 0 -10 5\n{pad}\t}}\n"
    return (
        f"{pad}JOINT {name}\n{pad}{{\n{pad}\tOFFSET {offset}\n"
        f"{pad}\tCHANNELS 3 Zrotation Yrotation Xrotation\n{body}{pad}}}\n"
    )


def _side(name: str, x: int) -> tuple[str, str]:
    arm = _joint(f"{name}Arm", f"{x * 2} 22 0", 2, _joint(f"{name}Forearm", "0 -28 0", 3))
    leg = _joint(
        f"{name}Thigh",
        f"{x} -4 0",
        1,
        _joint(f"{name}Shin", "0 -42 0", 2, _joint(f"{name}Foot", "0 -42 0", 3)),
    )
    return arm, leg


def _skeleton() -> str:
    left, right = _side("Left", 9), _side("Right", -9)
    spine = _joint("Spine", "0 25 0", 1, _joint("Head", "0 38 0", 2), left[0], right[0])
    root = (
        "HIERARCHY\nROOT Hip\n{\n\tOFFSET 0 0 0\n\tCHANNELS 6 Xposition Yposition Zposition "
        "Zrotation Yrotation Xrotation\n"
    )
    return f"{root}{spine}{left[1]}{right[1]}}}\n"


SKELETON = _skeleton()
