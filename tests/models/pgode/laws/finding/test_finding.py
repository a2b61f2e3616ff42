"""Laws, walls and steps found in small data."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from tests.models.pgode.laws.small_laws import (
    built,
    found,
    particles,
    random_walks,
    trajectories,
    whole,
)

import pgode
from pgode.batches.windows import Windows
from pgode.data.trajectories import Trajectories
from pgode.models.pgode.laws.evidence.observation import observations
from pgode.models.pgode.laws.finding import finding
from pgode.models.pgode.laws.model import ForceLaws
from pgode.runtime.errors import InputError

pytestmark = pytest.mark.usefixtures("quickly")

SIDE = 3.0


def coulomb(distance: np.ndarray) -> np.ndarray:
    return 0.5 / distance**3


def simulated(name: str, **sizes: int) -> Trajectories:
    """Ten steps a frame, for speed."""
    return pgode.simulate(name, objects=5, val=0, test=0, ood=0, dt=0.01, sample_every=10, **sizes)


def errors(model: ForceLaws, data: Trajectories) -> torch.Tensor:
    batch = whole(model, data)
    with torch.no_grad():
        return (model.forecast(batch, batch.target_times).mean - batch.targets).abs()


def test_hooke_is_found_in_springs() -> None:
    model = found(simulated("springs", train=40, frames=20))
    (law,) = model.laws()
    assert float(model.radial.exponents[0]) == pytest.approx(1, abs=1e-4)
    distance = np.array([0.5, 1.0, 2.0])
    # The strength of springs is the mean of the training systems': forces attract in proportion.
    np.testing.assert_allclose(law.force(distance) / distance, law.force(distance)[1], rtol=1e-4)
    assert law.force(distance)[1] < 0
    assert model.findings()[2].startswith("steps: 10 kick-drift steps per frame")


def test_coulomb_walls_and_the_clipped_forces_are_found_in_charged() -> None:
    data = simulated("charged", train=40, frames=40)
    model = found(data)
    assert float(model.radial.exponents[0]) == pytest.approx(-2, abs=1e-3)
    # Forces are clipped at LARGEST_KICK / dt.
    assert float(model.limit) * model.units.acceleration == pytest.approx(10, rel=1e-2)
    assert model.scheme.tolist() == [0.5, 10.0, 10.0]
    assert any("mirrored" in each for each in model.findings())


@pytest.mark.parametrize("steps", [5, 8])
def test_number_of_steps_is_recognised(steps: int) -> None:
    model = found(trajectories(particles(coulomb, lag=True, steps=steps)))
    assert model.scheme.tolist() == [0.5, steps, steps]
    assert float(model.radial.exponents[0]) == pytest.approx(-2, abs=1e-5)


def test_steps_are_those_of_a_frame_however_far_apart_the_times_are() -> None:
    data = trajectories(particles(coulomb, lag=True, steps=8))
    model = found(data)
    batch = whole(model, data)
    with torch.no_grad():
        every = model.forecast(batch, batch.target_times).mean[:, -1:]
        once = model.forecast(batch, batch.target_times[:, -1:]).mean
    torch.testing.assert_close(once, every, rtol=0, atol=1e-9)


def test_two_frames_of_many_systems_show_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finding, "TURNS", 2)
    states = particles(coulomb, systems=300, lag=True, steps=5, frames=3)[:, :, ::2]
    data = trajectories(states, np.array([0.0, 0.2]))
    model = built(data)
    model.prepare(Windows(data, model.normaliser, 1, 1), 0, lambda what, share: None)
    assert float(model.radial.exponents[0]) == pytest.approx(-2, abs=1e-3)
    batch = whole(model, data, 1, 1)
    with torch.no_grad():
        forecast = model.forecast(batch, batch.target_times).mean
    assert float((forecast - batch.targets).abs().median()) < 1e-4


def test_fine_data_get_steps_that_follow_encounters() -> None:
    model = found(trajectories(particles(coulomb, steps=100)))
    assert model.steps.lead == 0
    assert model.steps.most == model.settings.most_substeps
    assert float(model.limit) == np.inf


def test_wrapped_positions_in_a_periodic_box_are_as_good_as_continuous_ones() -> None:
    states = particles(coulomb, period=SIDE, steps=50)
    inside = states.copy()
    inside[..., :2] %= SIDE
    assert not np.allclose(inside, states)
    results = []
    for data in (trajectories(states), trajectories(inside)):
        model = found(data, "periodic", box=(SIDE, SIDE))
        assert float(model.radial.exponents[0]) == pytest.approx(-2, abs=1e-3)
        results.append(float(errors(model, data).max()))
    assert max(results) < 1e-2


def test_two_objects_at_the_same_place_do_no_harm() -> None:
    states = particles(lambda r: -np.ones_like(r), steps=10)
    states[0, 1, :, :] = states[0, 0, :, :]
    model = found(trajectories(states))
    assert float(model.radial.exponents[0]) == pytest.approx(1, abs=1e-2)
    assert torch.isfinite(errors(model, trajectories(states))).all()


def test_systems_of_different_sizes_with_gaps_in_irregular_time() -> None:
    states = particles(coulomb, steps=20)
    random = np.random.default_rng(0)
    times = np.tile(np.arange(21) * 0.1, (30, 1))
    kept = np.sort(np.stack([random.permutation(21)[:18] for _ in range(30)]), axis=1)
    irregular = np.take_along_axis(states, kept[:, None, :, None], axis=2)
    observed = np.ones(irregular.shape, bool)
    observed[::3, 1, 5] = False
    present = np.ones((30, 4), bool)
    edges = np.tile(1.0 - np.eye(4), (30, 1, 1))
    # A system of two objects: the others of it are taken away with their forces.
    small = particles(coulomb, steps=20, objects=2, systems=10)
    irregular[:10, :2] = np.take_along_axis(small, kept[:10, None, :, None], axis=2)
    present[:10, 2:] = False
    observed[:10, 2:] = False
    edges[:10, 2:] = edges[:10, :, 2:] = 0
    data = trajectories(
        irregular,
        np.take_along_axis(times, kept, axis=1),
        edges=edges,
        observed=observed,
        present=present,
    )
    model = found(data)
    assert float(model.radial.exponents[0]) == pytest.approx(-2, abs=1e-2)
    assert torch.isfinite(errors(model, data)).all()


@pytest.mark.parametrize("push, pull", [((0.3, -0.5), 0.0), ((0.0, 0.0), 0.4), ((0.3, -0.5), 0.4)])
def test_an_outer_field_is_found_beside_the_law(push: tuple[float, float], pull: float) -> None:
    data = trajectories(particles(coulomb, lag=True, push=push, pull=pull))
    model = found(data)
    assert float(model.radial.exponents[0]) == pytest.approx(-2, abs=1e-3)
    units = model.units
    assert (model.outer[:-1] * units.acceleration).tolist() == pytest.approx(push, abs=1e-3)
    assert float(model.outer[-1]) / units.frame**2 == pytest.approx(pull, abs=1e-3)
    assert any(
        each.startswith("field: all objects are accelerated by") for each in model.findings()
    )
    assert float(errors(model, data).max()) < 1e-2


@pytest.mark.parametrize(
    "factor", [coulomb, lambda r: -np.ones_like(r)], ids=["charges", "springs"]
)
def test_no_outer_field_is_found_where_there_is_none(factor: Callable[..., np.ndarray]) -> None:
    model = found(trajectories(particles(factor, lag=True)))
    assert not model.outer.any()
    assert not any(each.startswith("field") for each in model.findings())


def test_noise_that_looks_like_forces_is_not_taken_for_laws() -> None:
    data = trajectories(random_walks())
    model = found(data)
    assert model.laws() == []
    assert any(each.startswith("laws: none") for each in model.findings())
    batch = whole(model, data)
    with torch.no_grad():
        forecast = model.forecast(batch, batch.target_times).mean
    last = batch.states[:, -1:, 2:]
    torch.testing.assert_close(forecast[..., 2:], last.expand(-1, 8, -1))


def test_one_training_system_is_enough_to_begin_with() -> None:
    data = trajectories(particles(coulomb, systems=1, steps=10, lag=True, frames=40))
    model = found(data)
    assert float(model.radial.exponents[0]) == pytest.approx(-2, abs=0.1)
    assert torch.isfinite(errors(model, data)).all()


def test_condition_of_one_frame_is_forecast_at_mean_strength() -> None:
    data = trajectories(particles(coulomb, steps=10, lag=True))
    model = found(data)
    batch = whole(model, data, condition=1)
    with torch.no_grad():
        forecast = model.forecast(batch, batch.target_times)
    np.testing.assert_allclose(forecast.contexts["system_strength"], 1, atol=1e-6)
    assert float((forecast.mean - batch.targets).abs().max()) < 1e-2


def test_same_seed_gives_the_same_bits() -> None:
    data = trajectories(particles(coulomb, systems=8, steps=5, lag=True))
    one, other = (found(data).state_dict() for _ in range(2))
    for name, value in one.items():
        assert torch.equal(value, other[name]), name


def test_no_edges_are_refused() -> None:
    data = trajectories(particles(coulomb, systems=3), edges=np.zeros((3, 4, 4)))
    with pytest.raises(InputError, match=r"no edges.*Expected edges.*--preset messages"):
        found(data)


def test_frames_that_never_follow_each_other_are_refused() -> None:
    states = particles(coulomb, systems=3)
    observed = np.ones(states.shape, bool)
    observed[:, :, ::2] = False
    with pytest.raises(InputError, match=r"two frames in a row.*Expected"):
        found(trajectories(states, observed=observed))


def test_walls_asked_for_where_there_are_none_are_refused() -> None:
    data = trajectories(particles(coulomb, systems=10))
    with pytest.raises(InputError, match=r"model\.walls=reflect.*Expected.*model\.walls=auto"):
        found(data, "reflect")


def test_laws_without_velocities_are_refused() -> None:
    data = Trajectories.build(
        particles(coulomb, systems=2)[..., :2],
        np.arange(21) * 0.1,
        edges=np.ones((2, 4, 4)) - np.eye(4),
        features=("x", "y"),
        roles=("position", "position"),
    )
    with pytest.raises(InputError, match=r"name no velocities.*Expected.*--preset messages"):
        built(data)


def test_box_of_other_axes_is_refused() -> None:
    with pytest.raises(InputError, match="has 3 lengths, but the data have 2 axes"):
        built(trajectories(particles(coulomb, systems=2)), "periodic", box=(3, 3, 3))


def test_box_below_the_cut_off_of_the_graph_is_refused() -> None:
    data = trajectories(particles(coulomb, systems=2), graph_cutoff=4.0, graph_interval=0.1)
    with pytest.raises(InputError, match=r"side of 3, .*nearer than 4.*Expected"):
        built(data, "periodic", box=(3, 3))


def test_positions_that_jump_through_the_box_are_made_continuous() -> None:
    states = particles(coulomb, period=SIDE, systems=3)
    inside = states.copy()
    inside[..., :2] %= SIDE
    model = built(trajectories(inside), "periodic", box=(SIDE, SIDE))
    batch = whole(model, trajectories(inside))
    for seen in observations(batch, model.units, model.periods):
        steps = np.diff(seen.positions, axis=0)
        assert np.abs(steps).max() < model.periods.min() / 2
