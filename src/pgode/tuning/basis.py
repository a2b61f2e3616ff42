"""The settings that all trials of a search start from."""

from pathlib import Path
from typing import Any

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data.trajectories import Trajectories
from pgode.models import model_config
from pgode.runtime.reading import read_yaml
from pgode.training.config import RunConfig, config_for, names_horizon, run_config, within_data


def base_config(
    data: Trajectories,
    model: str,
    preset: str | None,
    file: Path | None,
    changes: dict[str, Any],
) -> RunConfig:
    """The settings for data, as pgode train would choose them."""
    if preset is None:
        config = config_for(data, model, file, changes)
    else:
        config = run_config(model, preset, file, changes)
    return within_data(config, data, asked=names_horizon(file, changes))


def settled(data: Trajectories, config: RunConfig) -> RunConfig:
    """The settings with what the training data decide, once for all trials.

    Force laws have networks beside them or not, and with them other settings to search.
    """
    training, window = data.split_of("train"), config.window
    windows = Windows(training, Normaliser.fit(training), window.condition, window.horizon)
    given = model_config(config.name, config.model)
    decided, _ = given.settled(windows, config.training.seed)
    return config.model_copy(update={"model": decided.model_dump(mode="json")})


def fixed_names(file: Path | None, changes: dict[str, Any]) -> set[str]:
    """Full names of the settings that a file or single changes give."""
    written = read_yaml(file, "the config") if file is not None else {}
    return {*changes, *_names(written, "")}


def _names(content: Any, before: str) -> set[str]:
    if not isinstance(content, dict):
        return {before.rstrip(".")}
    return {name for key, value in content.items() for name in _names(value, f"{before}{key}.")}
