"""Atoms to trajectories: choice of atoms, alignment, graphs by distance, and what the file says."""

import json

import numpy as np
import pytest
from tests.rigid_motions import turn

from pgode.batches.normaliser import Normaliser, upgrade_normaliser
from pgode.batches.reference import Reference
from pgode.data import files
from pgode.data.molecules import (
    Molecule,
    Preparation,
    aligned,
    atom_names,
    prepare,
)
from pgode.data.superposition import mean_structure
from pgode.data.trajectories import Trajectories
from pgode.runtime.errors import InputError

ATOMS = ("N", "CA", "H", "C", "N", "CA", "H", "O")
RESIDUES = np.array([0, 0, 0, 0, 1, 1, 1, 1])
MASS = np.array([14.0, 12, 1, 12, 14, 12, 1, 16])


def molecule() -> Molecule:
    lines = [
        f"ATOM  {k + 1:5d}  {name:<3s} GLY A{residue + 1:4d}       0.000   0.000   0.000"
        for k, (name, residue) in enumerate(zip(ATOMS, RESIDUES, strict=True))
    ]
    text = "\n".join([*lines, "CONECT    1    2", "END", ""])
    names = np.array(ATOMS)
    return Molecule(text, MASS, RESIDUES, names == "H", names == "CA")


def motion(systems: int = 2, frames: int = 5) -> np.ndarray:
    stream = np.random.default_rng(1)
    start = stream.normal(0, 0.3, (systems, 1, len(ATOMS), 3))
    return start + np.cumsum(stream.normal(0, 0.05, (systems, frames, len(ATOMS), 3)), 1)


def prepared(positions: np.ndarray, **options) -> Trajectories:
    clock = np.arange(positions.shape[1]) * 0.2
    return prepare(positions, clock, molecule(), Preparation(**options), {"made": "here"})


def turned(seed: int) -> np.ndarray:
    return turn(3, mirror=False, seed=seed).numpy()


@pytest.mark.parametrize("align", ["superposed", "centred", "raw"])
def test_first_frame_is_centred_and_alignment_takes_away_what_it_says(align):
    frames = aligned(motion() + 7.0, MASS, align)
    centre = (frames * MASS[:, None]).sum(2) / MASS.sum()
    np.testing.assert_allclose(centre[:, 0], 0, atol=1e-12)
    moves = np.abs(centre[:, 1:]).max()
    assert moves < 1e-12 if align == "centred" else moves > 1e-3
    if align == "superposed":
        middles = frames.mean(2)
        np.testing.assert_allclose(middles, np.broadcast_to(middles[:, :1], middles.shape))


def test_each_choice_of_atoms_keeps_its_atoms_residues_and_lines():
    names = {"all": list(ATOMS), "heavy": ["N", "CA", "C", "N", "CA", "O"], "ca": ["CA", "CA"]}
    for atoms, expected in names.items():
        data = prepared(motion(), atoms=atoms)
        lines = [line for line in data.topology.splitlines() if line.startswith("ATOM")]
        assert [line[12:16].strip() for line in lines] == expected
        group = data.dataset["group"].values[0].tolist()
        assert group == [int(line[22:26]) - 1 for line in lines]


def test_graphs_join_near_atoms_and_are_looked_up_anew():
    data = prepared(motion(), cutoff=0.5, update=2, align="raw")
    edges = data.edges
    assert edges.attribute_names == ("weight", "distance")
    assert edges.graph_start.tolist() == pytest.approx([0, 0.4, 0.8] * 2)
    for graph in range(len(edges.graph_start)):
        system, frame = edges.graph_system[graph], 2 * (graph % 3)
        here = data.states[system, :, frame]
        gap = np.linalg.norm(here[:, None] - here[None], axis=-1)
        near = (gap < 0.5) & ~np.eye(len(gap), dtype=bool)
        of_graph = edges.edge_graph == graph
        found = np.stack([edges.edge_receiver[of_graph], edges.edge_sender[of_graph]], 1)
        np.testing.assert_array_equal(found, np.argwhere(near))
        np.testing.assert_allclose(edges.edge_attributes[of_graph, 1], gap[near])


def test_the_file_says_what_was_done_and_keeps_the_molecule(tmp_path):
    data = prepared(motion(), atoms="heavy", align="centred", cutoff=0.3, update=3)
    for name in ("m.nc", "m.zarr"):
        files.write(data, tmp_path / name)
        again = files.read(tmp_path / name)
        assert again.hash == data.hash and again.topology == data.topology
        assert again.graph_rule == pytest.approx((0.3, 0.6))
        said = json.loads(again.dataset.attrs["generator_settings"])
        assert said["made"] == "here"
        assert said["preparation"] == {
            "atoms": "heavy",
            "align": "centred",
            "cutoff": 0.3,
            "update": 3,
        }
        assert again.select([1]).topology == data.topology
        assert again.permuted(range(data.objects)).topology == ""


