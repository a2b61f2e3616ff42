"""`simulate`: its output, its reproducibility, and the input it refuses."""

import json

import numpy as np
import pytest

from pgode.data.simulate import SYSTEMS, simulate
from pgode.runtime.errors import InputError

FEW = {"objects": 5, "frames": 6, "train": 4, "val": 2, "test": 2, "ood": 3}


DOCUMENTED = {
    "springs": ("xy", "box speed strength probability"),
    "charged": ("xy", "box speed strength probability"),
    "nbody": ("xyz", "speed strength probability"),
    "gravity": ("xyz", "strength virial mass_ratio"),
    "mixed": ("xy", "box speed strength"),
}
"""Axes and parameters of every system."""


@pytest.fixture(scope="module", params=list(SYSTEMS))
def few(request):
    return simulate(request.param, **FEW)


def test_names_roles_times_and_splits_are_as_documented(few):
    name = few.dataset.attrs["generator"].removeprefix("pgode simulate ")
    axes, parameters = DOCUMENTED[name]
    space = len(axes)
    assert few.features == tuple(f"{symbol}{axis}" for symbol in "qv" for axis in axes)
    assert few.position_features.tolist() == list(range(space))
    assert few.velocity_features.tolist() == list(range(space, 2 * space))
    assert {name: index.tolist() for name, index in few.variables.items()} == {
        "q": list(range(space)),
        "v": list(range(space, 2 * space)),
    }
    assert few.dataset["parameter"].values.tolist() == parameters.split()
    assert few.split.tolist() == ["train"] * 4 + ["val"] * 2 + ["test"] * 2 + ["ood"] * 3
    np.testing.assert_allclose(few.times, np.tile(np.arange(6) * 0.1, (11, 1)), rtol=1e-15)


def test_provenance_is_enough_to_make_the_data_again(few):
    attrs = few.dataset.attrs
    name = attrs["generator"].removeprefix("pgode simulate ")
    settings = json.loads(attrs["generator_settings"])
    ranges = SYSTEMS[name].ranges
    assert {key: tuple(pair) for key, pair in settings.pop("inner").items()} == ranges.inner
    assert {key: tuple(pair) for key, pair in settings.pop("outer").items()} == ranges.outer
    again = simulate(name, seed=attrs["seed"], **settings)
    assert again.hash == few.hash


def test_only_ood_systems_have_parameters_outside_the_training_range(few):
    name = few.dataset.attrs["generator"].removeprefix("pgode simulate ")
    inside = SYSTEMS[name].ranges.inside(few.parameters)
    np.testing.assert_array_equal(inside, few.split != "ood")


def test_the_first_frame_is_the_initial_state_with_the_systems_own_speed(few):
    names = few.dataset["parameter"].values.tolist()
    speed = np.sqrt((few.states[:, :, 0, few.velocity_features] ** 2).sum(-1))
    if "speed" not in names:  # Gravity: objects differ in speed.
        assert (speed > 0).all()
        return
    expected = few.parameters[:, names.index("speed"), None]
    np.testing.assert_allclose(speed, expected + 0 * speed, rtol=1e-14)


@pytest.mark.parametrize("name, spread", [("springs", 0.5), ("charged", 1.0)])
def test_initial_positions_have_the_published_spread(name, spread):
    first = simulate(name, frames=2, sample_every=1, train=500, val=0, test=0, ood=0).states[
        :, :, 0
    ]
    assert first[..., :2].mean() == pytest.approx(0.0, abs=0.05 * spread)
    assert first[..., :2].std() == pytest.approx(spread, rel=0.02)
    assert np.cov(first[..., 2:].reshape(-1, 2).T) == pytest.approx(0.125 * np.eye(2), abs=0.006)


@pytest.mark.parametrize(
    "name, integrator",
    [
        (name, integrator)
        for name in ("springs", "charged", "mixed")
        for integrator in SYSTEMS[name].integrators
    ],
)
def test_everything_stays_in_its_box(name, integrator):
    data = simulate(name, train=20, val=0, test=0, ood=20, integrator=integrator)
    assert (np.abs(data.states[..., :2]) <= data.parameters[:, 0, None, None, None]).all()


