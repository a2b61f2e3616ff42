"""Command lines with something wrong in them, and words of the message that each must give."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """A command line, and words of the message it must give."""

    name: str
    command: str
    says: tuple[str, ...]
    real: bool = False  # also run as a process of its own


def case(name: str, command: str, *says: str, real: bool = False) -> Case:
    return Case(name, command, says, real)


RUN_FOLDER = "Expected a folder that pgode train wrote"
ADVICE = "See pgode --help, or --help after a command."

CASES = [
    # Files that cannot be read.
    case("missing", "info gone.nc", "gone.nc: there is no such file", "Check", real=True),
    case("missing for training", "train gone.nc -o new", "gone.nc", "a file of trajectories"),
    case("missing for a forecast", "forecast run gone.nc -o new/f.nc", "gone.nc", "no such file"),
    case("ending", "train notes.txt -o new", "ending .txt is not known", "Expected one of .nc"),
    case("truncated", "info half.nc", "half.nc: it is damaged, incomplete", "copy it again"),
    case("text", "train text.nc -o new", "text.nc", "not .nc data", "Expected data written by"),
    case("empty", "info empty.nc", "empty.nc: it is damaged", "Write or copy it again"),
    case("folder", "info folder.nc", "folder.nc: it is a folder", "Expected a file"),
    case("foreign", "info foreign.nc", "no variable states", "Expected a file written by pgode"),
    # Arrays that are not trajectories.
    case("no states", "train nostates.npz -o new", 'no array "states"', "Add the array"),
    case("misspelt", "info misspelt.npz", '"feature_name"', 'Expected the name "feature_names"'),
    case("dimensions", "train flat.npz -o new", "states in flat.npz has shape", "Expected (system"),
    case("fewer times", "info clock.npz", "times in clock.npz has shape", "time 18", "Reorder"),
    case("pickled", "info pickled.npz", '"split"', "never unpickled", "Expected numbers or"),
    case("half archive", "info half.npz", "half.npz: it is damaged", "Expected data written by"),
    case("NaN", "train nan.npz -o new", "system 2, object 1", "time 0.3", '"vx" is NaN', "Mark"),
    case("infinite", "forecast run inf.npz -o f.nc", "system 0, object 2", '"qy" is infinite'),
    case("unsorted", "train unsorted.npz -o new", "system 0", "goes back in time", "Sort the"),
    case("repeated", "info repeated.npz", "repeats the time at index 5", "drop repeats"),
    case("edges", "train edges.nc -o new", "system 0", "from object 3", "edges.nc", "Expected"),
    case("self edge", "train self.nc -o new", "from object 0 to object 0", "self.nc", "Remove it"),
    case("split word", "info words.npz", 'system 0 in words.npz has the split "testing"', "train"),
    case("no training", "train untrained.nc -o new", 'split "train"', "test", "add systems for"),
    # Data that a model cannot take.
    case("names", "forecast run renamed.npz -o f.nc", "px, py", "qx, qy, vx, vy", "Rename or"),
    case("names to score", "evaluate run --data renamed.npz", "renamed.npz has the features px"),
    case("features", "forecast run narrow.npz -o f.nc", "qx, qy, but", "Expected the same names"),
    case("attributes", "evaluate run --data attribute.nc", "weight, length", "edge attributes"),
    case("condition", "forecast run short.npz -o f.nc", "5 frames, fewer than the condition of 6"),
    case("a table", "forecast run table.csv -o f.nc", "not trained on one", "pgode import table"),
    case("no ending", "forecast run folder -o f.nc", "(none) is not known", ".csv", "Convert"),
    case("condition to score", "evaluate run --data short.npz", "at most 5 frames", "sees 6"),
    case("condition to train", "train short.npz -o new", "fewer than the condition of 12", "Give"),
    case("nothing ahead", "train six.npz -o new --set window.condition=6", "after the condition"),
    # Settings.
    case(
        "key",
        "train springs.nc -o new --config key.yaml",
        '"training.epoch"',
        'mean "training.epochs"?',
    ),
    case(
        "key to set",
        "train springs.nc -o new --set model.prototype=3",
        'unknown setting "model.prototype". Did you mean "model.dynamics.prototypes"?',
        real=True,
    ),
    case("inner key", "train springs.nc -o new --set model.solver.stp=1", '"model.solver.step"?'),
    case("group", "train springs.nc -o new --set trainig.epochs=1", '"training.epochs"?'),
    case("value", "train springs.nc -o new --config value.yaml", '"training.batch" is -4', "--set"),
    case("value to set", "train springs.nc -o new --set model.width=wide", "'wide'", "integer"),
    case("epochs", "train springs.nc -o new --epochs 0", "--set training.epochs=...", "or equal"),
    case("no value", "train springs.nc -o new --set model.width", "not of the form key=value"),
    case("no key", "train springs.nc -o new --set =3", "--set =3", "--set model.width=64"),
    case("YAML to set", "train springs.nc -o new --set model.width=[", "--set model.width=[", "YA"),
    case("YAML", "train springs.nc -o new --config broken.yaml", "broken.yaml is not valid YAML"),
    case(
        "no mapping", "train springs.nc -o new --config list.yaml", "holds a list", "Expected gro"
    ),
    case("no config", "train springs.nc -o new --config no.yaml", "config no.yaml", "Check"),
    case("model", "train springs.nc -o new --model pgdoe", '"pgdoe"', 'Did you mean "pgode"?'),
    case("preset", "train springs.nc -o new --preset papr", '"papr"', 'Did you mean "paper"?'),
    case("solver", "train springs.nc -o new --set model.solver.method=rk5", 'mean "rk4"?'),
    case("huge seed", f"train springs.nc -o new --seed {10**30}", '"training.seed"', "less than"),
    # Runs to go on from.
    case(
        "from and resume", "train --resume run --from run", "takes no others", "only --resume RUN"
    ),
    case("from nothing", "train springs.nc -o new --from nowhere", "nowhere does not", RUN_FOLDER),
    case(
        "from other features", "train renamed.npz -o new --from run", "features px, py", "trained"
    ),
    case(
        "from other edges", "train attribute.nc -o new --from run", "weight, length", "trained on"
    ),
    case(
        "from, other model", "train springs.nc -o new --from run --model lstm", "Leave out --model"
    ),
    case("from, preset", "train springs.nc -o new --from run --preset paper", "Leave out --preset"),
    case(
        "from, other width",
        "train springs.nc -o new --from run --set model.width=64",
        "do not fit a model with another model.width",
        "start a new run without --from",
        real=True,
    ),
    case("scales of nothing", "train springs.nc -o new --refit-scales", "is no run to go on from"),
    # Run folders.
    case("no run", "evaluate nowhere", "nowhere does not exist", RUN_FOLDER, "Check"),
    case("not a run", "forecast folder springs.nc -o f.nc", "folder is not a run folder", "config"),
    case("a file as run", "evaluate notes.txt", "notes.txt is not a run folder", RUN_FOLDER),
    case("no weights", "evaluate unfinished", "has no trained weights yet", "--resume unfinished"),
    case("checkpoint", "evaluate damaged", "damaged/checkpoints/best.safetensors", "train again"),
    case("edited", "evaluate flipped", "flipped/config.json is not as pgode", "flipped --accept"),
    case("other weights", "evaluate wider", "do not fit the model its config", "Restore config"),
    case("broken config", "info unreadable", "unreadable/config.json is not valid JSON"),
    case("foreign config", "info foreign", "foreign/config.json", 'unknown setting "layers"'),
    case("normaliser", "evaluate unscaled", "unscaled/normaliser.json cannot", "Restore"),
    case("calibration", "evaluate blind", "blind/calibration.json cannot", "Restore the file"),
    case("there already", "train springs.nc -o run", "run holds a run already", "--resume run"),
    case("data gone", "evaluate moved", "old.nc, which no longer exists", "--data FILE"),
    # Going on with a run.
    case("other seed", "train --resume run --seed 3", "takes no others", "Start a new run"),
    case("other model", "train --resume run --model last-value", "--resume continues a run"),
    case("other epochs", "train --resume run --epochs 9", "with its settings", "Expected only"),
    case("other settings", "train --resume run --set model.width=9", "takes no others"),
    case("other data", "train other.nc --resume run", "other.nc is not what run was trained on"),
    case("resume nothing", "train --resume folder", "folder is not a run folder", RUN_FOLDER),
    case("resume damaged", "train springs.nc --resume damaged", "cannot read the checkpoint"),
    # Places that cannot be written.
    case("under a file", "train springs.nc -o notes.txt/run", "Not a directory", "another output"),
    case("a file there", "train springs.nc -o notes.txt", "cannot write notes.txt", "a new or"),
    case("forecast place", "forecast run springs.nc -o notes.txt/f.nc", "notes.txt/f.nc", "Choose"),
    case("simulation place", "simulate springs -o notes.txt/d/s.nc", "notes.txt/d/s.nc: Not a dir"),
    case("JSON place", "evaluate run --json notes.txt/e.json", "cannot write notes.txt/e.json"),
    case(
        "folder in the way", "forecast run springs.nc -o folder.nc", "folder.nc: a folder of that"
    ),
    case("folder for data", "simulate springs -o folder.nc", "a folder of that name is in the way"),
    case("folder for JSON", "evaluate run --json folder", "cannot write folder: a folder of that"),
    case("folder for a report", "report run -o folder", "in the way", "Choose another output path"),
    case("simulation ending", "simulate springs -o s.csv", "ending .csv", ".nc, .zarr", real=True),
    case("forecast ending", "forecast run springs.nc -o f.xlsx", "f.xlsx", "ending in .nc", ".csv"),
    case("table ending", "forecast run springs.nc -o f.nc --table", "f.nc", "in .csv or .parquet"),
    case("samples in a table", "forecast run springs.nc -o f.csv --samples 3", "holds no samples"),
    # Options.
    case("command", "trian springs.nc", '"trian"', ADVICE),
    case("option", "train springs.nc -o new --epoch 3", "--epoch", ADVICE),
    case("no output", "simulate springs", "--output", ADVICE),
    case("no number", "forecast run springs.nc -o f.nc --until soon", "--until", '"soon"', ADVICE),
    case("no data", "train -o new", "needs a data file and an output folder", "pgode train DATA"),
    case("no folder", "train springs.nc", "Expected: pgode train DATA -o RUN", "--resume RUN"),
    case("until 0", "forecast run springs.nc -o f.nc --until 0", "frame 0", "at least 1", "Leave"),
    case("until before", "forecast run springs.nc -o f.nc --until -3", "until frame -3"),
    case("no such split", "forecast run springs.nc -o f.nc --split tset", '"tset"', "ood, test"),
    case("both", "forecast run springs.nc -o f.nc --until 3 --times 0.5", "Leave one out"),
    case("early", "forecast run springs.nc -o f.nc --times -0.5,1", "[-0.5, 1.0]", "each above 0"),
    case("times", "forecast run springs.nc -o f.nc --times 1,0.5", "do not increase", "Sort them"),
    case("same times", "forecast run springs.nc -o f.nc --times 1,1", "later than the one before"),
    case("time words", "forecast run springs.nc -o f.nc --times soon", "--times 0.5,1.0"),
    case("endless", "forecast run springs.nc -o f.nc --times inf", "'inf' is not"),
    case("samples", "forecast run springs.nc -o f.nc --samples -1", "-1 samples", "0 to 1000000"),
    case("samples to score", "evaluate run --samples -2", "cannot draw -2 samples", "Correct them"),
    case("draws", "evaluate run --seed -1", "seed -1", "and a seed from 0"),
    case("examples", "report run --examples -1 -o r.html", "-1 systems", "Correct --examples"),
    case("too far", "evaluate run --horizons 6,40", "horizons [6, 40]", "18 frames", "1 to 12"),
    case("horizon 0", "evaluate run --horizons 0,6", "--horizons '0,6'", "--horizons 12,24,36"),
    case("horizon words", "evaluate run --horizons six", "--horizons 'six' is not a list of whole"),
    case("split", "evaluate run --split testing", '"testing"', "train, val, test, ood", "Choose"),
    # Simulations.
    case("system", "simulate sprngs -o s.nc", '"sprngs"', 'Did you mean "springs"?'),
    case("integrator", "simulate springs -o s.nc --integrator verlet", '"velocity-verlet"'),
    case("objects", "simulate springs -o s.nc --objects 0", "objects is 0", "at least 1"),
    case("frames", "simulate springs -o s.nc --frames 1", "frames is 1", "at least 2", "Give"),
    case("count", "simulate springs -o s.nc --test -5", "test is -5", "at least 0"),
    case("simulation seed", "simulate springs -o s.nc --seed -1", "seed is -1", "0 to 4294967295"),
    case(
        "nothing",
        "simulate springs -o s.nc --train 0 --val 0 --test 0 --ood 0",
        "nothing to simulate",
    ),
]
