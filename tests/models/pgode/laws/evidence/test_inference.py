"""Kinds of objects and strengths of systems, inferred with laws that are known."""

import numpy as np
import pytest
import torch
from tests.models.pgode.laws.small_laws import built, give, trajectories, whole

import pgode
from pgode.data.simulate import mixed, pair_laws
from pgode.models.pgode.laws.evidence.inference import Scope, infer
from pgode.models.pgode.laws.model import ForceLaws


def truth(receiver: int, sender: int, distance: np.ndarray) -> np.ndarray:
    """The laws of Mixed at strength one."""
    law, coupling, length = (
        table[receiver, sender] for table in (mixed.LAWS, mixed.COUPLINGS, mixed.LENGTHS)
    )
    squares = distance**2 + mixed.SOFTENING**2
    return np.array([pair_laws.pair_factor(law, coupling, length, s) for s in squares])


@pytest.fixture(scope="module")
def case() -> tuple[ForceLaws, pgode.Trajectories]:
    data = pgode.simulate("mixed", objects=9, frames=30, train=4, val=0, test=0, ood=8)
    model = built(data.split_of("train"), "none", prototypes=3)
    give(model, truth, kinds=3, drag=mixed.DRAG)
    return model, data.split_of("ood")


def test_kinds_are_recovered(case: tuple[ForceLaws, pgode.Trajectories]) -> None:
    model, data = case
    now = model.situation(whole(model, data))
    found = now.weights.argmax(1).reshape(data.kinds.shape)
    assert (found == data.kinds).mean() > 0.95
    np.testing.assert_allclose(now.weights.sum(1), 1, rtol=1e-12)


def test_strengths_outside_the_range_of_training_are_recovered(
    case: tuple[ForceLaws, pgode.Trajectories],
) -> None:
    model, data = case
    now = model.situation(whole(model, data))
    truth = data.parameters[:, model.normaliser.parameters.index("strength")]
    assert (np.abs(truth - 1) > 0.1).any()
    errors = np.abs(now.forces.strength[0].numpy() - truth)
    assert np.median(errors) < 1e-3
    assert errors.max() < 0.05


def test_without_strength_or_objects_one_mixture_serves_all(
    case: tuple[ForceLaws, pgode.Trajectories],
) -> None:
    model, data = case
    seen = model.situation(whole(model, data)).seen[0]
    inferred = infer(seen, model.knowledge(), Scope(objects=False, strength=False))
    assert inferred.strength == 1.0
    np.testing.assert_allclose(inferred.weights, inferred.weights[:1].repeat(9, 0), rtol=1e-12)


def test_nothing_observed_leaves_the_prior(case: tuple[ForceLaws, pgode.Trajectories]) -> None:
    model, data = case
    now = model.situation(whole(model, data, condition=1))
    np.testing.assert_allclose(now.weights, 1 / 3, atol=1e-6)
    torch.testing.assert_close(now.forces.strength, torch.ones(1, 8).double())


@pytest.mark.parametrize("disentangled", [True, False])
def test_each_object_has_a_strength_of_its_own_unless_contexts_are_disentangled(
    disentangled: bool,
) -> None:
    own = np.array([1.2, 0.9, 1.0, 0.9])

    def acceleration(q: np.ndarray) -> np.ndarray:
        return own[:, None] * (q.sum(1, keepdims=True) - 4 * q)

    random = np.random.default_rng(0)
    q, v = random.normal(size=(2, 3, 4, 2))
    states = []
    for _ in range(20):
        states.append(np.concatenate([q, v], -1))
        for _ in range(20):
            v = v + 0.0025 * acceleration(q)
            q = q + 0.005 * v
            v = v + 0.0025 * acceleration(q)
    data = trajectories(np.stack(states, axis=2))
    model = built(data, disentangled=disentangled)
    give(model, lambda receiver, sender, distance: -np.ones_like(distance))
    now = model.situation(whole(model, data))
    felt = now.forces.coupling.numpy()[:, :, 0] * now.forces.strength.numpy().mean()
    expected = own[now.layout.objects % 4].T if not disentangled else np.ones_like(felt)
    np.testing.assert_allclose(felt, expected, atol=0.05 if disentangled else 1e-3)
