"""Laws in plain words: kinds of forces, closed forms with errors, ranges."""

import math
from collections.abc import Sequence

from pgode.evaluation.laws.choice import TOLERANCE, Fit
from pgode.evaluation.laws.reading import LawReading, LawsReading

DIGITS = 5
"""Most digits of a parameter; a smaller error is rounded up to the last of them."""
NOTE = (
    "Forces are accelerations of the receiver at edge weight 1 and at the usual strength of the "
    "training systems; positive is repulsion."
)


def pair(reading: LawReading) -> str:
    """The two prototypes of a law."""
    receiver, sender = reading.receiver, reading.sender
    if receiver == sender:
        return f"prototype {receiver} on itself"
    if reading.mutual:
        return f"prototypes {receiver} and {sender} on each other"
    return f"prototype {receiver} feels prototype {sender}"


def kind(reading: LawReading) -> str:
    """Repulsion, attraction, or where one becomes the other."""
    if reading.fit is None:
        return "unknown"
    outer = "repulsion" if reading.outer_sign > 0 else "attraction"
    if not reading.crossings:
        return outer
    if len(reading.crossings) == 1:
        inner = "attraction" if reading.outer_sign > 0 else "repulsion"
        return f"{inner} below r = {reading.crossings[0]:.3g}, {outer} beyond"
    return f"changes sign at r = {', '.join(f'{r:.3g}' for r in reading.crossings)}"


def formula(fit: Fit) -> str:
    """The closed form with its numbers and their standard errors."""
    numbers = {
        name: with_error(float(value), float(error))
        for name, value, error in zip(fit.form.parameters, fit.values, fit.errors, strict=True)
    }
    return fit.form.text.format(**numbers) + _rest_length(fit)


def short_formula(fit: Fit) -> str:
    """The closed form with its numbers alone."""
    numbers = zip(fit.form.parameters, fit.values, strict=True)
    text = fit.form.text.format(**{name: f"{float(value):.4g}" for name, value in numbers})
    return text.replace("+ -", "- ")


def closed_form(reading: LawReading) -> str:
    """The closed form of a law, or that it has none."""
    fit = reading.fit
    if fit is None:
        return "too uncertain to be read"
    if fit.fits:
        return formula(fit)
    near = f"the closest, {short_formula(fit)}, is off by up to {percent(fit.deviation)}"
    return f"no simple form fits within {percent(TOLERANCE)}; {near}"


def sentence(reading: LawReading, units: str = "") -> str:
    """One law in one line."""
    kinds = "" if reading.fit is None else f"{kind(reading)}, "
    seen = f"seen from {span(reading.nearest, reading.farthest, units)}"
    return f"{pair(reading)}: {kinds}{closed_form(reading)}, {seen}{_part(reading, units)}"


def span(low: float, high: float, units: str = "") -> str:
    """A range of distances."""
    return f"{low:.3g} to {high:.3g}{f' {units}' if units else ''}"


def drag_sentences(reading: LawsReading) -> list[str]:
    """The drag of each prototype that has any."""
    unit = f" per {reading.time_units}" if reading.time_units else ""
    time = f" {reading.time_units}" if reading.time_units else ""
    return [
        f"prototype {k}: drag {rate:.4g}{unit}, velocities halve in {math.log(2) / rate:.3g}{time}"
        if rate > 0
        else f"prototype {k}: negative drag {rate:.4g}{unit}, velocities grow"
        for k, rate in reading.drag.items()
    ]


def agreement_sentence(reading: LawsReading) -> list[str]:
    """How well the gate tells the true kinds apart, where they are known."""
    if reading.agreement is None:
        return []
    return [f"hidden kinds: adjusted Rand index {reading.agreement:.3f} on the test split"]


def other_sentences(reading: LawsReading) -> Sequence[str]:
    """Everything but the laws: drag, prototypes, walls, steps, limit, agreement."""
    return [*drag_sentences(reading), *reading.findings, *agreement_sentence(reading)]


def percent(share: float) -> str:
    """A share with two digits, tiny ones as an upper bound."""
    if not share >= 1e-4:
        return "< 0.01 %"
    return f"{100 * share:.2g} %" if share < 1 else f"{100 * share:.0f} %"


def with_error(value: float, error: float) -> str:
    """A value and its standard error, both to the first digit of the error."""
    if value == 0 or not math.isfinite(error):
        return f"({value:.{DIGITS}g} ± {error:.1g})"
    finest = math.floor(math.log10(abs(value))) - DIGITS + 1
    place = max(math.floor(math.log10(error)) if error > 0 else finest, finest)
    shown = max(math.ceil(error / 10.0**place - 1e-9), 1) * 10.0**place
    if not -8 <= place <= 5:
        return f"({value:.{DIGITS - 1}e} ± {shown:.0e})"
    return f"({value:.{max(-place, 0)}f} ± {shown:.{max(-place, 0)}f})"


def _part(reading: LawReading, units: str) -> str:
    """Where the form holds, if not everywhere."""
    if reading.fit is None or not reading.fit.fits or reading.fitted is None:
        return ""
    low, high = reading.fitted
    if low <= reading.nearest * 1.001 and high >= reading.farthest * 0.999:
        return ""
    return f", the form holds from {span(low, high, units)}"


def _rest_length(fit: Fit) -> str:
    """The rest length of a spring."""
    values = dict(zip(fit.form.parameters, map(float, fit.values), strict=True))
    spring = fit.form.amplitudes == ("a", "c") and set(fit.form.shape) <= {"e"}
    if not spring or values["a"] >= 0 or values["c"] <= 0:
        return ""
    return f" (a spring of rest length {-values['c'] / values['a']:.4g})"
