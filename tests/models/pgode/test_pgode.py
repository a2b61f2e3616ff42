"""PGODE against the paper's equations, written out object by object in float64."""

import pytest
import torch
from tests.models.pgode.letter import WIDTH, paper
from torch.nn.functional import silu
from torch.testing import assert_close

from pgode.models.pgode.dynamics.update import _MixedUpdate
from pgode.models.pgode.gates import Contexts

K = 3


def random_gate(objects: int) -> torch.Tensor:
    return torch.softmax(torch.randn(objects, K, dtype=torch.float64), dim=1)


def mixture(dynamics, batch, gate: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """sum_k w_ik psi_a^k(sum_j psi_r^k([y_i, y_j, e_ij])), one edge and prototype at a time."""
    gather, update, graph = dynamics.gather, dynamics.update, batch.graph
    edges = list(zip(graph.receivers.tolist(), graph.senders.tolist(), strict=True))
    mixed = []
    for i in range(batch.objects):
        total = torch.zeros(WIDTH, dtype=torch.float64)
        for k in range(K):
            own = slice(k * WIDTH, (k + 1) * WIDTH)
            weight = torch.cat([gather.receive.weight[own], gather.send.weight[own]], dim=1)
            weight = torch.cat([weight, gather.edge[:, own].T], dim=1)
            heard = torch.zeros(WIDTH, dtype=torch.float64)
            for e, (receiver, j) in enumerate(edges):
                if receiver == i:
                    joined = torch.cat([y[i], y[j], graph.attributes[e]])
                    heard = heard + torch.relu(weight @ joined + gather.receive.bias[own])
            hidden = torch.relu(update.first[k].T @ heard + update.first_bias[k, 0])
            total = total + gate[i, k] * (update.second[k].T @ hidden + update.second_bias[k])
        mixed.append(total)
    return torch.stack(mixed)


@pytest.fixture
def model(make):
    return paper(make)


@pytest.fixture
def kinematic(make):
    return make()


def test_derivative_is_that_of_equation_11(model, batch):
    z, gate = torch.randn(batch.objects, WIDTH).double(), random_gate(batch.objects)
    contexts = model.contexts(batch)
    bound = model.dynamics.bind(gate, contexts, batch)
    derivative = model.state.derivative(bound)(torch.zeros(batch.objects), z)
    expected = mixture(model.dynamics, batch, gate, z)
    assert_close(derivative, expected - z)


def test_prototypes_see_positions_and_velocities_beside_the_latent_state(kinematic, batch):
    y, gate = torch.randn(batch.objects, 4 + WIDTH).double(), random_gate(batch.objects)
    contexts = kinematic.contexts(batch)
    bound = kinematic.dynamics.bind(gate, contexts, batch)
    slope = kinematic.state.derivative(bound)
    derivative = slope(torch.zeros(batch.objects), y)
    mixed = mixture(kinematic.dynamics, batch, gate, y)
    acceleration = mixed @ kinematic.state.acceleration.weight.T
    assert_close(derivative[:, 2:], torch.cat([acceleration, mixed - y[:, 4:]], dim=1))


def test_gradients_of_the_mixed_update_are_those_of_finite_differences():
    shapes = [(5, K * 4), (5, K), (K, 4, 4), (K, 1, 4), (K, 4, 4)]
    inputs = [torch.randn(s, dtype=torch.float64, requires_grad=True) for s in shapes]
    assert torch.autograd.gradcheck(_MixedUpdate.apply, inputs)


def test_the_mixed_update_without_gradients_is_that_with_gradients(model, batch):
    gathered, gate = torch.randn(batch.objects, K * WIDTH).double(), random_gate(batch.objects)
    mix = model.dynamics.update.bind(gate)
    with torch.no_grad():
        plain = mix(gathered)
    assert torch.equal(plain, mix(gathered).detach())


def test_system_context_is_the_sum_of_the_second_encoders_contexts(model, batch):
    contexts = model.contexts(batch)
    parts = model.system_encoder(batch)
    assert_close(contexts.object, model.object_encoder(batch))
    for system in range(batch.systems):
        assert_close(contexts.system[system], parts[batch.system == system].sum(0))


def test_encoders_share_no_weights(model):
    first = {id(p) for p in model.object_encoder.parameters()}
    assert first.isdisjoint(id(p) for p in model.system_encoder.parameters())


@pytest.mark.parametrize("normalise", [False, True])
def test_gate_is_the_softmax_of_equation_11(make, batch, normalise):
    model = make(gate={"normalise": normalise})
    contexts = model.contexts(batch)
    parts = [contexts.object, contexts.system[batch.system]]
    if normalise:
        parts = [
            (part - part.mean(1, keepdim=True))
            / (part.var(1, correction=0, keepdim=True) + 1e-5).sqrt()
            for part in parts
        ]
    gate = model.gate(contexts, batch)
    assert_close(gate, torch.softmax(model.gate.rho(torch.cat(parts, dim=1)), dim=1))
    assert gate.shape == (batch.objects, K)
    assert_close(gate.sum(1), torch.ones(batch.objects).double())


def test_gate_starts_undecided_and_does_not_see_how_long_a_context_is(make, batch):
    model = make()
    contexts = model.contexts(batch)
    gate = model.gate(contexts, batch)
    assert (gate - 1 / K).abs().max() < 0.05
    longer = Contexts(contexts.object, 1000 * contexts.system)
    assert_close(model.gate(longer, batch), gate, rtol=0, atol=1e-4)


def test_gate_learns_from_the_forecast(model, batch):
    error = model.loss(batch).terms["reconstruction"]
    for slope in torch.autograd.grad(error, list(model.gate.rho.parameters())):
        assert slope.abs().max() > 1e-9


def test_initial_state_is_drawn_from_the_posterior_of_equation_8(model, batch):
    posterior = model.posterior(model.contexts(batch))
    u = model.object_encoder(batch)
    assert_close(posterior.mean, model.initial.mean(u))
    assert_close(posterior.log_variance, model.initial.log_variance(u))
    assert_close(model.state.initial(posterior.mean, batch), posterior.mean)


def test_forecast_decodes_the_solved_states(model, batch):
    encoded = model.encode(batch)
    problem = model.problem(batch, encoded, encoded.posterior.mean)
    states = model.solve(problem, batch, batch.target_times).states
    decoder = model.state.decoder
    hidden = silu(states @ decoder.first.weight.T + decoder.first.bias)
    decoded = (hidden @ decoder.second.weight.T + decoder.second.bias).transpose(0, 1)
    assert_close(model.forecast(batch, batch.target_times).mean, decoded)


def test_one_frame_is_one_step_of_the_classic_method(model, batch):
    contexts = model.contexts(batch)
    z0 = model.posterior(contexts).mean
    gate, zero = model.gate(contexts, batch), torch.zeros(batch.objects)
    bound = model.dynamics.bind(gate, contexts, batch)
    slope = model.state.derivative(bound)
    h = model.config.solver.frame_time
    k1 = slope(zero, z0)
    k2 = slope(zero, z0 + h / 2 * k1)
    k3 = slope(zero, z0 + h / 2 * k2)
    k4 = slope(zero, z0 + h * k3)
    problem = model.problem(batch, model.encode(batch), z0)
    solution = model.solve(problem, batch, torch.ones(5, 1).double())
    assert_close(solution.states[0], z0 + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
    assert (solution.steps, solution.evaluations) == (1, 4)


def test_forecast_reports_its_evaluations_and_contexts(model, batch):
    found = model.forecast(batch, torch.tensor([[1.0, 2.0]]).double().expand(5, -1))
    assert found.evaluations == 8
    assert set(found.contexts) == {"gate", "object_context", "system_context"}


def written_out(model, batch) -> dict[str, torch.Tensor]:
    """Squared errors of the observed targets, the divergence and the two estimates."""
    wrong = model.forecast(batch, batch.target_times).mean - batch.targets
    contexts = model.contexts(batch)
    posterior = model.posterior(contexts)
    variance = posterior.log_variance.exp()
    terms = posterior.mean**2 + variance - 1 - posterior.log_variance
    return {
        "squares": wrong[batch.targets_observed] ** 2,
        "divergence": 0.5 * terms.sum(),
        "parameters": model.parameter_information(batch, contexts),
        "contexts": model.context_information(batch, contexts),
    }


WEIGHTS = {"kl_weight": 0.3, "parameter_info_weight": 0.2, "context_info_weight": 0.1}


def test_loss_per_system_is_equation_17(make, batch):
    model = paper(make, objective={"sample": False, "sigma": 0.05, **WEIGHTS})
    losses, found = model.loss(batch), written_out(model, batch)
    bound = found["squares"].sum() / (2 * 0.05**2) + 0.3 * found["divergence"]
    information = 0.1 * found["contexts"] - 0.2 * found["parameters"]
    assert_close(losses.total, bound / batch.systems + information)
    assert_close(losses.terms["mse"], found["squares"].mean())


def test_loss_per_value_is_the_negative_elbo_with_both_information_terms(make, batch):
    objective = {"sample": False, "sigma": 0.05, "scale": "value", **WEIGHTS}
    model = paper(make, objective=objective)
    losses, found = model.loss(batch), written_out(model, batch)
    likelihood = found["squares"].sum() / (2 * 0.05**2)
    elbo = (likelihood + 0.3 * found["divergence"]) / len(found["squares"])
    information = 0.1 * found["contexts"] - 0.2 * found["parameters"]
    # The model minimises this times 2 sigma^2.
    assert_close(losses.total / (2 * 0.05**2), elbo + information)
    assert_close(losses.terms["mse"], found["squares"].mean())


def test_terms_other_than_the_reported_error_add_up_to_the_total(model, batch):
    losses = model.loss(batch)
    terms = [term for name, term in losses.terms.items() if name != "mse"]
    assert set(losses.terms) == {"reconstruction", "kl", "parameter_info", "context_info", "mse"}
    assert_close(torch.stack(terms).sum(), losses.total)


def test_sampling_draws_a_new_initial_state_each_time(make, batch):
    drawn, fixed = paper(make), paper(make, objective={"sample": False})
    assert drawn.loss(batch).total != drawn.loss(batch).total
    assert fixed.loss(batch).total == fixed.loss(batch).total


def test_samples_of_a_certain_posterior_are_the_mean(model, batch):
    torch.nn.init.zeros_(model.initial.log_variance.second.weight)
    torch.nn.init.constant_(model.initial.log_variance.second.bias, -60.0)
    found = model.forecast(batch, batch.target_times, samples=2)
    assert_close(found.samples, found.mean.expand(2, -1, -1, -1))


def test_recomputing_changes_neither_loss_nor_gradients(make, batch):
    kept, recomputed = make(), make(solver={"recompute": True})
    recomputed.load_state_dict(kept.state_dict())
    losses = []
    for model in (kept, recomputed):
        torch.manual_seed(3)
        losses.append(model.loss(batch).total)
        losses[-1].backward()
    assert torch.equal(*losses)
    for one, two in zip(kept.parameters(), recomputed.parameters(), strict=True):
        assert_close(one.grad, two.grad, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("method", ["euler", "midpoint", "dopri5"])
def test_other_solvers_come_to_the_same_forecast(make, batch, method):
    fine = make(solver={"step": 0.01})
    exact = {"rtol": 1e-7, "atol": 1e-7} if method == "dopri5" else {"step": 1e-3}
    other = make(solver={"method": method, **exact})
    with torch.no_grad():
        expected = fine.forecast(batch, batch.target_times).mean
        assert_close(other.forecast(batch, batch.target_times).mean, expected, atol=2e-3, rtol=0)
