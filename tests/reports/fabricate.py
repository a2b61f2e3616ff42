"""Reports of invented runs: simulated springs, with the truth plus growing noise as forecast."""

from typing import Any

import numpy as np

from pgode.data.simulate import simulate
from pgode.evaluation.evaluation import Curves, Evaluation, ScoreTable, Training
from pgode.reports import Example, ReportData

Table = dict[str, dict[int, dict[str, float | None]]]

CONDITION, HORIZON = 12, 36
HORIZONS = (12, 24, 36)
NAMES = {"q": (0, 1), "v": (2, 3), "qx": (0,), "qy": (1,), "vx": (2,), "vy": (3,)}


def springs_report(*, each: int = 2, objects: int = 10, noise: float = 0.02) -> ReportData:
    """`each` systems of test and of OOD; a noise of 3 makes the model worse than naive ones."""
    random = np.random.default_rng(0)
    data = simulate("springs", objects=objects, train=2, val=1, test=each, ood=each, frames=60)
    examples, squared, naive = [], {}, {"last-value": {}, "constant-velocity": {}}
    for split in ("test", "ood"):
        part = data.split_of(split)
        states, times = part.states, part.times[0]
        seen = states[:, :, :CONDITION]
        truth = states[:, :, CONDITION : CONDITION + HORIZON]
        growth = noise * (np.arange(1, HORIZON + 1) / HORIZON)[:, None] ** 1.5
        growth = growth * (1.6 if split == "ood" else 1)
        wander = np.cumsum(random.normal(size=truth.shape), axis=2) / np.sqrt(HORIZON)
        forecast = truth + growth * wander * 2
        ahead = np.arange(1, HORIZON + 1)[:, None] * (times[1] - times[0])
        still = np.repeat(seen[:, :, -1:], HORIZON, axis=2)
        moving = still.copy()
        moving[..., :2] += seen[:, :, -1:, 2:] * ahead
        squared[split] = (forecast - truth) ** 2
        naive["last-value"][split] = (still - truth) ** 2
        naive["constant-velocity"][split] = (moving - truth) ** 2
        for number in range(each):
            graph = part.edges.select(np.array([number]))
            examples.append(
                Example(
                    split=split,
                    number=number,
                    condition_times=times[:CONDITION],
                    forecast_times=times[CONDITION : CONDITION + HORIZON],
                    observed=seen[number],
                    forecast=forecast[number],
                    lower=forecast[number] - 1.6 * growth,
                    upper=forecast[number] + 1.6 * growth,
                    truth=truth[number],
                    edges=[
                        (int(i), int(j), float(w[0]))
                        for i, j, w in zip(
                            graph.edge_receiver,
                            graph.edge_sender,
                            graph.edge_attributes,
                            strict=True,
                        )
                    ],
                    gate=random.dirichlet([0.6] * 5, objects),
                    parameters=dict(
                        zip(
                            ("box", "speed", "strength", "probability"),
                            part.parameters[number].tolist(),
                            strict=True,
                        )
                    ),
                )
            )
    return ReportData(
        title=f"Springs, {objects} objects",
        summary=[
            ("model", "pgode, preset default, 412,805 parameters"),
            ("data", "pgode.systems.springs"),
            ("systems", "1000 train, 200 val, 200 test, 200 ood"),
            ("objects", f"{objects} per system"),
            ("window", "condition 12, horizon 36 frames"),
            ("training", "40 epochs, 4.2 minutes"),
            ("seed", "0"),
            ("data hash", data.hash),
            ("versions", "pgode 0.1.0, torch 2.13.0"),
        ],
        evaluation=evaluation_of(squared, naive),
        epochs=training_log(40, random),
        features=data.features,
        roles=("position", "position", "velocity", "velocity"),
        variables=("q", "q", "v", "v"),
        units=("", "", "", ""),
        time_units="",
        examples=examples,
        parameters={
            "box": {"train": [4.9, 5.1], "test": [4.9, 5.1], "ood": [4.8, 5.2]},
            "strength": {"train": [0.09, 0.11], "test": [0.09, 0.11], "ood": [0.08, 0.12]},
        },
    )


def made_evaluation(
    model: str = "pgode",
    mse: Table | None = None,
    naive: dict[str, Table] | None = None,
    **others: Any,
) -> Evaluation:
    """An evaluation from tables by split, horizon and column; what is not given is empty."""
    scores = {"mse": mse or {}, **others.pop("scores", {})}
    usual = {
        "horizons": (),
        "variables": (),
        "reference": {},
        "skill": ScoreTable(),
        "curves": {},
        "curve_low": {},
        "curve_high": {},
        "samples": 0,
        "seed": 0,
        "data_hash": "3f1c" * 16,
        "seconds": 0.0,
        "evaluations": 0,
    }
    return Evaluation(
        model=model,
        scores={name: ScoreTable(cells) for name, cells in scores.items()},
        naive={name: {"mse": ScoreTable(cells)} for name, cells in (naive or {}).items()},
        **(usual | others),
    )


