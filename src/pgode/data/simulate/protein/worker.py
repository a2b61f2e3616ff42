"""`python -m pgode.data.simulate.protein.worker FOLDER BRANCH`: one branch in a process of its own.

SIGTERM and SIGINT let the sample in hand be finished and kept; so does the end of the command
that started it, however that came about.
"""

import sys
from pathlib import Path

from pgode.runtime.errors import PgodeError
from pgode.runtime.processes import STOPPED, follow_parent
from pgode.runtime.signals import stop_on_signal


def main(words: list[str]) -> int:
    """Finish the branch of this name."""
    folder, name = Path(words[0]), words[1]
    follow_parent()
    from pgode.data.simulate.protein.branches import finish_branch
    from pgode.data.simulate.protein.sampler import Sampler
    from pgode.data.simulate.protein.samples import Samples
    from pgode.data.simulate.protein.structure import openmm_errors

    samples = Samples(folder)
    try:
        settings = samples.settings
        branch = next(each for each in settings.branches() if each.name == name)
        solvated, _ = samples.required_solvated()
        with stop_on_signal() as stop, openmm_errors(f"the branch {name}"):
            sampler = Sampler(solvated, settings)
            return 0 if finish_branch(samples, branch, sampler, stop) else STOPPED
    except PgodeError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
