"""The command `pgode`: its subcommands, and how errors are shown."""

import os
from collections.abc import Sequence

from cyclopts import App, CycloptsError, Parameter

from pgode import __version__
from pgode.cli.check import check
from pgode.cli.compare import compare
from pgode.cli.convert import convert
from pgode.cli.data_covid import data_covid
from pgode.cli.evaluate import evaluate
from pgode.cli.export import export
from pgode.cli.export_md import export_md
from pgode.cli.forecast import forecast
from pgode.cli.import_md import import_md
from pgode.cli.import_mocap import import_mocap
from pgode.cli.import_table import import_table
from pgode.cli.import_wide import import_wide
from pgode.cli.info import info
from pgode.cli.laws import laws
from pgode.cli.models import models
from pgode.cli.parsing import converted
from pgode.cli.report import report
from pgode.cli.reproduce import reproduce
from pgode.cli.robustness import robustness
from pgode.cli.simulate import simulate
from pgode.cli.simulate_protein import simulate_protein
from pgode.cli.terminal import shown_warnings
from pgode.cli.train import train
from pgode.cli.tune import tune
from pgode.cli.verify import verify
from pgode.runtime.disk.room import unforeseen
from pgode.runtime.errors import PgodeError
from pgode.runtime.stopping import kept
from pgode.runtime.stopping.command import in_charge
from pgode.runtime.terminal.console import Terminal

BAD_INPUT = 2
INTERRUPTED = 130

app = App(
    name="pgode",
    help="Learn and forecast systems of many interacting objects with prototypical graph ODEs.",
    version=__version__,
    # A file may be called [a].csv, which is no list.
    default_parameter=Parameter(json_list=False, json_dict=False, converter=converted),
    suppress_keyboard_interrupt=False,  # `run_command` handles it
)
simulating = App(name="simulate", help="Simulate a system and write its trajectories.")
simulating.default(simulate)
simulating.command(simulate_protein, name="protein")
app.command(simulating)
for command in (
    train,
    tune,
    evaluate,
    compare,
    forecast,
    export,
    report,
    laws,
    info,
    check,
    verify,
    models,
    reproduce,
    robustness,
    convert,
    export_md,
):
    app.command(command)
importing = App(name="import", help="Import data from other programs.")
importing.command(import_table, name="table")
importing.command(import_wide, name="wide")
importing.command(import_md, name="md")
importing.command(import_mocap, name="mocap")
app.command(importing)
obtaining = App(name="data", help="Make data sets from public sources.")
obtaining.command(data_covid, name="covid")
app.command(obtaining)


def run_command(arguments: Sequence[str]) -> int:
    """Run one command; bad input is an error of one paragraph and exit code 2.

    A command that is asked to stop says what is kept; most are then ended by
    `pgode.runtime.stopping`, and only those that work in steps come back here.
    """
    errors = Terminal(stderr=True, soft_wrap=True)
    kept.begin()
    try:
        with shown_warnings(errors):
            result = app(
                arguments, exit_on_error=False, print_error=False, result_action="return_value"
            )
    except PgodeError as error:
        errors.print(f"Error: {error}", style="red")
        return BAD_INPUT
    except CycloptsError as error:
        errors.print(f"Error: {error}", style="red")
        errors.print("See pgode --help, or --help after a command.")
        return BAD_INPUT
    except KeyboardInterrupt:
        charge = in_charge()
        if charge is None:
            errors.print(kept.sentence())
            return INTERRUPTED
        charge.say()
        return charge.exit_code
    except Exception as error:  # Libraries report a full disk by errors of many types.
        problem = unforeseen(error) or _unusable(error)
        if problem is None:
            raise
        errors.print(f"Error: {problem}", style="red")
        return BAD_INPUT
    return result if isinstance(result, int) else 0


def _unusable(error: Exception) -> str | None:
    """What the system refused to do with a path that somebody gave; None if it is not about one."""
    if not isinstance(error, OSError) or error.filename is None:
        return None
    path = os.fsdecode(error.filename) if error.filename != "" else '""'
    return (
        f"cannot use {path}: {error.strerror}. Expected a file or folder that can be opened. Check "
        f"the path."
    )
