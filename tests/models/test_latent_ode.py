"""Latent ODEs: from an initial value problem to features, and the solvers they accept."""

import pytest
import torch
from torch.testing import assert_close

from pgode.models import model_config
from pgode.models.latent import Encoded
from pgode.models.latent_ode import InitialValueProblem, LatentODE, LatentODEConfig
from pgode.nn.gaussian import DiagonalNormal
from pgode.runtime.errors import InputError


class Decay(LatentODE):
    """dz/dt = -z from [1, 2], of which twice the value is observed."""

    def encode(self, batch):
        mean = torch.tensor([[1.0, 2.0]]).double().expand(batch.objects, -1)
        return Encoded(DiagonalNormal(mean, torch.zeros_like(mean)))

    def problem(self, batch, encoded, initial):
        return InitialValueProblem(lambda t, z: -z, initial, lambda z, times: 2 * z)


def test_forecast_is_the_decoded_solution_at_each_system_s_times(normaliser, batch):
    model = Decay(LatentODEConfig(solver={"step": 0.01}), normaliser)
    times = 1 + torch.arange(10).double().view(5, 2)
    forecast = model.forecast(batch, times)
    # One frame is 0.1 units of the solver's time.
    decay = torch.exp(-0.1 * times)[batch.system].unsqueeze(2)
    assert_close(forecast.mean, decay * torch.tensor([2.0, 4.0]).double())
    assert forecast.evaluations > 0


def test_model_without_a_problem_is_named(normaliser, batch):
    class Unfinished(Decay):
        problem = LatentODE.problem

    model = Unfinished(LatentODEConfig(), normaliser)
    with pytest.raises(TypeError, match="Unfinished does not define problem"):
        model.forecast(batch, batch.target_times)


@pytest.mark.parametrize("name", ["node", "lg-ode", "social-ode", "hope", "i-gpode", "mpnode"])
def test_unknown_solver_is_refused_with_the_known_ones(name):
    with pytest.raises(InputError, match="rk4"):
        model_config(name, {"solver": {"method": "rk5"}})
