"""Adaptive methods: torchdiffeq chooses the steps; a watch limits and explains them."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torchdiffeq import odeint

from pgode.ode.failures import gave_up, out_of_budget
from pgode.ode.intervals import Intervals, cross
from pgode.ode.methods import Adaptive
from pgode.ode.settings import SolverConfig
from pgode.ode.steps import Derivative

# The assertions of torchdiffeq's step control. Any other assertion comes from the derivative and
# must not be reported as a failure of the solver.
_GIVES_UP = ("underflow in dt", "non-finite values in state", "max_num_steps exceeded")


@dataclass
class Watch:
    """Counts the evaluations and steps of one solve, and remembers the last state."""

    method: Adaptive
    derivative: Derivative
    config: SolverConfig
    systems: Int[Tensor, " rows"] | None
    evaluations: int = 0
    steps: int = 0
    closed: bool = False
    last: tuple[Float[Tensor, " rows"], Float[Tensor, "rows width"]] | None = None

    def __call__(
        self, time: Float[Tensor, " rows"], z: Float[Tensor, "rows width"]
    ) -> Float[Tensor, "rows width"]:
        """Evaluate the derivative, unless the budget is spent.

        A closed watch does not count: evaluations repeated in a backward pass were counted before.
        """
        if not self.closed:
            self.last = time, z.detach()
            if self.evaluations == self.config.max_evaluations:
                raise out_of_budget(
                    self.config.method,
                    self.config.max_evaluations,
                    *self.last,
                    self._slope(*self.last),
                    self.systems,
                )
            self.evaluations += 1
        return self.derivative(time, z)

    def accept(self) -> None:
        """Count a step that met the tolerances."""
        self.steps += not self.closed

    def close(self) -> None:
        """Stop counting, and release the last state."""
        self.closed, self.last = True, None

    def explain(self, error: AssertionError) -> None:
        """Raise a failure of torchdiffeq as an error that names the systems and the time."""
        reason = next((reason for reason in _GIVES_UP if str(error).startswith(reason)), None)
        if reason is None or self.last is None:
            raise error
        slope = self._slope(*self.last)
        raise gave_up(self.config.method, reason, *self.last, slope, self.systems) from error

    def _slope(
        self, time: Float[Tensor, " rows"], z: Float[Tensor, "rows width"]
    ) -> Float[Tensor, "rows width"]:
        with torch.no_grad():
            return self.derivative(time, z)


@dataclass(frozen=True)
class Segment:
    """The derivative in the form of torchdiffeq: one clock s for all rows.

    The time of a row is begin + rate s, so that dz/ds = rate f(begin + rate s, z). Without a rate,
    s is the time since the start.
    """

    watch: Watch
    begin: Float[Tensor, " rows"]
    rate: Float[Tensor, " rows"] | None = None

    def __call__(
        self, s: Float[Tensor, ""], z: Float[Tensor, "rows width"]
    ) -> Float[Tensor, "rows width"]:
        """dz/ds."""
        if self.rate is None:
            return self.watch(self.begin + s, z)
        return self.watch(torch.addcmul(self.begin, self.rate, s), z) * self.rate[:, None]

    def callback_accept_step(self, *_: Tensor) -> None:
        """Called by torchdiffeq, which looks the name up."""
        self.watch.accept()

    def solve(
        self, z: Float[Tensor, "rows width"], clock: list[float]
    ) -> Float[Tensor, "outputs rows width"]:
        """States at the strictly increasing clock readings; the first reading is that of z."""
        config = self.watch.config
        # Apple's devices have no double precision.
        precision = torch.float32 if z.device.type == "mps" else torch.float64
        s = torch.tensor(clock, dtype=precision).to(z.device)
        # The last step always ends on the last reading: the derivative is never evaluated at later
        # times. The other steps end on every reading too, unless the method interpolates.
        ends = s[-1:] if self.watch.method.interpolates else s[1:]
        try:
            states: Tensor = odeint(
                self,
                z,
                s,
                rtol=config.rtol,
                atol=config.atol,
                method=config.method,
                options={"norm": _worst_row, "step_t": ends},
            )
        except AssertionError as error:
            self.watch.explain(error)
            raise
        return states[1:]

    def cross(self, z: Float[Tensor, "rows width"]) -> Float[Tensor, "rows width"]:
        """The states after one interval."""
        return self.solve(z, [0.0, 1.0])[0]


def solve_adaptive(
    method: Adaptive,
    derivative: Derivative,
    initial: Float[Tensor, "rows width"],
    intervals: Intervals,
    config: SolverConfig,
    systems: Int[Tensor, " rows"] | None,
) -> tuple[Float[Tensor, "outputs rows width"], int, int]:
    """Solve with torchdiffeq; returns the states, the accepted steps and the evaluations.

    If the times since the start are the same for all rows, torchdiffeq returns all outputs of one
    solve. Otherwise, or if intervals are recomputed in the backward pass, each interval is solved
    separately.
    """
    watch = Watch(method, derivative, config, systems)
    begins = intervals.begins.to(initial.dtype).to(initial.device)
    recompute = config.recompute and torch.is_grad_enabled()
    low, high = torch.aminmax(intervals.elapsed, dim=1)
    if not recompute and bool(((high - low) <= intervals.rounding).all()):
        states = _all_at_once(Segment(watch, begins[0]), initial, high.tolist())
        watch.close()
        return states, watch.steps, watch.evaluations

    lengths = intervals.lengths.to(initial.dtype).to(initial.device)
    z, outputs = initial, []
    for interval, longest in enumerate(intervals.longest):
        if longest > 0:
            segment = Segment(watch, begins[interval], lengths[interval])
            after = cross(segment.cross, z, recompute)
            if intervals.shortest[interval] == 0:
                # torchdiffeq's interpolation rounds, but rows without an interval must not move.
                after = torch.where(lengths[interval, :, None] > 0, after, z)
            z = after
        outputs.append(z)
    watch.close()
    return torch.stack(outputs), watch.steps, watch.evaluations


def _all_at_once(
    segment: Segment, initial: Float[Tensor, "rows width"], elapsed: list[float]
) -> Float[Tensor, "outputs rows width"]:
    """torchdiffeq needs strictly increasing readings, so repeated times are solved once."""
    clock, place = [0.0], []
    for reading in elapsed:
        if reading > clock[-1]:
            clock.append(reading)
        place.append(len(clock) - 1)
    if len(clock) == 1:
        return initial.expand(len(elapsed), *initial.shape)
    solved = segment.solve(initial, clock)
    if place == list(range(1, len(clock))):
        return solved
    return torch.stack([solved[index - 1] if index else initial for index in place])


@torch.no_grad()
def _worst_row(error: Float[Tensor, "rows width"]) -> Float[Tensor, ""]:
    """The error of the worst row, so that a row is as accurate in a large batch as alone.

    torchdiffeq's norm averages over the batch: many slow rows, or rows of padding, would hide the
    error of a fast one. No gradient passes, since torchdiffeq's first step depends on this norm:
    rows would get gradients from each other, and NaN where a derivative is zero.
    """
    return error.square().mean(dim=1).max().sqrt()
