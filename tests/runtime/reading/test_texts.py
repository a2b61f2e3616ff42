import json
import time
from pathlib import Path
from typing import Any

import pytest

from pgode.runtime.errors import InputError
from pgode.runtime.reading import (
    Limits,
    parse_json,
    parse_yaml,
    read_json,
    read_json_mapping,
    read_text,
    read_yaml,
    read_yaml_mapping,
)

LAUGHS = "a0: &a0 [x, x]\n" + "".join(
    f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]\n" for k in range(1, 12)
)
MERGED = "a0: &a0 {k: 1}\n" + "".join(
    f"a{k}: &a{k} {{<<: [{', '.join([f'*a{k - 1}'] * 10)}]}}\n" for k in range(1, 12)
)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_text_is_read_with_and_without_a_byte_order_mark(tmp_path: Path, mark: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(mark + "größe: 1".encode())
    assert read_text(path) == "größe: 1"
    assert read_yaml(path) == {"größe": 1}


def test_bytes_that_are_no_utf8_are_named_by_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes("ä: 1\nß: ".encode() + b"\xff\n")
    with pytest.raises(InputError, match=r"line 2, column 4 has the byte 0xff"):
        read_text(path)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_another_encoding_is_named(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "file"
    path.write_text("a: 1", encoding=encoding)
    with pytest.raises(InputError, match=encoding.upper()):
        read_json(path)


@pytest.mark.parametrize(
    "text, said",
    [
        ('{"a": 1, "a": 2}', "'a' occurs twice"),
        ('{"a": NaN}', "NaN"),
        ("[-Infinity]", "-Infinity"),
        ("[1e999]", "inf at number 1"),
        ('{"a": ', "line 1, column 7"),
        ('{"a": 1}\n}', "line 2, column 1"),
        ("", "line 1, column 1"),
        ("[" * 100 + "]" * 100, "more than 64"),
        ("[" * 1_000_000, "more than"),
        ("[" * 900_000 + "]" * 900_000, "more than 64"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "more than 64"),
        ("[" + "[]," * 2_000_000 + "[]]", "more than 1,000,000"),
        ("1" * 10_000, "digits"),
        (r'{"a": "\ud800"}', "surrogate"),
        (r'{"\udfff": 1}', "surrogate"),
    ],
)
def test_json_that_is_wrong_or_too_large_is_refused(text: str, said: str) -> None:
    before = time.process_time()
    with pytest.raises(InputError, match=said) as caught:
        parse_json(text, "the result x.json")
    assert str(caught.value).startswith("the result x.json") and len(str(caught.value)) < 400
    assert time.process_time() - before < 5


def test_constants_are_read_where_they_are_allowed() -> None:
    assert parse_json("[Infinity]", "x", allow_nan=True) == [float("inf")]
    assert parse_yaml("[.inf]", "x", allow_nan=True) == [float("inf")]


def test_marks_within_strings_are_no_values() -> None:
    text = json.dumps(["[," * 1000, 'a\\"[', "ü"])
    assert parse_json(text, "x", Limits(nodes=10)) == json.loads(text)


@pytest.mark.parametrize(
    "text, said",
    [
        (LAUGHS, "with aliases, holds more than 100,000"),
        (MERGED, "with aliases, holds more than 100,000"),
        ("&a [*a]", "holds itself"),
        ("a: &a {b: *a}", "holds itself"),
        ("a: &a {<<: *a}", "holds itself"),
        ("a: 1\nb: 2\na: 3", "line 3, column 1, has the key 'a' a second time"),
        ("a: .nan", "nan at 'a'"),
        ("a: [-.inf]", "-inf"),
        ("a: b: c", "line 1, column 5"),
        ("[" * 100, "more than 64"),
        ("[" * 500_000, "more than 64"),
        ("- " * 400 + "x", "more than 64"),
        ("[" + "1," * 200_000 + "]", "more than 100,000"),
        ("a: 2020-13-45", "month"),
        ("!!int x", "not valid YAML"),
        ("!!timestamp x", "not valid YAML"),
        ("!!python/object/apply:os.system [ls]", "could not determine a constructor"),
        ("? [a, b]\n: 1", "unhashable"),
        ("a: *b", "undefined alias"),
        ("a: 1\n---\nb: 2", "line 2"),
        ("a: \x00", "not valid YAML"),
        ("%", "not valid YAML"),
        ("'", "not valid YAML"),
        ('"\\ud800"', "YAML|surrogate"),
    ],
)
def test_yaml_that_is_wrong_or_too_large_is_refused(text: str, said: str) -> None:
    before = time.process_time()
    with pytest.raises(InputError, match=said) as caught:
        parse_yaml(text, "the config x.yaml")
    assert str(caught.value).startswith("the config x.yaml") and len(str(caught.value)) < 400
    assert time.process_time() - before < 5


def test_a_chain_of_aliases_counts_as_deep_as_it_stands_for() -> None:
    chain = "a0: &a0 [x]\n" + "".join(f"a{k}: &a{k} [*a{k - 1}]\n" for k in range(1, 100))
    with pytest.raises(InputError, match="with aliases, has more than 64"):
        parse_yaml(chain, "x")


@pytest.mark.parametrize(
    "text, content",
    [
        ("", None),
        ("# nothing", None),
        ("base: &b {k: 1}\nown: {<<: *b, k: 2}", {"base": {"k": 1}, "own": {"k": 2}}),
        ("a: 1e-3\nb: 1.0e-3\nc: yes", {"a": "1e-3", "b": 1e-3, "c": True}),
        ("1: a", {1: "a"}),
    ],
)
def test_yaml_is_read_as_before(text: str, content: Any) -> None:
    assert parse_yaml(text, "x") == content


@pytest.mark.parametrize("text, said", [("[1]", "a list"), ("3", "a number"), ('"x"', "text")])
def test_what_is_no_mapping_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    for reader in (read_json_mapping, read_yaml_mapping):
        with pytest.raises(InputError, match=f"the config .*file holds {said}, not keys"):
            reader(path, "the config")


def test_mappings_have_keys_of_text(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("1: a\nb: {2: 3}")
    assert read_yaml_mapping(path) == {"1": "a", "b": {2: 3}}
