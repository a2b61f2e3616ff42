"""What `pgode robustness` says: its tables in the terminal, and its findings in sentences."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from pgode.reports.base.numbers import MISSING, finite, power_of_ten, significant
from pgode.reports.base.verdicts import Verdict

ALONE = 1.1
"""Prototypes in use per object below which a mixture is none."""

WORDS = {True: "yes", False: "no", None: MISSING}

FEW = 2
"""Comparisons that are told in sentences; more of them are a table."""

PERTURBED = {"state": "the state it integrates", "observation": "the last observed frame"}


def label(run: Mapping[str, Any]) -> str:
    """A run by its name and its number of prototypes, or its model."""
    if run["prototypes"] is not None:
        return f"{run['name']} (K = {run['prototypes']})"
    return str(run["name"]) if run["name"] == run["model"] else f"{run['name']} ({run['model']})"


def growth_table(result: Mapping[str, Any]) -> Table:
    """Growth factors and rates in the terminal."""
    shown = _table(
        "Growth of a perturbation: mean norm of the difference / magnitude, after so many frames",
        "rate: r of the fit exp(r frame), per frame",
    )
    for head in ("run", "difference of"):
        shown.add_column(head, no_wrap=True)
    for head in ("magnitude", *result["horizons"], "rate"):
        shown.add_column(str(head), justify="right")
    for run in result["runs"]:
        rows = growth_rows(run, result["horizons"])
        for k, cells in enumerate(rows):
            name = Text(label(run) if k == 0 else "", style="bold")
            shown.add_row(name, *cells, end_section=k == len(rows) - 1)
    return shown


def bound_table(result: Mapping[str, Any]) -> Table | None:
    """Lipschitz constants, bounds and the fastest measured growth; None if no run has them."""
    runs = [run for run in result["runs"] if run["lipschitz"] is not None]
    if not runs:
        return None
    shown = _table(
        "Rates per frame: measured beside what the Lipschitz constants allow",
        "L: constant of the right-hand side; theorem: rate of the bound of Theorem 3.1; "
        "largest over systems",
    )
    shown.add_column("run", no_wrap=True)
    for head in ("in use", "fastest step", "L", "theorem"):
        shown.add_column(head, justify="right")
    shown.add_column("L of each prototype")
    for run in runs:
        found, bound = run["lipschitz"], run["bound"]
        each = [number(k["largest"]) for k in found["prototypes"]]
        shown.add_row(
            Text(label(run), style="bold"),
            f"{found['in_use']:.1f} of {run['prototypes']}",
            number(bound["fastest"]),
            number(found["mixture"]["largest"]),
            number(bound["theorem"]["largest"]),
            ", ".join(each) if len(each) > 1 else "",
        )
    return shown


COMPARED = ("several", "beside one", "moved", "L", "premise", "bound lower")
"""Columns of `comparison_rows`."""
COMPARED_WORDS = (
    "moved: forecast by the smallest magnitude at the last frame; L: of the whole right-hand side; "
    "premise: L of every prototype is below that of the single one; answers: in mean, in variance"
)


def comparison_rows(result: Mapping[str, Any]) -> list[list[str]]:
    """Several prototypes beside one, as ratios and answers, where there are many such pairs."""
    runs = {run["name"]: run for run in result["runs"]}
    rows = []
    for pair in result["comparisons"] if len(result["comparisons"]) > FEW else ():
        one, several, theorem = runs[pair["single"]], runs[pair["several"]], pair["theorem"]
        cells = ["", "", ""]
        if theorem is not None:
            whole = [finite(run["lipschitz"]["mixture"]["mean"]) for run in (several, one)]
            cells = [f"{significant(whole[0] / whole[1])} ×" if whole[1] else ""]
            for what in ("premise", "bound"):
                answers = (theorem[f"{what}_mean"], theorem[f"{what}_variance"])
                cells.append(", ".join(WORDS[answer] for answer in answers))
        rows.append([label(several), label(one), f"{number(pair['farther'])} ×", *cells])
    return rows


def comparison_table(result: Mapping[str, Any]) -> Table | None:
    """The same in the terminal; None where sentences do."""
    rows = comparison_rows(result)
    if not rows:
        return None
    shown = _table(
        "Several prototypes beside one: ratios, and premise and conclusion of Theorem 3.1",
        COMPARED_WORDS,
    )
    for title in COMPARED:
        names = title in COMPARED[:2]
        shown.add_column(title, justify="left" if names else "right", no_wrap=names)
    for row in rows:
        shown.add_row(*(Text(cell) for cell in row))
    return shown


def verdicts(result: Mapping[str, Any]) -> list[Verdict]:
    """What can be said of the runs in sentences."""
    runs = {run["name"]: run for run in result["runs"]}
    found: list[Verdict] = []
    for pair in result["comparisons"] if len(result["comparisons"]) <= FEW else ():
        found += _compared(pair, runs[pair["single"]], runs[pair["several"]], result["horizon"])
    for run in runs.values():
        found += _alone(run, result["horizon"]) if run["bound"] is not None else []
    left_out = [label(run) for run in runs.values() if run["bound"] is None]
    if left_out:
        words = (
            f"{', '.join(left_out)}: perturbed in {PERTURBED['observation']}. Lipschitz constants "
        )
        words += "and the theorem are about an integrated state, and left out."
        mixed = len(left_out) < len(runs)
        words += " Growth can be compared between runs that are perturbed alike." if mixed else ""
        found.append(Verdict(True, words))
    return found


def _compared(
    pair: Mapping[str, Any], one: Mapping[str, Any], several: Mapping[str, Any], horizon: int
) -> list[Verdict]:
    """The measurement and the theorem for several prototypes beside one."""
    farther = finite(pair["farther"])
    found = [
        Verdict(
            not farther > 1,
            f"Measured: after {horizon} frames a perturbation of {pair['magnitude']:g} has moved "
            f"the forecast of {label(several)} {significant(farther)} times as far as that of "
            f"{label(one)}.",
        )
    ]
    theorem = pair["theorem"]
    if theorem is not None:
        rates = [number(run["bound"]["theorem"]["mean"]) for run in (several, one)]
        whole = [number(run["lipschitz"]["mixture"]["mean"]) for run in (several, one)]
        found.append(
            Verdict(
                False not in (theorem["premise_mean"], theorem["premise_variance"]),
                f"Theorem 3.1 for {label(several)} beside {label(one)}. Premise, L of every "
                f"prototype below that of the single one: {_answers(theorem, 'premise')}. Rate of "
                f"the bound, {rates[0]} against {rates[1]} per frame, lower: "
                f"{_answers(theorem, 'bound')}. L of the whole right-hand side: {whole[0]} against "
                f"{whole[1]}.",
            )
        )
    return found


def _alone(run: Mapping[str, Any], horizon: int) -> list[Verdict]:
    """What there is to say of one run with an integrated state."""
    name, bound = label(run), run["bound"]
    largest = max(finite(row["factor"][str(horizon)]) for row in run["state"])
    allowed = _power(finite(bound["theorem"]["mean"]) * horizon)
    found = [
        Verdict(
            True,
            f"Theorem 3.1 allows a difference between states of {name} to grow by a factor of "
            f"{allowed} in {horizon} frames; measured was {significant(largest)}.",
        )
    ]
    within = finite(bound["holds"])
    if within < 1:
        words = f"{100 * (1 - within):.2g} % of the measured steps of {name} are above the bound"
        found.append(Verdict(False, f"{words}: its constants are larger than those found."))
    used = finite(run["lipschitz"]["in_use"])
    if run["prototypes"] > 1 and used < ALONE:
        words = f"The gate of {name} gives each object nearly one prototype alone ({used:.2f} in "
        found.append(Verdict(False, f"{words}use), so it is hardly a mixture."))
    return found


def _power(logarithm: float) -> str:
    """exp of a number that may be far too large to write out."""
    exponent = logarithm / math.log(10)
    return (
        significant(math.exp(logarithm))
        if exponent < 4
        else f"about {power_of_ten(round(exponent))}"
    )


def growth_rows(run: Mapping[str, Any], horizons: Sequence[int]) -> list[list[str]]:
    """Cells for each kind of difference and magnitude."""
    return [
        [
            part,
            f"{row['magnitude']:g}",
            *(number(row["factor"][str(h)]) for h in horizons),
            number(row["rate"]),
        ]
        for part in ("forecast", "state")
        for row in run[part] or ()
    ]


def _answers(theorem: Mapping[str, Any], what: str) -> str:
    """Yes or no in mean, and in variance where there is one."""
    parts = [(word, theorem[f"{what}_{word}"]) for word in ("mean", "variance")]
    said = ", ".join(f"in {word} {WORDS[value]}" for word, value in parts if value is not None)
    return f"{said} (over systems)"


def number(value: Any) -> str:
    """A number of the result with few digits; a dash where there is none."""
    return significant(finite(value))


def _table(title: str, caption: str) -> Table:
    return Table(
        title=title,
        title_justify="left",
        caption=caption,
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
