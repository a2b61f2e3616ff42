"""`python -m pgode.tuning.trials.worker FOLDER`: one trial in its own process, or on Ray.

SIGTERM and SIGINT, and the end of the search that started it, stop the training after saving it.
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pgode.runtime.processes import worker_exit_code

KEPT = ("*.json", "*.jsonl", "*.csv", "*.npz", "checkpoints/*.safetensors")
"""Files of a run that Ray sends back."""


def finish(folder: Path) -> bool:
    """Run the trial in this folder; False if it was stopped before the end."""
    from pgode.tuning.trials.files import read_trial
    from pgode.tuning.trials.training import run_trial

    return run_trial(read_trial(folder).plan, folder) is not None


def finish_on_ray(plan: dict[str, Any], data: bytes) -> Iterator[dict[str, bytes]]:
    """The work of a Ray worker, which need not share our files: yields those of the run.

    `data` is the content of a NetCDF file. A trial that Ray restarts begins anew.
    """
    from pgode.data import files
    from pgode.tuning.trials.files import TrialPlan
    from pgode.tuning.trials.training import run_trial

    with tempfile.TemporaryDirectory(prefix="pgode-tune-") as place:
        source = Path(place) / "data.nc"
        source.write_bytes(data)
        folder = Path(place) / "run"
        folder.mkdir()
        if run_trial(TrialPlan.from_json(plan), folder, files.read_again(source)) is None:
            raise KeyboardInterrupt("the trial was stopped")
        found = [path for pattern in KEPT for path in folder.glob(pattern)]
        yield {str(path.relative_to(folder)): path.read_bytes() for path in found}


if __name__ == "__main__":
    sys.exit(worker_exit_code(lambda: finish(Path(sys.argv[1]))))
