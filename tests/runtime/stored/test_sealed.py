"""Records with a checksum of their own."""

from pathlib import Path

import pytest
from tests.flips import flips, refusal

from pgode.runtime.errors import InputError
from pgode.runtime.files import write_json
from pgode.runtime.stored.sealed import SEAL, digest, read_sealed, write_sealed

CONTENT = {"b": [1.5, None], "a": {"x": "text", "y": True}}


def test_a_record_is_read_as_it_was_written_whatever_its_layout(tmp_path: Path) -> None:
    write_sealed(tmp_path / "one.json", CONTENT)
    assert read_sealed(tmp_path / "one.json", "") == CONTENT
    write_json(tmp_path / "two.json", {SEAL: digest(CONTENT), **dict(reversed(CONTENT.items()))})
    assert read_sealed(tmp_path / "two.json", "") == CONTENT


def test_a_record_of_an_earlier_version_has_no_checksum(tmp_path: Path) -> None:
    write_json(tmp_path / "one.json", CONTENT)
    assert read_sealed(tmp_path / "one.json", "") == CONTENT


def test_every_flipped_byte_is_refused_with_the_fix_or_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    write_sealed(path, CONTENT)
    for _ in flips(path, 300):
        message = refusal(lambda: read_sealed(path, "Make it again."))
        assert "one.json" in message or not message
        if not message:
            found = read_sealed(path, "")
            # A flip within the word "sha256" leaves an unknown entry, which a schema refuses.
            assert found == CONTENT or found.keys() - CONTENT.keys()


def test_an_edited_record_says_so(tmp_path: Path) -> None:
    write_sealed(tmp_path / "one.json", CONTENT)
    text = (tmp_path / "one.json").read_text().replace("1.5", "1.6")
    (tmp_path / "one.json").write_text(text)
    with pytest.raises(InputError, match=r"one\.json was damaged or edited: .* Make it again\."):
        read_sealed(tmp_path / "one.json", "Make it again.")
