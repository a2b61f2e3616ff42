"""Sparse variational Gaussian process: a random function given by its values at inducing points."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from pgode.batches.devices import exact
from pgode.nn.gaussian import DiagonalNormal

JITTER = 1e-4
"""Added to the diagonal of K, which inducing points close together make nearly singular."""

STRIDE = 10.0
"""Means and log deviations of w are stored divided by this: Adam moves every parameter by about the
learning rate per step, and these have to move much further than the weights of a network."""

Function = Callable[[Float[Tensor, "rows inputs"]], Float[Tensor, "rows outputs"]]


class SparseGP(nn.Module):
    """Independent outputs f with one kernel, given by their values u at inducing points Z.

        k(x, x') = exp(-|(x - x') / l|^2 / 2),    K = k(Z, Z) = L L^T,    u = s L w
        q(w) = N(m, diag(d^2)),    p(w) = N(0, I),    f(x) = k(x, Z) K^-1 u = s k(x, Z) L^-T w

    The values are whitened: w has a standard normal prior whatever the kernel, so length scales l
    (one per input), amplitudes s (one per output) and the posterior of w can be learned together.
    A draw of w is a draw of a whole function, the same in all evaluations, as a solver requires.
    Far from all points f returns to 0, its prior mean.
    """

    def __init__(self, inputs: int, outputs: int, points: int) -> None:
        super().__init__()
        self.points = nn.Parameter(torch.empty(points, inputs).uniform_(-1, 1))
        # The unit of length grows with the dimension of the cube the points are drawn from, so that
        # each of them initially covers a good part of it.
        self.unit = 0.5 * inputs**0.5
        self.log_length = nn.Parameter(torch.zeros(inputs))
        self.log_amplitude = nn.Parameter(torch.zeros(outputs))
        self.mean = nn.Parameter(0.001 * torch.randn(points, outputs))
        self.log_deviation = nn.Parameter(torch.full((points, outputs), -0.4))

    def posterior(self) -> DiagonalNormal:
        """q(w), one row per inducing point."""
        return DiagonalNormal(STRIDE * self.mean, 2 * STRIDE * self.log_deviation)

    def function(self, draw: bool) -> Function:
        """One function: drawn from the posterior, or the posterior's mean."""
        whitened = self.posterior().start(draw)
        rate = torch.exp(-self.log_length) / self.unit
        points = self.points * rate
        # In double precision: K is a small matrix with eigenvalues down to its jitter.
        gram = _kernel(exact(points), exact(points))
        gram = gram + JITTER * torch.eye(len(gram), dtype=gram.dtype, device=gram.device)
        root = torch.linalg.cholesky(gram)
        solved = torch.linalg.solve_triangular(root.mT, exact(whitened), upper=True)
        weights = solved.to(whitened) * self.log_amplitude.exp()
        return lambda x: _kernel(x * rate, points) @ weights

    def divergence(self) -> Float[Tensor, ""]:
        """Kullback-Leibler divergence of q(u) from the prior p(u)."""
        return self.posterior().divergence().sum()


def _kernel(
    x: Float[Tensor, "rows inputs"], points: Float[Tensor, "points inputs"]
) -> Float[Tensor, "rows points"]:
    """exp(-|x - z|^2 / 2) of scaled inputs, with the square expanded into a matrix product."""
    square = torch.addmm(points.square().sum(1), x, points.T, beta=-0.5)
    return torch.exp(square - 0.5 * x.square().sum(1, keepdim=True))
