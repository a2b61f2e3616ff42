"""`python -m pgode.reproduce.runner.worker ROOT TRIAL THREADS`: one trial in a process of its own.

SIGTERM and SIGINT save the training first; so does the end of the grid that
started it, however that came about.
"""

import json
import sys
from pathlib import Path

from pgode.runtime.errors import PgodeError
from pgode.runtime.processes import STOPPED, follow_parent


def main(words: list[str]) -> int:
    """Run the trial that a JSON file describes."""
    root, description, threads = Path(words[0]), Path(words[1]), int(words[2])
    follow_parent()
    import torch

    from pgode.reproduce.plan.trials import Trial, run_trial

    torch.set_num_threads(threads)
    trial = Trial.from_json(json.loads(description.read_text(encoding="utf-8")))
    try:
        return STOPPED if run_trial(trial, root, threads) is None else 0
    except PgodeError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
