"""`pgode robustness`: how perturbed initial states change the forecasts of runs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from pgode.cli.parameters import Device, Force, Output, Overwrite, ResultFile

if TYPE_CHECKING:
    from rich.progress import TaskID

    from pgode.evaluation.robustness.perturbation import Perturbations
    from pgode.evaluation.robustness.result import Robustness
    from pgode.runtime.terminal.console import Terminal


def robustness(
    *runs: str,
    data: Path | None = None,
    force: Force = False,
    split: str = "test",
    magnitudes: Annotated[str, Parameter(allow_leading_hyphen=True)] = "0.001,0.01,0.1",
    horizon: int | None = None,
    draws: int = 4,
    seed: int = 0,
    perturb: Literal["state", "observed"] = "state",
    device: Device = "auto",
    output: Output = Path("robustness.html"),
    json: ResultFile = None,
    overwrite: Overwrite = False,
) -> None:
    """Perturb the initial states of forecasts and measure how the difference grows.

    Reports the growth beside empirical Lipschitz constants of the right-hand side and of each
    prototype, and the bound of Theorem 3.1. Give a run with one prototype and one with several.

    Parameters
    ----------
    runs
        Run folders, or shipped models by name (springs-10).
    data
        Data file; the one the first run was trained on if not given.
    split
        train, val, test or ood.
    magnitudes
        Norms of the perturbation of each object, in scaled units, such as 0.001,0.01,0.1.
    horizon
        Frames to forecast; as many as the first run was trained for if not given.
    draws
        Random directions for each magnitude.
    seed
        Fixes the directions.
    perturb
        state (the state that PGODE integrates; for other models the last observed frame), or
        observed (the last observed frame for every model).
    output
        HTML file to write.
    """
    from pgode.cli.parsing import numbers
    from pgode.evaluation.robustness.perturbation import Perturbations
    from pgode.reports.robustness.page import write_robustness
    from pgode.reports.robustness.terminal import bound_table, comparison_table, growth_table
    from pgode.reports.robustness.verdicts import verdicts
    from pgode.runs.outputs import run_inputs
    from pgode.runs.robustness import trained_horizon
    from pgode.runtime.files import write_json
    from pgode.runtime.outputs import claim_outputs
    from pgode.runtime.terminal.console import Terminal

    sizes = tuple(numbers(magnitudes, "--magnitudes"))
    if horizon is None:
        horizon = trained_horizon(runs)
    perturbations = Perturbations(horizon, sizes, draws, seed, perturb == "observed")
    claim_outputs([output, json], inputs=run_inputs(runs, data), overwrite=overwrite)
    console = Terminal()
    result = _measure(runs, data, force, split, perturbations, console, device)
    for table in (growth_table(result), bound_table(result), comparison_table(result)):
        if table is not None:
            console.print(table)
    for verdict in verdicts(result):
        console.print(verdict.text, highlight=False, markup=False)
    write_robustness(result, output, overwrite=overwrite)
    console.print(f"wrote {output}", highlight=False, markup=False, soft_wrap=True)
    if json is not None:
        write_json(json, result.to_json())
        console.print(f"wrote {json}", highlight=False, markup=False, soft_wrap=True)


def _measure(
    runs: tuple[str, ...],
    data: Path | None,
    force: bool,
    split: str,
    perturbations: "Perturbations",
    console: "Terminal",
    device: str,
) -> "Robustness":
    """Measure the runs, with one progress bar for each of them on a terminal."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeRemainingColumn

    from pgode.runs.robustness import measure_robustness
    from pgode.runtime.terminal.console import plain_column

    tasks: dict[str, TaskID] = {}
    columns = (plain_column("description"), BarColumn(), TaskProgressColumn())
    with Progress(
        *(*columns, TimeRemainingColumn()),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:

        def show(run: str, share: float) -> None:
            if run not in tasks:
                tasks[run] = bar.add_task(run, total=1.0)
            bar.update(tasks[run], completed=share)

        return measure_robustness(
            runs,
            data,
            force=force,
            split=split,
            perturbations=perturbations,
            on_progress=show,
            device=device,
        )
