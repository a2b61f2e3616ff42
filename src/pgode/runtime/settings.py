"""Settings: frozen pydantic models whose errors name the key, what was expected, and the fix."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from pgode.runtime.choices import closest, did_you_mean
from pgode.runtime.errors import InputError

Group = TypeVar("Group", bound=BaseModel)


class Settings(BaseModel):
    """Base of every group of settings: it cannot change, and unknown keys are errors.

    `renamed` maps names of earlier versions ("old key" or "old key=value") to the new setting.
    `removed` maps removed keys to the reason.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", validate_default=True, allow_inf_nan=False
    )
    renamed: ClassVar[Mapping[str, str]] = {}
    removed: ClassVar[Mapping[str, str]] = {}

    @model_validator(mode="before")
    @classmethod
    def _refuse_old_names(cls, content: Any) -> Any:
        for key, value in content.items() if isinstance(content, dict) else ():
            if key in cls.removed:
                raise PydanticCustomError("removed", "{why}", {"key": key, "why": cls.removed[key]})
            known = key in cls.model_fields and isinstance(value, dict)
            new = cls.renamed.get(f"{key}={value}") or (None if known else cls.renamed.get(key))
            if new is not None:
                raise PydanticCustomError("renamed", "{new}", {"key": key, "new": new})
        return content


def kind_of(default: str) -> Callable[[Any], Any]:
    """Read a group with several kinds: a name alone chooses one, settings without it `default`.

    For `Annotated[A | B, Field(discriminator="kind"), BeforeValidator(kind_of("a"))]`.
    """

    def read(content: Any) -> Any:
        if isinstance(content, str):
            return {"kind": content}
        return {"kind": default, **content} if isinstance(content, dict) else content

    return read


def merged(
    below: Mapping[str, Any], above: Mapping[str, Any], *, keep_kinds: bool = False
) -> dict[str, Any]:
    """`above` over `below`, group by group.

    A group that names another kind than the group below replaces it: settings of the other kind
    would be invalid. With `keep_kinds` they stay, so that validation reports the contradiction.
    """
    result = dict(below)
    for key, value in above.items():
        old = result.get(key)
        if isinstance(old, str) and isinstance(value, dict):
            old = {"kind": old}
        if isinstance(old, dict) and isinstance(value, str):
            value = {"kind": value}
        if isinstance(old, dict) and isinstance(value, dict):
            kinds = {group["kind"] for group in (old, value) if "kind" in group}
            group = old if len(kinds) < 2 or keep_kinds else {}
            result[key] = merged(group, value, keep_kinds=keep_kinds)
        else:
            result[key] = value
    return result


def validated(group: type[Group], content: Mapping[str, Any], where: str) -> Group:
    """Check `content` against `group`; `where` names the group in errors ("" for a whole run)."""
    try:
        return group.model_validate(content)
    except ValidationError as error:
        raise InputError(_explained(group, error, where)) from None


def _explained(group: type[BaseModel], error: ValidationError, where: str) -> str:
    """The first validation error: what is wrong, where, and how to correct it."""
    first = error.errors(include_url=False)[0]
    kind, context = str(first["type"]), first.get("ctx", {})
    path, keys = _located(group, [str(part) for part in first["loc"]])
    key = ".".join([where, *path] if where else path)
    if kind == "renamed":
        old = ".".join(part for part in (key or where, context["key"]) if part)
        name, _, note = f"{where}.{context['new']}".lstrip(".").partition(" ")
        new = f'"{name}" {note}'.rstrip()
        return f'the setting "{old}" is now {new}. Change it in the config file or in --set.'
    if kind == "removed":
        old = ".".join(part for part in (key or where, context["key"]) if part)
        return f'the setting "{old}" was removed: {context["why"]}. Leave it out.'
    if kind == "extra_forbidden":
        chosen = f' of the kind "{first["loc"][-2]}"' if len(first["loc"]) > len(path) else ""
        return f'unknown setting "{key}"{chosen}. {_suggestion(group, path, keys, where)}'
    if kind == "union_tag_invalid":
        kinds = [tag.strip(" '") for tag in str(context["expected_tags"]).split(",")]
        close = closest(str(context["tag"]), kinds)
        hint = f' Did you mean "{close}"?' if close else ""
        return (
            f'the setting "{key}" is of the kind "{context["tag"]}", which is invalid. Expected '
            f"one of {', '.join(kinds)}.{hint} Correct it in the config file or with --set "
            f"{key}=..."
        )
    if kind == "value_error" and keys:
        reason = str(first["msg"]).removeprefix("Value error, ").rstrip(".")
        return (
            f"the settings of {key or where or 'the run'} contradict each other: {reason}. Correct "
            f"them in the config file or with --set."
        )
    reason = str(first["msg"]).removeprefix("Value error, ").rstrip(".")
    return (
        f'the setting "{key}" is {first["input"]!r}, which is invalid: {reason}. '
        f"Correct it in the config file or with --set {key}=..."
    )


def _suggestion(group: type[BaseModel], path: list[str], keys: list[str], where: str) -> str:
    """The setting that may be meant: one of the same group, or one of another by its full name."""
    name, full = path[-1], ".".join(path)
    others = {each.rpartition(".")[2]: each for each in _paths(group) if each != full}
    if name not in others and (hint := did_you_mean(name, keys)):
        return hint
    if (close := closest(name, others)) is not None:
        return f'Did you mean "{".".join(part for part in (where, others[close]) if part)}"?'
    return f"Known keys: {', '.join(keys)}." if keys else "It has no settings."


def _paths(group: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """The dotted names of all settings of a group and of its inner groups."""
    for key, field in group.model_fields.items():
        kinds = get_args(field.annotation) or (field.annotation,)
        groups = [kind for kind in kinds if _is_group(kind)]
        for each in groups:
            yield from _paths(each, f"{prefix}{key}.")
        if not groups:
            yield prefix + key


def _located(group: type[BaseModel], location: list[str]) -> tuple[list[str], list[str]]:
    """The keys that lead to an error, without the names of kinds, and the keys of its group."""
    path: list[str] = []
    inside: tuple[Any, ...] = (group,)
    for part in location:
        chosen = [each for each in inside if _kind(each) == part]
        if chosen and path:
            inside = (chosen[0],)
            continue
        path.append(part)
        holder = inside[0]
        field = holder.model_fields.get(part) if _is_group(holder) else None
        if field is not None:
            inner = field.annotation
            inside = get_args(inner) or (inner,)
    last = inside[0]
    return path, list(last.model_fields) if _is_group(last) else []


def _is_group(each: Any) -> bool:
    return isinstance(each, type) and issubclass(each, BaseModel)


def _kind(each: Any) -> str | None:
    field = each.model_fields.get("kind") if _is_group(each) else None
    return None if field is None else str(field.default)
