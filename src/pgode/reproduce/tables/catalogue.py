"""The tables and figures of the paper, and what goes beyond them, as data."""

from dataclasses import dataclass
from typing import Any, Literal

from pgode.reproduce.datasets.registry import DATASETS
from pgode.reproduce.tables.published import ROWS

Kind = Literal["errors", "totals", "cost", "curves", "pictures"]


@dataclass(frozen=True)
class Row:
    """One line of a table: a model with a preset and settings.

    `published` is the row of the paper it is compared with.
    """

    label: str
    model: str
    preset: str = "default"
    settings: tuple[tuple[str, Any], ...] = ()
    published: str = ""


@dataclass(frozen=True)
class Axis:
    """What a figure varies: a setting, or the condition length if `setting` is None."""

    label: str
    values: tuple[int, ...]
    usual: int
    """The value used in the tables, whose trials are shared."""
    setting: str | None = None

    def settings_at(self, value: int | None) -> tuple[tuple[str, Any], ...]:
        """What a value adds to the settings of a row; nothing at the usual one."""
        varied = self.setting is not None and value not in (None, self.usual)
        return ((self.setting or "", value),) if varied else ()


@dataclass(frozen=True)
class Experiment:
    """A table or figure by name.

    Horizons, splits and variables default to those of its data sets; `published`, the paper's table
    to compare with, to the one of the same name, if any.
    """

    name: str
    kind: Kind
    title: str
    datasets: tuple[str, ...]
    rows: tuple[Row, ...]
    horizons: tuple[int, ...] = ()
    splits: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    axis: Axis | None = None
    timed: bool = False
    """Whether the seconds of an epoch are measured, of all rows in one process, and shown."""
    published: str = ""

    def __post_init__(self) -> None:
        first = DATASETS[self.datasets[0]]
        object.__setattr__(self, "horizons", self.horizons or first.horizons)
        object.__setattr__(self, "splits", self.splits or first.splits)
        object.__setattr__(self, "variables", self.variables or first.variables)
        object.__setattr__(self, "published", self.published or self.name)


def _model(printed: str) -> Row:
    return Row(printed, ROWS[printed][0], published=printed)


def _variant(printed: str, setting: str, value: Any) -> Row:
    """A variant of `paper-anchored`, which starts from the last observation as all rivals do."""
    label = f"{printed}, {ANCHORED}"
    return Row(label, "pgode", "paper-anchored", ((f"model.{setting}", value),), printed)


def _law_variant(printed: str, setting: str, value: Any) -> Row:
    """A variant of `default`, without the messages that would make up for the missing part."""
    settings = ((f"model.{setting}", value), ("model.dynamics.messages", False))
    return Row(f"{printed}, `default` preset", "pgode", "default", settings)


def _default_variant(label: str, *settings: tuple[str, Any]) -> Row:
    """A variant of `default` where it has no laws, but messages."""
    return Row(f"{label}, `default` preset", "pgode", "default", settings)


def _message_variant(printed: str, setting: str, value: Any) -> Row:
    settings = ((f"model.{setting}", value),)
    return Row(f"{printed}, `messages` preset", "pgode", "messages", settings)


