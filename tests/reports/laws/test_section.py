"""The section of force laws: there with laws, absent without."""

from dataclasses import replace

import numpy as np
from tests.reports.fabricate import springs_report
from tests.reports.laws.readings import reading
from tests.reports.run.test_page import Balanced

from pgode.reports import ReportData, render
from pgode.reports.base.example import Encounters, Trust
from pgode.reports.laws.files import laws_svg
from pgode.reports.laws.picture import law_picture
from pgode.reports.laws.section import laws_section


def report_with_laws() -> ReportData:
    data = springs_report()
    examples = [
        replace(
            each,
            encounters=Encounters(
                0.9 + 0.1 * k, 0.15 + 0.1 * k, 40, Trust(1.5, (2, 3)) if k else Trust(3.0, ())
            ),
        )
        for k, each in enumerate(data.examples)
    ]
    return replace(data, laws=reading(), examples=examples)


def test_a_report_of_laws_opens_with_them() -> None:
    page = render(report_with_laws())
    Balanced(page)
    assert page.index('<section id="laws"') < page.index('<section id="summary"')
    section = page[page.index('<section id="laws"') : page.index('<section id="summary"')]
    assert section.count('class="chart law"') == 2
    for words in (
        *("Prototype 0 on itself: repulsion, (1.000", "seen from 0.2 to 5 nm"),
        *("repulsion below r = 1, attraction beyond", "a spring of rest length 1"),
        *("drag 0.2 per ps", "adjusted Rand index 0.950", "&lt;x&gt; = 3"),
        *("of prototype 1", "test system 0", "1 of 4 systems come closer than 0.200"),
        *("trusted until (ps)", "the end", "1.50 (objects 2 and 3)"),
    ):
        assert words in section


def test_a_report_without_laws_has_no_such_section() -> None:
    page = render(springs_report(each=1))
    assert 'id="laws"' not in page
    assert laws_section(None, []) == ""


def test_forces_of_one_sign_have_a_logarithmic_axis_others_one_with_zero() -> None:
    power, spring = reading().laws
    assert ">repulsion (nm/ps^2)</text>" in law_picture(power, "nm", "nm/ps^2")
    drawn = law_picture(spring, "nm", "nm/ps^2")
    assert ">force, above 0: repulsion (nm/ps^2)</text>" in drawn
    assert ">0</text>" in drawn and ">−10⁻¹</text>" in drawn
    assert 'class="line form"' in drawn and 'class="range"' in drawn


def test_a_law_without_a_form_is_drawn_without_one() -> None:
    law = reading().laws[0]
    drawn = law_picture(replace(law, fit=None, fitted=None))
    assert "no simple form" in drawn
    assert '<path class="line form" d=""/>' in drawn


def test_the_picture_file_has_all_laws_and_a_legend() -> None:
    text = laws_svg(reading())
    assert text.startswith("<svg xmlns=") and "var(--" not in text
    assert text.count("<g transform=") == 2
    assert "distances seen in training" in text
    assert np.char.count(text, "nan") == 0


def test_a_report_in_which_no_law_was_found_says_so() -> None:
    data = report_with_laws()
    assert data.laws is not None
    section = laws_section(replace(data.laws, laws=[]), data.examples)
    assert "has found no forces" in section
    assert "come closer than" not in section
    assert "<svg" not in section
