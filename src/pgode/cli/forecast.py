"""`pgode forecast`: forecast observed systems."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pgode.cli.parameters import RunName, SampleSeed


def forecast(
    run: RunName,
    data: Path,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    until: int | None = None,
    times: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    samples: int = 20,
    seed: SampleSeed = 0,
    format_: Annotated[str, Parameter("--format")] = "netcdf",
) -> None:
    """Forecast each system after its last observed frame.

    Parameters
    ----------
    data
        Observed systems: .nc, .zarr or .npz. A forecast starts from the last frames of each.
    output
        NetCDF file to write: mean, 90 % interval, samples, gate weights and contexts.
    until
        Number of frames to forecast; the trained horizon if not given.
    times
        Instead of frames: times after the last observation, in the unit of the data, such as
        0.5,1.0.
    samples
        Number of sampled forecasts; 0 for the mean alone.
    format_
        netcdf, or hubverse: a CSV file of 23 quantiles of weekly deaths, for data of pgode data
        covid --average 7.
    """
    from rich.console import Console

    from pgode.cli.parsing import numbers
    from pgode.data import files
    from pgode.runs.forecasts import check_output
    from pgode.runs.hubverse import check_hubverse_output, write_hubverse
    from pgode.runs.run import Run
    from pgode.runtime.choices import one_of
    from pgode.runtime.files import writable_folder

    console = Console()
    if format_ != "netcdf":
        one_of("format", format_, ("netcdf", "hubverse"))
        check_hubverse_output(output)
        writable_folder(output)
        when, weeks = write_hubverse(Run.open(run), files.read(data), output, str(data))
        console.print(f"wrote {output}: {weeks} weeks after {when}", highlight=False)
        return
    check_output(output)
    writable_folder(output)
    opened = Run.open(run)
    with console.status("forecasting"):
        result = opened.forecast(
            files.read(data),
            until=until,
            times=None if times is None else numbers(times, "--times"),
            samples=samples,
            seed=seed,
            source=str(data),
        )
        result.write(output)
    shape = result.dataset.sizes
    console.print(
        f"wrote {output}: {shape['system']} systems, {shape['time']} times each, {samples} samples",
        highlight=False,
        soft_wrap=True,
    )
    if trust := result.trust():
        console.print(trust, highlight=False, soft_wrap=True)
