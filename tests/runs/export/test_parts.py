"""The parts of an exported forecast compute what the library computes."""

import numpy as np
import torch
from tests.small_systems import CONDITION, HORIZON, uneven

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch, Windows
from pgode.data.labels.transforms import TRANSFORMS
from pgode.models import build_model, model_config
from pgode.runs.export.arrays import changes_within, observed_arrays
from pgode.runs.export.program import ForecastProgram
from pgode.runs.export.scaling import BACKWARD, FORWARD
from pgode.runs.export.signature import Signature
from pgode.runs.export.small_matrices import det, svd
from pgode.runs.export.substitutes import Substitutes


def batches() -> tuple[Batch, Batch]:
    """The difficult systems as `Windows` cuts them, and as an exported program builds them."""
    data = uneven()
    normaliser = Normaliser.fit(data)
    settings = {"gate": {"group_context": True}, "width": 4}
    model = build_model("pgode", model_config("pgode", settings), normaliser)
    signature = Signature.of(model, CONDITION, HORIZON, changing=changes_within(data))
    arrays = observed_arrays(data, range(data.systems), signature)
    given = {name: torch.from_numpy(each) for name, each in arrays.items()}
    windows = Windows(data, normaliser, CONDITION, HORIZON)
    systems = np.arange(data.systems)
    ours = windows.batch(systems, np.zeros_like(systems))
    return ours, ForecastProgram(model, signature).batch(given)[0]


def edges_of(graph: object) -> list[tuple[float, ...]]:
    pairs = torch.stack([graph.receivers, graph.senders.long()], 1)
    return sorted(map(tuple, torch.cat([pairs, graph.attributes], 1).tolist()))


def test_a_batch_of_arrays_is_the_batch_of_the_data() -> None:
    ours, found = batches()
    for name in ("states", "times", "constants"):
        torch.testing.assert_close(getattr(found, name), getattr(ours, name))
    assert torch.equal(found.observed, ours.observed)
    assert torch.equal(found.system, ours.system)
    np.testing.assert_allclose(edges_of(found.graph), edges_of(ours.graph), rtol=1e-6)


def test_the_temporal_graph_is_that_of_the_compiled_loops() -> None:
    ours, found = (batch.history for batch in batches())
    assert torch.equal(found.node_object, ours.node_object)
    assert torch.equal(found.node_frame, ours.node_frame)
    np.testing.assert_allclose(edges_of(found.graph), edges_of(ours.graph), rtol=1e-6)
    assert int(found.temporal.sum()) == int(ours.temporal.sum())


def test_groups_join_the_same_objects() -> None:
    ours, found = (batch.group for batch in batches())
    assert torch.equal(found < 0, ours < 0)
    known = ours >= 0
    same = [each[known].unsqueeze(1) == each[known] for each in (ours, found)]
    assert torch.equal(*same)


def test_transforms_are_those_of_the_data() -> None:
    values = np.linspace(0.1, 3, 7)
    assert set(FORWARD) == set(BACKWARD) == set(TRANSFORMS) - {""}
    for name, each in TRANSFORMS.items():
        if name:
            seen = FORWARD[name](torch.from_numpy(values))
            np.testing.assert_allclose(seen.numpy(), each.forward(values), rtol=1e-14)
            back = BACKWARD[name](seen).numpy()
            np.testing.assert_allclose(back, each.backward(seen.numpy()), rtol=1e-14)


def test_small_matrices_are_decomposed_even_without_full_rank() -> None:
    for size in (1, 2, 3):
        matrices = torch.randn(20, size, size, dtype=torch.float64)
        matrices[0] = 0
        matrices[1] = matrices[1, :1] * torch.arange(1, size + 1).unsqueeze(1)  # rank 1
        matrices[2, :, -1] = 0
        left, values, right = svd(matrices)
        torch.testing.assert_close(left * values.unsqueeze(-2) @ right, matrices)
        for turn in (left, right):
            torch.testing.assert_close(turn @ turn.mT, torch.eye(size).expand_as(turn).double())
        torch.testing.assert_close(values, torch.linalg.svdvals(matrices), rtol=1e-10, atol=1e-12)
        torch.testing.assert_close(det(matrices), torch.linalg.det(matrices))


def test_substitutes_give_the_numbers_of_the_functions_they_replace() -> None:
    def results() -> list[torch.Tensor]:
        ordered = torch.tensor([[0.0, 1.0, 1.0, 2.5], [-1.0, 0.0, 3.0, 4.0]])
        wanted = torch.tensor([[1.0, 9.0, -1.0], [3.0, 0.5, 4.0]])
        mixed = torch.tensor([[3, 1, 2], [0, 5, 4]])
        return [
            torch.bincount(torch.tensor([0, 2, 2]), minlength=4),
            torch.searchsorted(ordered, wanted),
            torch.searchsorted(ordered, wanted, right=True),
            mixed.cummax(1).values,
            mixed.cummin(1).values,
        ]

    expected = results()
    with Substitutes():
        found = results()
    for each, other in zip(expected, found, strict=True):
        assert torch.equal(each, other)
