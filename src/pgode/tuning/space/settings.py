"""Settings of a run with some of them changed, checked, and read by their full name."""

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from pydantic import BaseModel

from pgode.models.registry import model_class, model_config
from pgode.runtime.settings import UnknownSettingError, merged, setting_names, validated
from pgode.training.config import RunConfig, nested
from pgode.tuning.space.domains import Value


def changed(base: RunConfig, changes: Mapping[str, Value]) -> RunConfig:
    """`base` with single changes ("model.width": 64); an error if they are not allowed together."""
    content = base.model_dump(mode="json")
    for key, value in changes.items():
        content = merged(content, nested(key, value))
    try:
        checked = validated(RunConfig, content, "")
        settings = model_config(checked.name, checked.model).model_dump(mode="json")
    except UnknownSettingError as unknown:
        model = model_class(base.name).config_type
        raise unknown.suggesting(
            [*setting_names(RunConfig), *setting_names(model, "model.")]
        ) from None
    return checked.model_copy(update={"model": settings})


def value_of(config: RunConfig, name: str) -> Any:
    """The value of a setting by its full name; None if there is no such setting."""
    content: Any = config.model_dump(mode="json")
    for part in name.split("."):
        content = content.get(part) if isinstance(content, dict) else None
    return content


def description_of(config: RunConfig, name: str) -> str:
    """What the schema says about a setting."""
    group, *parts = name.split(".")
    if group == "model":
        kinds: list[Any] = [model_class(config.name).config_type]
    else:
        kinds = list(_groups(RunConfig.model_fields[group].annotation))
    found, path = "", group
    for part in parts:
        # Of the kinds of a group, the one that the settings have.
        own = value_of(config, f"{path}.kind")
        kinds = [each for each in kinds if _kind(each) in (own, None)]
        path = f"{path}.{part}"
        fields = [kind.model_fields[part] for kind in kinds if part in kind.model_fields]
        kinds = [each for field in fields for each in _groups(field.annotation)]
        found = next((field.description for field in fields if field.description), "")
    return found


def _groups(annotation: Any) -> Iterator[type[BaseModel]]:
    for kind in get_args(annotation) or (annotation,):
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield kind


def _kind(group: type[BaseModel]) -> str | None:
    field = group.model_fields.get("kind")
    return None if field is None else str(field.default)
