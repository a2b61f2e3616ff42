"""Times: gaps, irregular steps, other clocks, frames that coincide."""

import numpy as np
import pytest
from tests.data.checkup.made import arrays, built, subject

from pgode.data.checkup.checks import clocks

CHECKS = (clocks.gaps, clocks.uneven_steps, clocks.differing_clocks, clocks.coinciding_frames)


def found_in(times: np.ndarray) -> dict[str, list]:
    checked = subject(built(times=times))
    return {check.__name__: check(checked) for check in CHECKS}


def only(found: dict[str, list], name: str):
    assert [each for each, findings in found.items() if findings] == [name]
    (finding,) = found[name]
    return finding


def test_a_regular_clock_gives_no_finding():
    assert not any(found_in(arrays()["times"]).values())


def test_a_gap_is_named_with_its_system_and_time():
    times = arrays()["times"]
    times[4, 30:] += 2.0
    finding = only(found_in(times), "gaps")
    assert "1 gap in time in 1 system" in finding.text
    assert "from 2.9 seconds to 5 seconds, is 21 usual steps" in finding.text
    assert str(finding.place) == "walk 4, time 2.9 seconds"


def test_irregular_steps_are_a_note_and_no_gaps():
    steps = np.random.default_rng(0).uniform(0.02, 0.3, (40, 60))
    finding = only(found_in(np.cumsum(steps, axis=1)), "uneven_steps")
    assert finding.severity == "note" and "median is 0.1" in finding.text


def test_a_system_with_another_clock_is_named():
    times = arrays()["times"]
    times[9] *= 2
    found = found_in(times)
    assert "another time step: 0.2 here, usually 0.1" in found["differing_clocks"][0].text
    assert found["differing_clocks"][0].place.system == "walk 9"


def test_frames_that_nearly_coincide_are_doubled_rows():
    times = arrays()["times"]
    times[2, 11:] -= 0.0999
    found = found_in(times)
    assert "1 frame follow" in found["coinciding_frames"][0].text
    assert found["coinciding_frames"][0].place.time == "1.0001 seconds"


@pytest.mark.parametrize("frames", [1, 2])
def test_very_short_data_are_no_error(frames):
    given = arrays()
    data = built(states=given["states"][:, :, :frames], times=given["times"][:, :frames])
    for check in CHECKS:
        assert check(subject(data)) == []
