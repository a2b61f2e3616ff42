"""The cost of training steps, measured side by side."""

import pytest

from pgode.models import MODELS
from pgode.models.registry import NAIVE
from pgode.training import inventory


def test_every_model_is_timed_and_only_the_naive_ones_have_no_parameters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The command times batches of usual size; two systems and short windows say as much here.
    for name, size in (("BATCH", 2), ("CONDITION", 4), ("HORIZON", 3)):
        monkeypatch.setattr(inventory, name, size)
    entries = inventory.inventory()
    assert [entry.name for entry in entries] == list(MODELS)
    assert all(len(entry.cost.seconds) == inventory.ROUNDS for entry in entries)
    assert all(min(entry.cost.seconds) > 0 for entry in entries)
    naive = [entry.name for entry in entries if not entry.cost.parameters]
    assert naive == list(NAIVE)
