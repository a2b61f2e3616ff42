"""What single settings change in the worked examples: `python -m benchmarks.example_settings WORK`.

Each trial types the commands of a page of docs/examples with one change, in a folder of its own
below WORK, and prints the mean absolute error of each variable at the longest horizon, in the
data's own units, beside that of the best naive model. A trial that WORK has already is kept.
"""

import json
import sys
from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path

from tests.examples import pages

from pgode.cli.app import run_command
from pgode.data import files
from pgode.runs.run import Run

Change = tuple[str, ...]
"""Words to add to a command; a word with a leading ~ is an option to drop, with its value."""
TRIALS: dict[str, tuple[str, Change, Change]] = {
    "pedestrians": ("pedestrians", (), ()),
    "pedestrians, no edges": ("pedestrians", ("~--edges", "--edges", "none"), ()),
    "matches": ("matches", (), ()),
    "matches, latent state": ("matches", (), ("--set", "model.state=latent")),
    "epidemic": ("epidemic", (), ()),
    "epidemic, no transform": ("epidemic", ("~--transform",), ()),
    "epidemic, no weekday": ("epidemic", ("~--known",), ()),
    "epidemic, 7 days observed": ("epidemic", (), ("--set", "window.condition=7")),
    "motion-capture": ("motion-capture", (), ()),
    "motion-capture, kinematic state": ("motion-capture", (), ("--set", "model.state=kinematic")),
}
"""The example, what changes in the import, and what changes in the training."""


def changed(words: Sequence[str], change: Change) -> list[str]:
    """A command with options dropped and words added."""
    found = list(words)
    for word in change:
        if word.startswith("~"):
            place = found.index(word[1:])
            del found[place : place + 2]
    return [*found, *(word for word in change if not word.startswith("~"))]


def trial(work: Path, name: str) -> dict[str, list[float]]:
    """Errors of the model and of the best naive model, by variable."""
    example, importing, training = TRIALS[name]
    folder = work / name.replace(", ", "-").replace(" ", "-")
    result = folder / "result.json"
    if not result.exists():
        folder.mkdir(parents=True, exist_ok=True)
        pages.MADE_UP[example](folder)
        with chdir(folder):
            typed = [pages.typed(words, folder) for words in pages.commands(example)[:2]]
            for words, change in zip(typed, (importing, training), strict=True):
                if run_command(changed(words, change)):
                    raise SystemExit(f"{name}: {' '.join(words)}")
            (run_folder,) = Path("runs").iterdir()
            data = next(Path().glob("*.nc"))
            found = Run.open(run_folder).evaluate(files.read(data), samples=0)
        model, *naive = found.raw
        horizon = found.horizons[-1]
        errors = {
            variable: [
                float(found.raw[model]["mae"].at("test", horizon, variable) or 0),
                min(float(found.raw[k]["mae"].at("test", horizon, variable) or 1e9) for k in naive),
            ]
            for variable in found.variables
        }
        result.write_text(json.dumps(errors))
    return dict(json.loads(result.read_text()))


def main() -> None:
    """Print a row for each trial."""
    work, *names = sys.argv[1:]
    for name in names or TRIALS:
        cells = [
            f"{variable} {mine:.4g} (best naive {bar:.4g})"
            for variable, (mine, bar) in trial(Path(work), name).items()
        ]
        print(f"{name}: {', '.join(cells)}", flush=True)


if __name__ == "__main__":
    main()
