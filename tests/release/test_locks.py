"""The pinned set with hashes is that of constraints.txt, whole, and says no when a file differs."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from release import install
from release.hashes import LINK, fits, with_builds_known_before
from release.locks import CUDA, LOCK, Pin, read_lock, write_lock

ROOT = Path(__file__).parents[2]
A, B = "a" * 64, "b" * 64


def constraints() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pairs = (line.split("==") for line in lines if not line.startswith("#"))
    return {canonicalize_name(name): version for name, version in pairs}


def test_versions_are_those_of_the_constraints() -> None:
    pinned = constraints()
    pins = read_lock(ROOT / LOCK)
    assert {pin.name: pin.version for pin in pins if pin.name in pinned} == {
        pin.name: pinned[pin.name] for pin in pins if pin.name in pinned
    }


def test_every_package_that_pgode_asks_for_has_hashes() -> None:
    """After a change of dependencies, `make hashes` writes the file anew."""
    described = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = described["project"]["optional-dependencies"]
    asked = [*described["project"]["dependencies"], *described["build-system"]["requires"]]
    asked += [line for name in extras if name != "docs" for line in extras[name]]
    names = {canonicalize_name(Requirement(line).name) for line in asked}
    assert names - {pin.name for pin in read_lock(ROOT / LOCK)} == set()


def test_cuda_is_apart_and_known_by_hash_too() -> None:
    pins, cuda = read_lock(ROOT / LOCK), read_lock(ROOT / CUDA)
    assert {pin.name for pin in pins}.isdisjoint(pin.name for pin in cuda)
    assert {"triton", "nvidia-cublas"} <= {pin.name for pin in cuda}
    assert all(pin.hashes for pin in [*pins, *cuda])


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    pins = [
        Pin("a", "1.0", (A, B)),
        Pin("c-d", "2.0.post1", (B,)),
        Pin("b", "3", (A,), source=True),
    ]
    write_lock(tmp_path / "lock.txt", pins)
    assert read_lock(tmp_path / "lock.txt") == pins
    assert (tmp_path / "lock.txt").read_text().startswith(f"a==1.0 \\\n    --hash=sha256:{A} \\\n")


@pytest.mark.parametrize(
    "filename, fitting",
    [
        ("x-1.2-py3-none-any.whl", True),
        ("x-1.2-cp311-cp311-manylinux_2_28_x86_64.whl", True),
        ("x-1.2-cp39-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", True),
        ("x-1.2-cp310-cp310-manylinux_2_28_x86_64.whl", False),
        ("x-1.2-cp313-cp313t-manylinux_2_28_x86_64.whl", False),
        ("x-1.2-cp311-cp311-manylinux_2_28_aarch64.whl", False),
        ("x-1.2-cp311-cp311-win_amd64.whl", False),
        ("x-1.2-cp311-cp311-macosx_10_9_x86_64.whl", False),
        ("x-1.21-py3-none-any.whl", False),
        ("x-1.2.tar.gz", False),
    ],
)
def test_files_for_linux_and_the_tested_pythons_are_recorded(filename: str, fitting: bool) -> None:
    assert fits(filename, "1.2") is fitting


def test_hashes_are_read_from_the_page_of_an_index() -> None:
    page = f'<a href="files/x.whl#sha256={A}" data-requires-python="&gt;=3.11">x-1.whl</a><br/>'
    assert LINK.findall(page) == [(A, "x-1.whl")]


def test_builds_of_torch_that_were_known_are_kept_for_the_same_version_only() -> None:
    before = [Pin("torch", "2.0", (A,)), Pin("numpy", "2.0", (A,))]
    after = [Pin("torch", "2.0", (B,)), Pin("numpy", "2.0", (B,))]
    assert with_builds_known_before(after, before) == [Pin("torch", "2.0", (A, B)), after[1]]
    newer = [Pin("torch", "2.1", (B,))]
    assert with_builds_known_before(newer, before) == newer


def served(digest: str) -> dict[str, Any]:
    archive = {
        "url": "file:///index/torch-2.0%2Bxpu.whl",
        "archive_info": {"hashes": {"sha256": digest}},
    }
    needs = ["filelock", "nvidia_cublas==13; platform_system == 'Linux'"]
    return {"download_info": archive, "metadata": {"version": "2.0+xpu", "requires_dist": needs}}


def test_another_build_of_torch_is_named_with_what_to_do() -> None:
    recorded = Pin("torch", "2.0", (A, B))
    assert install.check_torch(served(A), recorded) == Pin("torch", "2.0", (A,))
    with pytest.raises(install.Refused) as refusal:
        install.check_torch(served(B), Pin("torch", "2.0", (A,)))
    for words in (
        "torch-2.0+xpu.whl",
        B,
        "several builds of torch 2.0",
        "TORCH_FLAGS",
        "make hashes",
    ):
        assert words in str(refusal.value)


def test_cuda_is_installed_only_for_a_build_that_asks_for_it() -> None:
    cuda = [Pin("nvidia-cublas", "13", (A,)), Pin("triton", "3", (A,))]
    assert install.needed_by(served(A), cuda) == cuda
    plain = {"metadata": {"requires_dist": ["filelock", "sympy>=1.13"]}}
    assert install.needed_by(plain, cuda) == []


def test_a_folder_that_is_no_environment_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    monkeypatch.setattr("sys.argv", ["install", str(tmp_path)])
    assert install.main() == 2
    assert "is no environment" in capsys.readouterr().err
    assert (tmp_path / "thesis.txt").read_text() == "years of work"
