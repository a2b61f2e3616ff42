"""Finding laws with little effort: the same steps on fewer systems, frames and divisions."""

import pytest

from pgode.models.pgode.laws.finding import finding, scheme


@pytest.fixture
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "SCHEME_SYSTEMS": 6,
        "REFINE_SYSTEMS": 16,
        "SINGLE_SYSTEMS": 16,
        "HELD_OUT_SYSTEMS": 8,
        "COPIES": 4,
        "COARSE": 40,
        "TURNS": 1,
    }.items():
        monkeypatch.setattr(finding, name, value)
    monkeypatch.setattr(scheme, "NUMBERS", (5, 8, 10, 20))
