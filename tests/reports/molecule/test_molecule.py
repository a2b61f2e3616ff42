"""The molecular part of a report: atoms and bonds, RMSD, residues, and the page's data."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from tests.reports.fabricate import springs_report
from tests.reports.molecules import molecule, start, trained_on, trajectories
from tests.reports.run.test_page import Balanced
from tests.rigid_motions import turn

from pgode.data.trajectories import Trajectories
from pgode.evaluation.evaluation import NoiseFloor, ScoreTable
from pgode.reports import render
from pgode.reports.molecule.atoms import Atom, atoms_of
from pgode.reports.molecule.charts import deviation_html
from pgode.reports.molecule.data import MoleculeData
from pgode.reports.molecule.deviation import deviation, rmsd
from pgode.reports.molecule.player import drawing_library, player_data
from pgode.runs.folder import read_noise_floor
from pgode.runs.report import write_run_report
from pgode.runtime.errors import InputError
from pgode.runtime.stored.manifest import Manifest

UNKNOWN = np.full(19, -1)


def atoms(group: np.ndarray | None = None) -> list[Atom]:
    return atoms_of(molecule().pdb, UNKNOWN if group is None else group)


def written(data: Trajectories, folder, floor: object = None) -> str:
    run = trained_on(data, folder)
    if floor is not None:
        (folder / "noise_floor.json").write_text(json.dumps(floor))
        Manifest.of(folder).write(folder)
    write_run_report(run, data, folder / "report.html", examples=1, samples=3, seed=0)
    return (folder / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> str:
    floor = NoiseFloor(ScoreTable(), {"test": [0.001] * 4, "ood": [0.001] * 4}, 3, 5)
    folder = tmp_path_factory.mktemp("molecule") / "run"
    return written(trajectories(), folder, floor.to_json())


def test_atoms_of_the_text_have_their_names_elements_and_residues():
    found = atoms()
    assert [atom.name for atom in found[:4]] == ["N", "CA", "C", "O"]
    assert "".join(atom.element for atom in found) == "NCCOHHNCCOCHHNCCOHH"
    assert [atom.residue for atom in found[5:7]] == ["GLY 4", "ALA 5"]
    np.testing.assert_array_equal([atom.group for atom in found], molecule().residue)
    given = molecule().residue + 1
    assert [atom.group for atom in atoms(given)] == given.tolist()


@pytest.mark.parametrize(
    "text, element",
    [(" CA ", "C"), ("HB11", "H"), ("1HB ", "H"), ("CL  ", "CL"), (" N  ", "N"), ("ZN  ", "ZN")],
)
def test_an_element_without_a_column_of_its_own_is_read_from_the_name(text, element):
    line = f"ATOM      1 {text} GLY A   1       0.000   0.000   0.000"
    assert atoms_of(line, np.array([0]))[0].element == element


def test_bonds_follow_from_distances_and_a_hydrogen_has_one():
    data = MoleculeData(atoms(), (0, 1, 2), "nm")
    bonds = data.bonds(start())
    names = [f"{a.residue[-1]}{a.name}" for a in data.atoms]
    found = {f"{names[i]}-{names[j]}" for i, j in bonds}
    assert found == {
        *("4N-4CA", "4CA-4C", "4C-4O", "4CA-4HA2", "4CA-4HA3", "4C-5N"),
        *("5N-5CA", "5CA-5C", "5C-5O", "5CA-5CB", "5CA-5HA", "5CB-5HB1", "5C-7N"),
        *("7N-7CA", "7CA-7C", "7C-7O", "7CA-7HA2", "7CA-7HA3"),
    }
    # The same molecule in Å has the same bonds.
    assert MoleculeData(atoms(), (0, 1, 2), "Å").bonds(10 * start()) == bonds


def test_alone_successive_alphas_of_a_chain_are_joined_but_not_over_a_gap():
    alphas = [atom for atom in atoms() if atom.name == "CA"]
    data = MoleculeData(alphas, (0, 1, 2), "nm")
    assert data.chained and data.bonds(np.zeros((3, 3))) == [(0, 1)]


def test_flat_pictures_show_alphas_or_else_what_is_no_hydrogen():
    data = MoleculeData(atoms(), (0, 1, 2), "nm")
    assert [data.atoms[k].name for k in data.backbone] == ["CA"] * 3
    others = [atom for atom in atoms() if atom.name != "CA"]
    kept = MoleculeData(others, (0, 1, 2), "nm").backbone
    assert len(kept) == 10 and all(others[k].element != "H" for k in kept)


def test_a_rigidly_moved_copy_has_no_rmsd():
    stream = np.random.default_rng(0)
    truth = stream.normal(size=(2, 19, 4, 3))
    turned = truth @ turn(3, mirror=False, seed=1).numpy().T + [1.0, -2.0, 3.0]
    np.testing.assert_allclose(rmsd(turned, truth), 0, atol=1e-12)
    mirrored = truth * [1, 1, -1]
    assert (rmsd(mirrored, truth) > 0.1).all()


def test_rmsd_is_that_worked_out_by_hand():
    # A cross, grown by a tenth: superposition cannot help, and every atom is 0.1 off.
    cross = np.array([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]])
    truth = np.repeat(cross[None, :, None], 3, axis=2)
    forecast = 1.1 * truth
    truth[0, 2, 1] = np.nan
    np.testing.assert_allclose(rmsd(forecast, truth), [[0.1, np.nan, 0.1]], atol=1e-12)


def test_residues_and_systems_are_averaged_as_by_hand():
    cross = np.array([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]])
    truth = np.repeat(cross[None, :, None], 2, axis=0)
    forecast = truth * np.array([1.3, 1.3, 1.1, 1.1, 1.0, 1.0])[:, None, None]
    forecast[1] = truth[1]
    group = np.array([0, 0, 0, 0, 1, 1])
    found = deviation("test", np.array([0.2]), {"ours": forecast, "still": truth}, truth, group)
    # Of two systems one is exact, so that mean squares halve.
    squares = np.array([0.09, 0.09, 0.01, 0.01, 0, 0])
    np.testing.assert_allclose(found.residues, np.sqrt([squares[:4].mean() / 2, 0]), atol=1e-12)
    np.testing.assert_allclose(found.rmsd["ours"], np.sqrt(squares.mean()) / 2, atol=1e-12)
    np.testing.assert_allclose(found.rmsd["still"], 0, atol=1e-12)


def test_nothing_known_is_no_number_and_no_error():
    truth = np.full((1, 6, 2, 3), np.nan)
    found = deviation("test", np.arange(2.0), {"ours": truth + 1}, truth, np.zeros(6, int))
    assert np.isnan(found.rmsd["ours"]).all() and np.isnan(found.residues).all()
    html = deviation_html(MoleculeData(atoms()[:6], (0, 1, 2), "nm", [found]), "ps")
    assert "nan" not in html.lower() and "GLY 4" in html


def test_the_drawing_library_is_there_once_and_for_molecules_only(page):
    library = drawing_library()
    assert page.count(library) == 1 and page.count("<script") == 4
    assert "</script" not in library and "<!--" not in library
    assert "University of Pittsburgh" in library
    other = render(springs_report(each=1))
    assert "3Dmol" not in other and "startPlayer(molecule" not in other
    assert other.count("<script") == 3 and "University of Pittsburgh" not in other


def test_the_drawing_library_evaluates_no_text():
    assert not re.search(r"\beval\s*\(|new Function\s*\(", drawing_library())


def test_the_page_is_whole_and_its_policy_allows_its_scripts(page):
    parsed = Balanced(page)
    assert "default-src 'none'" in page and page.count("sha256-") == 3
    policy = page.split('http-equiv="Content-Security-Policy"')[1].split(">")[0]
    assert "unsafe-eval" not in policy and "sha256-" in policy
    assert 'id="player-canvas"' not in page and 'id="molecule-view"' in page
    assert "Only the C-alphas of the molecule are shown." in parsed.text
    assert 'data-tip="ALA 5 CA"' in page


def test_coordinates_in_the_page_are_those_of_the_data(page):
    content = json.loads(Balanced(page).data)
    data = trajectories()
    assert [system["name"] for system in content["systems"]] == ["test system 0", "ood system 0"]
    assert "".join(content["elements"]) == "NCCOHHNCCOCHHNCCOHH" and len(content["bonds"]) == 36
    for system, split in zip(content["systems"], ("test", "ood"), strict=True):
        states = data.split_of(split).states[0].swapaxes(0, 1)
        assert system["condition"] == 6 and len(system["forecast"]) == 6
        assert system["times"] == pytest.approx(np.arange(-5, 7) * 0.2)
        placed = np.array(system["observed"] + system["truth"]).reshape(12, 19, 3)
        assert placed.dtype.kind == "i"
        np.testing.assert_allclose(placed / 1000, states[:12], atol=0.00051)
        ahead = np.array(system["forecast"]).reshape(6, 19, 3) / 1000
        again = rmsd(ahead.swapaxes(0, 1)[None], states[6:12].swapaxes(0, 1)[None])[0]
        np.testing.assert_allclose(again, system["rmsd"], atol=1e-3)


def test_a_frame_that_is_not_wholly_known_is_none():
    report = springs_report(each=1, objects=3)
    example = report.examples[0]
    truth = example.truth.copy()
    truth[1, 2, 0] = np.nan
    shown = MoleculeData(atoms()[:3], (0, 1, 2), "nm")
    system = player_data(shown, [replace(example, truth=truth)], "ps")["systems"][0]
    assert [frame is None for frame in system["truth"]] == [k == 2 for k in range(36)]
    assert system["rmsd"][2] is None and None not in system["forecast"]


def test_the_page_draws_rmsd_its_floor_and_the_error_of_each_residue(page):
    text = Balanced(page).text
    assert "5 repeated simulations" in text
    charts = [json.loads(each) for each in _charts(page) if "time ahead" in each]
    assert [[row["name"] for row in chart["rows"]] for chart in charts] == [
        ["pgode", "last value", "noise floor"]
    ] * 2
    for chart in charts:
        assert chart["x"] == pytest.approx(np.arange(1, 7) * 0.2)
        assert chart["rows"][2]["y"] == [0.001] * 4 + [None] * 2
    assert page.count('class="bar-own"') == 6
    for name in ("GLY 4", "ALA 5", "GLY 7"):
        assert len(re.findall(f'data-tip="{name}: [0-9.e-]+ nm"', page)) == 2
        assert f'<th scope="row">{name}</th>' in page


def test_last_values_in_the_page_deviate_as_the_data_do(page):
    for chart, split in zip(
        [json.loads(each) for each in _charts(page) if "time ahead" in each],
        ("test", "ood"),
        strict=True,
    ):
        states = trajectories().split_of(split).states
        still = np.repeat(states[:, :, 5:6], 6, axis=2)
        expected = rmsd(still, states[:, :, 6:12]).mean(0)
        np.testing.assert_allclose(chart["rows"][1]["y"], expected, rtol=2e-3)


def test_without_a_floor_or_hydrogens_there_is_still_a_report(tmp_path):
    page = written(trajectories("ca"), tmp_path / "run")
    assert "noise floor" not in page.split("<script>")[0]
    content = json.loads(Balanced(page).data)
    assert content["chained"] and content["bonds"] == [0, 1]


@pytest.mark.parametrize(
    "text", ["[1]", "{", '{"mse": {}, "rmsd": [3]}', '{"mse": {}, "rmsd": {}}']
)
def test_a_floor_that_cannot_be_read_is_an_error_with_a_fix(tmp_path, text):
    assert read_noise_floor(tmp_path) is None
    (tmp_path / "noise_floor.json").write_text(text)
    with pytest.raises(InputError, match=r"noise_floor\.json.* (Run|Correct) "):
        read_noise_floor(tmp_path)


def _charts(page: str) -> list[str]:
    found = re.findall(r'data-chart="([^"]*)"', page)
    return [each.replace("&quot;", '"').replace("&#x27;", "'") for each in found]
