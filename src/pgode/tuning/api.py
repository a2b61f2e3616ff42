"""`pgode.tune`: search for settings, resume a search, keep its best run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

from pgode.data import files
from pgode.data.trajectories import Trajectories
from pgode.runtime.choices import check_int
from pgode.runtime.disk.claims import claim
from pgode.runtime.engines import ENGINES
from pgode.runtime.errors import InputError
from pgode.runtime.files import writable_folder
from pgode.runtime.limits.bounds import WORKERS
from pgode.runtime.locks import locked
from pgode.runtime.terminal.console import Terminal
from pgode.training.config import RunConfig
from pgode.tuning.basis import base_config, fixed_names, settled
from pgode.tuning.output.best import keep_best
from pgode.tuning.output.files import write_outputs
from pgode.tuning.record import RECORD, TuningRecord, check_basis, check_search
from pgode.tuning.result import Tuning
from pgode.tuning.search import Search, preset_values
from pgode.tuning.space.default import default_space, laws_alone
from pgode.tuning.space.domains import Domain
from pgode.tuning.space.file import read_space
from pgode.tuning.study import importances, optuna


class TuningStopped(KeyboardInterrupt):
    """A signal ended a search early. Its trials are saved, and the same call goes on with it."""

    def __init__(self, search: Search) -> None:
        ended, best = search.ended, search.best
        kept = f"{len(ended)} of {search.wanted} trials have ended and are kept in {search.folder}"
        lowest = "" if best is None else f", the best with a validation error of {best.error:.3e}"
        super().__init__(f"{kept}{lowest}; those that were running are taken up again")


def tune(
    data: Trajectories | Path | str,
    folder: Path | str,
    *,
    force: bool = False,
    trials: int = 40,
    model: str = "pgode",
    preset: str | None = None,
    space: Path | str | None = None,
    epochs: int | None = None,
    horizon: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    engine: str = "local",
    prune: bool = True,
    keep_all: bool = False,
    config: Path | str | None = None,
    settings: dict[str, Any] | None = None,
    console: Console | None = None,
    on_note: Callable[[str], None] = lambda text: None,
) -> Tuning:
    """Search for the settings with the lowest validation error, or go on with a search.

    `folder` is new, or that of the same search with as many or fewer trials: `trials` counts those
    of earlier calls. `space` is a YAML file (see `pgode.tuning.space.file`); the default depends on
    model and preset. `settings` and `config` fix settings for all trials. The best run is in
    `folder/best`, the page in `folder/report.html`. With one job, the same seed gives the same
    trials again. An interrupt raises `TuningStopped`, a KeyboardInterrupt; nothing is lost.
    `force` is as for `pgode.read`.
    """
    optuna()
    check_int("--trials", trials, 1)
    check_int("--jobs", jobs, 1, WORKERS)
    if engine not in ENGINES:
        raise InputError(
            f'--engine is "{engine}". Expected one of {", ".join(ENGINES)}. Leave it out for local '
            f"processes."
        )
    path, file = Path(folder), None if config is None else Path(config)
    known = TuningRecord.read(path)
    writable_folder(path / RECORD)
    options = {"window.horizon": horizon, "training.epochs": epochs, "training.seed": seed}
    changes = dict(settings or {})
    changes |= {key: value for key, value in options.items() if value is not None}
    trajectories = data if isinstance(data, Trajectories) else files.read(Path(data), force=force)
    source = str(path / "data.nc") if isinstance(data, Trajectories) else str(data)
    asked = base_config(trajectories, model, preset, file, changes)
    if known is not None:
        check_basis(known, trajectories.hash, source, asked, path)
    shared = settled(trajectories, asked) if known is None else known.config
    domains = _domains(shared, fixed_names(file, changes), space)
    record = TuningRecord(trajectories.hash, source, asked, shared, domains, prune)
    if known is not None:
        check_search(known, record, path)
    with locked(path / RECORD, busy=f"another search is running in {path}"), claim(path):
        record.write(path)
        if isinstance(data, Trajectories) and not Path(source).exists():
            files.write_own(trajectories, source)
        search = Search(
            path, record, trials, keep_all=keep_all, console=console or Terminal(quiet=True)
        )
        _say_plan(search, on_note)
        try:
            search.run(trajectories, jobs, engine)
            tuning = result_of(search)
            keep_best(tuning, trajectories)
            write_outputs(tuning)
        except KeyboardInterrupt:
            raise TuningStopped(search) from None
        return tuning


def result_of(search: Search) -> Tuning:
    """What a search has found so far."""
    own = preset_values(search.record)
    return Tuning(
        folder=search.folder,
        record=search.record,
        trials=search.ended,
        importance=importances(search.record.space, search.ended),
        lost=search.lost,
        exhausted=search.exhausted,
        preset=next((trial for trial in search.ended if trial.plan.values == own), None),
    )


def _domains(config: RunConfig, fixed: set[str], space: Path | str | None) -> dict[str, Domain]:
    if space is not None:
        return read_space(Path(space), config, fixed)
    domains = default_space(config, fixed)
    if not domains:
        raise InputError(
            "every setting of the default space is fixed with --set or --config. Expected some "
            "that can vary. Fix fewer, or name others with --space."
        )
    return domains


def _say_plan(search: Search, on_note: Callable[[str], None]) -> None:
    record, done = search.record, len(search.ended)
    config = record.config
    if done or search.trials:
        on_note(f"going on with a search of which {done} trials have ended")
    length = "without epochs" if laws_alone(config) else f"at most {record.epochs} epochs each"
    on_note(
        f"{search.wanted} trials of {config.name} (preset {config.preset}), {length}, over "
        f"{len(record.space)} settings"
    )
