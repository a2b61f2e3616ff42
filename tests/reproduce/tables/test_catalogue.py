"""Rows of the catalogue that name settings of another preset."""

from pgode.models.pgode.encoder import EncoderConfig
from pgode.reproduce.tables.catalogue import ENCODER
from pgode.training.presets import PAPER


def test_the_encoder_of_default_is_all_that_the_paper_preset_changes_of_it():
    assert {name: getattr(EncoderConfig(), name) for name in PAPER["model"]["encoder"]} == ENCODER
