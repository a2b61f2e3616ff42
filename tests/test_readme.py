"""What the README and the pages say is true: their code runs, their commands and settings exist."""

import ast
import json
import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from cyclopts import CycloptsError

import pgode
from pgode.cli.app import app
from pgode.runtime.errors import InputError
from pgode.training.config import fitting_config, parse_changes, run_config

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
SETTING = re.compile(r"`(?:--set )?((?:model|window|training)\.[\w.]+)=([^`]+)`")
SOURCE = re.compile(r"`(src/pgode/[\w/]+\.py)`,\s+`([\w.]+)`")
LINKED = re.compile(r"`([\w.]+)`\s+\(\[`src/(pgode/[\w/]+)\.py`\]\[([\w.]+)\]\)")
REFERENCE = re.compile(r"\[`([\w.]+)`\]\[\]")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[\w-]*)?\)")
TARGET = re.compile(r"(?:^|`)make ([a-z-]+)", re.M)


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks(page: Path, *languages: str) -> list[str]:
    return [code for language, code in FENCE.findall(text_of(page)) if language in languages]


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def commands(page: Path) -> Iterator[list[str]]:
    """Words of each `pgode ...` line of a block, and of each one within a sentence."""
    lines = [line for block in blocks(page, "", "sh") for line in block.splitlines()]
    lines += re.findall(r"`(pgode [^`]+)`", FENCE.sub("", text_of(page)))
    for line in lines:
        if line.startswith("pgode "):
            yield shlex.split(line, comments=True)[1:]


def flat(settings: dict[str, Any], before: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in settings.items():
        inner = flat(value, f"{before}{key}.") if isinstance(value, dict) else {before + key: value}
        found.update(inner)
    return found


def preset(name: str) -> dict[str, Any]:
    return flat(run_config(preset=name).model_dump(mode="json"))


def rows(page: str, *heads: str) -> list[list[str]]:
    """Cells of the tables whose heads hold all of these words."""
    found: list[list[str]] = []
    inside = False
    for line in text_of(ROOT / "docs" / page).splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line[:1] == "|" else []
        if not cells:
            inside = False
        elif inside and set(cells[0]) != {"-"}:
            found.append(cells)
        elif set(heads) <= set(cells):
            inside = True
    return found


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "python")], ids=named)
def test_python_of_a_page_runs_from_top_to_bottom(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile("\n".join(blocks(page, "python")), named(page), "exec"), {"__name__": "page"})
    printed = capsys.readouterr().out
    assert printed
    if page.name == "README.md":
        assert "(16, 10, 36, 4)" in printed
        assert (tmp_path / "quick.nc").is_file()


def test_readme_example_is_short() -> None:
    code = "\n".join(blocks(PAGES[0], "python"))
    assert len([line for line in code.splitlines() if line.strip()]) <= 12


def names_a_command(words: list[str]) -> bool:
    """Whether these words are a command and nothing more, as in `pgode import md`."""
    place = app
    for word in words:
        if word not in place:
            return False
        place = place[word]
    return True


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_commands_of_a_page_have_options_that_exist(page: Path) -> None:
    for words in commands(page):
        if names_a_command(words):
            continue
        try:
            command, bound, *_ = app.parse_args(
                [word for word in words if word != "--help"], exit_on_error=False, print_error=False
            )
        except CycloptsError as error:
            pytest.fail(f"pgode {' '.join(words)}: {error}")
        if command.__name__ == "train":
            given = bound.arguments
            changes = parse_changes(list(given.get("changes", ())))
            fitting_config(given.get("model", "pgode"), "default", changes=changes)


def test_every_command_and_option_is_in_the_reference() -> None:
    reference = text_of(ROOT / "docs/commands.md")
    for name in (
        "simulate",
        "train",
        "tune",
        "evaluate",
        "compare",
        "forecast",
        "export",
        "report",
        "laws",
        "info",
        "check",
        "convert",
        "models",
        "reproduce",
        "robustness",
        "simulate protein",
        "import table",
        "import wide",
        "import md",
        "import mocap",
        "export-md",
        "data covid",
    ):
        section = re.split(r"^## ", reference.split(f"\n## `pgode {name}`")[1], flags=re.M)[0]
        command = app
        for word in name.split():
            command = command[word]
        arguments = command.assemble_argument_collection(parse_docstring=True)
        for argument in arguments:
            if argument.names == ("*",):  # A group of options, which follow one by one.
                continue
            options = [f"`{option}`" for option in argument.names]
            position = f"`{argument.name.lstrip('-').upper()}`"
            assert any(word in section for word in (*options, position)), f"{name}: {options}"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_settings_named_on_a_page_exist_and_take_the_value(page: Path) -> None:
    for line in text_of(page).splitlines():
        given = [f"{key}={value}" for key, value in SETTING.findall(line)]
        for setting in given:
            try:
                fitting_config("pgode", "default", changes=parse_changes([setting]))
            except InputError:  # It needs the others that the line names beside it.
                fitting_config("pgode", "default", changes=parse_changes(given))


