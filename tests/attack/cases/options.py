"""Command lines that are wrong by themselves: nothing, too much, another type, a misspelt word."""

from tests.attack.cases.case import Case, case

NEEDED = """
trian springs.nc
train
train springs.nc
train -o new
train gone.nc -o new
train --resume nowhere
train --resume precious
train --resume run --seed 3
train --resume run --overwrite
train springs.nc -o new --model pgdoe
train springs.nc -o new --preset papr
train springs.nc -o new --preset molecules --model gru
train springs.nc -o new --device tpu
train springs.nc -o new --device cuda:99
train springs.nc -o new --from nowhere
train springs.nc -o new --from run --model gru
train springs.nc -o new --keep-scales
train springs.nc five.nc -o new
train springs.nc -o new --config gone.yaml
train springs.nc -o new --config precious
train springs.nc -o new --epoch 3
train springs.nc -o run
train springs.nc -o precious
train springs.nc -o springs.nc
tune
tune springs.nc
tune -o new
tune gone.nc -o new
tune springs.nc -o new --model last-value
tune springs.nc -o new --space gone.yaml
tune springs.nc -o new --space precious
tune springs.nc -o new --engine slurm
tune springs.nc -o precious --trials 1
tune springs.nc -o run --trials 1
tune --list-space --model pgdoe
evaluate
evaluate nowhere
evaluate precious
evaluate notes.txt
evaluate run --data gone.nc
evaluate run --data five.nc --split nope
evaluate run --split testing
evaluate run --horizons six
evaluate run --horizons 0,6
evaluate run --horizons 6,,6
evaluate run --metrics mse,cprs
evaluate run --origins never
evaluate run --origins every:0
evaluate run --origins every:x
evaluate run --replicas gone.nc
evaluate run --replicas springs.nc
evaluate run --device nowhere
evaluate old
compare
compare run
compare run nowhere
compare run other --metric acuracy
compare run tracked
compare run other --split tset
compare run other --origins last:3
forecast
forecast run
forecast run springs.nc
forecast nowhere springs.nc -o new.nc
forecast run gone.nc -o new.nc
forecast run springs.nc -o new.xlsx
forecast run springs.nc -o new.nc --table
forecast run springs.nc -o new.csv --samples 3
forecast run springs.nc -o new.nc --until 3 --times 1
forecast run springs.nc -o new.nc --times soon
forecast run springs.nc -o new.nc --times 1,0.5
forecast run springs.nc -o new.nc --times ,
forecast run springs.nc -o new.nc --split tset
forecast run springs.nc -o new.nc --format excel
forecast run springs.nc -o new.csv --format hubverse
forecast run tracks.nc -o new.nc
forecast run tracks.csv -o new.csv
forecast tracked springs.nc -o new.nc
forecast run notes.txt -o new.nc
forecast run run -o new.nc
export
export run
export run -o model.pkl
export nowhere -o model.onnx
export lawful -o model.tflite
export run -o model.onnx --data gone.nc
report
report nowhere
report run --data gone.nc -o new.html
report run --data tracks.nc -o new.html
report run --horizons x -o new.html
laws
laws nowhere
laws run
laws tracked --json
laws lawful --data gone.nc
laws lawful --csv same.txt --svg same.txt
info
info gone.nc
info precious
info notes.txt extra
info nowhere
check
check gone.csv
check run
check precious
convert
convert old
convert nowhere -o new
convert run -o new
convert precious -o new
convert old -o run
convert old -o precious
models extra
reproduce table99
reproduce table1 --datasets nothing
reproduce table1 --models nothing
reproduce table1 --budget lavish
reproduce table1 --engine slurm
reproduce table1 --preset nothing
reproduce table1 --device nowhere
robustness
robustness nowhere
robustness run --magnitudes small -o new.html
robustness run --magnitudes , -o new.html
robustness run --perturb everything -o new.html
robustness run --split nope -o new.html
robustness run tracked -o new.html
simulate
simulate springs
simulate sprngs -o new.nc
simulate springs -o new.csv
simulate springs -o new
simulate springs -o new.nc --integrator verlet
simulate protein
simulate protein -o new.nc
simulate protein -o new.nc --structure gone.pdb
simulate protein -o new.nc --sequence X1Z
simulate protein -o new.nc --sequence GG --structure top.pdb
simulate protein -o new.txt --sequence GG
simulate protein -o new.nc --sequence GG --engine slurm
simulate protein -o new.nc --sequence GG --atoms some
simulate protein -o new.nc --sequence GG --align never
simulate protein -o new.nc --sequence GGGG --train 1000000 --frames 1000000
import
import table
import table tracks.csv
import table gone.csv -o new.nc
import table tracks.csv -o new.csv
import table tracks.csv -o new.nc --object nobody
import table tracks.csv -o new.nc --time never
import table tracks.csv -o new.nc --features x,z
import table tracks.csv -o new.nc --features ,
import table tracks.csv -o new.nc --system nothing
import table tracks.csv -o new.nc --units x
import table tracks.csv -o new.nc --positions z
import table tracks.csv -o new.nc --static x --features x
import table tracks.csv -o new.nc --known weekday
import table tracks.csv -o new.nc --transform cube
import table tracks.csv -o new.nc --transform log
import table tracks.csv -o new.nc --edges gone.csv
import table tracks.csv -o new.nc --edges radius
import table tracks.csv -o new.nc --edges knn:many
import table tracks.csv -o new.nc --split 0.5
import table tracks.csv -o new.nc --split 0.5,0.5,0.5
import table tracks.csv -o new.nc --split a,b,c
import table tracks.csv -o new.nc --split-by nothing
import table tracks.csv -o new.nc --split-column match
import table tracks.csv -o new.nc --columns a,b
import table tracks.csv -o new.nc --decimal x
import table tracks.csv -o new.nc --date-format %Q
import table tracks.csv wide.csv -o new.nc
import table precious -o new.nc
import table springs.nc -o new.nc
import wide
import wide gone.csv -o new.nc
import wide wide.csv -o new.nc --adjacency gone.csv
import wide wide.csv -o new.nc --adjacency wide.csv
import wide wide.csv -o new.nc --time never
import wide wide.csv -o new.nc --feature a,b
import wide wide.csv -o new.nc --edges some
import wide wide.csv -o new.nc --edges all --adjacency adjacency.csv
import wide wide.csv -o new.nc --system nothing
import md
import md --trajectory gone.dcd --topology top.pdb -o new.nc
import md --trajectory dynamics.dcd --topology gone.pdb -o new.nc
import md --trajectory dynamics.dcd --topology notes.txt -o new.nc
import md --trajectory notes.txt --topology top.pdb -o new.nc
import md --trajectory dynamics.dcd --topology top.pdb -o new.nc --atoms some
import md --trajectory dynamics.dcd --topology top.pdb -o new.nc --select resname==(
import md --trajectory dynamics.dcd --topology top.pdb -o new.nc --frame-time 0.2 --splits 1
import mocap
import mocap gone.bvh -o new.nc
import mocap notes.txt -o new.nc
import mocap trial_0.bvh -o new.nc --relative sun
import mocap trial_0.bvh trial_1.bvh -o new.nc --splits 2,1
import mocap trial_0.bvh -o new.txt
data
data covid
data covid -o new.nc --source gone
data covid -o new.nc --source precious
data covid -o new.nc --source reports --graph everyone
data covid -o new.nc --source reports --until someday
data covid -o new.nc --source reports --until 2020-02-31
data covid -o new.nc --source reports --features money
data covid -o new.nc --source reports --transform cube
export-md
export-md gone.nc -o new.dcd
export-md springs.nc -o new.dcd
export-md atoms.nc -o new.doc
export-md atoms.nc -o new.dcd --topology gone.pdb
export-md atoms.nc -o new.dcd --select nothing==at==all
verify
verify nowhere
verify precious
verify notes.txt
"""

REAL = {"trian springs.nc", "train springs.nc -o run", "info gone.nc", "forecast run", "verify"}
"""Also as programs of their own, the way a shell starts them."""

# Without a subcommand these print their help, as `git` and others do.
HELP = {"import", "data"}

CASES: list[Case] = [
    case(line, real=line in REAL, code=(0, 2) if line in HELP else 2)
    for line in NEEDED.strip().splitlines()
]
