"""Figures of the paper from our runs: curves over an axis, and trajectories beside the truth."""

import io as text_io
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pgode.batches.windows import Windows
from pgode.data import files
from pgode.data.trajectories import Trajectories
from pgode.reproduce.plan.choice import Choice, entries, trials
from pgode.reproduce.plan.datasets import data_file
from pgode.reproduce.plan.trials import read_result, run_folder
from pgode.reproduce.tables.catalogue import Experiment
from pgode.runs.run import Run

matplotlib.rcParams["svg.hashsalt"] = "pgode"  # the same figure is the same file
EXAMPLES = {"test": 2, "ood": 2}
"""Systems of each split that are drawn."""


def curves(content: dict[str, Any]) -> list[str]:
    """Error against the axis, one figure per data set; a panel for each split and variable."""
    figures = []
    for dataset in dict.fromkeys(row["dataset"] for row in content["rows"]):
        rows = [row for row in content["rows"] if row["dataset"] == dataset]
        panels = list(dict.fromkeys((split, variable) for split, _, variable in content["cells"]))
        timed = content["axis"] == "model.prototypes"
        figure = Figure(figsize=(4 * (len(panels) + timed), 3.5), layout="constrained")
        axes = figure.subplots(1, len(panels) + timed, squeeze=False)[0]
        for panel, (split, variable) in zip(axes, panels, strict=False):
            _errors(panel, rows, content, split, variable)
        axes[0].set_ylabel("mean squared error")
        if axes[0].lines:
            handles, labels = axes[0].get_legend_handles_labels()
            figure.legend(handles, labels, fontsize=8, loc="outside lower center", ncols=4)
        if timed:
            _line(axes[-1], rows, [row["seconds_per_epoch"] for row in rows], "")
            axes[-1].set(
                title="cost", ylabel="seconds per epoch", xlabel="prototypes", ylim=(0, None)
            )
        figure.suptitle(dataset)
        figures.append(_svg(figure))
    return figures


def pictures(experiment: Experiment, choice: Choice, root: Path) -> list[str]:
    """Forecasts of each row beside the truth, one figure per data set; none before they are run."""
    figures = []
    for dataset in experiment.datasets:
        runs = {
            entry.row.label.replace("`", ""): Run.open(run_folder(trial, root))
            for entry in entries(experiment)
            if entry.dataset == dataset
            for trial in (trials(entry, experiment, choice, root) or {}).get(36, [])[:1]
            if read_result(trial, root) is not None
            and (run_folder(trial, root) / "config.json").exists()
        }
        if runs:
            data = files.read(data_file(dataset, choice.budget, root))
            figures.append(_trajectories(data, runs))
    return figures


def _errors(
    panel: Axes, rows: list[dict[str, Any]], content: dict[str, Any], split: str, variable: str
) -> None:
    for number, (own, horizon, what) in enumerate(content["cells"]):
        if (own, what) != (split, variable):
            continue
        for label in dict.fromkeys(row["label"] for row in rows):
            line = [row for row in rows if row["label"] == label]
            values = [row["cells"][number]["ours"] for row in line]
            _line(panel, line, values, f"{label.replace('`', '')}, {horizon} frames")
    name = "ID" if split == "test" else "OOD"
    panel.set(title=f"{name}, {variable}", xlabel=content["axis"].removeprefix("model."))
    if panel.lines:
        panel.set_yscale("log")


def _line(panel: Axes, rows: list[dict[str, Any]], values: list[float | None], label: str) -> None:
    there = [(row["place"], value) for row, value in zip(rows, values, strict=True) if value]
    if there:
        panel.plot(*zip(*there, strict=True), marker="o", markersize=4, label=label)


def _trajectories(data: Trajectories, runs: dict[str, Run]) -> str:
    """One row of panels per system: each method, and the truth; observed frames are faint."""
    count = sum(EXAMPLES.values())
    figure = Figure(figsize=(3 * (len(runs) + 1), 3 * count), layout="constrained")
    axes = figure.subplots(count, len(runs) + 1, squeeze=False)
    lines = iter(axes)
    for split, wanted in EXAMPLES.items():
        part = data.split_of(split)
        for system in range(min(wanted, part.systems)):
            one = part.select(np.array([system]))
            panels = next(lines)
            _system(panels, one, runs)
            panels[0].set_ylabel(f"{'ID' if split == 'test' else 'OOD'} system {system}")
    return _svg(figure)


def _system(panels: np.ndarray, system: Trajectories, runs: dict[str, Run]) -> None:
    x, y = system.position_features[:2]
    condition = next(iter(runs.values())).config.window.condition
    states = system.states[0]
    shown = {name: run.normaliser.raw(_forecast(run, system)) for name, run in runs.items()} | {
        "truth": states[:, condition : condition + 36]
    }
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


def _forecast(run: Run, system: Trajectories) -> np.ndarray:
    import torch

    windows = Windows(run.conform(system), run.normaliser, run.config.window.condition, 36)
    batch = next(windows.batches(1))
    with torch.no_grad():
        return np.asarray(run.model.forecast(batch, batch.target_times).mean.numpy())


def _colours() -> list[Any]:
    """More colours than any system that is drawn has objects."""
    return [matplotlib.colormaps["tab10"](number % 10) for number in range(1000)]


def _svg(figure: Figure) -> str:
    out = text_io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    return text[text.index("<svg") :]
