"""`python -m benchmarks [names...]`: measure, compare with the limits, and write the results."""

import argparse
import os
import platform
import sys
from collections.abc import Callable
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import (
    Figure,
    Measurements,
    generation,
    latency,
    memory,
    molecules,
    processes,
    products,
    scaling,
    serving,
    simulator,
    startup,
    training_speed,
)
from benchmarks.training_step import BATCH, HORIZON
from pgode.runtime.files import writable_folder, write_json, write_text

Benchmark = tuple[Callable[[], Measurements], Callable[[Measurements], list[Figure]]]


def simulator_figures(measured: Measurements) -> list[Figure]:
    """The compiled simulator against a plain loop, for the system with the smaller ratio."""
    ratio = measured["ratio"]
    return [Figure("simulator, plain numpy loop / ours", ratio, 100.0, "x", at_least=True)]


def benchmarks(threads: int, quick: bool) -> dict[str, Benchmark]:
    """Every benchmark by name, in the order they run."""
    systems, horizon = (32, 6) if quick else (BATCH, HORIZON)

    def training(kind: str) -> Callable[[], Measurements]:
        return lambda: training_speed.run(kind, systems, horizon, threads, whole=not quick)

    return {
        "startup": (startup.run, startup.figures),
        "products": (lambda: products.run(threads), products.figures),
        "simulator": (simulator.run, simulator_figures),
        "training_speed": (training("springs"), training_speed.figures),
        "training_speed_charged": (training("charged"), training_speed.figures),
        "memory": (lambda: memory.run(systems, horizon, threads), memory.figures),
        "latency": (latency.run, latency.figures),
        "serving": (lambda: serving.run(3 if quick else serving.ROUNDS), serving.figures),
        "scaling": (
            lambda: scaling.run((10, 100, 1000), large=1000) if quick else scaling.run(),
            scaling.figures,
        ),
        "processes": (
            lambda: processes.run(64, 4, 1) if quick else processes.run(),
            processes.figures,
        ),
        "molecules": (lambda: molecules.run(threads, quick), molecules.figures),
        "generation": (
            lambda: generation.run(4, 1, 0.1) if quick else generation.run(),
            generation.figures,
        ),
    }


def machine(threads: int) -> dict[str, Any]:
    """The machine and the versions that the numbers were measured with."""
    return {
        "date": date.today().isoformat(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "threads": threads,
        "python": platform.python_version(),
        "torch": version("torch"),
    }


def processor() -> str:
    """The processor's name; on Linux, Python reports only its architecture."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def shown(figure: Figure) -> str:
    """A measured number with its unit."""
    return f"{figure.measured:.3g} {figure.unit}".strip()


def table(results: dict[str, list[Figure]]) -> Table:
    """All figures for the terminal."""
    rows = Table(title="Benchmarks")
    for column in ("benchmark", "figure", "limit", "measured", ""):
        rows.add_column(column)
    for name, figures in results.items():
        for figure in figures:
            verdict = "[green]kept[/]" if figure.passed else "[red]missed[/]"
            rows.add_row(name, figure.what, figure.bound, shown(figure), verdict)
    return rows


def markdown(
    results: dict[str, list[Figure]], measured: dict[str, Measurements], where: dict[str, Any]
) -> str:
    """The figures as a page of the docs, followed by all measured numbers."""
    lines = [
        "# Benchmark results",
        "",
        "Written by `python -m benchmarks --markdown`. Only ratios within one run carry over to "
        "other machines.",
        "",
        f"Measured on {where['date']}: {where['processor']}, {where['threads']} of "
        f"{where['cores']} cores, Python {where['python']}, torch {where['torch']}.",
        "",
        "| benchmark | figure | limit | measured | |",
        "|---|---|---|---|---|",
    ]
    for name, figures in results.items():
        for figure in figures:
            verdict = "kept" if figure.passed else "**missed**"
            cells = (name, figure.what, figure.bound, shown(figure), verdict)
            lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "## All numbers", "", "| benchmark | number | value |", "|---|---|---|"]
    for name, numbers in measured.items():
        lines += [f"| {name} | {key} | {value} |" for key, value in _flat(numbers)]
    return "\n".join(lines) + "\n"


def _flat(numbers: Measurements, prefix: str = "") -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for key, value in numbers.items():
        if isinstance(value, dict):
            rows += _flat(value, f"{prefix}{key}, ")
        elif isinstance(value, list):
            each = [_flat(x) if isinstance(x, dict) else [(str(x), "")] for x in value]
            texts = [", ".join(f"{k} {v}".strip() for k, v in pairs) for pairs in each]
            rows.append((prefix + key, "; ".join(texts)))
        elif key != "benchmark":
            rows.append((prefix + key, str(value)))
    return rows


def main() -> int:
    """Run the chosen benchmarks; 1 if a limit was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help="which to run (all)")
    parser.add_argument("--json", type=Path, help="write everything that was measured")
    parser.add_argument("--markdown", type=Path, help="write the tables for the docs")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--quick", action="store_true", help="small sizes, for testing only")
    chosen = parser.parse_args()
    available = benchmarks(chosen.threads, chosen.quick)
    unknown = [name for name in chosen.names if name not in available]
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(available)}")
    for path in (chosen.json, chosen.markdown):
        if path is not None:
            writable_folder(path)

    console = Console()
    measured: dict[str, Measurements] = {}
    results: dict[str, list[Figure]] = {}
    for name in chosen.names or available:
        measure, figures = available[name]
        with console.status(f"measuring {name}"):
            measured[name] = measure()
        results[name] = figures(measured[name])
        console.print(f"{name}: {measured[name]}", highlight=False, soft_wrap=True)
    console.print(table(results))

    where = machine(chosen.threads)
    if chosen.json is not None:
        listed = {name: [f.to_json() for f in figures] for name, figures in results.items()}
        write_json(chosen.json, {"machine": where, "figures": listed, "measured": measured})
    if chosen.markdown is not None:
        write_text(chosen.markdown, markdown(results, measured, where))
    return 0 if all(f.passed for figures in results.values() for f in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
