"""Settings: frozen pydantic models whose errors name the key, what was expected, and the fix."""

from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from pgode.runtime.choices import did_you_mean
from pgode.runtime.errors import InputError

Kind = TypeVar("Kind", bound=BaseModel)


class Settings(BaseModel):
    """Base of every group of settings: immutable, and unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


def validated(kind: type[Kind], content: dict[str, Any], where: str) -> Kind:
    """Check `content` against `kind`; errors name its group `where` ("" for the whole config)."""
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = [str(part) for part in first["loc"]]
        key = ".".join([where, *path] if where else path)
        if first["type"] == "extra_forbidden":
            known = _keys(kind, path[:-1])
            hint = did_you_mean(path[-1], known) or f"Known keys: {', '.join(known)}."
            raise InputError(f'unknown setting "{key}". {hint}') from None
        if not path:
            reason = str(first["msg"]).removeprefix("Value error, ").rstrip(".")
            raise InputError(
                f"the settings of {where or 'the run'} do not fit together: {reason}. Correct them "
                f"in the config file or with --set."
            ) from None
        raise InputError(
            f'the setting "{key}" is {first["input"]!r}, which is invalid: {first["msg"]}. '
            f"Correct it in the config file or with --set {key}=..."
        ) from None


def _keys(kind: type[BaseModel], path: list[str]) -> list[str]:
    for part in path:
        inner = kind.model_fields[part].annotation if part in kind.model_fields else None
        if not (isinstance(inner, type) and issubclass(inner, BaseModel)):
            return []
        kind = inner
    return list(kind.model_fields)
