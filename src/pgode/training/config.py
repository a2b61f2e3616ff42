"""Settings of a run (model, windows, training), merged from defaults, preset, file and changes."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, model_validator

from pgode.data.simulate import generated_by
from pgode.data.trajectories import Trajectories
from pgode.models.registry import model_class, model_config
from pgode.runtime.errors import InputError
from pgode.runtime.limits.bounds import COUNT, FRAMES, LARGE, SEED, SMALL, WORKERS
from pgode.runtime.reading import parse_yaml, read_yaml_mapping
from pgode.runtime.settings import Settings, UnknownSettingError, merged, setting_names, validated
from pgode.training.checkpoint import OutdatedRunError, check_format
from pgode.training.presets import find_preset, preset_for, presets_of

Share = Annotated[float, Field(gt=0, le=1)]
Frames = Annotated[int, Field(ge=1, le=FRAMES)]


MANY_SYSTEMS = 200
"""With so many training systems one window of each is enough for an epoch."""
WINDOWS_PER_EPOCH = 2000
"""About the most windows of an epoch that the data decide on."""


class WindowConfig(Settings):
    """Condition and horizon, in frames, and where training windows start."""

    condition: int = Field(
        default=12, ge=1, le=FRAMES, description="observed frames a forecast starts from"
    )
    horizon: int = Field(default=36, ge=1, le=FRAMES, description="frames that training forecasts")
    starts: Literal["auto", "first", "random", "all"] = Field(
        default="auto",
        description="training windows of an epoch: each system's first, a random one of each, or "
        "all; auto: random for simulated systems or many, otherwise all",
    )
    stride: int = Field(
        default=1, ge=1, le=FRAMES, description="frames between two windows where starts is all"
    )

    def settled(self, data: Trajectories) -> "WindowConfig":
        """With `auto` decided by the training data.

        A few long series hold many windows; an epoch sees all of them, but for a stride that keeps
        it to some thousand.
        """
        if self.starts != "auto":
            return self
        length = self.condition + self.horizon
        windows = int(np.maximum(data.n_frames - length + 1, 1).sum())
        simulated = data.topology or generated_by(data.dataset.attrs["generator"]) is not None
        if simulated or data.systems >= MANY_SYSTEMS or windows == data.systems:
            return self.model_copy(update={"starts": "random"})
        stride = max(self.stride, windows // WINDOWS_PER_EPOCH)
        return self.model_copy(update={"starts": "all", "stride": stride})

    @property
    def rolling(self) -> bool:
        """Whether forecasts are validated and scored at rolling origins, not at first frames."""
        return self.starts == "all"


class TrainingConfig(Settings):
    """How the weights are fitted."""

    epochs: int = Field(default=60, ge=1, le=COUNT, description="passes over the training systems")
    batch: int = Field(default=16, ge=1, le=COUNT, description="systems per step")
    curriculum: tuple[tuple[Share, Frames], ...] = Field(
        default=((0.4, 12), (0.6, 24)),
        description="(share, horizon) pairs: until that share of the epochs, forecast that far",
    )
    optimiser: Literal["adamw", "adam"] = Field(
        default="adamw", description="Adam with or without decay"
    )
    learning_rate: float = Field(default=1e-3, ge=SMALL, le=LARGE, description="peak learning rate")
    schedule: Literal["one-cycle", "cosine", "constant"] = Field(
        default="one-cycle", description="how the learning rate changes over all steps"
    )
    weight_decay: float = Field(default=1e-3, ge=0, le=LARGE, description="AdamW's decay")
    clip: float | None = Field(
        default=1.0,
        ge=SMALL,
        le=LARGE,
        description="largest gradient norm, as a multiple of the recent average",
    )
    adversary_rate: float = Field(
        default=5e-4, ge=SMALL, le=LARGE, description="learning rate of a model's adversary"
    )
    patience: int | None = Field(
        default=None, ge=1, le=COUNT, description="epochs without progress before stopping"
    )
    seed: int = Field(
        default=0, ge=0, le=SEED, description="fixes weights, order of systems and draws"
    )
    threads: int | None = Field(
        default=None,
        ge=1,
        le=WORKERS,
        description="CPU threads of a process; if not given, torch's own choice, or one where "
        "several processes train",
    )
    processes: int | None = Field(
        default=None,
        ge=1,
        le=WORKERS,
        description="processes that share every batch; if not given, one per core where the "
        "training is long enough",
    )

    @model_validator(mode="after")
    def _weight_decay_has_effect(self) -> "TrainingConfig":
        default = type(self).model_fields["weight_decay"].default
        if self.optimiser == "adam" and self.weight_decay not in (0, default):
            raise ValueError("weight_decay has no effect with optimiser=adam; use adamw")
        return self


class RunConfig(Settings):
    """Everything that determines a run, together with the data."""

    name: str = Field(default="pgode", description="the model")
    preset: str = Field(default="default", description="the preset the settings started from")
    model: dict[str, Any] = Field(default_factory=dict, description="the model's own settings")
    window: WindowConfig = WindowConfig()
    training: TrainingConfig = TrainingConfig()


IMPLIED: dict[str, dict[str, Any]] = {
    "pgode": {"gate": {"normalise": False}, "state": {"trend": False}}
}
"""Settings that a stored run lacks if they did not exist when it was trained, by model."""

GONE = {"pgode": (("encoder", "strength_context", "position"), ("state", "coupling", "velocity"))}
"""Parts that models of earlier versions could have: group, setting, and the role of features that
they were for."""

OPTIONS = {"name": "--model", "preset": "--preset"}
"""Parts of a run's configuration that an option chooses."""


