"""A result survives its JSON."""

import json

from tests.reports.robustness.results import many_pairs, usual

from pgode.evaluation.robustness.result import Robustness


def test_reading_the_json_gives_the_same_result() -> None:
    for result in (usual(), many_pairs()):
        text = json.dumps(result.to_json(), allow_nan=False)
        assert Robustness.from_json(json.loads(text)) == result


def test_json_is_plain_with_horizons_as_text() -> None:
    content = usual().to_json()
    assert content == json.loads(json.dumps(content))
    single = content["runs"][0]
    assert list(single["forecast"][0]["factor"]) == ["12", "24"]
    assert single["lipschitz"]["prototypes"][0] == {
        "weight": 1.0,
        "constant": {"largest": 2.0, "mean": 1.0, "variance": 0.5},
    }
    assert content["runs"][2]["bound"] is None
