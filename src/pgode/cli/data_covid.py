"""`pgode data covid`: COVID-19 in the states of the US, from public daily reports."""

from pathlib import Path

from pgode.cli.parameters import Output, Overwrite


def data_covid(
    *,
    output: Output,
    source: Path | None = None,
    graph: str = "neighbours",
    until: str = "2020-12-31",
    average: int = 1,
    transform: str = "none",
    features: str | None = None,
    validation: int = 5,
    address: str | None = None,
    overwrite: Overwrite = False,
) -> None:
    """Make the data set of the paper's last table from the daily reports of JHU CSSE.

    Without --source the reports are downloaded over HTTPS to a folder beside the output; an
    interrupted download continues.

    Parameters
    ----------
    output
        File to write: .nc (NetCDF) or .zarr.
    source
        Folder of daily reports (04-12-2020.csv and so on), or one CSV file with all days.
    graph
        neighbours (states with a common border) or gravity (population over squared distance).
    until
        Last day, such as 2020-12-31.
    average
        Days over which increments are averaged, up to and with the day itself: 1, or 7 to remove
        the rhythm of the week.
    transform
        Transform under which models see the counts: none, sqrt or log1p.
    features
        Some of confirmed, deaths, recovered, mortality_rate, testing_rate, such as
        confirmed,deaths; all by default.
    validation
        Validation windows at the end of the training days; 0 to train on all days before December.
    address
        Where daily reports are downloaded from, if not from the public repository.
    """
    from datetime import date
    from typing import cast

    from rich.progress import Progress

    from pgode.data import files
    from pgode.data.files import covid
    from pgode.data.files.covid.reports import FIRST, days_until
    from pgode.runtime.errors import InputError
    from pgode.runtime.terminal.console import Terminal

    files.check_output(output, inputs=[source], overwrite=overwrite)
    settings = covid.CovidSettings(
        cast(covid.Graph, graph),
        average,
        "" if transform == "none" else transform,
        covid.FEATURES if features is None else tuple(features.split(",")),
        validation,
    )
    try:
        last = date.fromisoformat(until)
    except ValueError:
        last = FIRST
    if last <= FIRST:
        raise InputError(
            f'--until is "{until}". Expected a day after {FIRST}, such as 2020-12-31. Correct it.'
        )
    console = Terminal()
    if source is None:
        folder = output.with_name(f"{output.stem}.reports")
        with Progress(console=console) as progress:
            task = progress.add_task("daily reports", total=len(days_until(last)))
            source = covid.download(
                folder, last, address or covid.ADDRESS, lambda _: progress.advance(task)
            )
    elif address is not None:
        raise InputError(
            "--source and --address were both given. Expected one of them: --address is where "
            "reports are downloaded from. Leave one out."
        )
    reports = covid.read_source(source, last)
    data = covid.build(covid.Days.of_reports(reports), settings)
    files.write(data, output, overwrite=overwrite)
    parts = ", ".join(f"{(data.split == name).sum()} {name}" for name in ("train", "val", "test"))
    console.print(
        f"wrote {output}: {data.objects} states, {reports.first} to {reports.last}, stretches of "
        f"days: {parts}; vintage {reports.vintage}, reports {reports.hash[:12]}, hash "
        f"{data.hash[:12]}",
        highlight=False,
        soft_wrap=True,
    )
