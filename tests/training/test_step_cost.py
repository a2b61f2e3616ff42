"""The cost of training steps, measured side by side."""

from pgode.models import MODELS
from pgode.models.registry import NAIVE
from pgode.training.inventory import ROUNDS, inventory


def test_every_model_is_timed_and_only_the_naive_ones_have_no_parameters():
    entries = inventory()
    assert [entry.name for entry in entries] == list(MODELS)
    assert all(len(entry.cost.seconds) == ROUNDS for entry in entries)
    naive = [entry.name for entry in entries if not entry.cost.parameters]
    assert naive == list(NAIVE)
