"""A system of another kind needs its own class and a line in the registry, nothing else."""

import numpy as np
import pytest

from pgode.data.simulate import energy, simulate, simulation
from pgode.data.simulate.parameters import Ranges
from pgode.data.simulate.system import Initial, ParticleSystem
from pgode.data.trajectories import Trajectories

FEW = {"objects": 4, "frames": 5, "train": 3, "val": 0, "test": 1, "ood": 2}


class Falling(ParticleSystem):
    """Free fall in three dimensions, without walls or interactions."""

    name = "falling"
    stream = 99
    ranges = Ranges(inner={"gravity": (9.0, 10.0)}, outer={"gravity": (8.0, 11.0)})
    axes = ("x", "y", "z")
    integrators = ("exact",)

    def initial(self, stream, objects, parameters):
        position, velocity = stream.normal(size=(2, objects, 3))
        return Initial(np.zeros((objects, objects)), position, velocity)

    def simulate(self, initial, parameters, schedule):
        t = schedule.times[:, None]
        pull = np.zeros((len(initial.positions), 1, 1, 3))
        pull[..., 2] = -parameters["gravity"][:, None, None]
        position, velocity = initial.positions[:, :, None], initial.velocities[:, :, None]
        moved = position + velocity * t + pull * t**2 / 2
        return np.concatenate([moved, velocity + pull * t], -1)

    def energy(self, motion, parameters):
        kinetic = (motion.velocities**2).sum((1, 3)) / 2
        return kinetic + parameters["gravity"][:, None] * motion.positions[..., 2].sum(1)


@pytest.fixture
def falling(monkeypatch):
    monkeypatch.setattr(simulation, "SYSTEMS", {"falling": Falling()})
    return simulate("falling", integrator="exact", **FEW)


def test_features_follow_from_the_axes_and_parameters_from_the_ranges(falling):
    assert falling.features == ("qx", "qy", "qz", "vx", "vy", "vz")
    assert falling.velocity_features.tolist() == [3, 4, 5]
    assert falling.dataset["parameter"].values.tolist() == ["gravity"]
    inside = (falling.parameters[:, 0] >= 9) & (falling.parameters[:, 0] <= 10)
    np.testing.assert_array_equal(inside, falling.split != "ood")


def test_energy_is_that_of_the_system(falling):
    values = energy(falling)
    np.testing.assert_allclose(values, values[:, :1] + 0 * values, rtol=1e-12)


@pytest.mark.parametrize("generator", ["pgode simulate springs", "pgode.systems.springs"])
def test_files_of_older_versions_are_recognised(generator):
    data = simulate("springs", **FEW)
    renamed = Trajectories(data.dataset.assign_attrs(generator=generator))
    np.testing.assert_array_equal(energy(renamed), energy(data))
