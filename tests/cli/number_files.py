"""The files that the command lines of `number_cases` name."""

import json
import shutil
from pathlib import Path

from tests.covid_reports import write_reports
from tests.data.files.mocap import bodies
from tests.trained_runs import springs, trained

from pgode.data import files
from pgode.runtime.stored.manifest import Manifest

SETTINGS = {
    "width.yaml": "model: {width: true}\n",
    "infinite.yaml": "training: {learning_rate: .inf}\n",
    "huge.yaml": f"window: {{horizon: {10**40}}}\n",
    "wide-space.yaml": "model.width: {values: [100000000000]}\n",
    "endless-space.yaml": "training.learning_rate: {from: 0.1, to: .inf, log: true}\n",
    "boolean-space.yaml": "model.width: {values: [true, 64]}\n",
}


def make_files() -> None:
    """Write everything into the current folder."""
    files.write(springs(), "springs.nc")
    for name in ("run", "run2"):
        shutil.copytree(trained().folder, name)
        record = Path(name, "data.json")
        edited = {**json.loads(record.read_text()), "source": "springs.nc"}
        record.write_text(json.dumps({**edited, "relative": "../springs.nc"}))
        Manifest.of(Path(name)).write(Path(name))
    for name, text in SETTINGS.items():
        Path(name).write_text(text)
    rows = [f"{o},{t},{t + o},{t * o}" for t in range(12) for o in range(3)]
    Path("rows.csv").write_text("\n".join(["object,time,x,y", *rows]) + "\n")
    wide = [f"{t},{t + 1},{t + 2}" for t in range(12)]
    Path("wide.csv").write_text("\n".join(["time,a,b", *wide]) + "\n")
    for name, day in (("dates.csv", "2020-02-30"), ("far-dates.csv", "99999-01-01")):
        dated = [f"a,2020-02-{t:02d},{t}" for t in range(20, 30)] + [f"a,{day},1"]
        Path(name).write_text("\n".join(["object,time,x", *dated]) + "\n")
    bodies.trials(Path(), 4)
    write_reports(Path("reports"), 30)