def test_springs_are_symmetric_pairs_that_exist_with_the_given_probability():
    data = simulate("springs", frames=2, sample_every=1, train=500, val=0, test=0, ood=0)
    edges = data.edges
    dense = np.zeros((500, 10, 10))
    dense[edges.edge_graph, edges.edge_receiver, edges.edge_sender] = edges.edge_attributes[:, 0]
    np.testing.assert_array_equal(dense, dense.transpose(0, 2, 1))
    assert set(np.unique(dense)) == {0.0, 1.0}
    assert dense.sum() / (500 * 90) == pytest.approx(0.5, abs=0.02)


def test_charges_make_a_full_graph_whose_weights_are_products_of_signs():
    data = simulate("charged", frames=2, sample_every=1, train=200, val=0, test=0, ood=0)
    edges = data.edges
    dense = np.zeros((200, 10, 10))
    dense[edges.edge_graph, edges.edge_receiver, edges.edge_sender] = edges.edge_attributes[:, 0]
    charge = dense[:, 0].copy()
    charge[:, 0] = 1.0
    expected = charge[:, :, None] * charge[:, None] * (1 - np.eye(10))
    np.testing.assert_array_equal(dense, expected)
    assert len(edges.edge_graph) == 200 * 90
    assert edges.attribute_names == ("weight",)


def test_the_same_seed_gives_the_same_bits_and_another_seed_other_systems(few):
    name = few.dataset.attrs["generator"].removeprefix("pgode simulate ")
    assert simulate(name, **FEW).hash == few.hash
    other = simulate(name, seed=1, **FEW)
    assert not np.isclose(other.states, few.states).any()


def test_a_system_does_not_depend_on_how_many_others_are_made(few):
    name = few.dataset.attrs["generator"].removeprefix("pgode simulate ")
    more = simulate(name, **{**FEW, "train": 7, "val": 0, "ood": 5})
    for split in ("train", "test", "ood"):
        first, second = few.split_of(split), more.split_of(split).select(range(2))
        np.testing.assert_array_equal(first.states[:2], second.states)
        np.testing.assert_array_equal(first.parameters[:2], second.parameters)


def test_longer_runs_begin_with_the_shorter_ones(few):
    name = few.dataset.attrs["generator"].removeprefix("pgode simulate ")
    longer = simulate(name, **{**FEW, "frames": 9})
    np.testing.assert_array_equal(longer.states[:, :, :6], few.states)


GOLDEN = {
    "springs": (
        [5.027392337464, 0.495395734275, 0.090819470479, 0.490330552711],
        [
            [-0.87398362891, 0.675176723011, 0.395839134185, 0.45176530618],
            [-0.675988178433, 0.229134291948, 0.182780697449, 0.685902141186],
        ],
    ),
    "charged": (
        [5.077947758256, 0.501142761004, 1.060181617378, 0.50913027635],
        [
            [-0.587520792038, 0.896622765388, -0.570125142523, 0.241296346007],
            [1.514618148184, 0.429862186174, 0.109084280128, 0.66505137842],
        ],
    ),
    "nbody": (
        [0.5, 1.0, 0.5],
        [
            [
                *(-1.564083616061, -0.713027740465, 0.009674368431),
                *(-0.722688448885, 0.315071763446, 0.129273829096),
            ],
            [
                *(-0.11556206678, -0.626364278045, -0.452070510895),
                *(-0.739281354306, -0.343789618258, -0.469490412128),
            ],
        ],
    ),
    "gravity": (
        [0.107899454816, 1.072082887355, 9.642749644675],
        [
            [
                *(-0.739534622509, 2.765617489396, 0.003061221781),
                *(0.071391334148, -0.384811394117, 0.118445140657),
            ],
            [
                *(0.483365453032, 1.221537391921, -1.267147746444),
                *(-0.249794319501, 0.4321183445, 0.15291937339),
            ],
        ],
    ),
    "mixed": (
        [3.076614387122, 0.494571853436, 0.982129319143],
        [
            [1.44737120662, -2.564821312788, -0.68080368412, -0.068429492949],
            [2.186688857065, -2.175037518615, 0.310335957204, 0.177258246674],
        ],
    ),
}


