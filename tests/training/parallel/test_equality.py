"""Several processes take the steps that one takes."""

import math
from pathlib import Path

import numpy as np
import pytest
from tests.training.parallel.stepping import CASES, all_totals, steps_of

from pgode.training.parallel.launch import started_peers
from pgode.training.parallel.team import ALONE, Together

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[float]]:
    return all_totals(ALONE, tmp_path_factory.mktemp("alone"))


@pytest.fixture(scope="module", params=[2, 4])
def together(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[float]]:
    """With four, some processes have no system of a batch of two or three."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{ROOT / 'src'}:{ROOT}")
        with started_peers(request.param, "tests.training.parallel.stepping") as peers:
            return all_totals(Together(peers), tmp_path_factory.mktemp("together"))


@pytest.mark.parametrize("name", [name for name in CASES if not name.startswith("unsolved")])
def test_losses_of_all_steps_are_those_of_one_process(
    name: str, alone: dict[str, list[float]], together: dict[str, list[float]]
) -> None:
    assert len(alone[name]) == steps_of(name)
    assert alone[name][0] != alone[name][-2]
    np.testing.assert_allclose(together[name], alone[name], rtol=1e-6)


def test_a_share_that_cannot_be_solved_costs_all_processes_that_step_and_no_other(
    alone: dict[str, list[float]], together: dict[str, list[float]]
) -> None:
    for name in ("unsolved by the first", "unsolved by the last"):
        missing = [k for k, total in enumerate(together[name]) if math.isnan(total)]
        assert missing == [4]
    expected = alone["unsolved by the first"]
    np.testing.assert_allclose(together["unsolved by the first"], expected, rtol=1e-6)
    np.testing.assert_allclose(together["unsolved by the last"], expected, rtol=1e-6)
