"""A run's mean forecast as a function of plain arrays, which torch.export can record."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.export import Dim, ExportedProgram

from pgode.batches.edge_list import EdgeList
from pgode.batches.temporal_graph import TemporalGraph
from pgode.batches.windows import Batch
from pgode.models.forecaster import Forecaster
from pgode.runs.export.history import temporal_graph
from pgode.runs.export.scaling import Scaling
from pgode.runs.export.signature import Signature
from pgode.runs.export.substitutes import Substitutes


class ForecastProgram(nn.Module):
    """Arrays in data units -> batch -> the model's own `forecast` -> states in data units.

    The model is not written a second time: what differs while it is recorded is the graph
    (`EdgeList`), the clock (whole frames, see `pgode.nn.integrate`) and functions that ONNX lacks.
    """

    reference: Float[Tensor, "objects axes"]

    def __init__(self, model: Forecaster, signature: Signature) -> None:
        super().__init__()
        self.model, self.signature = model, signature
        normaliser = model.normaliser
        self.scaling = Scaling(normaliser)
        places = torch.zeros(0, 0, dtype=torch.float64)
        if normaliser.reference is not None:
            axes = normaliser.positions
            raw = torch.tensor(normaliser.reference.positions, dtype=torch.float64)
            places = (raw - self.scaling.centre[axes]) / self.scaling.scale[axes]
        self.register_buffer("reference", places.float())

    def forward(self, *arrays: Tensor) -> Float[Tensor, "objects until features"]:
        """The forecast at frames 1, 2, ... after the last observed one.

        Arrays are in the order of the signature.
        """
        names = (each.name for each in self.signature.arrays)
        with Substitutes():
            batch, times = self.batch(dict(zip(names, arrays, strict=True)))
            mean = self.model.forecast(batch, times).mean
        return self.scaling.raw(mean.double())

    def batch(self, arrays: dict[str, Tensor]) -> tuple[Batch, Float[Tensor, "systems until"]]:
        """What the model takes, and the frames to forecast."""
        given, scaling = self.signature, self.scaling
        raw, system, clock = arrays["states"], arrays["system"], scaling.clock(arrays["times"])
        objects, systems = raw.shape[0], clock.shape[0]
        observed = ~torch.isnan(raw)
        states = torch.where(observed, scaling.states(raw), 0.0).float()
        clock = clock.float()
        ahead = torch.arange(1, given.until + 1, dtype=clock.dtype, device=clock.device)
        times = ahead.expand(systems, -1)
        none = states.new_zeros(objects, 0)
        constants = scaling.constants(arrays["constants"]).float() if given.constants else none
        steps = given.condition + given.until
        inputs = none.unsqueeze(1).expand(-1, steps, -1)
        if given.inputs:
            inputs = scaling.inputs(arrays["inputs"]).float()
        graph, history = self._graphs(arrays, observed)
        batch = Batch(
            states=states,
            observed=observed,
            times=clock,
            targets=states[:, :0],
            targets_observed=observed[:, :0],
            target_times=times[:, :0],
            system=system,
            group=_grouped(system, arrays["group"] if given.groups else None),
            parameters=clock[:, :0],
            parameters_known=torch.zeros_like(clock[:, 0]) > 0,
            graph=graph,
            history=history,
            system_ids=torch.arange(systems, device=system.device),
            reference=self._reference(system, systems),
            constants=constants,
            inputs=inputs,
            input_times=torch.cat([clock, times], 1),
        )
        return batch, times

    def _graphs(
        self, arrays: dict[str, Tensor], observed: Tensor
    ) -> tuple[EdgeList, TemporalGraph]:
        """The graph of the forecast, and that of the observations."""
        receivers, senders = arrays["receivers"], arrays["senders"]
        raw, seen, condition = arrays["edge_attributes"], observed.any(2), self.signature.condition
        in_force = None
        if self.signature.changing:
            frame = torch.arange(condition, device=receivers.device).unsqueeze(1)
            in_force = (arrays["edge_begin"] <= frame) & (frame < arrays["edge_end"])
        weights = raw[:, 0].float()
        history = temporal_graph(seen, receivers, senders, weights, in_force)
        attributes = self.scaling.attributes(raw).float()
        if self.signature.changing:
            last = (arrays["edge_end"] >= condition).nonzero()[:, 0]
            receivers, senders, attributes = receivers[last], senders[last], attributes[last]
        return EdgeList.of(receivers, senders, attributes, observed.shape[0]), history

    def _reference(self, system: Tensor, systems: int) -> Float[Tensor, "objects axes"]:
        """The reference position of each object, by its place within its system."""
        if not self.reference.shape[0]:
            return self.reference.new_zeros(system.shape[0], 0)
        number = torch.arange(system.shape[0], device=system.device)
        first = torch.full_like(number[:1], torch.iinfo(torch.int64).max).expand(systems)
        first = first.scatter_reduce(0, system, number, "amin")
        return self.reference[number - first[system]]


def _grouped(system: Tensor, group: Tensor | None) -> Int[Tensor, " objects"]:
    """One number for each group of each system: that of its first object; -1 without a group."""
    if group is None:
        return torch.full_like(system, -1)
    number = torch.arange(system.shape[0], device=system.device)
    same = (system.unsqueeze(1) == system) & (group.unsqueeze(1) == group)
    first = torch.where(same, number, system.shape[0]).amin(1)
    return torch.where(group >= 0, first, -1)


def record(model: Forecaster, signature: Signature) -> ExportedProgram:
    """The forecast of a model as a program; the numbers of systems, objects and edges are free."""
    # A copy: recording leaves traces in recurrent cells.
    program = ForecastProgram(deepcopy(model), signature).eval().requires_grad_(False)
    example = tuple(torch.from_numpy(each) for each in signature.example().values())
    free = {name: Dim(name, min=1) for name in ("systems", "objects", "edges")}
    shapes = tuple(
        {k: free[size] for k, size in enumerate(each.shape) if isinstance(size, str)}
        for each in signature.arrays
    )
    with torch.no_grad(), quiet():
        return torch.export.export(
            program, example, dynamic_shapes={"arrays": shapes}, strict=False
        )


@contextmanager
def quiet() -> Iterator[None]:
    """Without the notes that torch and onnxscript write about their own progress."""
    loggers = [logging.getLogger(name) for name in ("torch.onnx", "onnxscript", "onnx_ir")]
    levels = [each.level for each in loggers]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for each in loggers:
                each.setLevel(logging.ERROR)
            yield
        finally:
            for each, level in zip(loggers, levels, strict=True):
                each.setLevel(level)
