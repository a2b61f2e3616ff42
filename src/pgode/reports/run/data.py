"""The content of the report of one run."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from pgode.evaluation.evaluation import Evaluation
from pgode.evaluation.laws.reading import LawsReading
from pgode.reports.base.example import Example
from pgode.reports.base.names import labelled
from pgode.reports.base.presentation import Player, Presentation
from pgode.reports.molecule.data import MoleculeData
from pgode.runtime.errors import InputError
from pgode.training.metrics import EpochRow


@dataclass(frozen=True)
class ReportData:
    """Everything one report shows.

    `summary` rows are (label, value); `epochs` is the log of the training; `parameters` has the
    ranges of the known system parameters; `molecule` is given if the objects are its atoms, all of
    them in every example; `laws` are those of a model that has force laws.
    """

    title: str
    summary: Sequence[tuple[str, str]]
    evaluation: Evaluation
    epochs: Sequence[EpochRow]
    features: tuple[str, ...]
    roles: tuple[str, ...]
    variables: tuple[str, ...]
    units: tuple[str, ...]
    time_units: str
    examples: Sequence[Example]
    parameters: dict[str, Any] = field(default_factory=dict)
    molecule: MoleculeData | None = None
    laws: LawsReading | None = None

    def __post_init__(self) -> None:
        """Refuse labels that do not match the features."""
        count = len(self.features)
        for name in ("roles", "variables", "units"):
            if len(getattr(self, name)) != count:
                raise InputError(
                    f"the report has {count} features but {len(getattr(self, name))} {name}. "
                    f"Expected one for each feature. Correct {name}."
                )
        for example in self.examples:
            if example.forecast.shape[2] != count:
                raise InputError(
                    f"{example.name} has {example.forecast.shape[2]} features. Expected {count}: "
                    f"{', '.join(self.features)}. Correct the example."
                )

    def label(self, feature: int) -> str:
        """A feature's name with its unit."""
        return labelled(self.features[feature], self.units[feature])


@dataclass(frozen=True)
class PageContent:
    """What the sections of a page share.

    `examples` are the systems of the page with the objects that flat pictures show; there is no
    player without a system.
    """

    data: ReportData
    presentation: Presentation
    examples: Sequence[Example]
    player: Player | None

    @property
    def evaluation(self) -> Evaluation:
        """The scores to report."""
        return self.data.evaluation

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables to report, in the order of their features."""
        return tuple(dict.fromkeys(self.data.variables)) or self.evaluation.variables

    @property
    def objects_note(self) -> str:
        """Which objects are drawn; empty if all of them are."""
        drawn = max((each.objects for each in self.examples), default=0)
        present = max((each.objects for each in self.data.examples), default=0)
        return self.presentation.objects_note if drawn < present else ""


@dataclass(frozen=True)
class View:
    """One plot of a system: two positions against each other, or a feature over time."""

    label: str
    x: int | None
    y: int


def planes(data: ReportData) -> list[View]:
    """Pairs of position axes; none unless there are two. The first pair is the one shown first.

    Only the first three positions count, since the number of pairs grows quadratically.
    """
    positions = [index for index, role in enumerate(data.roles) if role == "position"][:3]
    return [
        View(f"{data.features[x]}, {data.features[y]}", x, y) for x, y in combinations(positions, 2)
    ]


def space(data: ReportData) -> tuple[int, ...]:
    """The three features that are positions; none where there are more or fewer."""
    positions = tuple(index for index, role in enumerate(data.roles) if role == "position")
    return positions if len(positions) == 3 else ()


def lines(data: ReportData) -> list[View]:
    """Every feature over time."""
    return [View(f"{name} over time", None, index) for index, name in enumerate(data.features)]
