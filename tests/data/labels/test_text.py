"""Names that a file cannot hold are refused, and the error says which."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.trained_runs import springs

from pgode.data import files
from pgode.data.trajectories import Trajectories
from pgode.runtime.errors import InputError

UNFIT = ("a\0b", "a\0", "a\ud800", "\x1b[31m", "a\nb", "a\tb", "a\x9b")
ODD = ("[/x]", ":bug:", "n" * 1000, "<script>", "\u202eabc", "Zürich 😀", 'a"b,c', "%s{0}", "a/b")


def built(**changes: Any) -> Trajectories:
    data = springs()
    given: dict[str, Any] = {"features": data.dataset["feature"].values.tolist(), **changes}
    return Trajectories.build(
        data.states, data.times, edges=data.edges, split=data.split, source="tracks.csv", **given
    )


def places(name: str) -> dict[str, dict[str, Any]]:
    """Every name that data may have, with this one in it."""
    systems, objects = springs().systems, springs().objects
    ones = np.ones((systems, objects, 1))
    return {
        "features": {"features": ["qx", "qy", "vx", name]},
        "units": {"units": ["m", "m", "m", name]},
        "variables": {"variables": ["q", "q", "v", name]},
        "system_names": {"system_names": ["s"] * (systems - 1) + [name]},
        "object_names": {"object_names": [["a", "b", name]] * systems},
        "parameter_names": {"parameters": ones[:, 0], "parameter_names": [name]},
        "constant_names": {"constants": ones, "constant_names": [name]},
        "title": {"title": name},
        "time_units": {"time_units": name},
        "generator": {"generator": name},
    }


@pytest.mark.parametrize("name", UNFIT, ids=ascii)
def test_names_that_a_file_cannot_hold_are_refused(name: str) -> None:
    for what, changes in places(name).items():
        if what in ("title", "time_units", "generator") and name in ("a\nb", "a\tb"):
            continue  # Text, which may have lines.
        with pytest.raises(InputError) as caught:
            built(**changes)
        text = str(caught.value)
        assert f"{what} in tracks.csv" in text
        assert text.isprintable()
        assert ascii(name)[1:-1] in text or "position" in text


@pytest.mark.parametrize("ending", [".nc", ".zarr"])
def test_odd_names_are_the_same_when_they_are_read_back(ending: str, tmp_path: Path) -> None:
    systems = springs().systems
    given = [ODD[k % len(ODD)] for k in range(systems + 2)]
    data = built(
        features=ODD[:4],
        units=ODD[4:8],
        system_names=given[:systems],
        object_names=[given[k : k + 3] for k in range(systems)],
        title="".join(ODD),
    )
    files.write(data, tmp_path / f"odd{ending}")
    found = files.read(tmp_path / f"odd{ending}")
    assert found.hash == data.hash
    assert found.dataset["object_name"].values.tolist() == [
        given[k : k + 3] for k in range(systems)
    ]
    assert found.dataset.attrs["title"] == "".join(ODD)


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(InputError, match=r"features in tracks\.csv holds bytes that are not UTF-8"):
        built(features=np.array([b"qx", b"qy", b"vx", b"\xff"]))
