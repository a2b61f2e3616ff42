"""`python -m pgode.reproduce.runner.worker ROOT TRIAL THREADS DEVICE`: a trial in its own process.

TRIAL is JSON. SIGTERM and SIGINT, and the end of the grid that started it, stop the training after
saving it.
"""

import json
import sys
from pathlib import Path

from pgode.runtime.processes import worker_exit_code


def finish(root: Path, description: str, threads: int, device: str) -> bool:
    """Run the trial; False if it was stopped before the end."""
    import torch

    from pgode.reproduce.plan.trials import Trial
    from pgode.reproduce.runner.training import run_trial

    torch.set_num_threads(threads)
    trial = Trial.from_json(json.loads(description))
    return run_trial(trial, root, threads, device=device) is not None


if __name__ == "__main__":
    sys.exit(
        worker_exit_code(
            lambda: finish(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4])
        )
    )
