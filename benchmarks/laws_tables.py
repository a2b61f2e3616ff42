"""The tables of docs/results.md about force laws, from benchmarks/results/laws and nbody.json."""

import json
from collections.abc import Iterable, Sequence
from statistics import mean
from typing import Any

from benchmarks.laws import REMOVED, RIVALS, SEEDS, SYSTEMS, results
from benchmarks.nbody import OUT as NBODY
from pgode.evaluation.evaluation import Evaluation, ScoreTable

HORIZONS = (12, 24, 36)
SPLITS = {"test": "ID", "ood": "OOD"}
PUBLISHED_NBODY = {"EGNN": 0.0071, "SEGNN": 0.0043, "SEGNO": 0.0028}
"""As published for 3000 training systems."""

INTRODUCTION = """## Force laws, the `default` preset

Prototypes are force laws that are found in the training data ([Laws](laws.md)); there are no
epochs. Three seeds choose the systems that laws are looked for in: the mean is given, and the
range in brackets where it is more than the last digit. "Known law" is the simulator itself, started
from the last observed frame with its strength fitted to the observed frames: the floor, up to what
a mean over an ensemble gains under chaos. `python -m benchmarks.laws train` makes all of these.
"""


def sections() -> str:
    """All sections; empty if nothing was run."""
    found = results()
    parts = [
        *(_system(system, found) for system in SYSTEMS),
        _coverage(found),
        _trust(found),
        _costs(found),
        _nbody(),
        _ablation(found),
        _rivals(found),
    ]
    known = [part for part in parts if part]
    return "\n".join([INTRODUCTION, *known]) if known else ""


def _evaluations(names: Iterable[str], found: dict[str, dict[str, Any]]) -> list[Evaluation]:
    return [Evaluation.from_json(found[name]["evaluation"]) for name in names if name in found]


def _own(system: str, found: dict[str, dict[str, Any]]) -> list[Evaluation]:
    return _evaluations((f"{system}-{seed}" for seed in SEEDS), found)


def _cells(evaluation: Evaluation) -> list[tuple[str, int, str]]:
    return [(s, h, v) for s in SPLITS for h in HORIZONS for v in evaluation.variables]


def _values(tables: Sequence[ScoreTable], cell: tuple[str, int, str]) -> list[float]:
    values = [table.at(*cell) for table in tables]
    return [value for value in values if value is not None]


def _range(values: Sequence[float], scale: float = 100.0) -> str:
    """The mean, with the smallest and the largest where they differ."""
    shown = [f"{scale * value:.3g}" for value in (mean(values), min(values), max(values))]
    return shown[0] if len(set(shown)) == 1 else f"{shown[0]} ({shown[1]} to {shown[2]})"


def _system(system: str, found: dict[str, dict[str, Any]]) -> str:
    runs = _own(system, found)
    if not runs:
        return ""
    one = runs[0]
    columns = {"PGODE": [run.mse for run in runs]}
    if one.known_law is not None:
        columns["known law"] = [one.known_law]
    for name, label in (("constant-velocity", "constant velocity"), ("last-value", "last value")):
        columns[label] = [one.naive_mse(name)]
    published = _published(system)
    heads = [*columns, *(["PGODE, paper"] if published else [])]
    lines = [
        f"### {system.capitalize()}\n",
        "| MSE x 1e-2 | " + " | ".join(heads) + " |",
        "|---|" + "---:|" * len(heads),
    ]
    for cell in _cells(one):
        shown = [_range(_values(tables, cell)) for tables in columns.values()]
        shown[0] = f"**{shown[0]}**"
        if published:
            shown.append(f"{published[cell]:.3g}")
        split, horizon, variable = cell
        lines.append(f"| {SPLITS[split]} {horizon} {variable} | " + " | ".join(shown) + " |")
    agreement = [found[f"{system}-{k}"].get("agreement") for k in SEEDS if f"{system}-{k}" in found]
    known = [value for value in agreement if value is not None]
    lines.append(f"\nSeeds: {len(runs)}. Data hash `{one.data_hash[:12]}`.")
    if known:
        lines.append(
            f"Agreement of the gate with the hidden kinds of the test systems, adjusted Rand "
            f"index: {_range(known, 1.0)}."
        )
    return "\n".join(lines) + "\n"


def _published(system: str) -> dict[tuple[str, int, str], float]:
    """The errors of PGODE in Table 1 of the paper, times 100."""
    from pgode.reproduce.tables.published import published_tables

    table = published_tables()["table1"]
    found = {}
    for cell in [(s, h, v) for s in SPLITS for h in HORIZONS for v in ("q", "v")]:
        value = table.cell(system, "pgode", "", *cell)
        if value is not None:
            found[cell] = float(value.value)
    return found


def _coverage(found: dict[str, dict[str, Any]]) -> str:
    lines = [
        "### Intervals\n",
        "Share of true values inside the 90 % interval over 36 frames, in per cent.\n",
        "| | ID q | ID v | OOD q | OOD v |",
        "|---|---:|---:|---:|---:|",
    ]
    for system in SYSTEMS:
        tables = [run.score("coverage_90") for run in _own(system, found)]
        if tables:
            cells = [(split, 36, v) for split in SPLITS for v in ("q", "v")]
            shown = [_range(_values(tables, cell)) for cell in cells]
            lines.append(f"| {system} | " + " | ".join(shown) + " |")
    return "\n".join(lines) + "\n" if len(lines) > 4 else ""


