"""`python -m pgode.experiments.worker ROOT TRIAL THREADS`: one trial in a process of its own.

A fresh process per trial gives back all memory, leaves its own log, and can be stopped without
touching the others. SIGTERM and SIGINT save the training first; so does the end of the grid that
started it, however that came about.
"""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

from pgode.errors import PgodeError

STOPPED = 3
"""Exit code of a trial that was stopped and can go on later."""


def main(words: list[str]) -> int:
    """Run the trial that a JSON file describes."""
    root, description, threads = Path(words[0]), Path(words[1]), int(words[2])
    threading.Thread(target=_follow_parent, args=(os.getppid(),), daemon=True).start()
    import torch

    from pgode.experiments.trials import Trial, run_trial

    torch.set_num_threads(threads)
    trial = Trial.from_json(json.loads(description.read_text(encoding="utf-8")))
    try:
        return STOPPED if run_trial(trial, root, threads) is None else 0
    except PgodeError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2


def _follow_parent(parent: int) -> None:
    """Ask this process to stop when the one that started it is gone."""
    while os.getppid() == parent:
        time.sleep(1)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
