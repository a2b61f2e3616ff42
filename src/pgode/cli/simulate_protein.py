"""`pgode simulate protein`: simulate a data set of a molecule in water."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from pgode.cli.parameters import Output, Overwrite

if TYPE_CHECKING:
    from pgode.data.simulate.protein import Source


def simulate_protein(
    *,
    output: Output,
    structure: Path | None = None,
    pdb_id: str | None = None,
    sequence: str | None = None,
    train: int | None = None,
    val: int | None = None,
    test: int | None = None,
    ood: int | None = None,
    frames: int = 48,
    frame_time: float = 0.2,
    seed: int = 0,
    jobs: int = 1,
    engine: str = "local",
    atoms: str = "all",
    align: str = "superposed",
    cutoff: float = 0.4,
    update: int = 12,
    replicas: int | None = None,
    replicated: int | None = None,
    condition: int | None = None,
    horizon: int | None = None,
    samples: Path | None = None,
    implicit: Annotated[bool, Parameter(negative="")] = False,
    open_ring: Annotated[bool, Parameter(negative="")] = False,
    overwrite: Overwrite = False,
) -> None:
    """Simulate a protein in water with OpenMM and write its trajectories.

    Each sample has its own temperature, pressure and friction. Finished samples are kept in a
    folder beside the output: the same command resumes a simulation that was stopped, more
    samples or replicas can be added later, and another choice of atoms, alignment or graph for the
    same --samples needs no new simulation. Numbers of samples and replicas default to those of an
    existing folder. Needs the extra "md".

    Parameters
    ----------
    output
        File to write: .nc (NetCDF) or .zarr.
    structure
        PDB file of the protein.
    pdb_id
        Entry of the Protein Data Bank, downloaded once and kept in the user's cache.
    sequence
        A peptide in one-letter code, such as YYDPETGTWY; no file is needed.
    train
        Samples for training; 200 in a new folder.
    val
        Samples for validation; 50.
    test
        Test samples with parameters from the training ranges; 50.
    ood
        Test samples with at least one parameter outside the training ranges; 50.
    frames
        Frames per sample.
    frame_time
        Time between two frames in ps.
    seed
        Determines every number of the data set.
    jobs
        Concurrent simulations, each on one core.
    engine
        local, or ray (a Ray cluster; needs the extra "ray").
    atoms
        Atoms to keep: all, heavy (no hydrogens) or ca (C-alpha).
    align
        superposed (on each sample's first frame), centred, or raw (drifts and tumbles).
    cutoff
        Atoms closer than this, in nm, are joined by an edge.
    update
        Frames after which the graph is rebuilt.
    replicas
        Further simulations of some test and ood systems from the end of their condition, which
        give the irreducible error; written beside the output. 0 in a new folder.
    replicated
        Number of test and of ood systems with such replicas; 10.
    condition
        Frames before the replicas branch off: the condition of the models to be evaluated; 12.
    horizon
        Frames of each replica; 24.
    samples
        Folder of the finished samples; by default beside the output and named after it.
    implicit
        Implicit solvent, for quick checks only: there is no box, so pressure has no meaning.
    open_ring
        Open a lasso's ring instead of closing it.
    """
    from pgode.data import files
    from pgode.data.molecules import Preparation
    from pgode.data.simulate.protein import (
        ProteinSettings,
        check_memory,
        collect,
        collect_replicas,
        simulate_samples,
    )
    from pgode.data.simulate.protein.display import Bars
    from pgode.runtime.choices import check_int
    from pgode.runtime.files import writable_folder
    from pgode.runtime.limits.bounds import WORKERS
    from pgode.runtime.stopping.kept import on_stop
    from pgode.runtime.terminal.console import Terminal

    files.check_output(output, inputs=[structure], overwrite=overwrite)
    check_int("jobs", jobs, 1, WORKERS)
    preparation = Preparation(atoms, align, cutoff, update)  # type: ignore[arg-type]
    source = _source(structure, pdb_id, sequence)
    folder = samples or output.with_suffix(".samples")
    writable_folder(folder / "settings.json")
    told = f"Stopped: finished samples are kept in {folder}. Run the same command to go on."
    on_stop(lambda: told if folder.exists() else "")
    sizes = {
        "train": train,
        "val": val,
        "test": test,
        "ood": ood,
        "replicas": replicas,
        "replicated": replicated,
        "condition": condition,
        "horizon": horizon,
    }
    settings = ProteinSettings(
        source.name,
        source.hash,
        implicit=implicit,
        open_ring=open_ring,
        seed=seed,
        frames=frames,
        frame_time=frame_time,
        **_extended(folder, sizes),
    )
    check_memory(source, settings, preparation)
    replicas_path = output.with_stem(f"{output.stem}-replicas")
    if settings.replicas:
        files.check_output(replicas_path, inputs=[structure], overwrite=overwrite)
    console = Terminal()
    if implicit:
        console.print(
            "Implicit solvent has no box, so pressure has no meaning. For quick checks only."
        )
    with Bars(console) as bars:
        simulated = simulate_samples(
            source, settings, folder, jobs=jobs, engine=engine, display=bars
        )
    for repair in simulated.required_solvated()[0].repairs:
        console.print(f"repair: {repair}", highlight=False, soft_wrap=True)
    for ring in simulated.required_solvated()[0].rings:
        console.print(f"closed the ring: {ring}", highlight=False)
    data = collect(simulated, preparation)
    files.write(data, output, overwrite=overwrite)
    _report(console, output, data)
    futures = collect_replicas(simulated, preparation)
    if futures is not None:
        files.write(futures, replicas_path, overwrite=overwrite)
        _report(console, replicas_path, futures)
    console.print(f"samples are kept in {folder}", highlight=False, soft_wrap=True)


def _extended(folder: Path, sizes: dict[str, int | None]) -> dict[str, int]:
    """The numbers that are given; the others from the folder, if it has samples."""
    from pgode.data.simulate.protein.samples import Samples

    requested = {name: value for name, value in sizes.items() if value is not None}
    if not (folder / "settings.json").exists():
        return requested
    before = Samples(folder).settings.to_json()
    return {name: before[name] for name in sizes} | requested


def _report(console: Any, path: Path, data: Any) -> None:
    console.print(
        f"wrote {path}: {data.systems} systems of {data.objects} atoms, {data.frames} frames, "
        f"hash {data.hash[:12]}",
        highlight=False,
        soft_wrap=True,
    )


def _source(structure: Path | None, pdb_id: str | None, sequence: str | None) -> "Source":
    """The structure to simulate."""
    from pgode.data.simulate import protein
    from pgode.runtime.errors import InputError

    sources = [each for each in (structure, pdb_id, sequence) if each is not None]
    if len(sources) != 1:
        raise InputError(
            f"{len(sources)} structures were given. Expected one of --structure FILE, --pdb-id "
            f"ENTRY and --sequence LETTERS. Give exactly one."
        )
    if structure is not None:
        return protein.from_file(structure)
    if sequence is not None:
        return protein.from_sequence(sequence)
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return protein.from_pdb_id(str(pdb_id), Path(home) / "pgode")
