"""Roles of features (position, velocity, plain value), and the variables they are components of."""

import re
from collections import Counter
from collections.abc import Sequence

from pgode.runtime.errors import InputError

ROLES = ("position", "velocity", "value")


def check_roles(features: Sequence[str], roles: Sequence[str], source: str) -> None:
    """The k-th velocity is the time derivative of the k-th position, so they must pair up."""
    for feature, role in zip(features, roles, strict=True):
        if role not in ROLES:
            raise InputError(
                f'feature "{feature}" in {source} has the role "{role}". '
                f"Expected one of {', '.join(ROLES)}. Correct the role."
            )
    positions = [f for f, role in zip(features, roles, strict=True) if role == "position"]
    velocities = [f for f, role in zip(features, roles, strict=True) if role == "velocity"]
    if velocities and len(velocities) != len(positions):
        raise InputError(
            f"the feature roles in {source} do not pair: {len(positions)} positions "
            f"({', '.join(positions)}) and {len(velocities)} velocities ({', '.join(velocities)}). "
            f"Expected no velocity or one per position, in the same order. Use the role "
            f'"value" for a feature that is neither.'
        )


def guess_roles(features: Sequence[str]) -> tuple[str, ...]:
    """Positions and velocities by their usual names, only if all of them pair up.

    A half-right guess would make a model integrate the wrong feature, so anything short of a
    complete pairing in the same order leaves every feature a plain value.
    """
    position = re.compile(r"(?:q|pos(?:ition)?)?_?([xyz]|\d*)", re.IGNORECASE)
    velocity = re.compile(r"v(?:el(?:ocity)?)?_?([xyz]|\d*)", re.IGNORECASE)
    positions = [
        (f, m[1].lower())
        for f in features
        if (m := position.fullmatch(f)) and m[0].strip("_0123456789")
    ]
    velocities = [(f, m[1].lower()) for f in features if (m := velocity.fullmatch(f))]
    if not positions or [axis for _, axis in positions] != [axis for _, axis in velocities]:
        return ("value",) * len(features)
    role = {f: "position" for f, _ in positions} | {f: "velocity" for f, _ in velocities}
    return tuple(role.get(f, "value") for f in features)


def guess_variables(features: Sequence[str], roles: Sequence[str]) -> tuple[str, ...]:
    """The quantity each feature is a component of: qx and qy are both reported under q."""
    stems = [f[:-1].rstrip("_") if f[-1:] in ("x", "y", "z") else None for f in features]
    shared = Counter(stems)

    def variable(feature: str, stem: str | None, role: str) -> str:
        if stem is None or shared[stem] < 2:
            return feature
        # Features named only x and y leave no stem to report them under.
        return stem or ("position" if role == "position" else feature)

    return tuple(
        variable(f, stem, role) for f, stem, role in zip(features, stems, roles, strict=True)
    )
