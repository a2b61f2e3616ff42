"""Which models can be recorded: their program forecasts what they forecast."""

from typing import Any

import numpy as np
import pytest
import torch
from tests.models.conftest import SMALL
from tests.small_systems import CONDITION, OBJECT_AXIS, TIME_AXIS, uneven

from pgode.batches.normaliser import Normaliser
from pgode.data.trajectories import Trajectories
from pgode.models import Forecaster, build_model, model_config
from pgode.models.registry import MODELS
from pgode.runs.export.check import TOLERANCE, compare, windows_of
from pgode.runs.export.program import record
from pgode.runs.export.refusals import check_exportable
from pgode.runs.export.signature import Signature
from pgode.runtime.errors import InputError
from pgode.runtime.settings import merged

UNTIL = 2
REFUSED = ("i-gpode", "seasonal-rate")
"""The first needs a Cholesky factor, the second computes its mean in numpy."""


def small(name: str, data: Trajectories, **settings: Any) -> Forecaster:
    """A small model whose weights all matter."""
    torch.manual_seed(0)
    config = model_config(name, merged(SMALL.get(name, {}), settings))
    model = build_model(name, config, Normaliser.fit(data)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model


def difference(model: Forecaster, data: Trajectories, *, changing: bool = True) -> float:
    """Between the recorded program and the model, on systems of several sizes."""
    signature = Signature.of(model, CONDITION, UNTIL, changing=changing)
    windows = windows_of(model, data, signature)
    program = record(model, signature).module()

    def run(arrays: Any) -> Any:
        with torch.no_grad():
            return program(*(torch.from_numpy(each) for each in arrays.values())).numpy()

    return compare(run, windows, model, "the model").difference


@pytest.mark.parametrize("name", [name for name in MODELS if name not in REFUSED])
def test_a_recorded_forecast_is_that_of_the_model(name: str) -> None:
    data = uneven()
    assert difference(small(name, data), data) <= TOLERANCE


def test_variants_of_dynamics_gate_and_solver_are_recorded_too() -> None:
    """In one model, since recording takes seconds; they touch different parts of it."""
    data = uneven()
    model = small(
        "pgode",
        data,
        dynamics={"top_k": 2},
        gate={"group_context": True},
        solver={"method": "midpoint", "step": 0.04},
    )
    assert difference(model, data) <= TOLERANCE


def test_a_latent_state_constants_and_known_inputs_are_recorded() -> None:
    random = np.random.default_rng(0)
    data = uneven(
        constants=random.normal(size=(5, OBJECT_AXIS, 1)),
        constant_names=("size",),
        inputs=random.normal(size=(5, OBJECT_AXIS, TIME_AXIS, 2)),
        input_names=("push", "pull"),
    )
    model = small("pgode", data, state={"kind": "latent"}, dynamics={"backbone": "gcn"})
    names = [each.name for each in Signature.of(model, CONDITION, UNTIL).arrays]
    assert names[-2:] == ["constants", "inputs"]
    assert difference(model, data) <= TOLERANCE


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"dynamics": {"kind": "laws", "prototypes": 2}, "width": 128}, "has force laws"),
        ({"solver": {"method": "dopri5"}}, "is solved by dopri5, which chooses its steps"),
    ],
)
def test_what_is_no_fixed_sequence_of_operations_is_refused(
    settings: dict[str, Any], message: str
) -> None:
    config = model_config("pgode", settings)
    model = build_model("pgode", config, Normaliser.fit(uneven()))
    with pytest.raises(InputError, match=message):
        check_exportable(model, "runs/x")
