"""The examination of a data file: all checks, what is in it, and what suits it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pgode.data.checkup.advice import suitable_epochs, suitable_preset, train_command
from pgode.data.checkup.checks import clocks, graphs, motion, seasons, series, splits, values
from pgode.data.checkup.checks.window import suitable_window, too_few, too_short
from pgode.data.checkup.content import contents, feature_rows
from pgode.data.checkup.finding import SEVERITIES, Finding
from pgode.data.checkup.naive import NaiveErrors, naive_errors
from pgode.data.checkup.sample import examined_part
from pgode.data.checkup.subject import Subject
from pgode.data.trajectories import Trajectories
from pgode.runtime.choices import check_int
from pgode.runtime.limits.bounds import FRAMES

Check = Callable[[Subject], list[Finding]]

CHECKS: tuple[Check, ...] = (
    too_short,
    too_few,
    splits.missing_splits,
    splits.shared_frames,
    splits.continued_series,
    values.never_observed,
    values.missing,
    values.extreme,
    values.constant,
    values.scales,
    values.heavy_tails,
    values.units,
    clocks.gaps,
    clocks.uneven_steps,
    clocks.differing_clocks,
    clocks.coinciding_frames,
    series.jumps,
    series.frozen,
    motion.wrong_velocities,
    motion.derivatives,
    motion.no_velocities,
    motion.periodic_box,
    motion.walls,
    graphs.no_edges,
    graphs.isolated,
    graphs.complete_and_large,
    graphs.weights,
    seasons.rhythm,
)
"""In the order in which findings of one severity are listed."""


@dataclass(frozen=True)
class Checkup:
    """What was found in a data file."""

    name: str
    contents: dict[str, str]
    features: list[dict[str, Any]]
    findings: tuple[Finding, ...]
    naive: NaiveErrors | None
    settings: dict[str, Any]
    commands: tuple[str, ...]
    """What to run next, in order."""

    @property
    def has_problems(self) -> bool:
        """Whether training would suffer from something that was found."""
        return any(finding.severity == "problem" for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON: the same that is printed."""
        return {
            "file": self.name,
            "contents": self.contents,
            "features": self.features,
            "findings": [finding.to_json() for finding in self.findings],
            "naive": None if self.naive is None else self.naive.to_json(),
            "settings": self.settings,
            "commands": list(self.commands),
        }


def examine(
    data: Trajectories,
    name: str = "the data",
    *,
    condition: int | None = None,
    horizon: int | None = None,
    before: Sequence[Finding] = (),
    imported: tuple[str, str] | None = None,
    on_progress: Callable[[str], None] = lambda _: None,
) -> Checkup:
    """Run every check on data from a file of this name.

    `before` are findings that were made on the way to the data. `imported` is the command that
    makes the data from the file, and the data file that it writes, for a table.
    """
    data, part = examined_part(data)
    period = seasons.season(data)
    suitable = suitable_window(data, period)
    if condition is not None:
        check_int("--condition", condition, 1, FRAMES)
        suitable = (condition, max(1, min(suitable[1], int(data.n_frames.max()) - condition)))
    if horizon is not None:
        suitable = (suitable[0], check_int("--horizon", horizon, 1, FRAMES))
    asked = condition is not None or horizon is not None
    subject = Subject(data, name, *suitable, asked=asked, period=period)
    found = list(before)
    for check in CHECKS:
        if part and check is too_few:
            continue  # What was examined is only a part of what there is to train on.
        on_progress(check.__name__.replace("_", " "))
        found += check(subject)
    on_progress("naive forecasts")
    naive = naive_errors(subject)
    train = train_command(subject, name if imported is None else imported[1])
    return Checkup(
        name=name,
        contents={**contents(subject), **({"examined": part} if part else {})},
        features=feature_rows(subject),
        findings=tuple(
            sorted(_causes(found, subject), key=lambda each: SEVERITIES.index(each.severity))
        ),
        naive=naive,
        settings={
            "preset": suitable_preset(subject),
            "condition": subject.condition,
            "horizon": subject.horizon,
            "epochs": suitable_epochs(subject),
            "season": period,
            "transforms": {
                subject.features[k]: "log1p"
                for k in range(len(subject.features))
                if values.heavy_tailed(subject, k) and not data.transforms[k]
            },
        },
        commands=(train,) if imported is None else (imported[0], train),
    )


def _causes(found: list[Finding], subject: Subject) -> list[Finding]:
    """The findings without those that follow from another one.

    A value that cannot be right is a jump too, and so is the velocity derived from it.
    """
    extreme = {f.place.feature for f in found if f.check == "extreme values"}
    pairs = zip(subject.data.position_features, subject.data.velocity_features, strict=False)
    follows = {subject.features[v] for p, v in pairs if subject.features[p] in extreme}
    return [
        f
        for f in found
        if not (f.check == "jumps" and f.place.feature in extreme)
        and not (f.check == "extreme values" and f.place.feature in follows)
    ]
