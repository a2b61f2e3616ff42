"""Gradients of the loss terms on the encoders; measuring them changes nothing."""

import pytest
import torch
from tests.trained_runs import settings, springs, trained

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.models import build_model, model_config
from pgode.runs.folder import facts, summary
from pgode.training.config import run_config
from pgode.training.gradient_norms import gradient_norms, measured_systems

TERMS = {"reconstruction", "kl", "parameter_info", "context_info"}


def model_and_batch(name: str = "pgode"):
    config = settings() if name == "pgode" else run_config(name)
    normaliser = Normaliser.fit(springs())
    torch.manual_seed(0)
    model = build_model(name, model_config(name, config.model), normaliser)
    return model, next(Windows(springs(), normaliser, 6, 6).batches(4))


def test_norm_of_a_term_is_that_of_its_own_gradient():
    model, batch = model_and_batch()
    norms = gradient_norms(model, batch, seed=3)
    assert {encoder: set(terms) for encoder, terms in norms.items()} == {
        "object": TERMS,
        "system": TERMS,
    }
    torch.manual_seed(3)
    model.loss(batch).terms["kl"].backward()
    squares = [p.grad.square().sum() for p in model.object_encoder.parameters()]
    assert norms["object"]["kl"] == pytest.approx(float(torch.stack(squares).sum().sqrt()), 1e-5)
    # The posterior is inferred from the object contexts, the parameters from the system's.
    assert norms["system"]["kl"] == norms["object"]["parameter_info"] == 0


def test_measuring_leaves_gradients_and_random_numbers_as_they_are():
    model, batch = model_and_batch()
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    first = gradient_norms(model, batch, seed=3)
    assert torch.equal(torch.rand(3), expected)
    assert all(p.grad is None for p in model.parameters())
    assert gradient_norms(model, batch, seed=3) == first


def test_a_model_without_encoders_has_none():
    assert gradient_norms(*model_and_batch("lstm"), seed=0) == {}


def test_a_hundredth_of_the_systems_is_measured_and_at_least_two():
    assert [measured_systems(*sizes) for sizes in ((1000, 16), (1000, 4), (50, 16), (1, 16))] == [
        *(10, 4, 2, 1),
    ]


def test_the_log_and_the_description_of_a_run_have_them():
    run = trained()
    assert all(set(row["gradients"]) == {"object", "system"} for row in run.epochs)
    assert facts(run.folder)["gradients"] == run.epochs[-1]["gradients"]
    assert "reconstruction" in summary(run.folder)["gradients on the object encoder"]
