"""`pgode simulate`: simulate a data set."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


def simulate(
    system: str,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    objects: int = 10,
    frames: int = 96,
    seed: int = 0,
    train: int = 1000,
    val: int = 200,
    test: int = 200,
    ood: int = 200,
    integrator: str | None = None,
) -> None:
    """Simulate a physical system and write its trajectories.

    Parameters
    ----------
    system
        springs or charged; for molecules see pgode simulate protein --help.
    output
        File to write: .nc (NetCDF) or .zarr.
    objects
        Particles per system.
    frames
        Frames per system; a frame is 0.1 time units.
    seed
        Determines every number of the data set.
    train
        Systems for training.
    val
        Systems for validation.
    test
        Test systems with parameters from the training ranges.
    ood
        Test systems with at least one parameter outside the training ranges.
    integrator
        published (the scheme behind the paper's numbers) or velocity-verlet.
    """
    from rich.console import Console

    from pgode.data import files
    from pgode.data.simulate import simulate as simulated
    from pgode.runtime.files import writable_folder

    files.check_output(output)
    writable_folder(output)
    console = Console()
    with console.status(f"simulating {train + val + test + ood} systems of {system}"):
        data = simulated(
            system,
            objects=objects,
            frames=frames,
            seed=seed,
            train=train,
            val=val,
            test=test,
            ood=ood,
            integrator=integrator,
        )
        files.write(data, output)
    console.print(
        f"wrote {output}: {data.systems} systems of {data.objects} objects, {data.frames} frames, "
        f"hash {data.hash[:12]}",
        highlight=False,
        soft_wrap=True,
    )
