"""`pgode laws`: the force laws that a run has found."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pgode.cli.parameters import Force, Overwrite, RunData, RunName
from pgode.runtime.errors import InputError


def laws(
    run: RunName,
    *,
    data: RunData = None,
    force: Force = False,
    csv: Path | None = None,
    svg: Path | None = None,
    json: Annotated[bool, Parameter(negative=())] = False,
    overwrite: Overwrite = False,
) -> None:
    """Print the force laws of a run: closed forms with errors, ranges, drag, walls.

    Parameters
    ----------
    csv
        File for a table of each law and its closed form, also beyond the distances seen.
    svg
        File for a picture of all laws.
    json
        Print JSON instead of text.
    """
    from json import dumps

    from pgode.data import files
    from pgode.evaluation.laws.words import NOTE, other_sentences, sentence
    from pgode.reports.laws.files import laws_csv, laws_json, laws_svg
    from pgode.reports.laws.terminal import laws_table
    from pgode.runs.laws import data_at_hand, laws_of
    from pgode.runs.outputs import run_inputs
    from pgode.runs.run import Run
    from pgode.runtime.files import write_text
    from pgode.runtime.outputs import claim_outputs
    from pgode.runtime.terminal.console import Terminal

    claim_outputs([csv, svg], inputs=run_inputs([run], data), overwrite=overwrite)
    opened = Run.open(run, "cpu")
    source = data or data_at_hand(opened)
    console = Terminal(soft_wrap=True)
    with Terminal(stderr=True).status("reading the laws"):
        found = laws_of(opened, None if source is None else files.read(source, force=force))
    if svg is not None and not found.laws:
        raise InputError(
            f"there is no picture to write to {svg}: the run {opened.folder} has no laws, because "
            f"free motion forecasts better than any that was found. Expected a run with laws. "
            f"Leave out --svg, or train on data in which objects act on each other."
        )
    if json:
        print(dumps(laws_json(found, str(opened.folder)), indent=2, allow_nan=False))
    else:
        for law in found.laws:
            console.print(sentence(law, found.length_units), markup=False)
        if found.laws:
            Terminal().print("", laws_table(found), sep="")
        units = f" Their unit is {found.force_units}." if found.force_units else ""
        for text in (*other_sentences(found), NOTE + units):
            console.print(text, markup=False)
    for path, write in ((csv, laws_csv), (svg, laws_svg)):
        if path is not None:
            write_text(path, write(found))
            Terminal(stderr=json, soft_wrap=True).print(f"wrote {path}")
