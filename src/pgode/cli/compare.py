"""`pgode compare`: several runs on the same windows."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pgode.cli.parameters import Device, Force, OptionalOutput, Overwrite, ResultFile


def compare(
    *runs: str,
    data: Path | None = None,
    force: Force = False,
    split: str = "test",
    origins: str | None = None,
    metric: str = "mse",
    horizons: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    samples: int = 20,
    seed: int = 0,
    device: Device = "auto",
    output: OptionalOutput = None,
    json: ResultFile = None,
    overwrite: Overwrite = False,
) -> None:
    """Score several runs on the same windows, with ranges of their differences to the first.

    Parameters
    ----------
    runs
        Run folders, or shipped models by name (springs-10). The others are compared with the first.
    data
        Data file; the one the first run was trained on if not given.
    split
        train, val, test or ood.
    origins
        Where windows start: first (each system's first frames), last, rolling, all, or every:N.
        Rolling if a run was trained on all windows of long series, otherwise first.
    metric
        mse, rmse, mae, ade, fde, best_of_n, crps or wis.
    horizons
        Frames over which errors are averaged, such as 12,24,36. If not given, as in pgode evaluate,
        for the shortest trained horizon.
    samples
        Number of sampled forecasts where the metric needs them.
    seed
        Fixes samples and resampling.
    output
        HTML file to write.
    """
    from pgode.cli.parsing import whole_numbers
    from pgode.reports.base.names import model_name
    from pgode.reports.paired.page import write_comparison
    from pgode.reports.paired.terminal import comparison_table
    from pgode.runs.compare import compare as compare_runs
    from pgode.runs.outputs import run_inputs
    from pgode.runtime.files import write_json
    from pgode.runtime.outputs import claim_outputs
    from pgode.runtime.terminal.console import table_console

    claim_outputs([output, json], inputs=run_inputs(runs, data), overwrite=overwrite)
    console = table_console()
    with console.status("forecasting"):
        result = compare_runs(
            runs,
            data,
            force=force,
            split=split,
            origins=origins,
            metric=metric,
            horizons=None if horizons is None else whole_numbers(horizons, "--horizons"),
            samples=samples,
            seed=seed,
            device=device,
        )
    console.print(comparison_table(result))
    for name, reason in result.omitted.items():
        console.print(f"without {model_name(name)}: {reason}", highlight=False, soft_wrap=True)
    for sentence in result.verdicts:
        console.print(sentence, highlight=False, markup=False, soft_wrap=True)
    if output is not None:
        write_comparison(result, output, overwrite=overwrite)
        console.print(f"wrote {output}", highlight=False, markup=False, soft_wrap=True)
    if json is not None:
        write_json(json, result.to_json())
        console.print(f"wrote {json}", highlight=False, markup=False, soft_wrap=True)
