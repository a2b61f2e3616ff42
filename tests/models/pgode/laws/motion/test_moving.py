"""Motion in fine steps: its gradient, the same in plain torch, and what physics asks for."""

import tracemalloc

import numpy as np
import pytest
import torch
from tests.models.pgode.laws.motion.small_motion import Case, case, joined, power_table

from pgode.models.pgode.laws.motion.force_kernel import Space, Steps
from pgode.models.pgode.laws.motion.path import Forces
from pgode.models.pgode.laws.motion.plain import move_plainly
from pgode.models.pgode.laws.motion.table import Cells

KINDS = ("free", "walls", "periodic", "limit")
NAMES = ("positions", "velocities", *Forces._fields)


@pytest.mark.parametrize("lead", [0.0, 0.5])
@pytest.mark.parametrize("kind", KINDS)
def test_backward_is_exact_for_every_input(kind: str, lead: float) -> None:
    given = case(kind, lead)
    tensors = tuple(each.clone().requires_grad_() for each in given.tensors)

    def states(*inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        path = given.path(inputs)
        return path.positions, path.velocities

    assert torch.autograd.gradcheck(states, tensors, eps=1e-6, atol=1e-6, fast_mode=True)


@pytest.mark.parametrize("lead", [0.0, 0.5])
@pytest.mark.parametrize("kind", KINDS)
def test_plain_torch_gives_the_same_states_and_gradients(kind: str, lead: float) -> None:
    given = case(kind, lead)
    compiled, plain = given.path(), given.path(moving=move_plainly)
    torch.testing.assert_close(compiled.positions, plain.positions, rtol=1e-9, atol=1e-11)
    torch.testing.assert_close(compiled.velocities, plain.velocities, rtol=1e-9, atol=1e-11)
    np.testing.assert_array_equal(compiled.steps, plain.steps)
    np.testing.assert_allclose(compiled.closest, plain.closest, rtol=1e-9)
    pairs = zip(given.gradients(), given.gradients(move_plainly), strict=True)
    for name, (exact, reference) in zip(NAMES, pairs, strict=True):
        torch.testing.assert_close(
            exact, reference, rtol=1e-7, atol=1e-9, msg=lambda text, name=name: f"{name}: {text}"
        )


@pytest.mark.parametrize("lead", [0.0, 0.5])
@pytest.mark.parametrize("most", [64, 4096])
def test_plain_torch_divides_encounters_as_finely(most: int, lead: float) -> None:
    given = charges(8.0, Steps(lead, 10.0, most, 0.05), outputs=3)
    compiled, plain = given.path(), given.path(moving=move_plainly)
    np.testing.assert_array_equal(compiled.steps, plain.steps)
    assert plain.steps.max() > plain.steps.min() == 10
    np.testing.assert_allclose(compiled.closest, plain.closest, rtol=1e-8)
    torch.testing.assert_close(compiled.positions, plain.positions, rtol=1e-7, atol=1e-9)
    pairs = zip(given.gradients(), given.gradients(move_plainly), strict=True)
    for name, (exact, reference) in zip(NAMES, pairs, strict=True):
        size = max(1.0, float(reference.abs().max()))
        torch.testing.assert_close(
            *(exact / size, reference / size),
            rtol=1e-5,
            atol=1e-7,
            msg=lambda text, name=name: f"{name}: {text}",
        )


def test_plain_torch_gives_each_system_its_own_steps() -> None:
    given = case("walls").with_steps(fewest=4.0, most=64, tolerance=0.05)
    compiled, plain = given.path(), given.path(moving=move_plainly)
    assert len(np.unique(plain.steps)) > 1
    np.testing.assert_array_equal(compiled.steps, plain.steps)
    torch.testing.assert_close(compiled.positions, plain.positions, rtol=1e-9, atol=1e-11)


def test_plain_torch_keeps_nothing_of_single_steps_for_the_gradients() -> None:
    def kept(number: int) -> int:
        sizes = []

        def keep(tensor: torch.Tensor) -> torch.Tensor:
            sizes.append(tensor.numel())
            return tensor

        given = case("walls").with_steps(fewest=float(number), most=number)
        tensors = tuple(each.clone().requires_grad_() for each in given.tensors)
        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            given.path(tensors, move_plainly)
        return sum(sizes)

    assert kept(40) == kept(4)


def test_gradients_of_walls_and_limits_are_met_in_these_cases() -> None:
    """The cases above test something: walls are hit, and some accelerations are clipped."""
    of_walls = case("walls").gradients()[NAMES.index("walls")]
    assert (of_walls != 0).any(dim=(0, 1))[0].all()
    free, clipped = case("free").path(), case("limit").path()
    assert not torch.allclose(free.velocities, clipped.velocities, atol=1e-3)


def test_every_input_has_an_influence() -> None:
    for name, gradient in zip(NAMES, case("walls").gradients(), strict=True):
        assert gradient.abs().max() > 0, name


@pytest.mark.parametrize("kind", ["free", "walls", "periodic"])
def test_negative_durations_lead_back_to_the_start(kind: str) -> None:
    given = case(kind)
    given = Case(given.tensors, given.layout, given.space, given.durations[..., :1], given.steps)
    there = given.path()
    ends = (there.positions[:, 0], there.velocities[:, 0], *given.tensors[2:])
    back = Case(ends, given.layout, given.space, -given.durations, given.steps).path()
    torch.testing.assert_close(back.positions[:, 0], given.tensors[0], rtol=0, atol=1e-11)
    torch.testing.assert_close(back.velocities[:, 0], given.tensors[1], rtol=0, atol=1e-11)


def test_single_precision_is_moved_in_double_precision() -> None:
    given = case("walls")
    single = given.path(tuple(each.float() for each in given.tensors))
    exact = given.path(tuple(each.float().double() for each in given.tensors))
    assert single.positions.dtype == torch.float32
    torch.testing.assert_close(single.positions, exact.positions.float(), rtol=0, atol=0)


def charges(speed: float, steps: Steps, outputs: int = 1) -> Case:
    """Two like charges that fly towards each other, and a third one far away."""
    cells = Cells.covering(2.0**-10, 2.0**6)
    q = torch.tensor([[[-1.0, 0.01], [1.0, -0.01], [0.5, 8.0]]], dtype=torch.float64)
    v = torch.tensor([[[speed, 0.0], [-speed, 0.0], [0.0, 0.1]]], dtype=torch.float64)
    nothing = torch.zeros(3, 2, dtype=torch.float64)
    tensors = (
        *(q, v, power_table((-2.0,), cells), torch.ones(3, 2, 1, dtype=torch.float64)),
        torch.ones(1, 1, dtype=torch.float64),
        torch.tensor([-np.inf, np.inf]).double().expand(1, 1, 2, 2),
        *(nothing[:, 0], nothing[:, 0], nothing),
    )
    space = Space(np.zeros(2, np.int64), np.zeros(2), cells.first, np.inf)
    return Case(tensors, joined(3), space, np.ones((1, 1, outputs)), steps)


def energy(q: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    apart = torch.stack(
        [(q[..., i, :] - q[..., j, :]).norm(dim=-1) for i, j in ((0, 1), (0, 2), (1, 2))]
    )
    return v.square().sum((-1, -2)) / 2 + (1 / apart).sum(0)


def test_energy_is_conserved_under_coulomb_forces_through_an_encounter() -> None:
    given = charges(3.0, Steps(0.0, 10.0, 1 << 14, 0.002), outputs=3)
    path = given.path()
    before = energy(*given.tensors[:2])
    drift = (energy(path.positions, path.velocities) / before[:, None] - 1).abs().max()
    assert float(drift) < 1e-6
    assert path.closest.item() < 0.2


def test_verlet_is_of_second_order() -> None:
    exact = charges(1.0, Steps(0.0, 4096.0, 4096, 1.0)).path().positions
    errors = [
        float((charges(1.0, Steps(0.0, n, int(n), 1.0)).path().positions - exact).norm())
        for n in (64.0, 128.0)
    ]
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.05)


def test_close_encounters_get_more_steps_up_to_the_most() -> None:
    steps = Steps(0.0, 10.0, 4096, 0.05)
    slow, fast = (charges(speed, steps).path() for speed in (0.1, 8.0))
    assert slow.steps.max() < fast.steps.max() <= 4096
    assert (slow.steps >= 10).all()
    few = charges(8.0, steps._replace(most=64)).path()
    assert few.steps.max() == 64


def test_durations_without_steps_are_at_least_one_step() -> None:
    path = charges(1.0, Steps(0.0, 0.1, 1, 1.0)).path()
    assert path.steps.tolist() == [[[1]]]


def test_memory_does_not_grow_with_the_steps() -> None:
    def peak(number: int) -> int:
        given = case("walls").with_steps(fewest=float(number), most=number)
        given.gradients()
        tracemalloc.start()
        given.gradients()
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used

    assert peak(4000) < 1.05 * peak(4)


def test_momentum_is_conserved_where_both_ends_feel_the_same() -> None:
    given = case("free")
    coupling = given.tensors[3].mean(1, keepdim=True).expand(-1, 2, -1)
    zero = torch.zeros(5, dtype=torch.float64)
    given = given.with_forces(
        coupling=coupling, drag=zero, pull=zero, push=zero[:, None].repeat(1, 2)
    )
    path = given.path()
    for own in (slice(0, 3), slice(3, 5)):
        before = given.tensors[1][:, own].sum(1)
        torch.testing.assert_close(
            path.velocities[:, :, own].sum(2), before[:, None].expand(-1, 2, -1), rtol=0, atol=1e-12
        )


def test_systems_shared_between_threads_give_the_same_bits() -> None:
    given = case("walls")
    alone = (given.path(), given.gradients())
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        shared = (given.path(), given.gradients())
    finally:
        torch.set_num_threads(before)
    torch.testing.assert_close(alone[0].positions, shared[0].positions, rtol=0, atol=0)
    for one, other in zip(alone[1], shared[1], strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-15)
