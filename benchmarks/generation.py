"""Cost of `pgode simulate protein` relative to OpenMM alone, with the same system and steps."""

from time import perf_counter, process_time

from benchmarks import Figure, Measurements
from pgode.data.simulate.protein import ProteinSettings, from_sequence
from pgode.data.simulate.protein.forces import solvate
from pgode.data.simulate.protein.sampler import MIDDLE, Sampler, State

SEQUENCE = "YYD"


def bare(system: str, start: State, settings: ProteinSettings, steps: int) -> tuple[float, float]:
    """(clock, processor) seconds of `steps` steps in one call, with nothing recorded."""
    import openmm
    from openmm import unit

    model = openmm.XmlSerializer.deserialize(system)
    pressure, temperature = MIDDLE["pressure"] * unit.bar, MIDDLE["temperature"] * unit.kelvin
    model.addForce(openmm.MonteCarloBarostat(pressure, temperature, 25))
    integrator = openmm.LangevinMiddleIntegrator(
        temperature, MIDDLE["friction"] / unit.picosecond, settings.step * unit.femtosecond
    )
    platform = openmm.Platform.getPlatformByName("CPU")
    context = openmm.Context(model, integrator, platform, {"Threads": "1"})
    context.setPeriodicBoxVectors(*start.box)
    context.setPositions(start.positions)
    context.setVelocitiesToTemperature(temperature, 1)
    integrator.step(50)
    clock, processor = perf_counter(), process_time()
    integrator.step(steps)
    return perf_counter() - clock, process_time() - processor


def run(frames: int = 48, repeats: int = 3, settle: float = 2.0) -> Measurements:
    """Samples as the data sets have them, and the same time steps in one call, in turn."""
    source = from_sequence(SEQUENCE)
    settings = ProteinSettings(SEQUENCE, source.hash, equilibrate=0.2, frames=frames, settle=settle)
    solvated = solvate(source, settings)
    sampler = Sampler(solvated, settings)
    start = sampler.equilibrated()
    steps = settings.steps(settings.settle) + (frames - 1) * settings.steps_per_frame
    samples, reference = [], []
    for repeat in range(repeats):
        clock, processor = perf_counter(), process_time()
        sampler.sample(start, "train", repeat)
        samples.append((perf_counter() - clock, process_time() - processor))
        reference.append(bare(solvated.system, start, settings, steps))
    picoseconds = steps * settings.step / 1000
    return {
        "benchmark": "generation",
        "atoms": len(solvated.positions),
        "picoseconds": picoseconds,
        "ours": min(clock for clock, _ in samples) / picoseconds,
        "bare": min(clock for clock, _ in reference) / picoseconds,
        # Processor time: another process on the same core does not count.
        "ratio": min(cpu for _, cpu in samples) / min(cpu for _, cpu in reference),
    }


def figures(measured: Measurements) -> list[Figure]:
    """Seconds per ps of simulation, ours divided by those of OpenMM alone."""
    return [Figure("generating a sample / bare OpenMM", measured["ratio"], 1.1, "x")]