def _trust(found: dict[str, dict[str, Any]]) -> str:
    lines = [
        "### Trust\n",
        "Share of the test frames (36 of each system) in which a forecast is to be trusted "
        "([Force laws](laws.md#how-long-a-forecast-can-be-trusted)), and the errors of positions "
        "in these frames and in the others.\n",
        "| | trusted, per cent | MSE x 1e-2, trusted | MSE x 1e-2, others |",
        "|---|---:|---:|---:|",
    ]
    for system in SYSTEMS:
        runs = [found.get(f"{system}-{k}", {}).get("trust") for k in SEEDS]
        known = [run for run in runs if run is not None]
        if known:
            shown = [_range([run[key] for run in known]) for key in ("share", "mse", "mse_after")]
            lines.append(f"| {system} | " + " | ".join(shown) + " |")
    return "\n".join(lines) + "\n" if len(lines) > 4 else ""


def _costs(found: dict[str, dict[str, Any]]) -> str:
    lines = [
        "### Time\n",
        "Training, on one thread of a shared two-core machine that had other work, and the time of "
        "one core that the forecast of one system takes, over 36 frames with an ensemble of 16.\n",
        "| | training, minutes | forecast, ms |",
        "|---|---:|---:|",
    ]
    for system in SYSTEMS:
        runs = [found[f"{system}-{k}"] for k in SEEDS if f"{system}-{k}" in found]
        if runs:
            shown = [_range([run[key] for run in runs], 1.0) for key in ("minutes", "forecast_ms")]
            lines.append(f"| {system} | " + " | ".join(shown) + " |")
    return "\n".join(lines) + "\n" if len(lines) > 4 else ""


def _nbody() -> str:
    if not NBODY.exists():
        return ""
    content = json.loads(NBODY.read_text())
    lines = [
        "### The N-body benchmark of equivariant networks\n",
        "Five charges in 3-D, from frame 30 to the positions at frame 40, 3000 training and 2000 "
        "test systems, raw units (`python -m benchmarks.nbody`). A few systems with close "
        "encounters carry nearly all of the error, as the median shows. The published numbers are "
        "those of networks that are not told what a force is.\n",
        "| | MSE | median |",
        "|---|---:|---:|",
    ]
    for track, seeds in content["tracks"].items():
        shown = [_range([each[key] for each in seeds.values()], 1.0) for key in ("mse", "median")]
        lines.append(f"| PGODE, {track} | **{shown[0]}** | {shown[1]} |")
    lines += [f"| {name}, published | {value} | |" for name, value in PUBLISHED_NBODY.items()]
    for name, scores in content["naive"].items():
        lines.append(f"| {name} | {scores['mse']:.3g} | {scores['median']:.3g} |")
    return "\n".join(lines) + "\n"


def _ablation(found: dict[str, dict[str, Any]]) -> str:
    cells = [(split, h, v) for split in SPLITS for h in (12, 36) for v in ("q", "v")]
    lines = []
    for system in ("charged", "mixed"):
        rows = {"all parts": _own(system, found)}
        for name in REMOVED:
            names = (f"{system}-{name}-{seed}" for seed in SEEDS)
            rows[name.replace("without-", "w/o ")] = _evaluations(names, found)
        if not rows["all parts"] or not any(list(rows.values())[1:]):
            continue
        heads = [f"{SPLITS[split]} {h} {v}" for split, h, v in cells]
        lines += [f"\n| {system}, MSE x 1e-2 | " + " | ".join(heads) + " | seeds |"]
        lines += ["|---|" + "---:|" * (len(cells) + 1)]
        for label, runs in rows.items():
            if runs:
                shown = [_range(_values([run.mse for run in runs], cell)) for cell in cells]
                lines.append(f"| {label} | " + " | ".join([*shown, str(len(runs))]) + " |")
    if not lines:
        return ""
    text = (
        "### Parts taken away\n\n"
        "The paper's ablation, for force laws: w/o F one prototype, w/o O the same weights for all "
        "objects, w/o epsilon no strength of the system, w/o D a strength for each object instead "
        "of one for the system. All without message prototypes, which would make up for a part.\n"
    )
    return text + "\n".join(lines) + "\n"


def _rivals(found: dict[str, dict[str, Any]]) -> str:
    rows = {"PGODE": _own("mixed", found)}
    rows["PGODE, one prototype"] = _evaluations(
        (f"mixed-without-F-{seed}" for seed in SEEDS), found
    )
    for name in RIVALS:
        rows[name] = _evaluations([f"mixed-{name}-0"], found)
    if not rows["PGODE"] or not any(list(rows.values())[2:]):
        return ""
    cells = [(split, h, "q") for split in SPLITS for h in HORIZONS]
    heads = [f"{SPLITS[split]} {h} q" for split, h, _ in cells]
    lines = [
        "### Mixed beside its rivals\n",
        "The strongest rivals on Springs and Charged, ten epochs each.\n",
        "| MSE x 1e-2 | " + " | ".join(heads) + " |",
        "|---|" + "---:|" * len(heads),
    ]
    for label, runs in rows.items():
        if runs:
            shown = [_range(_values([run.mse for run in runs], cell)) for cell in cells]
            lines.append(f"| {label} | " + " | ".join(shown) + " |")
    return "\n".join(lines) + "\n"
