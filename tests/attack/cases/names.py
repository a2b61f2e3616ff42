"""Names with markup, control characters and what no file can hold, wherever there are names."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from tests.attack.cases.case import Case, Make, case, write

HOSTILE = {
    "markup": "[/red]",
    "open markup": "[bold",
    "link markup": "[link=file:///etc/passwd]x[/link]",
    "escape": "a\x1b[2J\x1b]0;owned\x07",
    "newlines": "a\nError: all is well\nb",
    "carriage return": "good\rbad",
    "right to left": "a\u202egnp.exe",
    "NUL": "a\0b",
    "surrogate": "a\udcffb",
    "long": "n" * 300,
    "very long": "n" * 70_000,
    "html": "<script>alert(1)</script>",
    "braces": "{0} {name!r} %s %(x)s",
    "blank": " ",
    "empty": "",
    "path": "../../etc/passwd",
    "emoji": "👩‍👩‍👧‍👦" * 5,
    "combining": "e" + "\u0301" * 200,
}


def named(name: str) -> Make:
    """An archive in which a feature has this name."""

    def make() -> None:
        with np.load("springs.npz") as good:
            arrays = dict(good)
        arrays["feature_names"] = np.array([name, "qy", "vx", "vy"])
        np.savez("bad.npz", **arrays)

    return make


def table(name: str) -> Make:
    """A table with an object and a column of this name, as far as CSV can hold it."""
    quoted = '"' + name.replace('"', '""') + '"'
    rows = "".join(f"{each},{t},{t},{t * 2}\n" for each in (quoted, "b") for t in range(14))
    return write("bad.csv", f"object,time,{quoted},y\n{rows}")


def words(name: str) -> str:
    """As an argument of a process, which cannot hold NUL."""
    return name.replace("\0", "\\0")


# A name that a file can hold is only text; what cannot be written or read back is refused.
EITHER = (0, 1, 2)


def _cases() -> Iterator[Case]:
    for kind, name in HOSTILE.items():
        yield case("info bad.npz", named(name), name=f"a feature: {kind}", code=EITHER)
        yield case("check bad.npz", named(name), name=f"check a feature: {kind}", code=EITHER)
        yield case("info bad.csv", table(name), name=f"a column: {kind}", code=EITHER)
        yield case("check bad.csv", table(name), name=f"check a column: {kind}", code=EITHER)
        yield case(
            "import table bad.csv -o new.nc",
            table(name),
            name=f"import an object: {kind}",
            code=EITHER,
            writes="new.nc",
        )
        yield case("info", name=f"a path: {kind}", more=(f"{words(name)[:200]}.nc",))
        yield case("evaluate", name=f"a run: {kind}", more=(words(name),))
        yield case(
            "train springs.nc -o new", name=f"a model: {kind}", more=("--model", words(name))
        )
        yield case(
            "train springs.nc -o new",
            name=f"a setting: {kind}",
            more=("--set", f"model.{words(name)}=1"),
        )
        yield case("simulate", name=f"a system: {kind}", more=(words(name), "-o", "new.nc"))
    for kind in ("NUL", "surrogate", "very long", "long"):
        name = HOSTILE[kind]
        for command, option, ending in (
            ("simulate springs", "-o", ".nc"),
            ("forecast run springs.nc", "-o", ".nc"),
            ("evaluate run", "--json", ".json"),
            ("report run", "-o", ".html"),
            ("train springs.nc", "-o", ""),
        ):
            if kind == "surrogate":  # A byte that is no UTF-8 is a legal name of a file.
                continue
            yield case(
                command, name=f"{command} {option}: {kind}", more=(option, f"{name}{ending}")
            )


def _tracks(name: str) -> Make:
    def make() -> None:
        text = Path("tracks.csv").read_text()
        Path("bad.csv").write_bytes(text.replace("ann", name).encode("utf-8", "surrogateescape"))

    return make


CASES: list[Case] = [
    *_cases(),
    *(
        case(
            "forecast tracked bad.csv -o new.csv",
            _tracks(HOSTILE[kind]),
            name=f"forecast an object: {kind}",
            code=EITHER,
            writes="new.csv",
        )
        for kind in ("markup", "escape", "html", "surrogate", "long")
    ),
]
