"""`run.forecaster()` has the numbers of `run.forecast`, from arrays, in any thread, warm."""

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from tests.law_runs import run_with_laws
from tests.runs.exchange import clinics
from tests.runs.exchange.test_observed import matrices
from tests.trained_runs import CONDITION, FRAMES, HORIZON, OBJECTS, springs, trained

import pgode
from pgode.runs.run import Run
from pgode.runs.serving.array_forecaster import ArrayForecaster
from pgode.runtime.errors import InputError

SAME = np.testing.assert_array_equal


@cache
def forecaster() -> ArrayForecaster:
    return trained().forecaster()


def one(system: int = 0) -> dict[str, Any]:
    """One system, as arrays without a system axis."""
    return {"states": springs().states[system], "edges": matrices(springs())[system]}


def usual_way(run: Run, given: dict[str, Any], **options: Any) -> np.ndarray:
    """The mean of `run.forecast`; the clock is called times there."""
    given = {("times" if name == "clock" else name): value for name, value in given.items()}
    return run.forecast(given, samples=0, **options).mean


@pytest.mark.parametrize("run", [trained, run_with_laws], ids=["messages", "laws"])
def test_the_mean_is_that_of_run_forecast_bit_for_bit(run: Any) -> None:
    ready, data = run().forecaster(), springs()
    for system in range(3):
        states = data.states[system]
        given = {"states": states, "edges": matrices(data)[system]}
        SAME(ready(**given), usual_way(run(), given)[0])
        SAME(ready(**given, until=3), usual_way(run(), given, until=3)[0])
        SAME(ready(**given, times=[0.05, 0.31]), usual_way(run(), given, times=[0.05, 0.31])[0])


def test_several_systems_are_forecast_at_once() -> None:
    given = {"states": springs().states, "edges": matrices(springs())}
    found = forecaster()(**given)
    assert found.shape == (springs().systems, OBJECTS, HORIZON, 4)
    SAME(found, usual_way(trained(), given))
    same = np.broadcast_to(given["edges"][0], given["edges"].shape)
    SAME(
        forecaster()(springs().states, edges=given["edges"][0]),
        usual_way(trained(), {"states": springs().states, "edges": same}),
    )


def test_samples_and_calibrated_intervals_are_those_of_run_forecast() -> None:
    for run in (trained(), run_with_laws()):
        found = run.forecaster().sampled(**one(), samples=5, seed=3)
        expected = run.forecast(one(), samples=5, seed=3)
        SAME(found.mean, expected.mean[0])
        SAME(found.samples, expected.samples[:, 0])
        SAME(found.lower, expected.dataset["lower"].values[0])
        SAME(found.upper, expected.dataset["upper"].values[0])


def test_missing_values_frames_to_come_clocks_and_changing_graphs_are_as_usual() -> None:
    states, edges = springs().states[:2].copy(), matrices(springs())[:2]
    states[0, 1, -2:] = np.nan  # not seen when the condition ends
    states[1, 2, -4, 0] = np.nan
    states[1, :, -3:] = np.nan  # its last frames lie in the future
    clock = np.arange(FRAMES) * 0.1
    clock[-2:] += 0.04
    changing = np.repeat(edges[:, None], FRAMES, axis=1)
    changing[0, FRAMES - 3 :] = 1 - np.eye(OBJECTS)
    listed = springs().select([0, 1]).edges
    for more in ({}, {"clock": clock}, {"edges": changing}, {"edges": listed}):
        given = {"states": states, "edges": edges, **more}
        for _ in range(2):  # On a graph that is built, and on one that is remembered.
            SAME(forecaster()(**given), usual_way(trained(), given))


def test_constants_and_inputs_of_the_days_to_come_are_used() -> None:
    run = clinics.run()
    data, ready = run.conform(run.observed(clinics.now())), run.forecaster()
    states = data.states[:, :, : clinics.CONDITION]
    named = {"edges": data.edges, "constants": data.constants, "inputs": data.inputs}
    plain = {**named, "states": data.states}
    expected = usual_way(run, plain)
    for _ in range(2):
        SAME(ready(states, **named), expected)
    SAME(ready(states, **named, until=1), expected[:, :, :1])
    assert expected.shape[2] == data.frames - clinics.CONDITION
    other = ready(states, **{**named, "constants": 2 * data.constants})
    assert not np.array_equal(other, expected)
    without = {name: value for name, value in named.items() if name != "constants"}
    known = {name: value for name, value in plain.items() if name != "constants"}
    SAME(ready(states, **without), usual_way(run, known))


