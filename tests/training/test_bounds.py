"""Every number of the settings has a bound above and below, whatever the model."""

from collections.abc import Iterator
from typing import Any, get_args

import pytest
from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel

from pgode.models.registry import MODELS, model_class, model_config
from pgode.runtime.errors import InputError
from pgode.training.config import RunConfig, TrainingConfig, run_config


def numbers(group: type[BaseModel], before: str = "") -> Iterator[tuple[str, list[Any]]]:
    """Every number of a group and its inner groups, with its limits."""
    for name, field in group.model_fields.items():
        for kind, limits in leaves(field.annotation, field.metadata):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                yield from numbers(kind, f"{before}{name}.")
            elif kind in (int, float):
                yield f"{before}{name}", limits


def leaves(annotation: Any, limits: list[Any]) -> Iterator[tuple[Any, list[Any]]]:
    inner = get_args(annotation)
    own = [*limits, *getattr(annotation, "__metadata__", ())]
    own = [each for limit in own for each in (getattr(limit, "metadata", None) or [limit])]
    if not inner:
        yield annotation, own
    for each in inner:
        yield from leaves(each, own)


@pytest.mark.parametrize("name", ["", *MODELS])
def test_every_number_has_a_bound_above_and_below(name: str) -> None:
    found = list(numbers(model_class(name).config_type if name else RunConfig))
    unbounded = [
        key
        for key, limits in found
        if not any(isinstance(each, Le | Lt) for each in limits)
        or not any(isinstance(each, Ge | Gt) for each in limits)
    ]
    assert unbounded == []


def test_the_walk_finds_numbers_in_inner_groups_lists_and_options() -> None:
    found = {key for key, _ in numbers(model_class("pgode").config_type)}
    assert {"width", "solver.step", "dynamics.ensemble", "dynamics.box"} <= found
    assert {"training.curriculum", "training.clip"} <= {key for key, _ in numbers(RunConfig)}


@pytest.mark.parametrize("value", [True, False])
@pytest.mark.parametrize("key", ["model.width", "training.batch", "training.learning_rate"])
def test_true_and_false_are_no_numbers(key: str, value: bool) -> None:
    with pytest.raises(InputError, match=rf'"{key}" is {value}, .* a number, not true or false'):
        run_config(preset="messages", changes={key: value})


def test_a_truth_value_within_a_list_is_no_number() -> None:
    with pytest.raises(InputError, match=r"curriculum.*not true or false"):
        run_config(preset="messages", changes={"training.curriculum": [[0.5, True]]})


def test_numbers_that_yaml_takes_for_words_are_still_numbers() -> None:
    """YAML reads 1e-4, without a dot, as a word."""
    found = run_config(preset="messages", changes={"training.learning_rate": "1e-4"})
    assert found.training.learning_rate == 1e-4


def test_a_number_of_thousands_of_digits_is_described() -> None:
    with pytest.raises(InputError, match=r'"training.epochs" is a number of about 4001 digits'):
        run_config(preset="messages", changes={"training.epochs": 10**4000})


def test_settings_of_today_are_within_the_bounds() -> None:
    for name in MODELS:
        model_config(name, {})
    TrainingConfig()