@pytest.mark.parametrize(
    "options, message",
    [
        ({"atoms": "most"}, 'no atoms "most".*all, heavy, ca'),
        ({"align": "up"}, 'no align "up".*superposed, centred, raw'),
        ({"cutoff": 0.0}, "cutoff is 0.0 nm.*positive"),
        ({"update": 0}, "update 0 frames.*at least 1"),
    ],
)
def test_what_is_no_preparation_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        Preparation(**options)


def test_a_molecule_without_the_chosen_atoms_is_refused():
    bare = Molecule("", MASS, RESIDUES, np.ones(8, bool), np.zeros(8, bool))
    with pytest.raises(InputError, match='none of the atoms that "ca" keeps'):
        bare.chosen("ca")


def test_a_topology_of_another_molecule_is_refused():
    with pytest.raises(InputError, match=r"topology of .* has 8 atoms, but there are 2 objects"):
        Trajectories.build(
            np.zeros((1, 2, 2, 1)),
            [0, 1],
            edges=np.zeros((1, 2, 2)),
            features=["x"],
            topology=molecule().pdb,
        )


@pytest.mark.parametrize(
    "rule, roles, message",
    [
        ((0.5, 0.0), ["position"], "cutoff 0.5 and interval 0. Expected both to be positive"),
        ((0.5, 1.0), ["value"], "no feature is a position"),
    ],
)
def test_a_graph_rule_that_cannot_be_is_refused(rule, roles, message):
    with pytest.raises(InputError, match=message):
        Trajectories.build(
            np.zeros((1, 2, 2, 1)),
            [0, 1],
            edges=np.zeros((1, 2, 2)),
            features=["x"],
            roles=roles,
            graph_cutoff=rule[0],
            graph_interval=rule[1],
        )


def test_distances_are_standardised_and_another_cutoff_is_refused():
    data = prepared(motion(), cutoff=0.5)
    normaliser = Normaliser.fit(data)
    scaled = normaliser.attributes(data.edges.edge_attributes)
    np.testing.assert_allclose(scaled[:, 0], 1)
    np.testing.assert_allclose([scaled[:, 1].mean(), scaled[:, 1].std()], [0, 1], atol=1e-12)
    normaliser.check(data, "same.nc")
    with pytest.raises(InputError, match=r"nearer than 0\.4, but the model was trained with 0\.5"):
        normaliser.check(prepared(motion(), cutoff=0.4), "other.nc")
    assert Normaliser.from_json(json.loads(json.dumps(normaliser.to_json()))) == normaliser


def test_a_normaliser_knows_the_mean_structure_of_its_own_molecule_only():
    data = prepared(motion(), align="raw")
    normaliser = Normaliser.fit(data)
    reference = normaliser.reference_of(data)
    assert reference is not None and reference.shape == (len(ATOMS), 3)
    raw = reference * normaliser.scale + normaliser.centre
    np.testing.assert_allclose(raw, normaliser.reference.positions)
    content = json.loads(json.dumps(normaliser.to_json()))
    assert Normaliser.from_json(content) == normaliser
    old = {k: v for k, v in content.items() if k not in ("reference", "frame_duration")}
    old |= {"frame": content["frame_duration"], "atoms": atom_names(data.topology)}
    old["structure"] = np.ravel(normaliser.reference.positions).tolist()
    assert upgrade_normaliser(old) == content
    moved = data.topology.replace("   0.000   0.000   0.000", "   1.000   2.000   3.000")
    assert moved != data.topology and atom_names(moved) == atom_names(data.topology)
    assert normaliser.reference_of(prepared(motion(), atoms="heavy")) is None
    assert Normaliser.fit(without_topology(data)).reference is None
    assert normaliser.reference_of(without_topology(data)) is None


def test_frames_with_missing_atoms_do_not_count_for_the_mean_structure():
    data = prepared(motion(1, 6), align="raw")
    observed = np.ones(data.states.shape, bool)
    observed[0, 3, 2:] = False
    gaps = Trajectories.build(
        data.states,
        data.times,
        observed=observed,
        edges=data.edges,
        features=data.features,
        roles=("position",) * 3,
        topology=data.topology,
    )
    expected = mean_structure(data.states[0, :, :2].swapaxes(0, 1))
    np.testing.assert_allclose(Reference.fit(gaps).positions, expected)


def without_topology(data: Trajectories) -> Trajectories:
    return Trajectories.build(
        data.states,
        data.times,
        edges=data.edges,
        features=data.features,
        roles=("position",) * 3,
    )