ANCHORED = "`paper-anchored` preset"
PGODE = Row("PGODE, `default` preset", "pgode", published="PGODE")
PGODE_PAPER = Row("PGODE, `paper` preset", "pgode", "paper", published="PGODE")
PGODE_ANCHORED = Row(f"PGODE, {ANCHORED}", "pgode", "paper-anchored", published="PGODE")
PGODE_MESSAGES = Row("PGODE, `messages` preset", "pgode", "messages", published="PGODE")
OURS = (PGODE_PAPER, PGODE_ANCHORED, PGODE)
"""As printed; from the last observation, as all rivals are; and our own."""
PARTICLES = ("springs", "charged")
FURTHER_PARTICLES = ("nbody", "gravity", "mixed")
RIVALS = tuple(
    _model(name) for name in ("LSTM", "GRU", "NODE", "LG-ODE", "MPNODE", "SocialODE", "HOPE")
)
FURTHER = tuple(_model(name) for name in ("NRI", "AgentFormer", "I-GPODE"))
EQUIVARIANT = tuple(_model(name) for name in ("EGNN", "EqMotion"))
ALL = (*RIVALS, *FURTHER, *EQUIVARIANT, *OURS)
PROTEIN_ROWS = (*RIVALS, *EQUIVARIANT, *OURS)
"""NRI, AgentFormer and I-GPODE are missing as in the paper, where they ran out of memory: see
`python -m benchmarks.memory_needs`."""
HOPE, SOCIAL = _model("HOPE"), _model("SocialODE")
COORDINATES = ("qx", "qy", "vx", "vy")
ABLATION = (
    _variant("PGODE w/o O", "gate.contexts", "system"),
    _variant("PGODE w/o ε", "gate.contexts", "object"),
    _variant("PGODE w/o F", "dynamics.prototypes", 1),
    _variant("PGODE w/o D", "objective.context_info_weight", 0.0),
    PGODE_ANCHORED,
)
LAW_ABLATION = (
    _law_variant("PGODE w/o O", "gate.contexts", "system"),
    _law_variant("PGODE w/o ε", "gate.contexts", "object"),
    _law_variant("PGODE w/o F", "dynamics.prototypes", 1),
    _law_variant("PGODE w/o D", "dynamics.disentangled", False),
    PGODE,
)
"""The same parts of force laws: weights of objects, strength of the system, prototypes, and one
strength for the whole system: w/o D has one for each object."""
PAST = (("model.state.history_readout", False), ("model.state.mean_structure", False))
ENCODER = {
    "layer_norm": True,
    "degree_normalise": True,
    "rates": True,
    "relation": True,
    "reference_objects": 10,
}
PROTEIN_ABLATION = (
    *ABLATION,
    Row(
        f"PGODE with the encoder of `default`, {ANCHORED}",
        *("pgode", "paper-anchored"),
        tuple((f"model.encoder.{name}", value) for name, value in ENCODER.items()),
    ),
    _default_variant("PGODE w/o O", ("model.gate.contexts", "system")),
    _default_variant("PGODE w/o ε", ("model.gate.contexts", "object")),
    _default_variant("PGODE w/o F", ("model.dynamics.prototypes", 1)),
    _default_variant("PGODE w/o D", ("model.objective.context_info_weight", 0.0)),
    _default_variant("PGODE w/o mean structure", PAST[1]),
    _default_variant("PGODE w/o mean structure and own past", *PAST),
    PGODE,
)
"""Proteins have no force laws: `default` has networks, and reads an atom's past beside them. With
the encoder of the paper, networks that start from the last observation do not leave it."""
FURTHER_ABLATION = (
    _variant("PGODE w. Single", "dynamics.kind", "single"),
    _variant("PGODE w. MLP", "dynamics.kind", "mlp"),
    PGODE_ANCHORED,
)
MESSAGE_ABLATION = (
    _message_variant("PGODE w. Single", "dynamics.kind", "single"),
    _message_variant("PGODE w. MLP", "dynamics.kind", "mlp"),
    PGODE_MESSAGES,
)
"""Both variants replace networks; `messages` is what `default` is where there are no laws."""
BACKBONES = (
    _variant("PGODE w. GIN", "dynamics.backbone", "gin"),
    _variant("PGODE w. GraphSAGE", "dynamics.backbone", "sage"),
    _variant("PGODE w. GCN", "dynamics.backbone", "gcn"),
    PGODE_ANCHORED,
)
SPARSE = _variant("PGODE-S", "dynamics.top_k", 2)
CONDITIONS = Axis("condition", (3, 6, 9, 12, 15), usual=12)
PROTOTYPES = Axis("prototypes", (2, 3, 4, 5, 6), usual=5, setting="model.dynamics.prototypes")

PGODE_REGRESSED = Row(
    "PGODE on a regression of the past",
    "pgode",
    "messages",
    (
        ("model.state.kind", "regressed"),
        ("model.state.linear.spacing", 7),
        ("model.state.linear.constant", False),
    ),
    published="PGODE",
)
"""For series: the base of a forecast is a linear regression on the object's own past weeks."""
REGRESSION_ALONE = Row(
    "its regression alone",
    "pgode",
    "messages",
    (
        *PGODE_REGRESSED.settings,
        ("training.epochs", 1),
        ("training.learning_rate", 1e-9),
    ),
)
"""As prepared: what the trained networks add to it is the difference from the row above."""
EPIDEMIC = (
    *RIVALS,
    *FURTHER,
    PGODE_PAPER,
    PGODE_MESSAGES,
    PGODE_REGRESSED,
    REGRESSION_ALONE,
)
"""All but the equivariant models, which need positions."""

