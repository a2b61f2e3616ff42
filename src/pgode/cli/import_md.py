"""`pgode import md`: import molecular dynamics from other programs."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pgode.cli.parameters import Output, Overwrite


def import_md(
    *,
    trajectory: Annotated[list[Path], Parameter(negative=())],
    topology: Path,
    output: Output,
    atoms: str = "all",
    align: str = "superposed",
    cutoff: float = 0.4,
    update: int = 12,
    frames: int = 48,
    stride: int = 1,
    frame_time: float | None = None,
    select: str | None = None,
    splits: str = "0.7,0.15,0.15",
    overwrite: Overwrite = False,
) -> None:
    """Cut your own simulation into systems to train on and to forecast.

    Parameters
    ----------
    trajectory
        Trajectory file: XTC, TRR, DCD, Amber NetCDF, PDB and other formats of mdtraj. Repeat the
        option for further runs of the same molecule.
    topology
        File that names the atoms of the trajectory, in the same order: PDB, GRO, PRMTOP, PSF, ...
    output
        File to write: .nc (NetCDF) or .zarr.
    atoms
        Which of the selected atoms to keep: all, heavy (no hydrogens) or ca (C-alphas).
    align
        superposed (onto each system's first frame), centred or raw.
    cutoff
        Atoms closer than this, in nm, are joined by an edge.
    update
        Frames after which the graph is rebuilt.
    frames
        Frames per system.
    stride
        Keep one frame in this many.
    frame_time
        Time between two frames of the files in ps, if they do not state it or state it wrongly.
    select
        Atoms to use, as an mdtraj expression; by default the protein, or everything but water.
    splits
        Shares for training, validation and test: blocks in time with one system left out in
        between.
    """
    from typing import cast

    from pgode.cli.parsing import numbers
    from pgode.data import files
    from pgode.data.files import md
    from pgode.data.files.md_files import silenced
    from pgode.data.molecules import Alignment, Atoms, Preparation
    from pgode.runtime.terminal.console import Terminal

    files.check_output(output, inputs=[*trajectory, topology], overwrite=overwrite)
    console = Terminal()
    with silenced():
        data = md.read(
            trajectory,
            topology,
            Preparation(cast(Atoms, atoms), cast(Alignment, align), cutoff, update),
            selection=select,
            stride=stride,
            frames_per_system=frames,
            frame_time=frame_time,
            splits=numbers(splits, "--splits"),
        )
    files.write(data, output, overwrite=overwrite)
    parts = ", ".join(f"{(data.split == name).sum()} {name}" for name in md.BLOCKS)
    console.print(
        f"wrote {output}: {data.systems} systems ({parts}) of {data.objects} atoms, "
        f"{data.frames} frames, hash {data.hash[:12]}",
        highlight=False,
        soft_wrap=True,
    )
