"""Forecasts of a whole split and the truth: the input of every score."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from jaxtyping import Bool, Float, Int

from pgode.batches.origins import Origins
from pgode.batches.windows import Windows
from pgode.models.forecaster import Forecaster
from pgode.runtime.memory import refuse_beyond_memory, usable_memory

BATCH = 100
"""Systems forecast at a time; bounds the memory of an evaluation."""
HELD = 8
"""Forecasts of as many models are held at once while they are scored."""


Interval = tuple[
    Float[np.ndarray, "object frame feature"], Float[np.ndarray, "object frame feature"]
]
"""Lower and upper ends."""


@dataclass(frozen=True)
class Predictions:
    """Forecasts and truth in scaled units; objects of all systems share one axis."""

    mean: Float[np.ndarray, "object frame feature"]
    draws: Float[np.ndarray, "draw object frame feature"]
    truth: Float[np.ndarray, "object frame feature"]
    known: Bool[np.ndarray, "object frame feature"]
    times: Float[np.ndarray, "object frame"]
    system: Int[np.ndarray, " object"]
    contexts: dict[str, np.ndarray]
    evaluations: int
    seconds: float
    reference: Float[np.ndarray, "object axis"] | None = None
    """Scaled reference position of each object; no axes where the data have no reference."""
    intervals: Mapping[int, Interval] = field(default_factory=dict)
    """Central intervals by their level in per cent, where not the draws decide them."""
    quantile: Callable[[float], Float[np.ndarray, "object frame feature"]] | None = None
    """The quantile of the forecast at a rank, where not the draws decide it."""
    origins: Origins | None = None
    """The window behind each number of `system`: the system it was cut from, and its start.

    Where windows roll along a system there are several of it, and `system` counts windows.
    """

    @property
    def frames(self) -> int:
        """Forecast frames."""
        return int(self.mean.shape[1])

    def squared_errors(self) -> Float[np.ndarray, "object frame feature"]:
        """Squared error of the mean forecast, NaN where the truth is unknown."""
        return np.where(self.known, (self.mean - self.truth) ** 2, np.nan)

    def with_draws(self, draws: Float[np.ndarray, "draw object frame feature"]) -> "Predictions":
        """The same forecasts with other samples."""
        return replace(self, draws=draws)

    def mapped(
        self, function: Callable[[Float[np.ndarray, "*batch feature"]], np.ndarray]
    ) -> "Predictions":
        """The same forecasts in other units; `function` is increasing in each feature."""
        quantile = self.quantile
        return replace(
            self,
            mean=function(self.mean),
            draws=function(self.draws),
            truth=function(self.truth),
            intervals={
                n: (function(low), function(high)) for n, (low, high) in self.intervals.items()
            },
            quantile=None if quantile is None else lambda rank: function(quantile(rank)),
        )

    @property
    def windows(self) -> int:
        """Number of windows."""
        return int(self.system.max(initial=-1)) + 1

    @property
    def data_system(self) -> Int[np.ndarray, " object"]:
        """The system of the data that each object belongs to, however many windows it has."""
        return self.system if self.origins is None else self.origins.systems[self.system]


def memory_needed(windows: Windows, origins: Origins, draws: int) -> float:
    """Bytes of the forecasts of some windows, and of what scores make of them."""
    objects = float(windows.data.n_objects[origins.systems].sum())
    values = objects * windows.horizon * len(windows.data.features)
    return values * (17 * HELD + 12 * draws)


def fewer(windows: Windows, origins: Origins, draws: int) -> Origins:
    """Windows of data that stay in a file, evenly thinned so that their forecasts fit into memory.

    Statistics of errors need no more.
    """
    if not windows.data.is_stored:
        return origins
    step = -(-int(4 * memory_needed(windows, origins, draws)) // max(usable_memory(), 1))
    return Origins(origins.systems[:: max(step, 1)], origins.starts[:: max(step, 1)])


@torch.no_grad()
def predict(
    model: Forecaster,
    windows: Windows,
    draws: int = 0,
    seed: int = 0,
    origins: Origins | None = None,
) -> Predictions:
    """Forecast the windows at `origins`, with `draws` samples of the model's posterior.

    Without origins it is every system's first window.
    """
    chosen = windows.origins(rolling=False) if origins is None else origins
    refuse_beyond_memory(
        memory_needed(windows, chosen, draws),
        f"scoring {len(chosen)} windows of {windows.horizon} frames with {draws} samples",
        "Score fewer windows (--origins first or every:N, a smaller split), fewer frames "
        "(--horizons), or fewer --samples.",
    )
    model.eval()
    torch.manual_seed(seed)
    began = time.perf_counter()
    batches, results, first = [], [], 0
    systems = []
    for batch in windows.batches(BATCH, chosen):
        there = batch.to(model.device)
        batches.append(batch)
        results.append(model.forecast(there, there.target_times, draws).cpu())
        systems.append(batch.system.numpy() + first)
        first += batch.systems
    seconds = time.perf_counter() - began
    names = results[0].contexts
    return Predictions(
        mean=np.concatenate([result.mean.double().numpy() for result in results]),
        draws=np.concatenate([result.samples.numpy() for result in results], axis=1),
        truth=np.concatenate([batch.targets.double().numpy() for batch in batches]),
        known=np.concatenate([batch.targets_observed.numpy() for batch in batches]),
        times=np.concatenate([batch.target_times[batch.system].numpy() for batch in batches]),
        system=np.concatenate(systems),
        contexts={n: np.concatenate([r.contexts[n].numpy() for r in results]) for n in names},
        evaluations=results[0].evaluations,
        seconds=seconds,
        reference=np.concatenate([batch.reference.double().numpy() for batch in batches]),
        origins=chosen,
    )
