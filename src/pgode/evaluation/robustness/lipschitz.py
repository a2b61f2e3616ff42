"""Empirical Lipschitz constants of a right-hand side, and the growth rate they allow."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from pgode.models.flow import Field

PAIRS = 12
"""Pairs of states tried at each state; the direction improves from one to the next."""

DISTANCE = 1e-4
"""Distance within a pair: small enough for a local constant, far above float64 rounding."""


def local_lipschitz(
    field: Field,
    state: Float[Tensor, "objects inputs"],
    system: Int[Tensor, " objects"],
    generator: torch.Generator,
    pairs: int = PAIRS,
) -> Float[Tensor, " systems"]:
    """Largest |f(Z + D) - f(Z)| / |D| of each system over the pairs tried, D over all its objects.

    In many dimensions a random D falls far short of the constant. So only the first D is random,
    and each next one points along J^T (f(Z + D) - f(Z)), with J the Jacobian at Z: power iteration,
    which converges to the spectral norm for a linear field. Every quotient belongs to a pair that
    was evaluated, so the result never exceeds the true constant. Systems do not interact, so one
    evaluation serves one pair of each of them.
    """
    systems = int(system.max()) + 1
    with torch.enable_grad():
        leaf = state.detach().requires_grad_()
        value = field(leaf)
    direction = torch.randn(state.shape, generator=generator, dtype=state.dtype).to(state)
    largest = state.new_zeros(systems)
    for _ in range(pairs):
        step = _scaled(direction, system, systems, DISTANCE)
        with torch.no_grad():
            change = field(leaf + step) - value
        largest = torch.maximum(largest, system_norms(change, system, systems) / DISTANCE)
        (direction,) = torch.autograd.grad(value, leaf, change, retain_graph=True)
    return largest


def theorem_rate(
    weights: Float[Tensor, "objects prototypes"],
    constants: Float[Tensor, "prototypes systems"],
    system: Int[Tensor, " objects"],
) -> Float[Tensor, " systems"]:
    """sqrt( sum_i ( sum_k w_ik L^k )^2 ) over the objects of each system (proof of Theorem 3.1)."""
    mixed = (weights * constants.T[system]).sum(1, keepdim=True)
    return system_norms(mixed, system, constants.shape[1])


def system_norms(
    values: Float[Tensor, "objects inputs"], system: Int[Tensor, " objects"], systems: int
) -> Float[Tensor, " systems"]:
    """Euclidean norm over all objects of a system."""
    squares = values.square().sum(1)
    return squares.new_zeros(systems).index_add(0, system, squares).sqrt()


def _scaled(
    direction: Tensor, system: Tensor, systems: int, length: float
) -> Float[Tensor, "objects inputs"]:
    """The direction scaled to the same norm in every system; zero stays zero."""
    norms = system_norms(direction, system, systems)
    factor = torch.where(norms > 0, length / norms, 0)
    return direction * factor[system].unsqueeze(1)
