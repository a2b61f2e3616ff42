"""`pgode evaluate`: score a run's forecasts."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pgode.cli.parameters import ResultFile, RunData, RunName, SampleSeed


def evaluate(
    run: RunName,
    *,
    data: RunData = None,
    split: Annotated[tuple[str, ...], Parameter(negative=(), consume_multiple=False)] = (),
    horizons: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    samples: int = 20,
    seed: SampleSeed = 0,
    replicas: Path | None = None,
    json: ResultFile = None,
) -> None:
    """Score a run's forecasts and those of the naive models.

    Parameters
    ----------
    split
        train, val, test or ood; can be repeated. Test and ood if not given.
    horizons
        Frames over which errors are averaged, such as 12,24,36. If not given, the trained horizon
        and multiples of 12 frames below it, at most three in all.
    samples
        Number of sampled forecasts for CRPS and coverage; 0 omits both.
    replicas
        File of replicas (pgode simulate protein --replicas): adds the irreducible error to
        the table, and to the run for its report.
    """
    from rich.console import Console

    from pgode.cli.parsing import whole_numbers
    from pgode.data import files
    from pgode.reports.terminal import error_table
    from pgode.runs.folder import source_of
    from pgode.runs.run import Run
    from pgode.runtime.files import writable_file, write_json

    if json is not None:
        writable_file(json)
    opened = Run.open(run)
    source = data or source_of(run)
    console = Console()
    with console.status("forecasting"):
        result = opened.evaluate(
            files.read(source),
            splits=list(split) or None,
            horizons=None if horizons is None else whole_numbers(horizons, "--horizons"),
            samples=samples,
            seed=seed,
            replicas=None if replicas is None else files.read(replicas),
            source=str(source),
        )
    console.print(error_table(result))
    for name, use in (result.gate_use or {}).items():
        console.print(f"prototypes in use on {name}: {use.text}", highlight=False)
    if json is not None:
        write_json(json, result.to_json())
        console.print(f"wrote {json}", highlight=False, soft_wrap=True)
