"""`pgode forecast`: forecast observed systems."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pgode.cli.parameters import Device, Force, Output, Overwrite, RunName, SampleSeed


def forecast(
    run: RunName,
    data: Path,
    *,
    force: Force = False,
    output: Output,
    table: Annotated[bool, Parameter(negative=())] = False,
    split: Annotated[tuple[str, ...], Parameter(negative=(), consume_multiple=False)] = (),
    until: int | None = None,
    times: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    samples: int | None = None,
    seed: SampleSeed = 0,
    device: Device = "auto",
    format_: Annotated[str, Parameter("--format")] = "",
    overwrite: Overwrite = False,
) -> None:
    """Forecast each system after its last observed frame.

    Parameters
    ----------
    data
        Observed systems: .nc, .zarr or .npz, or a table (.csv, .parquet) like the one that the
        run's data was imported from. A forecast starts from the last frames of each system.
    output
        File to write. NetCDF (.nc): mean, 90 % interval, gate weights and contexts. A table (.csv,
        .parquet): mean and 90 % interval, one row per system, object and time.
    table
        Write a table. Implied by the ending .csv or .parquet; any other ending is then an error.
    split
        Forecast only the systems of this split: train, val, test or ood; can be repeated.
    until
        Number of frames to forecast. If not given, those after the last observation that the data
        have known inputs for, or else the trained horizon.
    times
        Instead of frames: times after the last observation, in the unit of the data, such as
        0.5,1.0.
    samples
        Write this number of sampled forecasts as well, which makes the file several times larger; 0
        for the mean alone, without an interval. Only 0 goes with a table.
    format_
        hubverse: a CSV file of 23 quantiles of weekly deaths, for data of pgode data covid
        --average 7. If not given, the ending of the output decides.
    """
    from pgode.cli.parsing import numbers
    from pgode.runs.exchange.forecast_tables import check_samples, check_table_output
    from pgode.runs.exchange.observed import of_splits
    from pgode.runs.forecasts import SAMPLES, check_output
    from pgode.runs.outputs import run_inputs
    from pgode.runs.run import Run
    from pgode.runtime.files import file_size
    from pgode.runtime.outputs import claim_outputs
    from pgode.runtime.terminal.console import Terminal

    if format_:
        _write_for_hubs(format_, run, data, output, device, force, overwrite)
        return
    (check_table_output if table else check_output)(output)
    check_samples(output, samples)
    claim_outputs([output], inputs=run_inputs([run], data), overwrite=overwrite)
    opened = Run.open(run, device)
    console = Terminal()

    def say(text: str) -> None:
        console.print(text, highlight=False, soft_wrap=True, markup=False)

    with console.status("forecasting"):
        result = opened.forecast(
            of_splits(opened.observed(data, on_note=say, force=force), split, str(data)),
            until=until,
            times=None if times is None else numbers(times, "--times"),
            samples=SAMPLES if samples is None else samples,
            seed=seed,
            source=str(data),
        )
        if samples is None:
            result = result.without_samples()
        result.write(output, overwrite=overwrite)
    say(f"wrote {output}: {result.content}, {file_size(output)}")
    for sentence in (result.trust(), *result.endings()):
        if sentence:
            say(sentence)


def _write_for_hubs(
    form: str, run: str, data: Path, output: Path, device: str, force: bool, overwrite: bool
) -> None:
    """Quantiles of weekly totals in the columns of forecast hubs."""
    from pgode.data import files
    from pgode.runs.hubverse import check_hubverse_output, write_hubverse
    from pgode.runs.outputs import run_inputs
    from pgode.runs.run import Run
    from pgode.runtime.choices import one_of
    from pgode.runtime.outputs import claim_outputs
    from pgode.runtime.terminal.console import Terminal

    one_of("format", form, ("hubverse",))
    check_hubverse_output(output)
    claim_outputs([output], inputs=run_inputs([run], data), overwrite=overwrite)
    opened = Run.open(run, device)
    given = files.read(data, force=force)
    when, weeks = write_hubverse(opened, given, output, str(data), overwrite=overwrite)
    Terminal().print(f"wrote {output}: {weeks} weeks after {when}", highlight=False, soft_wrap=True)
