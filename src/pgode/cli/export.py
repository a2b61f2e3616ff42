"""`pgode export`: write a run's forecast as a program for onnxruntime or torch."""

from pathlib import Path

from pgode.cli.parameters import Force, Output, Overwrite, RunName


def export(
    run: RunName,
    *,
    output: Output,
    condition: int | None = None,
    until: int | None = None,
    data: Path | None = None,
    force: Force = False,
    overwrite: Overwrite = False,
) -> None:
    """Write the mean forecast of a run as a file that needs no pgode.

    The numbers of the file are compared with those of the run before anything is written.

    Parameters
    ----------
    output
        File to write: .onnx for onnxruntime, .pt2 for torch.export.
    condition
        Number of observed frames that a forecast is made from; that of the training if not given.
    until
        Number of frames to forecast; the trained horizon if not given.
    data
        Data file whose systems forecasts are compared on; the one the run was trained on if not
        given.
    """
    from pgode.runs.export.exporting import check_output, export_run
    from pgode.runtime.files import file_size
    from pgode.runtime.terminal.console import Terminal

    check_output(output)
    console = Terminal()
    with console.status("exporting"):
        exported = export_run(
            run,
            output,
            data=data,
            force=force,
            condition=condition,
            until=until,
            overwrite=overwrite,
        )
    given, found = exported.signature, exported.comparison
    fewest, most = found.objects
    sizes = f"{most}" if fewest == most else f"{fewest} to {most}"
    console.print(
        f"wrote {output}: {given.condition} observed frames in, {given.until} forecast frames out, "
        f"{file_size(output)}. Compared on {found.systems} systems of {sizes} objects: it differs "
        f"from the run's own forecast by at most {found.difference:.1e} of the data's scale.",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )
