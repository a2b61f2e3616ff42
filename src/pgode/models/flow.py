"""The initial value problem behind a mean forecast, so that its initial state can be perturbed."""

from collections.abc import Callable
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

Field = Callable[[Float[Tensor, "objects inputs"]], Float[Tensor, "objects inputs"]]
"""A right-hand side: the change of every object's state per frame, given the states of all."""


@dataclass(frozen=True)
class Flow:
    """The initial value problem that the mean forecast of a batch solves.

    `mixture` is the full right-hand side. `prototypes` are the right-hand sides that result when
    every object follows one prototype alone; `weights` are the gate's. All of them include the
    terms that no gate multiplies (the recovery term -z, dq/dt = v). A right-hand side is affine in
    the gate and the weights of an object sum to 1, so

        mixture(Z)_i = sum_k weights_ik prototypes_k(Z)_i

    holds exactly: these are the "revised prototypes" of Theorem 3.1, which absorb the term -z.
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
        [Float[Tensor, "outputs objects inputs"]], Float[Tensor, "objects outputs features"]
    ]
