"""The effect of each difference between the presets: short runs that differ in one setting.

python -m benchmarks.ablation      # resumable: finished runs are kept
"""

import json
import sys
from pathlib import Path

BUDGET = {
    "model.width": 64,
    "window.horizon": 12,
    "training.epochs": 8,
    "training.curriculum": (),
    "training.threads": 1,
}
LATENT = dict.fromkeys(("residual_decoder", "history_readout", "mean_structure", "trend"), False)
CHANGES: dict[str, dict[str, object]] = {
    "`default`": {},
    "without kinematics": {"model.state": "latent"},
    "without kinematics and residual decoder": {"model.state": {**LATENT, "kind": "latent"}},
    "posterior with initial variance 1": {"model.objective.initial_log_variance": 0.0},
    "without layer norm in the encoders": {"model.encoder.layer_norm": False},
    "without degree normalisation": {"model.encoder.degree_normalise": False},
    "encoders without rates": {"model.encoder.rates": False},
    "encoders without the relation network": {"model.encoder.relation": False},
    "windows at the first frame only": {"window.starts": "first"},
    "batch 256, learning rate 5e-4": {"training.batch": 256, "training.learning_rate": 5e-4},
    "sigma 0.01": {"model.objective.sigma": 0.01},
    "weight of L_sys 0.01": {"model.objective.parameter_info_weight": 0.01},
    "Adam": {"training.optimiser": "adam"},
    "posterior mean in training": {"model.objective.sample": False},
}
OUT = Path("benchmarks/results/ablation.json")


def main() -> int:
    """Train what is missing, one change after the other, and write the table's rows."""
    from pgode.data.simulate import simulate
    from pgode.runs import api
    from pgode.runtime.files import write_json

    content = json.loads(OUT.read_text()) if OUT.exists() else {"rows": {}}
    data = simulate("springs", train=500, val=50)
    for name, change in CHANGES.items():
        if name in content["rows"]:
            continue
        folder = Path("runs/ablation") / str(list(CHANGES).index(name))
        if (folder / "config.json").exists():
            run = api.resume(folder, data)
        else:
            run = api.train(data, folder, settings={**BUDGET, **change})
        mse = run.evaluate(data, horizons=[12], samples=0).mse
        content["rows"][name] = {split: mse.row(split, 12) for split in ("test", "ood")}
        content["note"] = (
            "Springs, 500 training systems, width 64, horizon 12, 8 epochs, seed 0; each row "
            "changes one setting of the `default` preset. MSE x 1e-2. These short runs show "
            "how fast a variant learns, not its final error."
        )
        write_json(OUT, content)
        print(name, content["rows"][name]["test"], flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