def test_sizes_that_are_not_given_are_the_usual_ones_of_the_system():
    springs, nbody = SYSTEMS["springs"].sizes, SYSTEMS["nbody"].sizes
    assert (springs.objects, springs.frames) == (10, 96)
    assert (springs.train, springs.val, springs.test, springs.ood) == (1000, 200, 200, 200)
    assert (nbody.objects, nbody.frames) == (5, 49)
    assert (nbody.train, nbody.val, nbody.test, nbody.ood) == (3000, 2000, 2000, 200)
    data = simulate("nbody", train=2, val=0, test=0, ood=0)
    assert (data.objects, data.frames) == (5, 49)
    data = simulate("nbody", frames=2, sample_every=1)
    assert [(data.split == name).sum() for name in ("train", "val", "test", "ood")] == [
        *(3000, 2000, 2000, 200)
    ]


@pytest.mark.parametrize("name", SYSTEMS)
def test_seed_zero_gives_the_known_numbers(name):
    data = simulate(name, frames=11, train=1, val=0, test=0, ood=1)
    first, last = GOLDEN[name]
    np.testing.assert_allclose(data.parameters[0], first, rtol=0, atol=1e-10)
    np.testing.assert_allclose(data.states[:, 3, -1], last, rtol=0, atol=1e-10)


def test_one_object_moves_straight():
    data = simulate("charged", objects=1, frames=3, train=1, val=0, test=0, ood=0)
    q, v = data.states[0, 0, :, :2], data.states[0, 0, :, 2:]
    np.testing.assert_allclose(q, q[0] + data.times[0, :, None] * v[0], atol=1e-13)


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"objects": 0}, r"objects is 0\. Expected a whole number, at least 1"),
        ({"objects": 2.5}, r"objects is 2\.5\. Expected a whole number"),
        ({"frames": 1}, r"frames is 1\. Expected a whole number, at least 2"),
        ({"train": -1}, r"train is -1\. Expected a whole number, at least 0"),
        ({"ood": True}, r"ood is True\. Expected a whole number"),
        ({"sample_every": 0}, r"sample_every is 0\. Expected a whole number, at least 1"),
        ({"seed": -3}, r"seed is -3\. Expected a whole number, 0 to 4294967295"),
        ({"seed": 2**32}, r"seed is 4294967296\. Expected a whole number, 0 to 4294967295"),
        ({"dt": 0.0}, r"dt is 0\.0\. Expected a positive time step"),
        ({"dt": float("nan")}, r"dt is nan\. Expected a positive time step"),
        ({"train": 0, "val": 0, "test": 0, "ood": 0}, r"nothing to simulate: .* all 0"),
        ({"integrator": "verlet"}, r'no integrator "verlet".*Did you mean "velocity-verlet"\?'),
        ({"dt": 100.0}, r"system 0, object \d left its box at time .*\. The step dt=100\.0 is too"),
    ],
)
def test_senseless_input_is_refused_with_the_value_and_what_was_expected(wrong, message):
    with pytest.raises(InputError, match=message):
        simulate("springs", **{**FEW, **wrong})


@pytest.mark.parametrize(
    "name, fix",
    [
        ("spring", 'Did you mean "springs"?'),
        ("Charges", 'Did you mean "charged"?'),
        ("xyz", "Choose one"),
    ],
)
def test_an_unknown_system_is_refused_with_a_suggestion(name, fix):
    with pytest.raises(InputError) as refused:
        simulate(name)
    assert f'no system "{name}"' in str(refused.value)
    assert "one of springs, charged, nbody, gravity, mixed" in str(refused.value)
    assert fix in str(refused.value)
