"""Jensen-Shannon estimate of mutual information between two sets of vectors (paper, Eq. 6-7)."""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from pgode.batches.parallel.share import WHOLE, Share
from pgode.nn.feedforward import FeedForward

INDEPENDENT = -2 * math.log(2)
"""The estimate of a perfect critic for independent vectors: there is no less information."""


class MutualInformation(nn.Module):
    """Lower-bounds I(x; y) up to a constant by a critic T that separates true pairs from others.

        estimate = - mean over pairs of sp(-T(x, y)) - mean over others of sp(T(x, y))

    It is -2 log 2 for independent x and y and rises towards 0. The critic is a scaled product of
    two embeddings, so that all pairs of a batch cost one matrix product. (The formula printed in
    the paper has sp(-T) in both sums, which is no bound; this is the estimator that it names.)
    """

    def __init__(self, left: int, right: int, width: int) -> None:
        super().__init__()
        self.left = FeedForward(left, width, width)
        self.right = FeedForward(right, width, width)

    def forward(
        self,
        x: Float[Tensor, "rows left"],
        y: Float[Tensor, "columns right"],
        pairs: Bool[Tensor, "rows all"],
        share: Share = WHOLE,
    ) -> Float[Tensor, ""]:
        """The estimate over a batch; `pairs` marks which rows and columns belong together.

        Where the batch is shared, x and y are the own rows and columns, and `pairs` are those of
        the own rows with the columns of all. The estimate is then the sum over all shares.
        """
        embedded = self.left(x)
        score = embedded @ share.gather(self.right(y)).T / embedded.shape[-1] ** 0.5
        paired = pairs.to(score.dtype)
        unpaired = 1 - paired
        own = (nn.functional.softplus(-score) * paired).sum()
        other = (nn.functional.softplus(score) * unpaired).sum()
        positive = own / share.total(paired.sum()).clamp(min=1)
        negative = other / share.total(unpaired.sum()).clamp(min=1)
        return -(positive + negative)


def same_system(
    rows: Float[Tensor, " rows"], columns: Float[Tensor, " columns"]
) -> Bool[Tensor, "rows columns"]:
    """Pairs of a row and a column of the same system."""
    return torch.eq(rows[:, None], columns[None, :])
