"""The spaces that a search would have, before there is one."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.table import Table

from pgode.data import files
from pgode.training.config import RunConfig, run_config
from pgode.training.presets import presets_of
from pgode.tuning.basis import base_config, fixed_names, settled
from pgode.tuning.output.terminal import space_table
from pgode.tuning.space.default import default_space, has_laws
from pgode.tuning.space.file import read_space
from pgode.tuning.space.settings import changed, value_of


def space_tables(
    data: Path | None,
    model: str,
    preset: str | None,
    space: Path | None,
    file: Path | None,
    changes: dict[str, Any],
    force: bool = False,
) -> Iterator[Table]:
    """The settings to be varied, for the data, or else for the preset, or for every preset."""
    if data is not None:
        trajectories = files.read(data, force=force)
        found = [settled(trajectories, base_config(trajectories, model, preset, file, changes))]
    else:
        names = presets_of(model) if preset is None else [preset]
        found = [_without_data(run_config(model, name, file, changes)) for name in names]
    fixed = fixed_names(file, changes)
    for config in found:
        domains = (
            default_space(config, fixed) if space is None else read_space(space, config, fixed)
        )
        yield space_table(f"{config.name}, preset {config.preset}{_laws(config)}", config, domains)


def _without_data(config: RunConfig) -> RunConfig:
    """Force laws alone, where data would decide whether there are networks beside them."""
    if has_laws(config) and value_of(config, "model.dynamics.messages") is None:
        return changed(config, {"model.dynamics.messages": False})
    return config


def _laws(config: RunConfig) -> str:
    if not has_laws(config):
        return ""
    beside = value_of(config, "model.dynamics.messages")
    return " (force laws and networks beside them)" if beside else " (force laws alone)"
