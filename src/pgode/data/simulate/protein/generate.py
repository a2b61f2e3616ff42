"""From a structure to a data set: simulate the missing samples, then prepare all of them."""

from pathlib import Path
from typing import Any, Protocol

import numpy as np

from pgode.data.molecules import Molecule, Preparation, prepare
from pgode.data.simulate.protein.branches import run_branches
from pgode.data.simulate.protein.forces import solvate
from pgode.data.simulate.protein.sampler import Sampler
from pgode.data.simulate.protein.samples import Samples
from pgode.data.simulate.protein.settings import UNITS, VERSION, ProteinSettings
from pgode.data.simulate.protein.structure import Source, openmm_errors, openmm_part
from pgode.data.trajectories import Trajectories
from pgode.runtime.choices import one_of
from pgode.runtime.disk.claims import claim
from pgode.runtime.engines import ENGINES
from pgode.runtime.errors import InputError
from pgode.runtime.locks import locked

GENERATOR = "pgode simulate protein"


class Display(Protocol):
    """Shows the progress of a simulation."""

    def solvating(self) -> None:
        """The structure is being repaired and solvated."""

    def equilibrating(self, atoms: int, done: float, total: float) -> None:
        """`done` of `total` ps, with this many atoms."""

    def sampling(self, finished: int, total: int) -> None:
        """`finished` of `total` samples."""


def simulate_samples(
    source: Source,
    settings: ProteinSettings,
    folder: Path,
    *,
    jobs: int = 1,
    engine: str = "local",
    display: Display | None = None,
) -> Samples:
    """Simulate every sample of a data set into `folder`; finished ones are not run again.

    Samples that lack the required replicas are run again; their frames do not change, since each
    begins where the one before it ended. If the process is asked to stop, KeyboardInterrupt is
    raised; running samples that end within seconds are saved before that.
    """
    one_of("engine", engine, ENGINES)
    openmm_part("openmm", "System")
    samples = Samples(folder)
    busy = f"another command is simulating in {folder}"
    samples.check_free(source)
    with locked(folder / "simulating", busy=busy), claim(folder):
        samples.claim(settings, source)
        return _simulate(source, settings, samples, jobs, engine, display)


def _simulate(
    source: Source,
    settings: ProteinSettings,
    samples: Samples,
    jobs: int,
    engine: str,
    display: Display | None,
) -> Samples:
    if samples.solvated() is None:
        _equilibrate(source, settings, samples, display)
    folder = samples.folder
    total = sum(settings.counts.values())

    def watch() -> None:
        if display is not None:
            display.sampling(samples.finished(), total)

    watch()
    failures = run_branches(samples, jobs, engine, watch)
    if failures:
        raise InputError(
            f"{len(failures)} of {len(settings.branches())} branches of the simulation failed; "
            f"{samples.finished()} of {total} samples are finished and kept in {folder}. The first "
            f"failure: {failures[0]}. Expected every branch to run to its end. Read its log, then "
            f"give the same command again."
        )
    watch()
    return samples


def _equilibrate(
    source: Source, settings: ProteinSettings, samples: Samples, display: Display | None
) -> None:
    if display is not None:
        display.solvating()
    solvated = solvate(source, settings)
    done = 0.0

    def tick(time: float) -> None:
        nonlocal done
        done += time
        if display is not None:
            display.equilibrating(len(solvated.positions), done, settings.equilibrate)

    with openmm_errors(f"the equilibration of {source.name}"):
        state = Sampler(solvated, settings, tick).equilibrated()
    samples.keep_solvated(solvated, state)


def collect(samples: Samples, preparation: Preparation) -> Trajectories:
    """All samples, prepared, as one data set with its splits."""
    settings = samples.settings
    labels = [(split, k) for split, count in settings.counts.items() for k in range(count)]
    finished = [samples.sample(split, k) for split, k in labels]
    return prepare(
        np.stack([sample.frames for sample in finished]),
        np.arange(settings.frames) * settings.frame_time,
        _molecule(samples),
        preparation,
        _provenance(samples),
        parameters=np.stack([sample.parameters for sample in finished]),
        split=[split for split, _ in labels],
        **_metadata(settings),
    )


def collect_replicas(samples: Samples, preparation: Preparation) -> Trajectories | None:
    """Systems with several futures after the same condition; None if there are none.

    "replica_of" in the settings says which systems share a condition.
    """
    settings = samples.settings
    last = settings.condition + settings.horizon
    frames, owner, parameters, split = [], [], [], []
    for name in ("test", "ood"):
        for index in settings.replicated_of(name):
            sample = samples.sample(name, index)
            past, original = sample.frames[: settings.condition], sample.frames[:last]
            replicas = sample.replicas[: settings.replicas]
            futures = [np.concatenate([past, future]) for future in replicas]
            if len(original) == last:
                futures = [original, *futures]
            frames += futures
            owner += [f"{name} {index}"] * len(futures)
            parameters += [sample.parameters] * len(futures)
            split += [name] * len(futures)
    if not settings.replicas or not frames:
        return None
    return prepare(
        np.stack(frames),
        np.arange(last) * settings.frame_time,
        _molecule(samples),
        preparation,
        {**_provenance(samples), "replica_of": owner},
        parameters=np.stack(parameters),
        split=split,
        **_metadata(settings),
    )


def _molecule(samples: Samples) -> Molecule:
    return samples.required_solvated()[0].molecule


def _provenance(samples: Samples) -> dict[str, object]:
    """Provenance of the data, for the attributes of the file."""
    settings = samples.settings
    solvated, _ = samples.required_solvated()
    solvent = "implicit (OBC2); pressure has no meaning" if settings.implicit else "TIP3P"
    return {
        **settings.to_json(),
        "force_field": "amber14",
        "solvent": solvent,
        "atoms_with_solvent": len(solvated.positions),
        "repairs": list(solvated.repairs),
        "rings": [str(ring) for ring in solvated.rings],
        "openmm": samples.versions()["openmm"],
    }


def _metadata(settings: ProteinSettings) -> dict[str, Any]:
    return {
        "parameter_names": settings.parameters,
        "parameter_units": tuple(UNITS[name] for name in settings.parameters),
        "title": f"{settings.structure}, molecular dynamics",
        "generator": GENERATOR,
        "generator_version": VERSION,
        "seed": settings.seed,
        "source": f"the simulated {settings.structure}",
    }
