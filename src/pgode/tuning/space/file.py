"""A space of one's own: a YAML file of settings and the values to try.

    training.learning_rate: {low: 1e-4, high: 1e-2, log: true}
    model.width: [32, 64, 128]
    model:
      dynamics.prototypes: {low: 2, high: 8}

A list is a choice, low and high are a range. Every value is checked against the settings' schema.
"""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from pgode.runtime.choices import did_you_mean
from pgode.runtime.errors import InputError
from pgode.runtime.reading import mapping, read_yaml
from pgode.training.config import RunConfig
from pgode.tuning.space.domains import Choice, Domain, Range, Value, same, shown
from pgode.tuning.space.settings import changed, value_of

RANGE_KEYS = ("low", "high", "log")

REFUSED = {
    "name": "a search is of one model; choose it with --model",
    "preset": "a search starts from one preset; choose it with --preset",
    "window": "errors of other windows cannot be compared; choose them with --set",
    "training.epochs": "trials are compared epoch by epoch; choose their number with --epochs",
    "training.seed": "a seed is no setting to choose by its error; set it with --seed",
    "training.threads": "it does not change the model; every trial has one thread",
    "training.processes": "it does not change the model; every trial has one process",
}
"""Settings that cannot be searched, and why."""


def read_space(path: Path, base: RunConfig, fixed: Collection[str] = ()) -> dict[str, Domain]:
    """The domains in a file, each value checked together with the other settings of `base`."""
    content = _content(path)
    space: dict[str, Domain] = {}
    for name, given in _flat(content, ""):
        where = f'the space {path}, setting "{name}"'
        _check_name(name, where, fixed)
        domain = _domain(given, where)
        space[name] = _checked(domain, name, base, where)
    if not space:
        raise InputError(
            f"the space {path} names no settings. Expected lines such as model.width: [32, 64]. "
            f"Add some, or leave --space out for the default of pgode tune --list-space."
        )
    return space


def _content(path: Path) -> dict[str, Any]:
    content = read_yaml(path, "the space")
    if content is None:
        return {}
    return mapping(content, path, "the space", "lines such as model.width: [32, 64]")


def _flat(content: Mapping[str, Any], before: str) -> Iterator[tuple[str, Any]]:
    """Settings by their full name, from groups within groups or names with dots."""
    for key, value in content.items():
        name = f"{before}{key}"
        if isinstance(value, dict) and value and not {"low", "high"} & value.keys():
            yield from _flat({str(k): v for k, v in value.items()}, f"{name}.")
        else:
            yield name, value


def _check_name(name: str, where: str, fixed: Collection[str]) -> None:
    for prefix, reason in REFUSED.items():
        if name == prefix or name.startswith(f"{prefix}."):
            raise InputError(
                f"{where}: it cannot be searched, because {reason}. Remove it from the file."
            )
    if name in fixed:
        raise InputError(
            f"{where}: it is also fixed with --set or --config. Expected one of both. Remove it "
            f"from the file, or do not fix it."
        )


def _domain(given: Any, where: str) -> Domain:
    if isinstance(given, list):
        plain = [v for v in given if v is None or isinstance(v, str | int | float | bool)]
        if len(plain) < len(given):
            raise InputError(
                f"{where}: the list holds a {_kind_of_odd(given)}. Expected numbers, words, true, "
                f"false or null. Correct it."
            )
        if len(given) < 2:
            raise InputError(
                f"{where}: the list has {len(given)} values. Expected at least 2 to choose from. "
                f"Add some, or fix the setting with --set."
            )
        return Choice(tuple(plain))
    if not isinstance(given, dict) or not given:
        raise InputError(
            f"{where}: {given!r} is no domain. Expected a list such as [32, 64], or a range such "
            f"as {{low: 1.0e-4, high: 1.0e-2, log: true}}. Correct it, or fix it with --set."
        )
    for key in given:
        if key not in RANGE_KEYS:
            hint = did_you_mean(str(key), RANGE_KEYS) or "Remove it."
            raise InputError(
                f'{where}: a range has no "{key}". Expected low, high and, if numbers are drawn by '
                f"their logarithm, log: true. {hint}"
            )
    for key in ("low", "high"):
        if key not in given:
            raise InputError(
                f'{where}: the range has no "{key}". Expected low and high. Add {key}: ...'
            )
    log = given.get("log", False)
    if not isinstance(log, bool):
        raise InputError(f"{where}: log is {log!r}. Expected true or false. Correct it.")
    return Range(given["low"], given["high"], log)


def _kind_of_odd(given: list[Any]) -> str:
    odd = next(v for v in given if v is not None and not isinstance(v, str | int | float | bool))
    return "list" if isinstance(odd, list) else "group" if isinstance(odd, dict) else "date"


def _checked(domain: Domain, name: str, base: RunConfig, where: str) -> Domain:
    """The domain with values as the schema reads them: 1e-3, which YAML takes for a word, too."""
    if isinstance(domain, Choice):
        values = tuple(_read(value, name, base, where) for value in domain.values)
        for k, value in enumerate(values):
            if any(same(value, earlier) for earlier in values[:k]):
                raise InputError(
                    f"{where}: the list has {shown(value)} twice. Expected each value once. "
                    f"Remove the repetition."
                )
        return Choice(values)
    low, high = (_read(end, name, base, where) for end in (domain.low, domain.high))
    if not _is_number(low) or not _is_number(high):
        raise InputError(
            f"{where}: it has a range from {domain.low} to {domain.high}, but is no number. "
            f"Expected a list of values. Give one, such as [{shown(value_of(base, name))}, ...]."
        )
    assert isinstance(low, int | float) and isinstance(high, int | float)
    if low >= high:
        raise InputError(
            f"{where}: the range from {shown(low)} to {shown(high)} is empty. Expected low below "
            f"high. Correct it, or fix the setting with --set."
        )
    if domain.log and low <= 0:
        raise InputError(
            f"{where}: the range starts at {shown(low)}, which has no logarithm. Expected low "
            f"above 0 where log is true. Raise it, or leave log out."
        )
    return Range(low, high, domain.log)


def _read(value: Value, name: str, base: RunConfig, where: str) -> Value:
    try:
        found = value_of(changed(base, {name: value}), name)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    # A word that chooses a kind of a group ("mlp") has become the whole group.
    return value if isinstance(found, dict | list) else found


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
