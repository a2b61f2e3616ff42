"""Settings: frozen pydantic models whose errors name the key, what was expected, and the fix."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from pgode.runtime.choices import abridged, closest
from pgode.runtime.errors import InputError

Group = TypeVar("Group", bound=BaseModel)
BEYOND = 10**4000
"""Numbers beyond this are taken for this, which no setting allows either."""


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
    def _refuse_truth_values(cls, content: Any) -> Any:
        """Pydantic would take `true` for the number 1: a width of `yes` would train silently."""
        for key, value in content.items() if isinstance(content, dict) else ():
            field = cls.model_fields.get(key)
            types = set(_leaves(field.annotation)) if field is not None else {bool}
            if isinstance(value, int) and abs(value) > BEYOND:  # Python cannot write it.
                content = {**content, key: BEYOND if value > 0 else -BEYOND}
            if types & {int, float} and bool not in types and _holds_truth_value(value):
                raise PydanticCustomError("truth_value", "{value}", {"key": key, "value": value})
        return content

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
        raise _explained(group, error, where) from None


class UnknownSettingError(InputError):
    """A setting that does not exist; `suggesting` finds the one that may be meant."""

    def __init__(self, key: str, kind: str, known: Sequence[str], names: Iterable[str]) -> None:
        self.key, self.kind, self.known = key, kind, tuple(known)
        meant = suggestion(key, names)
        listed = f"Known keys: {', '.join(known)}." if known else "It has no settings."
        hint = f'Did you mean "{meant}"?' if meant else listed
        super().__init__(f'unknown setting "{key}"{kind}. {hint}')

    def suggesting(self, names: Iterable[str]) -> "UnknownSettingError":
        """The same error with a suggestion from other settings too, by their full names."""
        return UnknownSettingError(self.key, self.kind, self.known, names)


def suggestion(key: str, names: Iterable[str]) -> str | None:
    """The setting that may be meant by a name that is none, by its full name.

    A name that exists in another group is meant there, whatever group was given. Otherwise it is a
    slip in the same group, then one in any group, then the initials of a name (lr).
    """
    names = list(names)
    group, _, name = key.lower().replace("-", "_").rpartition(".")
    last = {each: each.rpartition(".")[2].lower() for each in names}
    elsewhere = [each for each in names if last[each] == name]
    if elsewhere:
        return closest(key, elsewhere, cutoff=0.0)
    beside = {last[each]: each for each in names if each.lower().rpartition(".")[0] == group}
    if (close := closest(name, beside)) is not None:
        return beside[close]
    initials = [each for each in names if name == "".join(w[:1] for w in last[each].split("_"))]
    if initials and len(name) > 1:
        return initials[0]
    if (anywhere := closest(name, last.values(), cutoff=0.65)) is not None:
        return closest(key, [each for each in names if last[each] == anywhere], cutoff=0.0)
    return closest(key, names, cutoff=0.75)


def _explained(group: type[BaseModel], error: ValidationError, where: str) -> InputError:
    """The first validation error, see `_reason`; of its own kind for an unknown setting."""
    first = error.errors(include_url=False)[0]
    if first["type"] != "extra_forbidden":
        return InputError(_reason(group, dict(first), where))
    path, keys = _located(group, [str(part) for part in first["loc"]])
    chosen = f' of the kind "{first["loc"][-2]}"' if len(first["loc"]) > len(path) else ""
    inner = first["input"]
    while isinstance(inner, dict) and len(inner) == 1:  # An unknown group: its setting is known.
        ((name, inner),) = inner.items()
        path.append(str(name))
    prefix = f"{where}." if where else ""
    return UnknownSettingError(prefix + ".".join(path), chosen, keys, setting_names(group, prefix))


def _reason(group: type[BaseModel], first: dict[str, Any], where: str) -> str:
    """What is wrong, where, and how to correct it."""
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
    if kind == "truth_value":
        name = ".".join(part for part in (key or where, context["key"]) if part)
        return (
            f'the setting "{name}" is {abridged(context["value"])}, which is invalid: Input should '
            f"be a number, not true or false. Correct it in the config file or with --set "
            f"{name}=..."
        )
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
        f'the setting "{key}" is {abridged(first["input"])}, which is invalid: {reason}. '
        f"Correct it in the config file or with --set {key}=..."
    )


def setting_names(group: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """The dotted names of all settings of a group and of its inner groups."""
    for key, field in group.model_fields.items():
        kinds = get_args(field.annotation) or (field.annotation,)
        groups = [kind for kind in kinds if _is_group(kind)]
        for each in groups:
            yield from setting_names(each, f"{prefix}{key}.")
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


def _leaves(annotation: Any) -> Iterator[Any]:
    """The types that an annotation is made of."""
    inner = get_args(annotation)
    for each in inner:
        yield from _leaves(each)
    if not inner:
        yield annotation


def _holds_truth_value(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(_holds_truth_value(each) for each in value)
    return isinstance(value, bool)


def _is_group(each: Any) -> bool:
    return isinstance(each, type) and issubclass(each, BaseModel)


def _kind(each: Any) -> str | None:
    field = each.model_fields.get("kind") if _is_group(each) else None
    return None if field is None else str(field.default)
