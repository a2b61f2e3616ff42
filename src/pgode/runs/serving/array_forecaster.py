"""Forecasts from arrays to arrays, without anything being built anew."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float

from pgode.batches.windows import Batch, Windows
from pgode.data.edges import Edges
from pgode.evaluation.predictions import BATCH
from pgode.runs.exchange.ahead import check_draws, frames_of
from pgode.runs.exchange.observed import check_length
from pgode.runs.forecasts import SAMPLES, batch_forecast
from pgode.runs.serving.observed_arrays import Given, usual
from pgode.runs.serving.topologies import Topologies
from pgode.runtime.errors import PgodeError

if TYPE_CHECKING:
    from pgode.runs.run import Run

GRAPHS = 64
"""Graphs that a forecaster remembers if nobody asks for another number."""
_GENERATOR = Lock()
"""Torch draws from one generator, so that forecasts that draw must take turns."""


class SampledArrays(NamedTuple):
    """A forecast with samples: mean, 90 % interval and samples, in the units of the data."""

    mean: Float[np.ndarray, "*system object output feature"]
    lower: Float[np.ndarray, "*system object output feature"]
    upper: Float[np.ndarray, "*system object output feature"]
    samples: Float[np.ndarray, "sample *system object output feature"]


class ArrayForecaster:
    """The forecasts of a run as a function of arrays; `Run.forecaster` makes one.

    It has the numbers of `Run.forecast`, bit for bit. Kernels are compiled when it is made, and the
    graph of a system that has been seen before is not built again. Any number of threads may use it
    at once; forecasts that draw samples take turns.
    """

    def __init__(self, run: "Run", graphs: int = GRAPHS) -> None:
        self.run = run
        self._model = run.model.eval()
        self._topologies = Topologies(graphs)
        self._warm()

    def __call__(
        self,
        states: Any,
        *,
        edges: Any = None,
        clock: Any = None,
        constants: Any = None,
        inputs: Any = None,
        until: int | None = None,
        times: Sequence[float] | None = None,
    ) -> Float[np.ndarray, "*system object output feature"]:
        """The mean forecast after the last observed frame.

        `states` is (object, time, feature) of one system or (system, object, time, feature) of
        several with as many objects, NaN where a value is missing. `edges` is a matrix (object,
        object) with the receiver as row, for all systems or for each, or a `pgode.Edges`; all pairs
        if the run was trained on such graphs. `clock` has the times of the frames; they follow each
        other as in training if not given. `constants` is (object, constant). `inputs` is (object,
        time, input) with the frames of the forecast after those of the states. `until` and `times`
        are those of `Run.forecast`.
        """
        given = Given(states, edges, clock, constants, inputs)
        frames = self._frames(given, until, times)
        with torch.inference_mode():  # The mean of no model is drawn.
            batch = self._batch(given, frames)
            ahead = torch.tensor(frames, dtype=torch.float32).expand(batch.systems, -1)
            there = (batch.to(self._model.device), ahead.to(self._model.device))
            scaled = self._model.mean_forecast(*there).cpu().double().numpy()
        return _shaped(self.run.normaliser.raw(scaled), batch, states)

    def sampled(
        self,
        states: Any,
        *,
        edges: Any = None,
        clock: Any = None,
        constants: Any = None,
        inputs: Any = None,
        until: int | None = None,
        times: Sequence[float] | None = None,
        samples: int = SAMPLES,
        seed: int = 0,
    ) -> SampledArrays:
        """Mean, calibrated 90 % interval and samples; the rest is as for the mean alone."""
        check_draws(samples, seed, least=1)
        given = Given(states, edges, clock, constants, inputs)
        frames = self._frames(given, until, times)
        with torch.inference_mode(), _turn(seed):
            batch = self._batch(given, frames)
            found = batch_forecast(self._model, batch, frames, self.run.calibration, samples, seed)
        lower, upper = found.ends
        return SampledArrays(
            mean=_shaped(found.mean, batch, states),
            lower=_shaped(lower, batch, states),
            upper=_shaped(upper, batch, states),
            samples=np.stack([_shaped(each, batch, states) for each in found.drawn]),
        )

    def _frames(
        self, given: Given, until: int | None, times: Sequence[float] | None
    ) -> Float[np.ndarray, " outputs"]:
        run = self.run
        if until is None and times is None and given.inputs is not None:
            until = max(np.shape(given.inputs)[-2] - np.shape(given.states)[-2], 0) or None
        asked = None if times is None else list(times)
        return frames_of(until, asked, run.config.window.horizon, run.normaliser.frame_duration)

    def _batch(self, given: Given, frames: Float[np.ndarray, " outputs"]) -> Batch:
        """The last observed frames as a batch; on graphs that are known, if they are."""
        normaliser, condition = self.run.normaliser, self.run.config.window.condition
        arrays = usual(given, normaliser, condition)
        if arrays is None or len(arrays.states) > BATCH:
            return self._built(given, frames)
        template = self._topologies.get(arrays.key)
        if template is None:
            built = self._built(given, frames)
            none = torch.zeros_like(built.targets)
            template = replace(built, targets=none, targets_observed=none.bool())
            self._topologies.keep(arrays.key, template)
        filled = arrays.fill(template, normaliser, frames)
        return self._built(given, frames) if filled is None else filled

    def _built(self, given: Given, frames: Float[np.ndarray, " outputs"]) -> Batch:
        """The batch that `Run.forecast` makes, with all its checks."""
        run, source = self.run, "the given arrays"
        data = run.conform(run.observed(given.arrays(), source), source)
        condition = run.config.window.condition
        check_length(data, condition, source)
        windows = Windows(data, run.normaliser, condition, 1)
        return next(windows.last(max(BATCH, data.systems), frames))

    def _warm(self) -> None:
        """Compile every kernel, by a forecast of a made-up system."""
        run, normaliser = self.run, self.run.normaliser
        objects, condition = max(min(run.data.objects, 8), 2), run.config.window.condition
        random = np.random.default_rng(0)
        shape = (objects, condition, len(normaliser.features))
        given = {
            "states": normaliser.raw(random.uniform(-0.5, 0.5, shape)),
            "edges": _any_edges(objects, normaliser.edge_attributes),
            "constants": np.zeros((objects, len(normaliser.constants))),
            "inputs": np.zeros((objects, condition + 2, len(normaliser.inputs))),
        }
        for name in ("constants", "inputs"):
            if not given[name].shape[-1]:
                del given[name]
        # Made-up states may lead where no forecast can be solved; all is compiled nevertheless.
        with suppress(PgodeError):
            self.sampled(**given, until=2, samples=2)
            self(**given, until=2)


def _any_edges(objects: int, attributes: tuple[str, ...]) -> Any:
    """All pairs, with weight 1 and whatever other attributes there are."""
    pairs = ~np.eye(objects, dtype=bool)
    if attributes == ("weight",):
        return pairs.astype(np.float64)
    receiver, sender = (ends.astype(np.int32) for ends in np.nonzero(pairs))
    return Edges(
        graph_system=np.zeros(1, np.int32),
        graph_start=np.zeros(1),
        edge_graph=np.zeros(len(sender), np.int32),
        edge_receiver=receiver,
        edge_sender=sender,
        edge_attributes=np.ones((len(sender), len(attributes))),
        attribute_names=attributes,
    )


def _shaped(rows: np.ndarray, batch: Batch, states: Any) -> np.ndarray:
    """Rows of objects as the states were given: with a system axis if these have one."""
    if np.ndim(states) == 3:
        return rows
    return rows.reshape(batch.systems, -1, *rows.shape[1:])


@contextmanager
def _turn(seed: int) -> Iterator[None]:
    """A turn at the generator of torch, with a seed; afterwards it is as it was."""
    with _GENERATOR, torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield
