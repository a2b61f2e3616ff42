"""Any JSON, YAML or text is read or refused with a sentence, as a config or a space, too."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.data.files.fuzz.mutation import attempt

from pgode.runtime.reading import parse_json, parse_yaml, read_yaml_mapping
from pgode.training.config import parse_changes, run_config
from pgode.tuning.space.file import read_space

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["1e-3", "auto", "pgode", "true", "2020-13-45", "!!int x", "[", "*a", "&a"])
)
NAMES = st.sampled_from(
    [
        *("model", "window", "training", "width", "condition", "horizon", "epochs", "batch"),
        *("learning_rate", "dynamics", "prototypes", "low", "high", "log", "format", "name"),
        *("training.learning_rate", "model.width", "window.stride", "seed", "preset"),
    ]
) | st.text(max_size=6)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
MARKS = st.text(alphabet="{}[]:,-&*!|>'\"#%@`?<\n\t 01a.~\ufeff\x00\ud800\u2028", max_size=40)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@given(tree=TREES)
def test_json_that_is_read_is_what_was_written(tree: Any) -> None:
    def check() -> None:
        assert parse_json(json.dumps(tree), "x") == tree

    attempt(check)


@given(text=st.text(max_size=60) | MARKS)
def test_any_text_is_json_or_refused(text: str) -> None:
    attempt(lambda: parse_json(text, "x"))


@given(text=st.text(max_size=60) | MARKS)
def test_any_text_is_yaml_or_refused(text: str) -> None:
    attempt(lambda: parse_yaml(text, "x"))


@given(content=st.binary(max_size=60))
def test_any_bytes_are_a_mapping_or_refused(folder: Path, content: bytes) -> None:
    path = folder / "bytes.yaml"
    path.write_bytes(content)
    attempt(lambda: read_yaml_mapping(path, "the config"))


@given(tree=st.dictionaries(NAMES, TREES, max_size=4) | TREES)
def test_any_yaml_is_a_config_or_refused(folder: Path, tree: Any) -> None:
    path = folder / "config.yaml"
    path.write_text(yaml.dump(tree, allow_unicode=False), encoding="utf-8")
    attempt(lambda: run_config("pgode", "messages", path, {}))


@given(tree=st.dictionaries(NAMES, TREES, max_size=4) | TREES)
def test_any_yaml_is_a_tuning_space_or_refused(folder: Path, tree: Any) -> None:
    path = folder / "space.yaml"
    path.write_text(yaml.dump(tree, allow_unicode=False), encoding="utf-8")
    base = run_config("pgode", "messages", None, {})
    attempt(lambda: read_space(path, base))


@given(pair=st.builds("{}={}".format, NAMES, st.text(max_size=20) | MARKS) | st.text(max_size=20))
def test_any_change_is_a_setting_or_refused(pair: str) -> None:
    attempt(lambda: run_config("pgode", "messages", None, parse_changes([pair])))
