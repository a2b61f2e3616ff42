"""What every test runs under: one thread, a fixed seed, no screen."""

import os
import signal
import sys

import pytest

# Set before numba or torch is imported. Sums over several threads may differ in their last bits
# from run to run, and the tests compare values; commands that tests start inherit the same. Set one
# of these outside to try another number of threads.
for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
os.environ.setdefault("MPLBACKEND", "Agg")
# Shells start background jobs with SIGINT ignored, which commands that tests start would inherit.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


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
