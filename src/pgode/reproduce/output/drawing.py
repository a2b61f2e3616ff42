"""Figures of the paper from our runs: curves over an axis, and trajectories beside the truth."""

import io as text_io
from itertools import cycle
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pgode.batches.windows import Windows
from pgode.data.trajectories import Trajectories
from pgode.reports.base.names import short_split_name
from pgode.reproduce.datasets.registry import DATASETS
from pgode.reproduce.output.content import TableContent, TableRow
from pgode.reproduce.output.structures import structure_figure
from pgode.reproduce.plan.results import read_result
from pgode.reproduce.plan.selection import Combination, Selection, combinations, full_trials
from pgode.reproduce.plan.trials import Trial, run_folder
from pgode.reproduce.tables.catalogue import Experiment
from pgode.runs.run import Run

matplotlib.rcParams["svg.hashsalt"] = "pgode"  # the same figure is the same file
STYLES = (":", "--", "-")
"""Of lines, from the shortest horizon to the longest."""
EXAMPLES = {"test": 2, "ood": 2}
"""Systems of each split that are drawn."""


def curves(content: TableContent) -> list[str]:
    """Error against the axis, one figure per data set."""
    return [_svg(curve_figure(content, dataset)) for dataset in content.datasets]


def curve_figure(content: TableContent, dataset: str) -> Figure:
    """A panel for each split and variable, and one for the cost where it is shown."""
    rows = content.rows_of(dataset)
    panels = list(dict.fromkeys((split, variable) for split, _, variable in content.columns))
    count = len(panels) + content.timed
    figure = Figure(figsize=(4 * count, 3.5), layout="constrained")
    axes = figure.subplots(1, count, squeeze=False)[0]
    for panel, (split, variable) in zip(axes, panels, strict=False):
        _errors(panel, rows, content, split, variable)
    axes[0].set_ylabel("mean squared error")
    if axes[0].lines:
        handles, labels = axes[0].get_legend_handles_labels()
        columns = min(4, len(axes))  # As wide as the panels, or it would be cut.
        figure.legend(
            *(handles, labels),
            fontsize=8,
            handlelength=3.5,
            loc="outside lower center",
            ncols=columns,
        )
    if content.timed:
        for number, line in enumerate(_by_label(rows).values()):
            _line(axes[-1], line, [row.seconds_per_epoch for row in line], "", f"C{number}", "-")
        axes[-1].set(title="cost", ylabel="seconds per epoch", xlabel=content.axis, ylim=(0, None))
    figure.suptitle(dataset)
    return figure


def pictures(experiment: Experiment, selection: Selection, root: Path) -> list[str]:
    """Forecasts of each row beside the truth, one figure per data set with finished runs."""
    figures = []
    for name in experiment.datasets:
        dataset = DATASETS[name]
        runs = {
            each.row.label.replace("`", ""): Run.open(run_folder(trial, root), "cpu")
            for each in combinations(experiment)
            if each.dataset == name
            for trial in _longest(each, experiment, selection, root)[:1]
            if (result := read_result(trial, root)) is not None
            and not result.diverged
            and (run_folder(trial, root) / "config.json").exists()
        }
        if runs:
            data = dataset.read(selection.budget, root)
            draw = _structures if data.topology else _trajectories
            figures.append(draw(data, runs, dataset.horizons))
    return figures


def _longest(
    combination: Combination, experiment: Experiment, selection: Selection, root: Path
) -> list[Trial]:
    """The trials that are trained at the data set's longest horizon."""
    trials = full_trials(combination, experiment, selection, root) or {}
    return trials.get(DATASETS[combination.dataset].horizon, [])


def _errors(
    panel: Axes, rows: list[TableRow], content: TableContent, split: str, variable: str
) -> None:
    """A colour for each model, a kind of line for each horizon."""
    here = [n for n, (s, _, v) in enumerate(content.columns) if (s, v) == (split, variable)]
    for number, (label, line) in enumerate(_by_label(rows).items()):
        for column, style in zip(here, cycle(STYLES), strict=False):
            values = [row.cells[column].ours for row in line]
            name = f"{label.replace('`', '')}, {content.columns[column][1]} frames"
            _line(panel, line, values, name, f"C{number}", style)
    panel.set(title=f"{short_split_name(split)}, {variable}", xlabel=content.axis)
    if panel.lines:
        panel.set_yscale("log")


