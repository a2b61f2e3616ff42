"""Errors of a solve: which systems failed, at what time, and what to change."""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from pgode.runtime.errors import SolverError

_NAMED = 5
_SMALLER = "Use a smaller step, lower the learning rate, or clip the gradients."


def name_systems(rows: Sequence[int], systems: Int[Tensor, " rows"] | None) -> str:
    """Name the systems of these rows in their order, or the rows where no systems were given."""
    noun = "row" if systems is None else "system"
    ids = list(rows) if systems is None else [int(systems[row]) for row in rows]
    ids = list(dict.fromkeys(ids))
    shown = ", ".join(str(each) for each in ids[:_NAMED])
    more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
    return f"{noun}{'s' if len(ids) > 1 else ''} {shown}{more}".capitalize()


def over_budget(method: str, needed: int, budget: int, step: float) -> SolverError:
    """The cost of fixed steps is known beforehand, so nothing has been computed yet."""
    return SolverError(
        f"Solving with {method} and step {step:g} needs {needed} evaluations of the derivative, "
        f"but the budget max_evaluations is {budget}. Raise max_evaluations to {needed}, raise "
        "step, or ask for fewer output times or times that lie closer to the start."
    )


def out_of_budget(
    method: str,
    budget: int,
    time: Float[Tensor, " rows"],
    state: Float[Tensor, "rows width"],
    slope: Float[Tensor, "rows width"],
    systems: Int[Tensor, " rows"] | None,
) -> SolverError:
    """An adaptive method shrank its steps until the budget was spent."""
    rows = _fastest(state, slope)
    return SolverError(
        f"{method} used its budget of {budget} evaluations (max_evaluations) and got no further "
        f"than time {time[rows[0]]:.6g}. {_blame(rows, systems)} Loosen rtol and atol, use a "
        "fixed-step method such as rk4, or raise max_evaluations."
    )


def gave_up(
    method: str,
    reason: str,
    time: Float[Tensor, " rows"],
    state: Float[Tensor, "rows width"],
    slope: Float[Tensor, "rows width"],
    systems: Int[Tensor, " rows"] | None,
) -> SolverError:
    """An adaptive method found no step small enough, or reached a state that is not finite."""
    finite = torch.isfinite(state).all(dim=1) & torch.isfinite(slope).all(dim=1)
    if not finite.all():
        rows = (~finite).nonzero()[:, 0].tolist()
        return SolverError(
            f"{name_systems(rows, systems)}: the state or its derivative stopped being finite by "
            f"time {time[rows[0]]:.6g} while solving with {method}. If the state given at the "
            "start is finite, the derivative grows without bound: lower the learning rate or clip "
            "the gradients."
        )
    rows = _fastest(state, slope)
    return SolverError(
        f"{method} stopped at time {time[rows[0]]:.6g} ({reason}). {_blame(rows, systems)} Loosen "
        "rtol and atol, use a fixed-step method such as rk4, or solve in float64."
    )


def not_finite(
    states: Float[Tensor, "outputs rows width"],
    initial: Float[Tensor, "rows width"],
    times: Float[Tensor, "rows outputs"],
    systems: Int[Tensor, " rows"] | None,
    how: str,
) -> SolverError:
    """Some output holds NaN or infinity; the error says where it begins."""
    bad = ~torch.isfinite(initial).all(dim=1)
    if bad.any():
        rows = bad.nonzero()[:, 0].tolist()
        return SolverError(
            f"{name_systems(rows, systems)}: the initial state is not finite, before any step was "
            "taken. Check what computed it (the encoder, or its input data); if it appeared "
            "during training, lower the learning rate or clip the gradients."
        )
    bad = ~torch.isfinite(states).all(dim=2)
    output = int(bad.any(dim=1).nonzero()[0])
    rows = bad[output].nonzero()[:, 0].tolist()
    return SolverError(
        f"{name_systems(rows, systems)}: the state stopped being finite by output {output} (time "
        f"{times[rows[0], output]:.6g}) while solving with {how}. {_SMALLER}"
    )


def _fastest(state: Float[Tensor, "rows width"], slope: Float[Tensor, "rows width"]) -> list[int]:
    """Rows by the size of their derivative relative to their state, largest first."""
    tiny = torch.finfo(state.dtype).tiny
    relative = slope.norm(dim=1) / state.norm(dim=1).clamp_min(tiny)
    order: list[int] = relative.nan_to_num(torch.inf).argsort(descending=True).tolist()
    return order


def _blame(rows: list[int], systems: Int[Tensor, " rows"] | None) -> str:
    """A sentence that names the few systems that change fastest: they limit the step."""
    first_rows: dict[int, int] = {}
    for row in rows:
        first_rows.setdefault(row if systems is None else int(systems[row]), row)
        if len(first_rows) == _NAMED:
            break
    named = name_systems(list(first_rows.values()), systems)
    verb = "changes" if len(first_rows) == 1 else "change"
    return f"{named} {verb} fastest relative to the state at that time."
