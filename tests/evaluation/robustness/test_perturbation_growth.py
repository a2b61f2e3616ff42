"""Factors, rates and verdicts out of norms that are known."""

from typing import Any

import numpy as np
import pytest

from pgode.evaluation.robustness import perturbation_growth as growth


def test_factors_and_rate_of_an_exact_exponential() -> None:
    norm = 0.02 * np.exp(0.05 * np.arange(25))
    norms = np.stack([norm * 0.8, norm * 1.2])[None, None]  # two objects of mean `norm`
    (found,) = growth.growth(norms, [0.01], [12, 24])
    np.testing.assert_allclose(found["norm"], norm)
    assert found["rate"] == pytest.approx(0.05)
    assert found["factor"] == pytest.approx({"12": 2 * np.exp(0.6), "24": 2 * np.exp(1.2)})
    assert growth.rate(np.zeros(5)) is None
    assert growth.rate(np.array([0, 1.0, np.e])) == pytest.approx(1)


def test_a_stretch_of_time_without_a_difference_has_no_rate() -> None:
    bound = growth.bounded(
        growth.system_steps(np.zeros((1, 1, 3, 4)), np.array([0, 0, 1])), np.ones(2), np.ones(2)
    )
    assert (bound["fastest"], bound["holds"]) == (None, None)


def test_premise_and_conclusion_of_the_theorem_are_told_apart() -> None:
    def run(name: str, constants: list[tuple[float, float | None]], rate: float) -> dict[str, Any]:
        each = [{"mean": mean, "variance": variance} for mean, variance in constants]
        return {
            "name": name,
            "prototypes": len(each),
            "forecast": [{"magnitude": m, "norm": [m, m * rate]} for m in (0.1, 0.01)],
            "lipschitz": {"prototypes": each},
            "bound": {"theorem": {"mean": rate, "variance": None}},
        }

    one, two = run("one", [(2.0, 0.5)], 4.0), run("two", [(1.0, 0.1), (1.9, 0.6)], 3.0)
    naive = {"name": "naive", "prototypes": None, "lipschitz": None}
    (found,) = growth.comparisons([two, naive, one])
    assert found["theorem"] == {
        "premise_mean": True,
        "premise_variance": False,
        "bound_mean": True,
        "bound_variance": None,
    }
    assert (found["single"], found["several"], found["magnitude"]) == ("one", "two", 0.01)
    assert found["farther"] == pytest.approx(0.75)
    assert growth.comparisons([{**one, "lipschitz": None}, two])[0]["theorem"] is None
