"""Settings of force laws that have no effect are refused."""

from typing import Any

import pytest
from pydantic import ValidationError

from pgode.models.pgode.config import PGODEConfig


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"width": 64}, "width has no effect with dynamics=laws"),
        ({"encoder": {"layers": 1}}, "encoder has no effect"),
        ({"objective": {"context_info_weight": 0.5}}, "objective has no effect"),
        ({"state": {"kind": "latent"}}, "state has no effect"),
        ({"rebuild_graph": True}, "rebuild_graph has no effect"),
        ({"gate": {"group_context": True}}, "gate has no effect"),
        ({"walls": "periodic"}, "needs the lengths of the box"),
        ({"dynamics": {"kind": "laws", "box": [1.0, 1.0]}}, "needs the lengths of the box"),
        ({"dynamics": {"kind": "laws", "substeps": 9, "most_substeps": 8}}, "substeps is 9"),
        ({"dynamics": {"kind": "messages"}, "walls": "reflect"}, "with dynamics=laws only"),
        ({"walls": "soft"}, "walls"),
    ],
)
def test_settings_without_effect_are_refused(settings: dict[str, Any], message: str) -> None:
    alone = {"kind": "laws", "messages": False}
    with pytest.raises(ValidationError, match=message):
        PGODEConfig.model_validate({"dynamics": alone, **settings})


@pytest.mark.parametrize("contexts", ["both", "object", "system"])
def test_contexts_of_the_gate_have_an_effect(contexts: str) -> None:
    config = PGODEConfig.model_validate(
        {"dynamics": {"kind": "laws"}, "gate": {"contexts": contexts}}
    )
    assert config.gate.contexts == contexts
