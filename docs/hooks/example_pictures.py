"""Run the commands of the worked examples and draw their pictures.

    python docs/hooks/example_pictures.py WORK [NAME ...]

makes the file of each example in WORK/NAME, runs the commands of its page there unless they have
been run already, keeps what they print in WORK/NAME/printed.txt, and draws
docs/examples/pictures/NAME.svg from the run: some objects of one test window, observed, forecast
and true.
"""

import subprocess
import sys
from contextlib import chdir
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.examples import pages  # noqa: E402

from pgode.data import files  # noqa: E402
from pgode.reports import Example  # noqa: E402
from pgode.runs.folder import source_of  # noqa: E402
from pgode.runs.report.examples import examples_of  # noqa: E402
from pgode.runs.run import Run  # noqa: E402

SEEN, TRUE, FORECAST = "0.55", "black", "tab:red"
SERIES = {
    "epidemic": (0, (0, 1, 2, 3)),
    "molecule": (0, (0, 1, 2, 3)),
    "n-body": (0, (0, 1, 2, 3, 4)),
    "motion-capture": (2, (4, 6, 9, 12)),
}
"""Examples drawn against time: the feature, and the objects."""
PLANES = {"pedestrians": (0, 1), "matches": (0, 1)}
"""Examples drawn in a plane: the features across and up."""
WINDOWS = {"pedestrians": 3}
"""Which test window is drawn; by default the first."""


def run_commands(name: str, folder: Path) -> None:
    """Type the commands of a page; what they print is kept."""
    folder.mkdir(parents=True, exist_ok=True)
    pages.MADE_UP[name](folder)
    printed = []
    for words in pages.commands(name):
        typed = pages.typed(words, folder)
        done = subprocess.run(
            [sys.executable, "-m", "pgode.cli", *typed],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        printed.append(f"$ pgode {' '.join(words)}\n{done.stdout}{done.stderr}")
        if done.returncode:
            raise SystemExit("\n".join(printed))
    (folder / "printed.txt").write_text("\n".join(printed))


def drawn_example(name: str, folder: Path) -> tuple[Example, tuple[str, ...], str]:
    """The window to draw, the names of its features and the unit of time."""
    (run_folder,) = (folder / "runs").iterdir()
    run = Run.open(run_folder)
    with chdir(folder):
        data = files.read(source_of(run_folder.relative_to(folder)))
    test = data.split_of("test")
    number = WINDOWS.get(name, 0)
    examples = examples_of(run, test, "test", run.config.window.horizon, number + 1, 20, 0)
    return examples[number], data.features, data.time_units


def in_plane(name: str, example: Example, features: tuple[str, ...]) -> None:
    """Tracks of all objects."""
    across, up = PLANES[name]
    axes = plt.figure(figsize=(6.4, 3.6)).gca()
    for k in range(len(example.forecast)):
        here = np.isfinite(example.truth[k, :, 0])
        if not here.any():
            continue
        observed, truth = example.observed[k], example.truth[k]
        mean = example.forecast[k][: 1 + np.flatnonzero(here)[-1]]
        mark = "_" if axes.lines else ""
        axes.plot(observed[:, across], observed[:, up], color=SEEN, lw=1.5, label=f"{mark}observed")
        axes.plot(truth[:, across], truth[:, up], color=TRUE, lw=1, label=f"{mark}true")
        axes.plot(mean[:, across], mean[:, up], color=FORECAST, lw=1.2, label=f"{mark}forecast")
    axes.set_aspect("equal")
    axes.set_xlabel(features[across])
    axes.set_ylabel(features[up])
    axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))


def against_time(name: str, example: Example, features: tuple[str, ...], unit: str) -> None:
    """One feature of some objects, with the 90 % interval."""
    feature, objects = SERIES[name]
    count = len(objects)
    figure, panels = plt.subplots(count, 1, sharex=True, figsize=(6.4, 1.1 * count + 0.6))
    for k, axes in zip(objects, panels, strict=True):
        past, later = example.condition_times, example.forecast_times
        low, high = example.lower[k, :, feature], example.upper[k, :, feature]
        axes.fill_between(later, low, high, color=FORECAST, alpha=0.2, lw=0, label="90 % interval")
        axes.plot(past, example.observed[k, :, feature], color=SEEN, label="observed")
        axes.plot(later, example.truth[k, :, feature], color=TRUE, lw=1, label="true")
        axes.plot(later, example.forecast[k, :, feature], color=FORECAST, label="forecast")
        axes.set_ylabel(example.labels[k] if len(example.labels) else f"object {k}", fontsize=8)
        axes.tick_params(labelsize=7)
    panels[0].legend(frameon=False, fontsize=7, ncols=4, loc="upper left")
    panels[0].set_title(features[feature], fontsize=9)
    panels[-1].set_xlabel(f"time ({unit})" if unit else "time")
    figure.align_ylabels()


def main() -> None:
    """Run and draw the examples that are named, or all."""
    work, *names = sys.argv[1:]
    mpl.rcParams.update({"svg.hashsalt": "pgode", "svg.fonttype": "none", "font.size": 9})
    for name in names or pages.MADE_UP:
        folder = Path(work) / name
        if not (folder / "printed.txt").exists():
            run_commands(name, folder)
        example, features, unit = drawn_example(name, folder)
        if name in PLANES:
            in_plane(name, example, features)
        else:
            against_time(name, example, features, unit)
        target = ROOT / f"docs/examples/pictures/{name}.svg"
        target.parent.mkdir(parents=True, exist_ok=True)
        plt.savefig(target, bbox_inches="tight", metadata={"Date": None})
        plt.close("all")
        print(f"wrote {target}: {target.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