def _by_label(rows: list[TableRow]) -> dict[str, list[TableRow]]:
    """The rows of each line."""
    labels = dict.fromkeys(row.label for row in rows)
    return {label: [row for row in rows if row.label == label] for label in labels}


def _line(
    panel: Axes,
    rows: list[TableRow],
    values: list[float | None],
    label: str,
    colour: str,
    style: str,
) -> None:
    points = [(row.axis_value, value) for row, value in zip(rows, values, strict=True) if value]
    if points:
        x, y = zip(*points, strict=True)
        panel.plot(x, y, marker="o", markersize=4, label=label, color=colour, ls=style)
        panel.set_xticks([row.axis_value for row in rows if row.axis_value is not None])


def _structures(data: Trajectories, runs: dict[str, Run], horizons: tuple[int, ...]) -> str:
    """The first test system at each horizon: each method over the truth."""
    system, first = data.split_of("test").select(np.array([0])), next(iter(runs.values()))
    forecasts = {
        name: run.normaliser.raw(_forecast(run, system, max(horizons)))
        for name, run in runs.items()
    }
    unit = first.normaliser.units[system.position_features[0]]
    condition = first.config.window.condition
    return _svg(structure_figure(system, forecasts, condition, horizons, unit))


def _trajectories(data: Trajectories, runs: dict[str, Run], horizons: tuple[int, ...]) -> str:
    """One row of panels per system: each method, and the truth; observed frames are faint."""
    horizon = max(horizons)
    count = sum(EXAMPLES.values())
    figure = Figure(figsize=(3 * (len(runs) + 1), 3 * count), layout="constrained")
    axes = figure.subplots(count, len(runs) + 1, squeeze=False)
    lines = iter(axes)
    for split, wanted in EXAMPLES.items():
        part = data.split_of(split)
        for system in range(min(wanted, part.systems)):
            panels = next(lines)
            _system(panels, part.select(np.array([system])), runs, horizon)
            panels[0].set_ylabel(f"{short_split_name(split)} system {system}")
    return _svg(figure)


def _system(panels: np.ndarray, system: Trajectories, runs: dict[str, Run], horizon: int) -> None:
    x, y = system.position_features[:2]
    condition = next(iter(runs.values())).config.window.condition
    states = system.states[0]
    shown = {
        name: run.normaliser.raw(_forecast(run, system, horizon)) for name, run in runs.items()
    } | {"truth": states[:, condition : condition + horizon]}
    for panel, (name, ahead) in zip(panels, shown.items(), strict=True):
        for number, colour in zip(range(len(states)), _colours(), strict=False):
            seen = states[number, :condition]
            later = np.concatenate([seen[-1:], ahead[number]])
            panel.plot(seen[:, x], seen[:, y], color=colour, alpha=0.3)
            panel.plot(later[:, x], later[:, y], color=colour)
            panel.plot(later[-1, x], later[-1, y], ".", color=colour)
        panel.set_aspect("equal", adjustable="datalim")
        panel.set_title(name, fontsize=9)
        panel.tick_params(labelsize=6)


def _forecast(run: Run, system: Trajectories, horizon: int) -> np.ndarray:
    import torch

    windows = Windows(run.conform(system), run.normaliser, run.config.window.condition, horizon)
    batch = next(windows.batches(1))
    with torch.no_grad():
        return np.asarray(run.model.forecast(batch, batch.target_times).mean.numpy())


def _colours() -> list[Any]:
    """Enough colours for the objects of any system that is drawn."""
    return [matplotlib.colormaps["tab10"](number % 10) for number in range(1000)]


def _svg(figure: Figure) -> str:
    out = text_io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    return text[text.index("<svg") :]