def test_table_of_settings_is_that_of_the_code() -> None:
    messages, paper = preset("messages"), preset("paper")
    written = {
        cells[0].strip("`"): cells[1:3] for cells in rows("commands.md", "setting", "`messages`")
    }
    expected = {
        key: [shown(has[key]) if key in has else "-" for has in (messages, paper)]
        for key in dict.fromkeys([*messages, *paper])
        if key not in ("name", "preset")
    }
    assert written == expected


def test_table_of_the_laws_settings_is_that_of_the_code() -> None:
    laws = {k: v for k, v in preset("default").items() if k.startswith("model.dynamics.")}
    written = {
        cells[0].strip("`"): cells[1] for cells in rows("commands.md", "setting of force laws")
    }
    assert written == {key: shown(value) for key, value in laws.items()}


def shown(value: Any) -> str:
    """A value as the table writes it."""
    if isinstance(value, list):
        return f"`{json.dumps(value)}`"
    return "none" if value is None else value if isinstance(value, str) else json.dumps(value)


def test_table_of_differences_says_what_each_preset_has() -> None:
    presets = [preset("messages"), preset("paper")]
    listed = rows("differences.md", "`messages`", "`paper`")
    undone = [cells for cells in listed if cells[1]]
    assert len(undone) > 15
    for name, undo, *states in undone:
        key, _, value = undo.split("`")[1].partition("=")
        off = yaml.safe_load(value)
        expected = ["off" if has.get(key, off) == off else "on" for has in presets]
        assert states == expected, name


def test_settings_that_the_presets_disagree_on_are_among_the_differences() -> None:
    messages, paper = preset("messages"), preset("paper")
    either = {*messages, *paper} - {"preset"}
    disagreed = {key for key in either if messages.get(key) != paper.get(key)}
    written = text_of(ROOT / "docs/differences.md")
    assert [key for key in sorted(disagreed) if key not in written] == []


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_names_in_the_source_that_a_page_points_to_are_there(page: Path) -> None:
    for path, name in SOURCE.findall(text_of(page)):
        assert name in defined(ROOT / path), f"{path} has no {name}"


def test_files_of_the_architecture_page_define_what_it_says() -> None:
    linked = LINKED.findall(text_of(ROOT / "docs/architecture.md"))
    assert len(linked) > 10
    for name, file, module in linked:
        assert name in defined(ROOT / "src" / f"{file}.py"), f"{file} has no {name}"
        assert module == file.replace("/", ".").removesuffix(".__init__")


def test_overview_of_the_reference_says_where_each_public_name_is_defined() -> None:
    overview = text_of(ROOT / "docs/api/index.md")
    public = {getattr(pgode, name) for name in pgode.__all__ if not name.startswith("_")}
    named = set()
    for path in REFERENCE.findall(overview):
        module, _, name = path.rpartition(".")
        named.add(value := getattr(import_module(module), name))
        assert value.__module__ == module, f"{path} is defined in {value.__module__}"
    assert named == public


def defined(path: Path) -> set[str]:
    """Functions, classes, methods and tables of a file."""
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            inner = [each.name for each in node.body if isinstance(each, ast.FunctionDef)]
            names.update(f"{node.name}.{method}" for method in inner)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_places_in_the_source_that_a_page_names_are_there(page: Path) -> None:
    places = re.findall(r"`(src/pgode[\w/]*(?:\.py)?)`", text_of(page))
    assert [place for place in places if not (ROOT / place).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_files_that_a_page_links_to_are_there(page: Path) -> None:
    links = [link for link in LINK.findall(text_of(page)) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_make_targets_that_a_page_names_are_there(page: Path) -> None:
    makefile = text_of(ROOT / "Makefile")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.M))
    assert set(TARGET.findall(text_of(page))) <= targets


def test_menu_of_the_pages_lists_every_page() -> None:
    # Not yaml: the theme's own tags are unknown to it.
    menu = re.findall(r"^ +- [^:\n]+: (\S+\.md)$", text_of(ROOT / "mkdocs.yml"), re.M)
    assert sorted(menu) == sorted(str(page.relative_to(ROOT / "docs")) for page in PAGES[1:])


def test_every_room_has_its_page_of_the_reference() -> None:
    # mkdocstrings goes through a room's files by itself, so a page needs to name the room only.
    rooms = [path.parent.name for path in (ROOT / "src/pgode").glob("*/__init__.py")]
    assert len(rooms) >= 12
    for room in rooms:
        assert f"::: pgode.{room}\n" in text_of(ROOT / "docs/api" / f"{room}.md")


def test_search_of_pages_opened_as_files_needs_no_network() -> None:
    # The plugin would otherwise load what starts the search from outside.
    settings = text_of(ROOT / "mkdocs.yml")
    assert "\n  - search\n  - offline\n" in settings
    (script,) = re.findall(r"^ +- (\S*iframe-worker\S*)$", settings, re.M)
    assert (ROOT / "docs" / script).is_file() and "://" not in text_of(ROOT / "docs" / script)
