"""Numbers that no machine can hold, that are none, or that mean nothing."""

from collections.abc import Iterator

from tests.attack.cases.case import Case, case, write

HUGE = "1000000000000"
BEYOND = str(10**30)

OPTIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "simulate springs -o new.nc": {
        "--objects": ("0", "-1", HUGE, BEYOND, "1.5", "nan"),
        "--frames": ("1", "-5", HUGE, BEYOND, "ten"),
        "--train": ("-1", HUGE, BEYOND),
        "--seed": ("-1", BEYOND, "x"),
    },
    "train springs.nc -o new --epochs 1": {
        "--horizon": ("0", "-1", HUGE, BEYOND),
        "--seed": ("-1", BEYOND),
        "--threads": ("0", "-1", "1000000", BEYOND),
        "--processes": ("0", "-1", "100000", BEYOND),
        "--set": (
            *("model.width=true", f"model.width={HUGE}", "model.width=-8", "model.width=null"),
            *("model.width=1e400", "model.width=[8]", "model.width={a: 1}", "model.width=8.5"),
            *("training.learning_rate=inf", "training.learning_rate=.nan"),
            *("training.learning_rate=-1", "training.learning_rate=.inf"),
            *(f"training.batch={HUGE}x", "training.batch=0"),
            *(
                "training.curriculum=[[2, 3]]",
                "training.curriculum=[[0.1]]",
                "training.curriculum=3",
            ),
            *("training.patience=-1", "training.clip=.nan", "training.weight_decay=-.inf"),
            *("window.condition=0", f"window.condition={HUGE}", f"window.stride={BEYOND}x"),
            *(
                "window.stride=-1",
                "window.starts=3",
                "model.solver.step=0",
                "model.solver.step=.nan",
            ),
            *("model.solver.rtol=-1", "model.solver.method=[]", "model.dynamics.prototypes=0"),
            *(
                f"model.dynamics.prototypes={HUGE}",
                "model.objective.sigma=0",
                "model=3",
                "window=[]",
            ),
            *(
                "model.objective.kl_weight=.inf",
                "a.b.c.d.e=1",
                ".=1",
                "model.=1",
                "=1",
                "model.width",
            ),
        ),
    },
    "tune springs.nc -o new": {
        "--trials": ("0", "-1", "x"),
        "--jobs": ("0", "-1", HUGE),
        "--seed": ("-1", BEYOND),
        "--epochs": ("0", "-3", BEYOND),
        "--horizon": ("0", HUGE),
    },
    "evaluate run": {
        "--samples": ("-2", HUGE, BEYOND),
        "--seed": ("-1", BEYOND),
        "--horizons": ("-6", HUGE, BEYOND, "1e3", "nan"),
        "--origins": (f"every:{BEYOND}x", "every:-1"),
    },
    "compare run other --metric crps": {
        "--samples": ("-1", HUGE),
        "--seed": ("-1", BEYOND),
        "--horizons": ("0", HUGE),
    },
    "forecast run springs.nc -o new.nc": {
        "--until": ("0", "-3", HUGE, BEYOND, "soon", "inf"),
        "--times": ("inf", "nan", "-1", "1e300", "1e-400", "0"),
        "--samples": ("-1", HUGE, BEYOND),
        "--seed": ("-1", BEYOND),
    },
    "forecast lawful five.nc -o new.nc": {"--until": (HUGE, "0"), "--samples": (HUGE,)},
    "export run -o model.onnx": {
        "--condition": ("0", "-1", HUGE),
        "--until": ("0", "-1", HUGE, BEYOND),
    },
    "report run -o new.html": {
        "--examples": ("-1",),
        "--samples": ("-1", HUGE),
        "--seed": ("-1",),
        "--horizons": ("0", HUGE),
    },
    "check springs.nc": {"--condition": ("0", "-1", BEYOND), "--horizon": ("0", BEYOND)},
    "reproduce table1 -o new": {"--seeds": ("0", "-1", HUGE), "--jobs": ("0", "-1")},
    "robustness run -o new.html": {
        "--magnitudes": ("-1", "nan", "inf", "0"),
        "--horizon": ("0", "-1", HUGE),
        "--draws": ("0", "-1", HUGE),
        "--seed": ("-1", BEYOND),
    },
    "simulate protein -o new.nc --sequence GG --implicit": {
        "--frames": ("0", "-1", HUGE),
        "--frame-time": ("0", "-1", "nan", "inf"),
        "--train": ("-1",),
        "--cutoff": ("-1", "nan", "inf"),
        "--update": ("0",),
        "--jobs": ("0",),
        "--replicas": ("-1",),
        "--seed": ("-1",),
    },
    "import table tracks.csv -o new.nc": {
        "--velocities": ("0", "-1", HUGE),
        "--edges": ("radius:-1", "radius:nan", "radius:inf", "knn:0", "knn:-2"),
        "--edges-every": ("0", "-1"),
        "--window": ("0", "-1", HUGE),
        "--stride": ("0",),
        "--gap": ("-1", HUGE),
        "--seed": ("-1",),
        "--split": ("nan,nan,nan", "-1,1,1", "inf,0,0", "0,0,0"),
        "--split-time": ("2,2,2", "1", "nan,1,1"),
    },
    "import wide wide.csv -o new.nc": {
        "--window": ("0", HUGE),
        "--stride": ("-1",),
        "--gap": ("-1",),
    },
    "import md --trajectory dynamics.dcd --topology top.pdb -o new.nc --frame-time 0.2": {
        "--frames": ("0", "1", "-3", HUGE),
        "--stride": ("0", "-1", HUGE),
        "--cutoff": ("-1", "nan", "inf"),
        "--update": ("0", "-1"),
    },
    "import md --trajectory dynamics.dcd --topology top.pdb -o new.nc": {
        "--frame-time": ("0", "-1", "nan", "inf"),
    },
    "import mocap trial_0.bvh trial_1.bvh trial_2.bvh -o new.nc": {
        "--rate": ("0", "-1", "nan", "inf", "1e300", "7"),
        "--window": ("0", "1", "-1", HUGE),
        "--stride": ("0", "-1"),
        "--skip": ("-1", HUGE),
        "--seed": ("-1",),
    },
    "data covid -o new.nc --source reports": {
        "--average": ("0", "-1", HUGE),
        "--validation": ("-1", HUGE),
        "--until": ("1066-10-14", "9999-99-99", "2020-04-13T99"),
    },
    "export-md atoms.nc -o new.dcd": {"--system": ("-1", "999", BEYOND), "--sample": ("0", "-1")},
}


def _cases() -> Iterator[Case]:
    for command, options in OPTIONS.items():
        for option, values in options.items():
            for value in values:
                # In one word, because a value may begin with a hyphen.
                yield case(command, name=f"{command} {option}={value}", more=(f"{option}={value}",))


WIDE = "model: {{width: {}}}\n"

CASES: list[Case] = [
    *_cases(),
    *(
        case("train springs.nc -o new --config c.yaml", write("c.yaml", text), name=text[:60])
        for text in (
            WIDE.format("true"),
            WIDE.format("9" * 40),
            WIDE.format(".inf"),
            WIDE.format("2020-02-30"),
            WIDE.format("2020-02-28"),
            WIDE.format("0x1ffffffffff"),
            WIDE.format("1:30:00:99:88:77"),
            WIDE.format("!!int x"),
            WIDE.format("!!float 1e999"),
            WIDE.format("9" * 5000),
            "training: {epochs: 1_000_000_000_000}\n",
            "training: {learning_rate: .nan}\n",
        )
    ),
]
