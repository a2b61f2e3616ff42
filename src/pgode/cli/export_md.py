"""`pgode export-md`: write forecasts and data as trajectory files of molecular dynamics."""

from pathlib import Path

from pgode.cli.parameters import Force, Output, Overwrite


def export_md(
    data: Path,
    *,
    force: Force = False,
    output: Output,
    topology: Path | None = None,
    system: int | None = None,
    sample: int | None = None,
    select: str | None = None,
    overwrite: Overwrite = False,
) -> None:
    """Write a forecast, or data, as a trajectory that MD tools open.

    Parameters
    ----------
    data
        Forecast (written by pgode forecast) or data file of a molecule.
    output
        File to write; its ending selects the format: .dcd, .xtc, .trr, .pdb, .nc (Amber), .gro or
        .xyz.
    topology
        File that names the atoms; not needed if the data includes them.
    system
        System to write, counted from 0; by default all of them, one after the other.
    sample
        Sampled forecast to write instead of the mean, counted from 0. Its bond lengths are not
        constrained.
    select
        Atoms of the topology that are in the data, as an mdtraj expression.
    """
    from pgode.data.files import md_export
    from pgode.data.files.md_files import silenced
    from pgode.runtime.outputs import claim_outputs
    from pgode.runtime.terminal.console import Terminal

    md_export.check_output(output)
    claim_outputs([output], inputs=[data, topology], overwrite=overwrite)
    opened = md_export.open_forecast_or_data(data, force)
    with silenced():
        frames = md_export.write(
            opened,
            topology,
            output,
            system=system,
            sample=sample,
            selection=select,
            source=str(data),
            overwrite=overwrite,
        )
    systems = opened.sizes["system"] if system is None else 1
    Terminal().print(
        f"wrote {output}: {frames} frames of {opened.sizes['object']} atoms, {systems} "
        f"system{'s, one after the other' if systems > 1 else ''}",
        highlight=False,
        soft_wrap=True,
    )
