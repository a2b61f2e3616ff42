"""`pgode convert`: convert a run of an earlier format to the present one."""

from pathlib import Path

from pgode.cli.parameters import Output


def convert(old: Path, *, output: Output) -> None:
    """Convert a run of an earlier format to the present one.

    Forecasts stay the same to the last digit. The old folder is not changed.

    Parameters
    ----------
    old
        Run folder of the earlier format.
    output
        New run folder.
    """
    from pgode.runs.convert import convert_run
    from pgode.runtime.terminal.console import Terminal

    convert_run(old, output)
    Terminal().print(f"wrote {output}", highlight=False, soft_wrap=True)
