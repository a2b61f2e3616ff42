"""What every test runs under: one thread, a fixed seed, no screen."""

import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Set before numba or torch is imported. Sums over several threads may differ in their last bits
# from run to run, and the tests compare values; commands that tests start inherit the same. Set one
# of these outside to try another number of threads.
for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
os.environ.setdefault("MPLBACKEND", "Agg")
# Shells start background jobs with SIGINT ignored, which commands that tests start would inherit.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples on every machine, however busy it is. HYPOTHESIS_PROFILE=attack tries more.
EXAMPLES = {"quick": 15, "attack": 500}
for profile, examples in EXAMPLES.items():
    settings.register_profile(
        profile,
        max_examples=examples,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


# Files that take longest come first: `make test` hands out whole files, and one that began last
# would keep one process busy while the others have nothing left to do.
LONG = (
    "test_readme.py",
    "runs/export/test_models.py",
    "reproduce/runner/test_grid.py",
    "cli/test_laws.py",
    "runs/export/test_exporting.py",
    "reproduce/datasets/test_proteins.py",
    "training/parallel/test_equality.py",
    "training/parallel/test_processes.py",
    "training/test_resume.py",
    "examples/test_examples.py",
    "models/test_conformance.py",
    "tuning/test_search.py",
    "tuning/test_interruption.py",
    "release/test_wheel.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the long files first; the order of all others, and of tests within a file, is kept."""
    rank = {Path(__file__).parent / name: place for place, name in enumerate(LONG)}
    items.sort(key=lambda item: rank.get(item.path, len(LONG)))


def pytest_configure(config: pytest.Config) -> None:
    """Hide GPUs, so that numbers are those of the CPU on every machine; `-m cuda` shows them."""
    if config.getoption("markexpr") != "cuda":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""


@pytest.fixture(autouse=True)
def _same_start_for_every_test() -> None:
    """Seed torch, so that a test's outcome does not depend on which tests ran before it.

    Torch is not imported for this: until a test does so, its generator is at its default seed.
    """
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(0)
