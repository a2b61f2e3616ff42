"""Settings: frozen, and with errors that name the key and the fix."""

import pytest
from pydantic import Field, ValidationError

from pgode.runtime.errors import InputError
from pgode.runtime.settings import Settings, validated


class Inner(Settings):
    step: float = Field(0.1, gt=0)


class Outer(Settings):
    width: int = Field(8, ge=1)
    depth: int = 2
    inner: Inner = Inner()


def test_content_is_checked_and_the_rest_is_default():
    settings = validated(Outer, {"width": 3, "inner": {"step": 0.5}}, "model")
    assert settings == Outer(width=3, depth=2, inner=Inner(step=0.5))


def test_settings_cannot_change():
    with pytest.raises(ValidationError, match="frozen"):
        Outer().width = 4


def test_whole_settings_need_no_group_name_in_the_error():
    with pytest.raises(InputError, match=r'unknown setting "widht"\. Did you mean "width"'):
        validated(Outer, {"widht": 3}, "")


@pytest.mark.parametrize(
    "content, message",
    [
        ({"widht": 3}, 'unknown setting "model.widht". Did you mean "model.width"?'),
        ({"zzz": 3}, 'unknown setting "model.zzz". Known keys: width, depth, inner.'),
        ({"inner": {"stp": 1}}, '"model.inner.stp". Did you mean "model.inner.step"?'),
        ({"width": 0}, 'the setting "model.width" is 0, which is invalid'),
        ({"width": "many"}, "the setting \"model.width\" is 'many', which is invalid"),
        ({"inner": {"step": -1}}, "Correct it in the config file or with --set model.inner.step="),
        ({"inner": 3}, 'the setting "model.inner" is 3, which is invalid'),
    ],
)
def test_error_names_the_key_and_the_fix(content, message):
    with pytest.raises(InputError) as raised:
        validated(Outer, content, "model")
    assert message in str(raised.value)
