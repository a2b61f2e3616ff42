"""`pgode simulate`: simulate a data set."""

from typing import Annotated

from cyclopts import Parameter

from pgode.cli.parameters import Output, Overwrite

SYSTEM_NAMES = ("springs", "charged", "nbody", "gravity", "mixed")
"""The names in `pgode.data.simulate.SYSTEMS`, whose import takes too long for a help text."""

System = Annotated[
    str,
    Parameter(
        help=f"{', '.join(SYSTEM_NAMES[:-1])} or {SYSTEM_NAMES[-1]}; for molecules see pgode "
        f"simulate protein --help."
    ),
]


def simulate(
    system: System,
    *,
    output: Output,
    objects: int | None = None,
    frames: int | None = None,
    seed: int = 0,
    train: int | None = None,
    val: int | None = None,
    test: int | None = None,
    ood: int | None = None,
    integrator: str | None = None,
    overwrite: Overwrite = False,
) -> None:
    """Simulate a physical system and write its trajectories.

    Parameters
    ----------
    output
        File to write: .nc (NetCDF) or .zarr.
    objects
        Objects per system: 10 by default, for nbody 5.
    frames
        Frames per system, each 0.1 time units: 96 by default, for nbody 49.
    seed
        Determines every number of the data set.
    train
        Systems for training: 1000 by default, for nbody 3000.
    val
        Systems for validation: 200 by default, for nbody 2000.
    test
        Test systems with parameters from the training ranges: 200 by default, for nbody 2000.
    ood
        Test systems with at least one parameter outside the training ranges: 200 by default.
    integrator
        published (the scheme behind the published numbers, default for springs, charged and nbody)
        or velocity-verlet (the only one for gravity and mixed).
    """
    from pgode.data import files
    from pgode.data.simulate import simulate as simulated
    from pgode.data.simulate.simulation import planned_bytes
    from pgode.runtime.disk.room import require_room
    from pgode.runtime.terminal.console import Terminal

    files.check_output(output, overwrite=overwrite)
    # Trajectories compress by a tenth or two.
    require_room(output, 0.6 * planned_bytes(system, objects, frames, (train, val, test, ood)))
    console = Terminal()
    with console.status(f"simulating {system}"):
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
        files.write(data, output, overwrite=overwrite)
    console.print(
        f"wrote {output}: {data.systems} systems of {data.objects} objects, {data.frames} frames, "
        f"hash {data.hash[:12]}",
        highlight=False,
        soft_wrap=True,
    )
