"""A law is read where it is known, and said in words."""

import re
from dataclasses import dataclass

import numpy as np
import pytest

from pgode.evaluation.laws import words
from pgode.evaluation.laws.reading import POINTS, LawsReading, read_law


@dataclass(frozen=True)
class Table:
    """A law as a function of distance, uncertain below some of them."""

    power: float = -2.0
    offset: float = 0.0
    unknown_below: float = 0.0
    receiver: int = 1
    sender: int = 2
    nearest: float = 0.1
    farthest: float = 7.0

    def force(self, distance: np.ndarray) -> np.ndarray:
        wrong = np.where(distance < self.unknown_below, np.sin(30 * distance), 0.0)
        return distance**self.power + self.offset + wrong

    def deviation(self, distance: np.ndarray) -> np.ndarray:
        return np.where(distance < self.unknown_below, 1e3, 1e-3 * np.abs(distance**self.power))


def test_the_sentence_has_prototypes_kind_form_errors_and_range() -> None:
    text = words.sentence(read_law(Table(), mutual=False), "nm")
    number = r"\((-?\d\.\d+) ± (0\.\d+)\)"
    law = rf"repulsion, {number} r\^{number}, seen from 0.1 to 7 nm"
    found = re.fullmatch(f"prototype 1 feels prototype 2: {law}", text)
    assert found is not None
    value, error, exponent, exponent_error = map(float, found.groups())
    assert abs(value - 1) <= error < 0.01
    assert abs(exponent + 2) <= exponent_error < 0.01


def test_a_force_that_changes_its_sign_says_where() -> None:
    law = read_law(Table(power=1.0, offset=-1.5), mutual=True)
    assert law.crossings == pytest.approx([1.5], rel=1e-3)
    assert words.kind(law) == "attraction below r = 1.5, repulsion beyond"
    spring = read_law(Table(power=1.0, offset=-1.5), mutual=True, ranges={(1, 2): (0.1, 1.2)})
    assert words.kind(spring) == "attraction"
    assert (spring.nearest, spring.farthest) == (0.1, 1.2)


def test_the_form_is_fitted_only_where_the_law_is_known() -> None:
    law = read_law(Table(unknown_below=0.5), mutual=True)
    assert law.fitted == pytest.approx((0.5, 7.0), rel=0.1)
    assert law.fit is not None and law.fit.values == pytest.approx([1, -2], rel=1e-3)
    assert "the form holds from 0.5" in words.sentence(law)
    assert "prototypes 1 and 2 on each other" in words.sentence(law)


def test_a_law_that_is_hardly_known_anywhere_is_not_read() -> None:
    law = read_law(Table(unknown_below=6.0), mutual=True)
    assert law.fit is None
    assert "too uncertain to be read" in words.sentence(law)
    assert np.isnan(law.form).all()


def test_the_table_reaches_beyond_the_distances_seen() -> None:
    law = read_law(Table(), mutual=True)
    assert len(law.distance) == POINTS
    assert (law.distance[0], law.distance[-1]) == pytest.approx((0.01, 14.0))
    assert law.distance[law.seen] == pytest.approx(law.distance[law.seen].clip(0.1, 7))
    np.testing.assert_allclose(law.form, law.force, rtol=1e-3)


def test_drag_and_hidden_kinds_are_said_where_there_are_any() -> None:
    reading = LawsReading([], {2: 0.2}, (0.5, 0.5), ("walls: none",), "nm", "ps", 0.967)
    assert reading.force_units == "nm/ps^2"
    drag, walls, kinds = words.other_sentences(reading)
    assert drag == "prototype 2: drag 0.2 per ps, velocities halve in 3.47 ps"
    assert walls == "walls: none"
    assert "adjusted Rand index 0.967 on the test split" in kinds


@pytest.mark.parametrize(
    "value, error, text",
    [
        (1.00492, 0.0012, "(1.005 ± 0.002)"),
        (-2.0000003, 1e-9, "(-2.0000 ± 0.0001)"),
        (0.99301, 0.03, "(0.99 ± 0.03)"),
        (1234.5, 60.0, "(1234 ± 60)"),
        (4.2e-12, 3e-14, "(4.2000e-12 ± 3e-14)"),
    ],
)
def test_values_have_the_digits_that_their_errors_allow(
    value: float, error: float, text: str
) -> None:
    assert words.with_error(value, error) == text
