"""The state of training as a checkpoint stores it."""

from typing import Annotated

from pydantic import ConfigDict, Field

from pgode.runtime.stored.schema import Count, NotNegative, Stored

WholeOrNone = Annotated[int, Field(ge=-1)]


class StoredProgress(Stored):
    """The entries of `pgode.training.checkpoint.Progress`; an infinite error is null."""

    # Sums of loss terms may be infinite where a term without weight is.
    model_config = ConfigDict(allow_inf_nan=True)

    epoch: Count = 0
    step: Count = 0
    steps: Count = 0
    seconds: Annotated[NotNegative, Field(allow_inf_nan=False)] = 0.0
    best: Annotated[NotNegative, Field(allow_inf_nan=False)] | None = None
    best_epoch: WholeOrNone = -1
    finished: bool = False
    norm: Annotated[NotNegative, Field(allow_inf_nan=False)] | None = None
    sums: dict[str, float] = Field(default_factory=dict)
