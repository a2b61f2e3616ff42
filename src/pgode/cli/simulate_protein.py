"""`pgode simulate protein`: make a data set of a molecule in water."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

if TYPE_CHECKING:
    from pgode.data.simulate.protein import Source


def simulate_protein(
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
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
) -> None:
    """Simulate a protein in water with OpenMM and write its trajectories.

    Each sample has a temperature, pressure and friction of its own. Finished samples are kept in
    a folder beside the output: a command that was stopped goes on when it is given again, more
    samples or replicas can be asked for later, and another choice of atoms, alignment or graph
    for the same --samples needs no new simulation. Numbers of samples and replicas that are not
    given are those the folder is for. Needs the extra "md".

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
        Fixes every number of the data set.
    jobs
        Simulations at a time, each on one core.
    engine
        local, or ray (a Ray cluster; needs the extra "ray").
    atoms
        Atoms to keep: all, heavy (no hydrogens) or ca (C-alpha).
    align
        superposed (on each sample's first frame), centred, or raw (drifts and tumbles).
    cutoff
        Atoms nearer than this many nm are joined.
    update
        Frames after which the graph is looked up anew.
    replicas
        Further futures of some systems of test and of ood, from the end of their condition, which
        tell the error that no forecast can avoid; written beside the output. None in a new folder.
    replicated
        Systems of test and of ood that have such replicas; 10.
    condition
        Frames before replicas part, the condition of the models that they are for; 12.
    horizon
        Frames that replicas run; 24.
    samples
        Folder of the finished samples; beside the output, and named like it, if not given.
    implicit
        No water: quick checks only. There is no box then, so pressure has no meaning.
    open_ring
        Open a lasso's ring instead of closing it.
    """
    from rich.console import Console

    from pgode.data import files
    from pgode.data.molecules import Preparation
    from pgode.data.simulate.protein import (
        ProteinSettings,
        collect,
        collect_replicas,
        simulate_samples,
    )
    from pgode.data.simulate.protein.display import Bars
    from pgode.runtime.choices import check_int
    from pgode.runtime.files import writable_folder

    files.check_output(output)
    writable_folder(output)
    check_int("jobs", jobs, 1)
    preparation = Preparation(atoms, align, cutoff, update)  # type: ignore[arg-type]
    source = _source(structure, pdb_id, sequence)
    folder = samples or output.with_suffix(".samples")
    writable_folder(folder / "settings.json")
    wanted = {
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
        **_extended(folder, wanted),
    )
    console = Console()
    if implicit:
        console.print("No water, so no box: pressure has no meaning. For quick checks only.")
    with Bars(console) as bars:
        made = simulate_samples(source, settings, folder, jobs=jobs, engine=engine, display=bars)
    for words in made.required_solvated()[0].repairs:
        console.print(f"repair: {words}", highlight=False, soft_wrap=True)
    for ring in made.required_solvated()[0].rings:
        console.print(f"closed the ring: {ring}", highlight=False)
    data = collect(made, preparation)
    files.write(data, output)
    _say(console, output, data)
    futures = collect_replicas(made, preparation)
    if futures is not None:
        beside = output.with_stem(f"{output.stem}-replicas")
        files.write(futures, beside)
        _say(console, beside, futures)
    console.print(f"samples are kept in {folder}", highlight=False, soft_wrap=True)


def _extended(folder: Path, wanted: dict[str, int | None]) -> dict[str, int]:
    """What was asked for; of the rest, what the folder's samples were made for, if it has any."""
    from pgode.data.simulate.protein.samples import Samples

    given = {name: value for name, value in wanted.items() if value is not None}
    if not (folder / "settings.json").exists():
        return given
    before = Samples(folder).settings.to_json()
    return {name: before[name] for name in wanted} | given


def _say(console: Any, path: Path, data: Any) -> None:
    console.print(
        f"wrote {path}: {data.systems} systems of {data.objects} atoms, {data.frames} frames, "
        f"hash {data.hash[:12]}",
        highlight=False,
        soft_wrap=True,
    )


def _source(structure: Path | None, pdb_id: str | None, sequence: str | None) -> "Source":
    """The one structure that was asked for."""
    from pgode.data.simulate import protein
    from pgode.runtime.errors import InputError

    given = [word for word in (structure, pdb_id, sequence) if word is not None]
    if len(given) != 1:
        raise InputError(
            f"{len(given)} structures were given. Expected one of --structure FILE, --pdb-id ENTRY "
            f"and --sequence LETTERS. Give exactly one."
        )
    if structure is not None:
        return protein.from_file(structure)
    if sequence is not None:
        return protein.from_sequence(sequence)
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return protein.from_pdb_id(str(pdb_id), Path(home) / "pgode")