def run_config(
    name: str = "pgode",
    preset: str = "default",
    file: Path | None = None,
    changes: dict[str, Any] | None = None,
    base: Mapping[str, Any] | None = None,
) -> RunConfig:
    """Merge a preset, a YAML file and single changes ("model.width": 64); later ones win.

    A file may name another model, whose preset is then read. `base` are the settings of a run that
    take the place of the preset.
    """
    written = {} if file is None else read_settings(file)
    name = validated(RunConfig, {"name": written.get("name", name)}, "").name
    single: dict[str, Any] = {}
    for key, value in (changes or {}).items():
        if key in OPTIONS:
            raise InputError(
                f'the setting "{key}" cannot be changed with --set {key}={value}. Expected a '
                f"setting of model, window or training. Use {OPTIONS[key]} instead."
            )
        single = merged(single, nested(key, value), keep_kinds=True)
    below = find_preset(name, preset) if base is None else base
    content = merged(merged(below, written), single)
    content = {**content, "name": name, "preset": preset}
    try:
        checked = validated(RunConfig, content, "")
        settings = model_config(checked.name, checked.model).model_dump()
    except UnknownSettingError as unknown:
        # Only here both the settings of the run and those of its model are known.
        raise unknown.suggesting(
            [*setting_names(RunConfig), *setting_names(model_class(name).config_type, "model.")]
        ) from None
    return checked.model_copy(update={"model": settings})


def within_data(config: RunConfig, data: Trajectories, *, asked: bool) -> RunConfig:
    """The settings with a horizon that the training data reach.

    A horizon that was `asked` for is an error if they do not; a default becomes shorter.
    """
    window, longest = config.window, int(data.split_of("train").n_frames.max())
    reach = longest - window.condition
    if reach < 1 or window.horizon <= reach:
        return config
    if asked:
        raise InputError(
            f"cannot train to forecast {window.horizon} frames: the longest training system has "
            f"{longest}, of which {window.condition} are the condition. Expected a horizon from 1 "
            f"to {reach}. Choose one with --horizon, observe fewer frames (--set "
            f"window.condition=...), or give longer data."
        )
    return config.model_copy(update={"window": window.model_copy(update={"horizon": reach})})


def names_horizon(file: Path | None, changes: Mapping[str, Any]) -> bool:
    """Whether a file or single changes give the horizon, so that it is not a default."""
    written = {} if file is None else read_settings(file).get("window")
    return "window.horizon" in changes or (isinstance(written, dict) and "horizon" in written)


