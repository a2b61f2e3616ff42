"""Time of `pgode --help` and of `import pgode`."""

import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

from benchmarks import Figure, Measurements

ROOT = Path(__file__).parents[1]
HELP = ["-m", "pgode.cli", "--help"]
IMPORT = "from time import perf_counter as t; a = t(); import pgode; print(t() - a)"


def _python(*arguments: str) -> subprocess.CompletedProcess[str]:
    process = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if process.returncode:
        raise RuntimeError(f"python {' '.join(arguments)} failed:\n{process.stderr}")
    return process


def run(repeats: int = 5) -> Measurements:
    """Wall times in fresh processes, after a warm-up that fills the disk cache."""
    imported = {
        line.rsplit("|", 1)[-1].strip()
        for line in _python("-X", "importtime", *HELP).stderr.splitlines()
    }
    helps, imports = [], []
    for _ in range(repeats):
        begun = perf_counter()
        _python(*HELP)
        helps.append(perf_counter() - begun)
        imports.append(float(_python("-c", IMPORT).stdout))
    return {
        "benchmark": "startup",
        "help_seconds": round(median(helps), 3),
        "import_seconds": round(median(imports), 3),
        "heavy_imports_of_help": sorted(imported & {"torch", "numba", "xarray", "matplotlib"}),
    }


def figures(measured: Measurements) -> list[Figure]:
    """Both times."""
    return [
        Figure("pgode --help", measured["help_seconds"], 0.5, "s"),
        Figure("import pgode", measured["import_seconds"], 0.3, "s"),
    ]