EXPERIMENTS: dict[str, Experiment] = {
    each.name: each
    for each in (
        Experiment("table1", "errors", "Main comparison", PARTICLES, ALL),
        Experiment(
            *("table2", "errors", "Main comparison of proteins", ("5awl", "2n5c")),
            PROTEIN_ROWS,
        ),
        Experiment(
            *("table2-raw", "errors", "Main comparison of proteins, not superposed"),
            *(("5awl-raw", "2n5c-raw"), PROTEIN_ROWS),
        ),
        Experiment(
            *("table3", "errors", "Ablation", PARTICLES, (*ABLATION, *LAW_ABLATION)),
            horizons=(24,),
        ),
        Experiment(
            *("table3-5awl", "errors", "Ablation on 5AWL", ("5awl",), PROTEIN_ABLATION),
            horizons=(24,),
            published="table3",
        ),
        Experiment(
            "table5", "errors", "NRI, AgentFormer and I-GPODE", PARTICLES, (*FURTHER, *OURS)
        ),
        Experiment(
            *("table6", "errors", "Springs by coordinate", ("springs",), ALL),
            variables=COORDINATES,
        ),
        Experiment(
            *("table7", "errors", "Charged by coordinate", ("charged",), ALL),
            variables=COORDINATES,
        ),
        Experiment(
            *("table8", "errors", "Equivariant models", PARTICLES, (*EQUIVARIANT, *OURS)),
            horizons=(12,),
            variables=("qx", "qy"),
        ),
        Experiment(
            *("table9", "errors", "Three times as many objects", ("springs-30",)),
            (SOCIAL, HOPE, *OURS),
        ),
        Experiment("table10", "totals", "COVID-19, the published windows", ("covid",), EPIDEMIC),
        Experiment(
            *("table10-weeks", "totals", "COVID-19, whole weeks", ("covid",), EPIDEMIC),
            splits=("weeks",),
            published="table10",
        ),
        Experiment(
            *("table10-quantiles", "totals", "COVID-19, quantiles", ("covid",), EPIDEMIC),
            splits=("weeks", "test"),
            variables=("wis", "coverage"),
            published="table10",
        ),
        Experiment(
            *("table11", "errors", "Ablation on 2N5C", ("2n5c",), PROTEIN_ABLATION),
            horizons=(24,),
        ),
        Experiment(
            *("table12", "errors", "Further ablation", ("springs",)),
            (*FURTHER_ABLATION, *MESSAGE_ABLATION),
            horizons=(24,),
        ),
        Experiment(
            *("table12-5awl", "errors", "Further ablation on 5AWL", ("5awl",)),
            FURTHER_ABLATION,
            horizons=(24,),
            published="table12",
        ),
        Experiment(
            *("table13", "errors", "PGODE-S, the sparse variant", ("springs",)),
            (SOCIAL, HOPE, PGODE_ANCHORED, SPARSE),
        ),
        Experiment("table14", "errors", "Prototypes of three GNNs", ("5awl",), BACKBONES),
        Experiment(
            *("table15", "cost", "Training cost", PARTICLES),
            (*RIVALS[:6], FURTHER[2], HOPE, *FURTHER[:2], *EQUIVARIANT, *OURS, SPARSE),
        ),
        Experiment(
            *("figure2", "pictures", "Trajectories of four methods against the truth"),
            *(("springs",), (SOCIAL, HOPE, PGODE_ANCHORED, PGODE)),
        ),
        Experiment(
            *("figure3", "pictures", "Structures of three methods over the truth"),
            *(("5awl",), (SOCIAL, HOPE, PGODE)),
        ),
        Experiment(
            *("figure4-condition", "curves", "Error against the condition length", ("springs",)),
            (HOPE, PGODE_ANCHORED, PGODE),
            horizons=(12, 24),
            axis=CONDITIONS,
        ),
        Experiment(
            *("figure4-condition-5awl", "curves", "Error against the condition length, 5AWL"),
            *(("5awl",), (HOPE, PGODE_ANCHORED, PGODE)),
            variables=("q",),
            axis=CONDITIONS,
        ),
        Experiment(
            *("figure4-prototypes", "curves", "Error and time against prototypes", PARTICLES),
            (PGODE_ANCHORED, PGODE),
            axis=PROTOTYPES,
            timed=True,
        ),
        Experiment(
            *("figure4-prototypes-5awl", "curves", "Error and time against prototypes, 5AWL"),
            *(("5awl",), (PGODE_ANCHORED, PGODE)),
            variables=("q",),
            axis=PROTOTYPES,
            timed=True,
        ),
        Experiment(
            *("figure4-prototypes-2n5c", "curves", "Error and time against prototypes, 2N5C"),
            *(("2n5c",), (PGODE_ANCHORED, PGODE)),
            variables=("q",),
            axis=PROTOTYPES,
            timed=True,
        ),
        Experiment(
            *("further", "errors", "Main comparison on three more systems", FURTHER_PARTICLES, ALL)
        ),
    )
}
"""Figure 5 of the paper shows the other split of figure 4's runs, and figure 6 more systems of
figure 2's: both are drawn with those."""
