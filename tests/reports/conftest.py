"""The browser that tests of reports open them in."""

from collections.abc import Iterator

import pytest
from tests.reports.chromium import Chromium


@pytest.fixture(scope="module")
def chromium() -> Iterator[Chromium]:
    with Chromium() as opened:
        yield opened


@pytest.fixture
def browser(chromium) -> Iterator[Chromium]:
    """The browser of this file with a blank page, the usual size and light colours."""
    chromium.reset()
    yield chromium
    assert chromium.problems == []
