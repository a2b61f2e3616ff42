"""Empirical Lipschitz constants of a right-hand side, and the rate of growth they allow."""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor

PAIRS = 12
"""Pairs of states tried at each state; the direction improves from one to the next."""

DISTANCE = 1e-4
"""Distance of a pair: near enough for a local constant, far above the rounding of float64."""


def local_lipschitz(
    field: Callable[[Tensor], Tensor],
    state: Float[Tensor, "objects inputs"],
    system: Int[Tensor, " objects"],
    generator: torch.Generator,
    pairs: int = PAIRS,
) -> Float[Tensor, " systems"]:
    """Each system's largest |f(Z + D) - f(Z)| / |D| over the pairs tried, D of all its objects.

    A random D finds far less than the constant where the state has many dimensions. So only the
    first is random, and each pair sends the next along J^T (f(Z + D) - f(Z)), with J the Jacobian
    at Z: power iteration, which for a linear field goes to the spectral norm. Every quotient is one
    of a pair that was evaluated, so the result is never above the true constant. Systems do not
    interact, so that one evaluation serves a pair of each of them.
    """
    systems = int(system.max()) + 1
    with torch.enable_grad():
        leaf = state.detach().requires_grad_()
        value = field(leaf)
    direction = torch.randn(state.shape, generator=generator, dtype=state.dtype)
    found = state.new_zeros(systems)
    for _ in range(pairs):
        step = _scaled(direction, system, systems, DISTANCE)
        with torch.no_grad():
            change = field(leaf + step) - value
        found = torch.maximum(found, system_norms(change, system, systems) / DISTANCE)
        (direction,) = torch.autograd.grad(value, leaf, change, retain_graph=True)
    return found


def theorem_rate(
    weights: Float[Tensor, "objects prototypes"],
    constants: Float[Tensor, "prototypes systems"],
    system: Int[Tensor, " objects"],
) -> Float[Tensor, " systems"]:
    """sqrt( sum_i ( sum_k w_ik L^k )^2 ) over the objects of each system (proof of Theorem 3.1)."""
    each = (weights * constants.T[system]).sum(1, keepdim=True)
    return system_norms(each, system, constants.shape[1])


def system_norms(
    values: Float[Tensor, "objects inputs"], system: Int[Tensor, " objects"], systems: int
) -> Float[Tensor, " systems"]:
    """Euclidean norm over all objects of a system."""
    squares = values.square().sum(1)
    return squares.new_zeros(systems).index_add(0, system, squares).sqrt()


def _scaled(
    direction: Tensor, system: Tensor, systems: int, length: float
) -> Float[Tensor, "objects inputs"]:
    """The same direction with one norm in every system; zero stays zero."""
    norms = system_norms(direction, system, systems)
    factor = torch.where(norms > 0, length / norms, 0)
    return direction * factor[system].unsqueeze(1)
