"""Measurements behind the figures that pgode promises; run all with `python -m benchmarks`.

Each file measures one thing: `run()` returns plain numbers, and `figures(measured)` those that have
a limit. Times are compared within one run only, since machines differ.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Measurements = dict[str, Any]
ROOT = Path(__file__).parents[1]


def measured_alone(module: str, settings: Any) -> Any:
    """The last line that `python -m module SETTINGS` prints, as JSON.

    In a separate process, since the peak memory of a process never falls.
    """
    child = subprocess.run(
        [sys.executable, "-m", module, json.dumps(settings)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if child.returncode:
        raise RuntimeError(f"python -m {module} failed:\n{child.stderr}")
    return json.loads(child.stdout.splitlines()[-1])


@dataclass(frozen=True)
class Figure:
    """One measured number and the limit it has to keep."""

    what: str
    measured: float
    limit: float
    unit: str = ""
    at_least: bool = False

    @property
    def passed(self) -> bool:
        """Whether the limit is kept; a number that could not be measured does not keep it."""
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit

    @property
    def bound(self) -> str:
        """The limit as text."""
        return f"{'at least' if self.at_least else 'at most'} {self.limit:g} {self.unit}".strip()

    def to_json(self) -> dict[str, Any]:
        """Plain numbers and text."""
        return {
            "what": self.what,
            "measured": self.measured,
            "limit": self.limit,
            "unit": self.unit,
            "at_least": self.at_least,
            "passed": self.passed,
        }
