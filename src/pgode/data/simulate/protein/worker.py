"""`python -m pgode.data.simulate.protein.worker FOLDER BRANCH`: one branch in its own process.

SIGTERM and SIGINT let the current sample be finished and stored if that takes seconds, and drop it
otherwise; so does the end of the command that started it, for whatever reason.
"""

import sys
from pathlib import Path

from pgode.runtime.disk.claims import claim
from pgode.runtime.processes import worker_exit_code
from pgode.runtime.signals import stop_on_signal


def finish(folder: Path, name: str) -> bool:
    """Finish the branch of this name; False if stopped before the end."""
    from pgode.data.simulate.protein.branches import finish_branch
    from pgode.data.simulate.protein.sampler import Sampler
    from pgode.data.simulate.protein.samples import Samples
    from pgode.data.simulate.protein.structure import openmm_errors

    samples = Samples(folder)
    settings = samples.settings
    branch = next(each for each in settings.branches() if each.name == name)
    solvated, _ = samples.required_solvated()
    with stop_on_signal() as stop, claim(folder), openmm_errors(f"the branch {name}"):
        return finish_branch(samples, branch, Sampler(solvated, settings), stop)


if __name__ == "__main__":
    sys.exit(worker_exit_code(lambda: finish(Path(sys.argv[1]), sys.argv[2])))