def with_implied(content: dict[str, Any], roles: Collection[str] | None = None) -> dict[str, Any]:
    """The content of a run's config.json, with later settings as the run was trained.

    Settings of parts that are gone are left out where the model has none of them: because they say
    so, or because no feature of the data has the role they need.
    """
    name, model = content.get("name", "pgode"), content.get("model")
    if not isinstance(model, dict):
        return content
    implied = IMPLIED.get(name, {})
    if _laws_alone(model):  # They have no state with settings, and refuse any but the defaults.
        implied = {key: value for key, value in implied.items() if key != "state"}
    model = merged(implied, model)
    training = content.get("training")
    if isinstance(training, dict):
        content = {**content, "training": {"processes": 1, **training}}
    for group, part, role in GONE.get(name, ()):
        settings = model.get(group)
        idle = roles is not None and role not in roles
        if isinstance(settings, dict) and (idle or settings.get(part) is False):
            model[group] = {key: value for key, value in settings.items() if key != part}
    return {**content, "model": model}


def _laws_alone(model: Mapping[str, Any]) -> bool:
    dynamics = model.get("dynamics")
    kind, messages = (
        (dynamics.get("kind"), dynamics.get("messages")) if isinstance(dynamics, dict) else ("", "")
    )
    return kind == "laws" and messages is False


def check_parts(content: Mapping[str, Any], path: Path) -> None:
    """Refuse a run's config.json, after `with_implied`, if its model has parts that are gone."""
    stored, gone = content.get("model"), GONE.get(content.get("name", "pgode"), ())
    groups = stored if isinstance(stored, dict) else {}
    has = [f"model.{group}.{part}" for group, part, _ in gone if part in groups.get(group, ())]
    if has:
        raise outdated_parts(has, path)


def outdated_parts(settings: Sequence[str], path: Path) -> OutdatedRunError:
    """The error for a run whose model has parts that are gone, by their settings."""
    names = " and ".join(settings)
    return OutdatedRunError(
        f"{path} belongs to a run that was trained with {names}, which models of this version of "
        f"pgode do not have. Expected a run without. Train the model again; with "
        f"model.dynamics=laws it finds the forces between pairs in the data."
    )


def config_for(
    data: Trajectories,
    name: str = "pgode",
    file: Path | None = None,
    changes: dict[str, Any] | None = None,
) -> RunConfig:
    """The settings for data where no preset is named, see `preset_for`."""
    model = name if file is None else read_settings(file).get("name", name)
    preset = preset_for(data, model) if isinstance(model, str) else "default"
    return fitting_config(name, preset, file, changes)


def fitting_config(
    name: str, preset: str, file: Path | None = None, changes: dict[str, Any] | None = None
) -> RunConfig:
    """The settings of a preset; those of message prototypes where changes are those of networks."""
    try:
        return run_config(name, preset, file, changes)
    except InputError as problem:
        if preset != "default" or "messages" not in presets_of(name):
            raise
        try:
            return run_config(name, "messages", file, changes)
        except InputError:
            raise problem from None


def parse_changes(pairs: list[str]) -> dict[str, Any]:
    """Turn the arguments of --set (`model.width=64`) into keys and YAML values."""
    changes = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise InputError(
                f"--set {pair} is not of the form key=value. Expected, for instance, "
                f"--set model.width=64."
            )
        changes[key] = parse_yaml(value, f"--set {pair}")
    return changes


def read_settings(file: Path) -> dict[str, Any]:
    """The content of a YAML file of settings, or of the config.json of a run."""
    content = read_yaml_mapping(
        file, "the config", expected="groups such as model, window and training"
    )
    if "format" in content:  # The config.json of a run.
        check_format(content.pop("format"), file)
        return with_implied(content)
    return content


def nested(key: str, value: Any) -> dict[str, Any]:
    """A setting by its full name ("model.width") as groups within groups."""
    *groups, last = key.split(".")
    content = {last: value}
    for group in reversed(groups):
        content = {group: content}
    return content
