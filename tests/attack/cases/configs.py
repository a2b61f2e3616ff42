"""Settings and spaces that are no YAML, or YAML of something else."""

from tests.attack.cases.case import Case, case, write

CONFIGS = {
    "half a mapping": "training: {epochs: 4\nmodel\n",
    "list": "- training\n- model\n",
    "number": "3\n",
    "word": "paper\n",
    "unknown group": "layers: 3\n",
    "unknown key": "training:\n  epoch: 3\n",
    "old key": "model:\n  regions: true\n",
    "key twice": "training: {epochs: 1, epochs: 99}\n",
    "number as key": "3: {epochs: 1}\n",
    "null as key": "null: {epochs: 1}\n",
    "list as key": "? [a, b]\n: 1\n",
    "group is null": "training: null\nmodel: 3\n",
    "group is a list": "training: [1, 2]\n",
    "text for a number": "training: {epochs: many}\n",
    "negative": "training: {batch: -4}\n",
    "fraction": "training: {epochs: 1.5}\n",
    "two documents": "training: {epochs: 1}\n---\ntraining: {epochs: 2}\n",
    "tabs": "training:\n\tepochs: 1\n",
    "unknown alias": "training: *here\n",
    "NUL": "training: {epochs: \0}\n",
    "control characters": 'model: {solver: {method: "rk4\x1b[31m"}}\n',
    "UTF-16": b"\xff\xfet\x00r\x00a\x00i\x00n\x00",
    "no UTF-8": b"training: {epochs: \xff\xfe}\n",
    "binary": bytes(range(256)) * 4,
    "NetCDF": b"\x89HDF\r\n\x1a\n" + bytes(200),
    "markup": 'model: {"[/red]": 1}\n',
    "set": "training: !!set {a, b}\n",
    "date": "training: {epochs: 2020-01-01}\n",
    "a bad date": "training: {epochs: 2020-13-45}\n",
    "a bad time": "training: {epochs: 2020-01-01 99:99:99}\n",
    "a file of one's own": "training: {epochs: !include /etc/passwd}\n",
}

SPACES = {
    "list": "- model.width\n",
    "empty": "",
    "comment only": "# nothing\n",
    "half": "model.width: [8, 16\n",
    "unknown": "model.widht: [8, 16]\n",
    "no values": "model.width: []\n",
    "null": "model.width: null\n",
    "one number": "model.width: 8\n",
    "wrong type": "model.width: [wide, narrow]\n",
    "mixed": "model.width: [8, [16]]\n",
    "low above high": "model.width: {low: 16, high: 8}\n",
    "low alone": "model.width: {low: 16}\n",
    "log of zero": "training.learning_rate: {low: 0, high: 1, log: true}\n",
    "infinite": "training.learning_rate: {low: 1e-4, high: .inf}\n",
    "not a number": "training.learning_rate: {low: .nan, high: 1}\n",
    "unknown key of a range": "model.width: {low: 8, high: 16, step: 2, size: 9}\n",
    "log of a word": "model.width: {low: 8, high: 16, log: perhaps}\n",
    "a seed": "training.seed: [1, 2]\n",
    "window": "window.condition: [4, 6]\n",
    "huge": "model.width: {low: 8, high: 1000000000000000000000000000}\n",
    "huge choice": "model.width: [8, 1000000000000]\n",
    "dates": "model.width: [2020-01-01, 2020-13-45]\n",
    "a million": "model.width: [" + ", ".join(str(n) for n in range(1, 200_000)) + "]\n",
    "nested": "model: {dynamics: {prototypes: {low: 2, high: {low: 3, high: 4}}}}\n",
    "no UTF-8": b"model.width: [\xff]\n",
    "number as key": "3: [1, 2]\n",
}

CASES: list[Case] = [
    *(
        case(
            "train springs.nc -o new --config bad.yaml",
            write("bad.yaml", text),
            name=f"config: {n}",
        )
        for n, text in CONFIGS.items()
    ),
    *(
        case(
            "tune springs.nc -o new --model gru --trials 1 --epochs 1 --space bad.yaml",
            write("bad.yaml", text),
            name=f"space: {n}",
        )
        for n, text in SPACES.items()
    ),
    case(
        "train springs.nc -o new --config bad.yaml --set window.horizon=6",
        write("bad.yaml", "training: {curriculum: [[0.5, 12, 3]]}\n"),
        name="config: a curriculum of three",
    ),
]
