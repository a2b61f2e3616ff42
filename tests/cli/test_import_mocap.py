"""`pgode import mocap`: BVH files in, data to train on out; bad files are named with their line."""

from pathlib import Path

import pytest
from tests.data.files.mocap import bodies

from pgode.cli.app import run_command
from pgode.data import files


def run(text: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    words = [
        str(folder / word) if word.endswith((".bvh", ".nc", ".csv")) else word
        for word in text.split()
    ]
    code = run_command(["import", "mocap", *words])
    shown = capsys.readouterr()
    return code, " ".join((shown.out + shown.err).split())


def test_files_become_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bodies.trials(tmp_path, 4)
    text = "trial_0.bvh trial_1.bvh trial_2.bvh trial_3.bvh -o new/arm.nc --rate 50 --units cm"
    code, said = run(text, tmp_path, capsys)
    assert code == 0
    assert "4 files, 4 systems (2 train, 1 val, 1 test) of 2 joints, 19 frames" in said
    assert "positions relative to Hip" in said
    data = files.read(tmp_path / "new" / "arm.nc")
    assert data.systems == 4
    assert data.system_label(3) == "trial_3"


def test_three_commands_lead_from_files_to_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trials = " ".join(path.name for path in bodies.trials(tmp_path, 4, frames=40))
    assert run(f"{trials} -o arm.nc --rate 50 --end-sites", tmp_path, capsys)[0] == 0
    small = ["window.condition=6", "model.width=8", "model.state=latent", "training.threads=1"]
    train = ["train", str(tmp_path / "arm.nc"), "-o", str(tmp_path / "run"), "--horizon", "8"]
    train += ["--preset", "messages", "--epochs", "1", "--set", "window.stride=6"]
    assert run_command([*train, *(word for each in small for word in ("--set", each))]) == 0
    assert run_command(["report", str(tmp_path / "run"), "--samples", "4", "--examples", "2"]) == 0
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "in three dimensions" in page and "test trial_" in page and "Elbow end" in page


ROW = " ".join(["0"] * 9)
GOOD = bodies.ARM + bodies.motion([[0.0] * 9] * 5)
BAD = {
    "empty": ("", "starts with nothing. Expected the word HIERARCHY"),
    "text": ("a,b\n1,2\n", 'starts with "a,b" in line 1'),
    "no motion": (bodies.ARM, "has no line MOTION"),
    "cut hierarchy": (GOOD.replace("\t}\n}\n", "", 1), "line 14 of"),
    "cut frames": (GOOD.rsplit("\n", 2)[0] + "\n", "says that it has 5 frames, but has 4 lines"),
    "too many frames": (GOOD + ROW + "\n", "says that it has 5 frames, but has 6 lines"),
    "cut line": (GOOD.rstrip()[:-4] + "\n", "line 23 of"),
    "text in numbers": (GOOD.replace(ROW, f"{ROW[:-1]}x", 1), "line 19 of"),
    "no number": (GOOD.replace(ROW, f"{ROW[:-1]}nan", 1), 'has "nan" as number 9'),
    "zero frames": (GOOD.replace("Frames: 5", "Frames: 0"), "line 17 of"),
    "half a frame": (GOOD.replace("Frames: 5", "Frames: 2.5"), "a whole number above 0"),
    "no frames line": (GOOD.replace("Frames: 5\n", ""), '"Frame Time: 0.01" in the place of'),
    "no frame time": (GOOD.replace("Time: 0.01", "Time: fast"), 'says "Frame Time: fast"'),
    "no channels": (
        GOOD.replace("\t\tCHANNELS 3 Zrotation Yrotation Xrotation\n", ""),
        "line 9 of",
    ),
    "zero channels": (
        GOOD.replace("CHANNELS 3 Zrotation Yrotation Xrotation", "CHANNELS 0"),
        '0 channels at the joint "Elbow"',
    ),
    "wrong number of channels": (GOOD.replace("CHANNELS 3", "CHANNELS 2"), "line 9 of"),
    "unknown channel": (
        GOOD.replace("3 Zrotation", "3 Wrotation"),
        '"Wrotation" as channel 1 of 3',
    ),
    "channel twice": (GOOD.replace("3 Zrotation", "3 Xrotation"), '"Xrotation" twice'),
    "text as offset": (GOOD.replace("OFFSET 2 0 0", "OFFSET 2 a 0"), "line 8 of"),
    "no name": (GOOD.replace("JOINT Elbow", "JOINT"), "a joint without a name"),
    "two skeletons": (GOOD.replace("MOTION", "ROOT Other\nMOTION"), "line 16 of"),
    "names twice": (GOOD.replace("JOINT Elbow", "JOINT Hip"), 'two joints named "Hip"'),
    "one frame": (bodies.ARM + bodies.motion([[0.0] * 9]), "Expected 3 or more"),
    "deep": (
        "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n"
        + "".join(f"JOINT j{k}\n{{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n" for k in range(2000))
        + "MOTION\n",
        "hundreds deep",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_one_sentence_with_file_and_line(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content, expected = BAD[name]
    (tmp_path / "bad.bvh").write_text(content)
    code, said = run("bad.bvh -o n.nc --splits 1,0,0", tmp_path, capsys)
    assert code == 2
    assert expected in said
    assert "bad.bvh" in said and "Expected" in said and "Traceback" not in said
    assert not (tmp_path / "n.nc").exists()


OPTIONS = {
    "gone.bvh -o n.nc --splits 1,0,0": "there is no such file",
    "a.bvh a.bvh -o n.nc": "is given twice",
    "a.bvh -o n.nc": "1 file cannot be shared among 3 splits",
    "a.bvh b.bvh -o n.nc --splits 1,0,0": 'joint 2 is "Knee" instead of "Elbow" below Hip',
    "a.bvh -o n.csv": "the ending .csv is not known",
    "a.bvh -o n.nc --splits 1,0,0 --window 100": "at least one window of 100",
    "a.bvh -o n.nc --splits 1,0,0 --stride 2": "no effect without --window",
    "a.bvh -o n.nc --splits 1,0,0 --relative foot": '--relative is "foot"',
    "a.bvh -o n.nc --splits 0.5,0.5": "Expected three shares",
    "a.bvh -o n.nc --splits 1,0,0 --rate 0": "--rate is 0",
    "a.bvh -o n.nc --splits 1,0,0 --rate 70": "100, 50",
    "a.bvh -o n.nc --splits 1,0,0 --skip 38": "2 are kept",
    "-o n.nc": "there is no file to read",
}


@pytest.mark.parametrize("text", OPTIONS)
def test_bad_options_are_refused(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bodies.write(tmp_path / "a.bvh", bodies.swinging(40))
    other = bodies.ARM.replace("Elbow", "Knee")
    bodies.write(tmp_path / "b.bvh", bodies.swinging(40), skeleton=other)
    code, said = run(text, tmp_path, capsys)
    assert (code, OPTIONS[text] in said) == (2, True), said
    assert "Traceback" not in said
