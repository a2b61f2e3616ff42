"""Changes of files for the fuzzing of readers, and what a reader may do with them."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from pgode.runtime.errors import InputError


@st.composite
def changes(draw: st.DrawFn) -> Callable[[bytes], bytes]:
    """Some bytes replaced, removed, repeated or inserted, anywhere in a content."""
    edits = draw(
        st.lists(
            st.tuples(
                st.floats(0, 1, exclude_max=True),
                st.sampled_from(["flip", "replace", "cut", "remove", "repeat", "insert"]),
                st.binary(min_size=1, max_size=8),
                st.integers(1, 200),
            ),
            min_size=1,
            max_size=3,
        )
    )

    def changed(content: bytes) -> bytes:
        for share, kind, new, length in edits:
            at = int(share * len(content))
            before, after = content[:at], content[at:]
            match kind:
                case "flip":
                    content = before + bytes(b ^ new[0] for b in after[:1]) + after[1:]
                case "replace":
                    content = before + new + after[len(new) :]
                case "cut":
                    content = before
                case "remove":
                    content = before + after[length:]
                case "repeat":
                    content = before + after[:length] + after
                case "insert":
                    content = before + new + after
        return content

    return changed


def attempt(read: Callable[[], Any]) -> str:
    """ "read" or "refused"; whatever else a reader does fails the test."""
    try:
        read()
    except InputError as error:
        text = str(error)
        assert 20 < len(text) < 1500, text
        return "refused"
    return "read"