def evaluation_of(squared: dict[str, Any], naive: dict[str, dict[str, Any]]) -> Evaluation:
    """The evaluation of squared errors (system, object, frame, feature) of each split."""

    def table(errors: dict[str, Any]) -> Table:
        return {
            split: {
                h: {n: float(e[:, :, :h, list(k)].mean()) for n, k in NAMES.items()}
                for h in HORIZONS
            }
            for split, e in errors.items()
        }

    def curve(errors: dict[str, Any]) -> Curves:
        return {
            split: {n: e[..., list(NAMES[n])].mean((0, 1, 3)).tolist() for n in "qv"}
            for split, e in errors.items()
        }

    def quantile(share: float) -> Curves:
        return {
            split: {
                n: np.quantile(e[..., list(NAMES[n])].mean((1, 3)), share, axis=0).tolist()
                for n in "qv"
            }
            for split, e in squared.items()
        }

    def flat(q: float, v: float) -> Table:
        return {
            split: {h: {"q": q - 0.002 * h * slip, "v": v} for h in HORIZONS}
            for split, slip in (("test", 1), ("ood", 3))
        }

    mse, velocity = table(squared), table(naive["constant-velocity"])
    config = {"name": "pgode", "model": {"prototypes": 5, "width": 64, "note": "a < b"}}
    return made_evaluation(
        mse=mse,
        naive={name: table(errors) for name, errors in naive.items()},
        scores={
            "crps": flat(0.3, 0.021),
            "coverage_50": flat(0.55, 0.47),
            "coverage_90": flat(0.93, 0.89),
        },
        horizons=HORIZONS,
        variables=("q", "v"),
        skill=ScoreTable(
            {
                s: {
                    h: {n: 1 - x / velocity[s][h][n] for n, x in row.items()}
                    for h, row in rows.items()
                }
                for s, rows in mse.items()
            }
        ),
        curves={"pgode": curve(squared), **{name: curve(e) for name, e in naive.items()}},
        curve_low=quantile(0.1),
        curve_high=quantile(0.9),
        energy_drift={
            "test": {"forecast": 0.0123, "truth": 0.0008},
            "ood": {"forecast": 0.0201, "truth": 0.0009},
        },
        samples=20,
        seconds=1.234,
        evaluations=576,
        training=Training(config, data_hash="a" * 64, seed=0),
    )


def training_log(epochs: int, random: np.random.Generator) -> list[dict[str, Any]]:
    rows = []
    for epoch in range(1, epochs + 1):
        error = 0.3 * np.exp(-epoch / 7) + 4e-4 * np.exp(0.1 * random.normal())
        rows.append(
            {
                "epoch": epoch,
                "train": {
                    "total": error * 1.3 + 1e-4,
                    "mse": error,
                    "kl": 2e-3 / epoch,
                    "mutual_information": 0.7 - 1.4 * epoch / epochs,
                },
                "val_mse": error * (1.1 + 0.1 * random.random()),
                "lr": 1e-3 * np.sin(np.pi * epoch / (epochs + 1)) ** 2,
                "seconds": 6.3 * epoch,
            }
        )
    return rows


def planar(features: tuple[str, ...], roles: tuple[str, ...], objects: int = 4) -> ReportData:
    """Smooth curves under any names and roles: for one, three or no positions."""
    random = np.random.default_rng(1)
    times = np.linspace(0, 4.7, CONDITION + HORIZON)
    phase = random.uniform(0, 6, (objects, 1, len(features)))
    speed = random.uniform(0.5, 2, (objects, 1, len(features)))
    states = np.sin(speed * times[None, :, None] + phase)
    truth = states[:, CONDITION:]
    drift = 0.1 * (times[CONDITION:] - times[CONDITION])[:, None]
    examples = [
        Example(
            split=split,
            number=0,
            condition_times=times[:CONDITION],
            forecast_times=times[CONDITION:],
            observed=states[:, :CONDITION],
            forecast=truth + drift,
            lower=truth - 0.5 * drift,
            upper=truth + 2 * drift,
            truth=truth,
        )
        for split in ("test", "ood")
    ]
    return ReportData(
        title="Curves",
        summary=[],
        evaluation=made_evaluation(),
        epochs=[],
        features=features,
        roles=roles,
        variables=features,
        units=("mm",) * len(features),
        time_units="s",
        examples=examples,
    )
