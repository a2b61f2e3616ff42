"""Singular values and determinants of matrices of at most three rows, in elementary operations.

ONNX has no singular value decomposition. Readouts that superpose frames need one for each system
and frame, of matrices as large as space has axes.
"""

import torch
from jaxtyping import Float
from torch import Tensor

SWEEPS = 8
"""Rounds of rotations; each squares what is left, so that four already reach double precision."""
TINY = 1e-150
"""Lengths below this count as 0."""


def svd(
    matrix: Float[Tensor, "*batch n n"],
) -> tuple[Float[Tensor, "*batch n n"], Float[Tensor, "*batch n"], Float[Tensor, "*batch n n"]]:
    """U, the singular values from the largest on, and V^T, by one-sided Jacobi rotations.

    Columns of the matrix are turned until they are orthogonal: they are then U times the singular
    values, and the rotations together are V.
    """
    size = matrix.shape[-1]
    columns = list(matrix.unbind(-1))
    identity = torch.eye(size, dtype=matrix.dtype, device=matrix.device).expand_as(matrix)
    turned = list(identity.unbind(-1))
    pairs = [(p, q) for p in range(size) for q in range(p + 1, size)]
    for p, q in pairs * SWEEPS:
        along = (columns[p] * columns[q]).sum(-1, keepdim=True)
        longer = (columns[q].square() - columns[p].square()).sum(-1, keepdim=True)
        apart = along.abs() > 0
        ratio = longer / (2 * torch.where(apart, along, 1.0))
        sign = torch.where(ratio < 0, -1.0, 1.0)
        tangent = torch.where(apart, sign / (ratio.abs() + (1 + ratio.square()).sqrt()), 0.0)
        cosine = (1 + tangent.square()).rsqrt()
        for each in (columns, turned):
            first, second = each[p], each[q]
            each[p] = cosine * (first - tangent * second)
            each[q] = cosine * (second + tangent * first)
    scaled, right = torch.stack(columns, -1), torch.stack(turned, -1)
    values = scaled.square().sum(-2).sqrt()
    order = values.argsort(-1, descending=True)
    places = order.unsqueeze(-2).expand_as(scaled)
    left = torch.stack(_orthonormal(list(scaled.gather(-1, places).unbind(-1))), -1)
    return left, values.gather(-1, order), right.gather(-1, places).transpose(-1, -2)


def det(matrix: Float[Tensor, "*batch n n"]) -> Float[Tensor, "*batch"]:
    """The determinant."""
    rows = list(matrix.unbind(-2))
    if len(rows) == 1:
        return matrix[..., 0, 0]
    if len(rows) == 2:
        return rows[0][..., 0] * rows[1][..., 1] - rows[0][..., 1] * rows[1][..., 0]
    return (_cross(rows[0], rows[1]) * rows[2]).sum(-1)


def _orthonormal(columns: list[Tensor]) -> list[Tensor]:
    """Orthogonal columns with length 1; those of length 0 become some that complete the others."""
    first = _unit(columns[0], _axis(columns[0], 0))
    if len(columns) == 1:
        return [first]
    if len(columns) == 2:
        return [first, _along(torch.stack([-first[..., 1], first[..., 0]], -1), columns[1])]
    # The axis that the first column has least of is never parallel to it.
    least = first.abs().argmin(-1, keepdim=True)
    other = torch.zeros_like(first).scatter(-1, least, torch.ones_like(first))
    other = other - (other * first).sum(-1, keepdim=True) * first
    second = _unit(columns[1], _unit(other, other))
    return [first, second, _along(_cross(first, second), columns[2])]


def _along(vector: Tensor, column: Tensor) -> Tensor:
    """The vector, or its opposite if the column points there."""
    return torch.where((vector * column).sum(-1, keepdim=True) < 0, -vector, vector)


def _unit(vector: Tensor, instead: Tensor) -> Tensor:
    length = vector.square().sum(-1, keepdim=True).sqrt()
    return torch.where(length > TINY, vector / length.clamp(min=TINY), instead)


def _axis(like: Tensor, number: int) -> Tensor:
    place = torch.arange(like.shape[-1], device=like.device) == number
    return place.to(like.dtype).expand_as(like)


def _cross(a: Tensor, b: Tensor) -> Tensor:
    parts = [a[..., i] * b[..., j] - a[..., j] * b[..., i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return torch.stack(parts, -1)