def test_eight_threads_with_different_inputs_have_the_serial_results() -> None:
    """Some share a graph, some do not, and some draw samples."""
    ready, random = trained().forecaster(graphs=3), np.random.default_rng(0)
    edges = matrices(springs())
    jobs = [
        (springs().states[k % 8] + 0.01 * random.normal(), edges[k % 5], k % 4 == 3)
        for k in range(64)
    ]

    def forecast(job: tuple[np.ndarray, np.ndarray, bool]) -> np.ndarray:
        states, graph, drawn = job
        if drawn:
            return ready.sampled(states, edges=graph, samples=3, seed=7).samples
        return ready(states, edges=graph)

    serial = [forecast(job) for job in jobs]
    with ThreadPoolExecutor(8) as pool:
        for found, expected in zip(pool.map(forecast, jobs), serial, strict=True):
            SAME(found, expected)


@pytest.mark.parametrize("name", ["nri", "agentformer", "i-gpode"])
def test_the_mean_of_a_model_that_draws_in_training_is_not_drawn(name: str, tmp_path: Any) -> None:
    changes = {"window.condition": CONDITION, "window.horizon": 2, "training.epochs": 1}
    run = pgode.train(springs(), tmp_path / "run", model=name, settings=changes)
    ready, given = run.forecaster(), one()
    expected, before = usual_way(run, given)[0], torch.get_rng_state()
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: ready(**given), range(8)):
            SAME(found, expected)
    assert torch.equal(torch.get_rng_state(), before)


def test_graphs_are_built_once_and_only_so_many_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    ready = trained().forecaster(graphs=2)
    built = []
    usual = ArrayForecaster._built

    def counted(self: ArrayForecaster, *given: Any) -> Any:
        built.append(given)
        return usual(self, *given)

    monkeypatch.setattr(ArrayForecaster, "_built", counted)
    graphs = [np.eye(OBJECTS)[:, [1, 2, 0]], 1 - np.eye(OBJECTS), np.zeros((OBJECTS, OBJECTS))]
    for graph, total in zip([0, 0, 1, 0, 2, 0, 1], [1, 1, 2, 2, 3, 3, 4], strict=True):
        ready(springs().states[graph], edges=graphs[graph])
        assert len(built) == total
        assert len(ready._topologies) <= 2


def test_the_generator_of_the_caller_is_left_alone() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    trained().forecaster().sampled(**one(), samples=2)
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize(
    "change, says",
    [
        ({"states": np.zeros((OBJECTS, FRAMES, 3))}, "3"),
        ({"states": np.zeros((OBJECTS, 2, 4))}, "fewer than the condition"),
        ({"states": np.full((OBJECTS, FRAMES, 4), np.inf)}, "infinite"),
        ({"states": np.full((OBJECTS, FRAMES, 4), np.nan)}, "no observed value"),
        ({"states": np.array([["a"]])}, "states"),
        ({"edges": np.zeros((2, 2))}, "edges"),
        ({"edges": None}, "no edges"),
        ({"clock": np.zeros(FRAMES)}, "time"),
        ({"clock": np.arange(3.0)}, "times"),
        ({"until": 0}, "until frame 0"),
        ({"until": 2, "times": [0.1]}, "both a number of frames"),
        ({"times": [0.2, 0.1]}, "do not increase"),
        ({"constants": np.zeros((OBJECTS, 1))}, "constant"),
    ],
)
def test_what_is_wrong_is_said_as_by_run_forecast(change: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        forecaster()(**{**one(), **change})


def test_no_samples_are_refused_where_samples_are_asked_for() -> None:
    with pytest.raises(InputError, match="Expected 1 to 1000000 samples"):
        forecaster().sampled(**one(), samples=0)
