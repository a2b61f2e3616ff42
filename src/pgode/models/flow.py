"""The initial value problem behind a forecast, for analyses that perturb its initial state."""

from collections.abc import Callable
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

Field = Callable[[Float[Tensor, "objects inputs"]], Float[Tensor, "objects inputs"]]
"""A right-hand side: the change of every object's state per frame, given the state of all."""


@dataclass(frozen=True)
class Flow:
    """The initial value problem that a batch's forecast solves.

    `mixture` is the whole right-hand side; each of `prototypes` is the right-hand side if every
    object followed that prototype alone. All include the terms that the gate does not weight (the
    recovery -z, dq/dt = v). A right-hand side is affine in the gate and an object's weights sum to
    1, so

        mixture(Z)_i = sum_k weights_ik prototypes_k(Z)_i

    holds exactly: these are the "revised prototypes" of Theorem 3.1, which absorb the term -z.
    Where data have known inputs, a right-hand side is that of the first frame ahead; `solve` and
    `decode`, which is given the times of the states, have the inputs of all frames.
    """

    initial: Float[Tensor, "objects inputs"]
    weights: Float[Tensor, "objects prototypes"]
    mixture: Field
    prototypes: tuple[Field, ...]
    solve: Callable[
        [Float[Tensor, "objects inputs"], Float[Tensor, "systems outputs"]],
        Float[Tensor, "outputs objects inputs"],
    ]
    decode: Callable[
        [Float[Tensor, "outputs objects inputs"], Float[Tensor, "systems outputs"]],
        Float[Tensor, "objects outputs features"],
    ]
