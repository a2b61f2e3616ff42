"""Ridge regression from sums over batches, with a penalty that held-out rows choose."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

PENALTIES = tuple(10.0**power for power in range(-9, 2))
"""Penalties that are tried, relative to the size of each regressor."""
ZERO = 1e-12
"""Eigenvalues below this share of the largest are 0 but for rounding."""
USUAL = 1e-3
"""The penalty where nothing was held out to choose one."""


@dataclass
class NormalEquations:
    """Sums over rows for H frames of F features, each regressed on P regressors.

    `gram` has one matrix for all targets if every row counts for every target and the regressors do
    not depend on the frame; else one for each frame and each group of features that are observed
    together (`group` has the number of each feature's).
    """

    gram: Float[Tensor, "grams groups P P"]
    moment: Float[Tensor, "H P F"]
    square: Float[Tensor, "H F"]
    count: Float[Tensor, "H F"]
    group: tuple[int, ...]
    shared: bool
    """Whether all targets have one matrix."""

    @classmethod
    def empty(
        cls, frames: int, regressors: int, group: tuple[int, ...], *, shared: bool
    ) -> "NormalEquations":
        """Sums over no rows."""
        groups, features = max(group) + 1, len(group)
        kinds = (1, 1) if shared else (frames, groups)

        def zeros(*shape: int) -> Tensor:
            return torch.zeros(*shape, dtype=torch.float64)

        return cls(
            zeros(*kinds, regressors, regressors),
            zeros(frames, regressors, features),
            zeros(frames, features),
            zeros(frames, features),
            group,
            shared,
        )

    def add(
        self,
        inputs: Float[Tensor, "rows P"] | Float[Tensor, "H rows P"],
        targets: Float[Tensor, "rows H F"],
        known: Bool[Tensor, "rows H F"],
    ) -> None:
        """Add rows; a target that is not known has weight 0."""
        values = torch.where(known, targets, 0.0).permute(1, 0, 2)
        self.moment += inputs.transpose(-1, -2) @ values
        self.square += values.square().sum(1)
        self.count += known.sum(0)
        if self.shared:
            self.gram[0, 0] += inputs.T @ inputs
            return
        for number in range(self.gram.shape[1]):
            weight = known[:, :, self.group.index(number)].T.unsqueeze(2).to(inputs.dtype)
            for frame in range(len(self.gram)):
                rows = inputs[frame] if inputs.dim() == 3 else inputs
                self.gram[frame, number] += rows.T @ (rows * weight[frame])

    def plus(self, other: "NormalEquations") -> "NormalEquations":
        """The sums over the rows of both."""
        return NormalEquations(
            self.gram + other.gram,
            self.moment + other.moment,
            self.square + other.square,
            self.count + other.count,
            self.group,
            self.shared,
        )

    def of_feature(self, feature: int) -> Float[Tensor, "grams P P"]:
        """The matrices of one feature's targets."""
        return self.gram[:, 0 if self.shared else self.group[feature]]

    def decomposed(self, feature: int) -> "Decomposed":
        """The matrices of one feature's targets, ready for any penalty."""
        gram = self.of_feature(feature)
        size = gram.diagonal(dim1=-2, dim2=-1)
        scale = torch.where(size > 0, size, 1.0).rsqrt()
        values, vectors = torch.linalg.eigh(scale.unsqueeze(2) * gram * scale.unsqueeze(1))
        return Decomposed(scale, values, vectors)

    def error(self, weights: Float[Tensor, "H P"], feature: int) -> float:
        """Squared error of these weights over all rows and frames of one feature."""
        gram = self.of_feature(feature).expand(len(weights), -1, -1)
        quadratic = torch.einsum("hp,hpq,hq->", weights, gram, weights)
        linear = (weights * self.moment[:, :, feature]).sum()
        return float(self.square[:, feature].sum() - 2 * linear + quadratic)


@dataclass(frozen=True)
class Decomposed:
    """Eigenvalues and eigenvectors of matrices that were scaled to one on their diagonal.

    The penalty of a regressor is thus relative to its size, so that scales do not matter.
    """

    scale: Float[Tensor, "grams P"]
    values: Float[Tensor, "grams P"]
    vectors: Float[Tensor, "grams P P"]

    def weights(self, penalty: float, moment: Float[Tensor, "H P"]) -> Float[Tensor, "H P"]:
        """The weights of one feature at every frame.

        Regressors that repeat others have no unique weights: the smallest are taken.
        """
        largest = self.values.amax(1, keepdim=True)
        raised = self.values + penalty
        divided = torch.where(raised > ZERO * largest, 1 / raised, 0)
        if len(self.scale) == 1:
            turned = (moment * self.scale) @ self.vectors[0]
            return (turned * divided) @ self.vectors[0].T * self.scale
        turned = torch.einsum("hpk,hp->hk", self.vectors, moment * self.scale)
        return torch.einsum("hpk,hk->hp", self.vectors, turned * divided) * self.scale


def solved(
    parts: tuple[NormalEquations, NormalEquations, NormalEquations], penalty: float | None
) -> tuple[Float[Tensor, "H P F"], list[float]]:
    """Weights from all rows, and the penalty of each feature.

    `parts` are the rows to fit, those held out to choose the penalty, and rows in neither because
    they overlap with both. A given `penalty` is taken as it is.
    """
    fitted, held, between = parts
    total = fitted.plus(held).plus(between)
    weights = torch.zeros_like(total.moment)
    penalties = []
    all_rows, some_rows = _Decompositions(total), _Decompositions(fitted)
    for feature in range(weights.shape[2]):
        chosen = penalty
        if chosen is None:
            chosen = _chosen(fitted, held, some_rows, feature)
        penalties.append(chosen)
        if total.count[:, feature].sum() > 0:
            moment = total.moment[:, :, feature]
            weights[:, :, feature] = all_rows.of(feature).weights(chosen, moment)
    return weights, penalties


class _Decompositions:
    """Decompositions by group of features, each made once."""

    def __init__(self, sums: NormalEquations) -> None:
        self.sums = sums
        self.made: dict[int, Decomposed] = {}

    def of(self, feature: int) -> Decomposed:
        group = 0 if self.sums.shared else self.sums.group[feature]
        if group not in self.made:
            self.made[group] = self.sums.decomposed(feature)
        return self.made[group]


def _chosen(
    fitted: NormalEquations, held: NormalEquations, made: _Decompositions, feature: int
) -> float:
    """The penalty with the lowest error on the rows that were held out."""
    if not held.count[:, feature].sum() or not fitted.count[:, feature].sum():
        return USUAL
    moment = fitted.moment[:, :, feature]
    errors = [held.error(made.of(feature).weights(each, moment), feature) for each in PENALTIES]
    return PENALTIES[min(range(len(errors)), key=errors.__getitem__)]
