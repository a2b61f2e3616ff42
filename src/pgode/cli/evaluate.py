"""`pgode evaluate`: score a run's forecasts."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pgode.cli.parameters import (
    Device,
    Force,
    Overwrite,
    ResultFile,
    RunData,
    RunName,
    SampleSeed,
)


def evaluate(
    run: RunName,
    *,
    data: RunData = None,
    force: Force = False,
    split: Annotated[tuple[str, ...], Parameter(negative=(), consume_multiple=False)] = (),
    horizons: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    metrics: str | None = None,
    origins: str | None = None,
    units: Annotated[bool, Parameter(negative=())] = False,
    samples: int = 20,
    seed: SampleSeed = 0,
    replicas: Path | None = None,
    device: Device = "auto",
    json: ResultFile = None,
    overwrite: Overwrite = False,
) -> None:
    """Score a run's forecasts and those of the naive models.

    Parameters
    ----------
    split
        train, val, test or ood; can be repeated. Test and ood if not given.
    horizons
        Frames over which errors are averaged, such as 12,24,36. If not given, the trained horizon
        and multiples of 12 frames below it, at most three in all.
    metrics
        Scores to print, a table for each: mse, rmse, mae, ade, fde, best_of_n, crps, wis,
        coverage_50, coverage_80, coverage_90, coverage_95, separated by commas. Mse if not given.
    origins
        Where windows start: first (each system's first frames), last, rolling, all, or every:N.
        Rolling if the run was trained on all windows of long series, otherwise first.
    units
        Print errors in the data's own units, not scaled.
    samples
        Number of sampled forecasts for probabilistic scores; 0 omits these.
    replicas
        File of replicas (pgode simulate protein --replicas): adds the irreducible error to
        the table, and to the run for its report.
    """
    from pgode.cli.parsing import names, whole_numbers
    from pgode.data import files
    from pgode.evaluation.scores.metrics import METRICS
    from pgode.reports.base.verdicts import all_verdicts
    from pgode.reports.terminal import error_table, worst_lines
    from pgode.runs.folder import source_of
    from pgode.runs.outputs import run_inputs
    from pgode.runs.run import Run
    from pgode.runtime.files import write_json
    from pgode.runtime.outputs import claim_outputs
    from pgode.runtime.terminal.console import table_console

    claim_outputs([json], inputs=run_inputs([run], data, replicas), overwrite=overwrite)
    asked = ["mse"] if metrics is None else names(metrics, "--metrics", "metric", METRICS)
    opened = Run.open(run, device)
    source = data or source_of(run)
    console = table_console()
    with console.status("forecasting"):
        result = opened.evaluate(
            files.read(source, force=force),
            splits=list(split) or None,
            horizons=None if horizons is None else whole_numbers(horizons, "--horizons"),
            samples=samples,
            seed=seed,
            replicas=None if replicas is None else files.read(replicas, force=force),
            source=str(source),
            origins=origins,
            metrics=asked if json is None else None,
        )
    for metric in asked:
        console.print(error_table(result, metric, units=units))
    for verdict in all_verdicts(result):
        console.print(verdict.text, highlight=False, markup=False, soft_wrap=True)
    for line in worst_lines(result):
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    for name, use in (result.gate_use or {}).items():
        console.print(f"prototypes in use on {name}: {use.text}", highlight=False)
    if json is not None:
        write_json(json, result.to_json())
        console.print(f"wrote {json}", highlight=False, soft_wrap=True)
