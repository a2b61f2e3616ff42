"""The graph type and its sums: values, gradients, threads, registration with torch."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from pgode.batches import kernels, operators
from pgode.batches.graph import Graph

OPERATIONS = ("neighbour_sum", "weighted_sum", "attend", "softmax_attend")


def random_graph(
    rows: int = 6,
    columns: int | None = None,
    attributes: int = 1,
    dtype=torch.float64,
    seed: int = 0,
) -> Graph:
    """Random edges; the first and the last row have none, and neither has the first column."""
    rng = np.random.default_rng(seed)
    here = rng.random((rows, columns or rows)) < 0.5
    here[[0, -1]] = False
    here[:, 0] = False
    receivers, senders = np.nonzero(here)
    values = rng.normal(size=(len(receivers), attributes))
    return Graph.from_edges(receivers, senders, values, rows, columns, dtype=dtype)


def bind(
    operation: str, graph: Graph, dtype=torch.float64, channels: int = 3
) -> tuple[Callable[..., torch.Tensor], list[torch.Tensor]]:
    """An operation on a graph as a function of its differentiable inputs, and such inputs."""

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(shape, dtype=dtype, requires_grad=True)

    if operation == "neighbour_sum":
        size = graph.attributes.shape[1]
        inputs = [normal(graph.rows, channels), normal(graph.columns, channels)]
        return graph.neighbour_sum, [*inputs, normal(size, channels)]
    if operation == "weighted_sum":
        return lambda send: graph.weighted_sum(send, graph.weights), [
            normal(graph.columns, channels)
        ]
    shapes = [(graph.rows, 4), (graph.columns, 4), (graph.columns, channels)]
    inputs = [normal(*shape) for shape in shapes]
    attention = getattr(graph, operation)
    return lambda q, k, v: attention(q, k, v, graph.weights), inputs


def arguments(operation: str, graph: Graph, inputs: list[torch.Tensor]) -> tuple:
    """The arguments of the operator itself."""
    per_edge = graph.attributes if operation == "neighbour_sum" else graph.weights
    return (graph.rows_of_senders, graph.rows_of_receivers, per_edge, *inputs)


def softmax_gradient(graph: Graph, dtype=torch.float32) -> tuple:
    """Arguments of the gradient of `softmax_attend`."""
    _, inputs = bind("softmax_attend", graph, dtype)
    given = arguments("softmax_attend", graph, [x.detach() for x in inputs])
    out, level = operators.softmax_attend(*given)
    grad = torch.randn_like(out)
    return (*given, level, (grad * out).sum(1), grad)


GRAPHS = pytest.mark.parametrize(
    "graph",
    [
        pytest.param({}, id="one-attribute"),
        pytest.param({"attributes": 3}, id="three-attributes"),
        pytest.param({"rows": 4, "columns": 7, "attributes": 2}, id="bipartite"),
    ],
)
EACH = pytest.mark.parametrize("operation", OPERATIONS)


def test_edges_are_compressed_by_receiver_with_a_reversed_list():
    # 2 -> 0, 0 -> 2, 1 -> 2, 1 -> 0, given in no order
    receivers, senders = np.array([2, 0, 2, 0]), np.array([0, 2, 1, 1])
    graph = Graph.from_edges(receivers, senders, np.array([[1.0], [2], [3], [4]]), 3)
    assert graph.offsets.tolist() == [0, 2, 2, 4]
    assert graph.senders.tolist() == [2, 1, 0, 1]
    assert graph.receivers.tolist() == [0, 0, 2, 2]
    assert graph.weights.tolist() == [2, 4, 1, 3]
    assert graph.degree.tolist() == [2, 0, 2]
    assert graph.reverse_offsets.tolist() == [0, 1, 3, 4]
    assert graph.reverse_receivers.tolist() == [2, 0, 2, 0]
    assert graph.reverse_edges.tolist() == [2, 1, 3, 0]
    assert (graph.rows, graph.columns, graph.edges) == (3, 3, 4)


def test_neighbour_sum_by_hand():
    graph = Graph.from_edges(np.array([0, 0]), np.array([1, 2]), np.array([[2.0], [-1]]), 3)
    receive = torch.tensor([[1.0, 0], [9, 9], [9, 9]])
    send = torch.tensor([[9.0, 9], [1, -1], [0, 3]])
    out = graph.neighbour_sum(receive, send, torch.tensor([[1.0, 2]]))
    # relu([1 + 1 + 2, 0 - 1 + 4]) + relu([1 + 0 - 1, 0 + 3 - 2])
    assert out.tolist() == [[4, 4], [0, 0], [0, 0]]


def test_weighted_sum_by_hand():
    graph = Graph.from_edges(np.array([0, 0]), np.array([1, 2]), np.array([[2.0], [-1]]), 3)
    out = graph.weighted_sum(torch.tensor([[5.0], [1], [3]]), graph.weights)
    assert out.tolist() == [[-1], [0], [0]]


def test_attend_by_hand():
    graph = Graph.from_edges(np.array([0, 0]), np.array([1, 2]), np.array([[2.0], [-1]]), 3)
    query, key = torch.tensor([[1.0, 2], [9, 9], [9, 9]]), torch.tensor([[9.0, 9], [3, 1], [0, 4]])
    value = torch.tensor([[9.0], [10], [100]])
    # 2 * (1*3 + 2*1) * 10 - (2*4) * 100
    assert graph.attend(query, key, value, graph.weights).tolist() == [[-700], [0], [0]]


def test_softmax_attend_by_hand():
    graph = Graph.from_edges(np.array([0, 0]), np.array([1, 2]), np.array([[2.0], [-1]]), 3)
    query, key = torch.tensor([[1.0], [9], [9]]), torch.tensor([[9.0], [np.log(3)], [0]])
    value = torch.tensor([[9.0, 9], [10, 1], [100, 0]])
    # softmax of log 3 and 0 is 3/4 and 1/4: 2 * 3/4 * [10, 1] - 1/4 * [100, 0]
    assert_close(
        graph.softmax_attend(query, key, value, graph.weights),
        torch.tensor([[-10, 1.5], [0, 0], [0, 0]]),
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_softmax_of_large_scores_is_finite(dtype):
    graph = random_graph(dtype=dtype)
    query, key = (1e3 * torch.randn(6, 4, dtype=dtype) for _ in range(2))
    value = torch.randn(6, 3, dtype=dtype, requires_grad=True)
    query.requires_grad_(), key.requires_grad_()
    out = graph.softmax_attend(query, key, value, graph.weights)
    assert out.isfinite().all()
    assert out[1:-1].abs().max() <= (graph.weights.abs().max() * value.abs().max()).item()
    for grad in torch.autograd.grad(out.sum(), (query, key, value)):
        assert grad.isfinite().all()


def test_kinds_of_edges_have_columns_of_their_own():
    graph = random_graph(rows=5, attributes=2)
    second = torch.rand(graph.edges) < 0.4
    kinds = graph.with_kinds(second)
    assert (kinds.rows, kinds.columns, kinds.edges) == (5, 10, graph.edges)
    expected = Graph.from_edges(
        graph.receivers.numpy(),
        (graph.senders + 5 * second).numpy(),
        graph.attributes.numpy(),
        *(5, 10),
        dtype=torch.float64,
    )
    for name in ("offsets", "senders", "reverse_offsets", "reverse_receivers", "reverse_edges"):
        found, wanted = getattr(kinds, name), getattr(expected, name)
        assert found.dtype == wanted.dtype
        assert torch.equal(found, wanted)


@GRAPHS
@EACH
def test_gradients_are_those_of_finite_differences(operation, graph):
    function, inputs = bind(operation, random_graph(**graph))
    assert torch.autograd.gradcheck(function, inputs)


@pytest.mark.parametrize("operation", ["weighted_sum", "attend"])
def test_gradients_that_are_sums_themselves_can_be_differentiated_again(operation):
    function, inputs = bind(operation, random_graph())
    assert torch.autograd.gradgradcheck(function, inputs)


@EACH
def test_graph_without_edges_gives_zeros_and_zero_gradients(operation):
    none = np.zeros(0, np.int32)
    graph = Graph.from_edges(none, none, np.zeros((0, 1)), 3, dtype=torch.float64)
    function, inputs = bind(operation, graph)
    out = function(*inputs)
    assert_close(out, torch.zeros(3, 3, dtype=torch.float64))
    for grad in torch.autograd.grad(out.sum(), inputs):
        assert_close(grad, torch.zeros_like(grad))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@GRAPHS
@EACH
def test_compiled_operator_agrees_with_plain_torch(operation, graph, dtype):
    graph = random_graph(**graph, dtype=dtype)
    _, inputs = bind(operation, graph, dtype)
    operator = getattr(operators, operation)
    given = arguments(operation, graph, inputs)
    compiled, plain = operator(*given), operator._init_fn(*given)
    assert_close(compiled, plain)
    if operation == "softmax_attend":  # No gradient passes through its second output.
        compiled, plain = compiled[0], plain[0]
    assert compiled.dtype == dtype
    # The plain version is differentiated by torch itself.
    grad = torch.randn_like(plain)
    assert_close(
        torch.autograd.grad(compiled, inputs, grad), torch.autograd.grad(plain, inputs, grad)
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@GRAPHS
@pytest.mark.parametrize("operation", ["edge_sum", "spread"])
def test_compiled_sums_over_edges_agree_with_plain_torch(operation, graph, dtype):
    graph = random_graph(**graph, dtype=dtype)
    operator = getattr(operators, operation)
    for rows, number in (
        (graph.rows_of_senders, graph.rows),
        (graph.rows_of_receivers, graph.columns),
    ):
        size = graph.edges if operation == "edge_sum" else number
        x = torch.randn(size, 3, dtype=dtype, requires_grad=True)
        compiled, plain = operator(rows, x), operator._init_fn(rows, x)
        assert_close(compiled, plain)
        grad = torch.randn_like(plain)
        assert_close(torch.autograd.grad(compiled, x, grad), torch.autograd.grad(plain, x, grad))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@GRAPHS
def test_compiled_gradients_agree_with_the_plain_gradients(graph, dtype):
    graph = random_graph(**graph, dtype=dtype)
    _, inputs = bind("neighbour_sum", graph, dtype)
    given = *arguments("neighbour_sum", graph, inputs), torch.randn(graph.rows, 3, dtype=dtype)
    backward = operators.neighbour_sum_backward
    assert_close(backward(*given), backward._init_fn(*given))
    given = softmax_gradient(graph, dtype)
    backward = operators.softmax_attend_backward
    assert_close(backward(*given), backward._init_fn(*given))


@GRAPHS
@EACH
def test_operator_keeps_the_promises_torch_relies_on(operation, graph):
    graph = random_graph(**graph, dtype=torch.float32)
    _, inputs = bind(operation, graph, torch.float32)
    given = arguments(operation, graph, inputs)
    checks = ("test_schema", "test_autograd_registration", "test_faketensor")
    found = torch.library.opcheck(getattr(operators, operation), given, test_utils=checks)
    assert set(found.values()) == {"SUCCESS"}


def test_operators_of_gradients_keep_the_promises_torch_relies_on():
    graph = random_graph(attributes=2, dtype=torch.float32)
    _, inputs = bind("neighbour_sum", graph, torch.float32)
    given = *arguments("neighbour_sum", graph, inputs), torch.randn(graph.rows, 3)
    constant = tuple(v.detach() if isinstance(v, torch.Tensor) else v for v in given)
    checks = ("test_schema", "test_faketensor")
    for operator, inputs in (
        (operators.neighbour_sum_backward, constant),
        (operators.softmax_attend_backward, softmax_gradient(graph)),
    ):
        found = torch.library.opcheck(operator, inputs, test_utils=checks)
        assert set(found.values()) == {"SUCCESS"}


@EACH
def test_inputs_need_not_lie_contiguously(operation):
    function, inputs = bind(operation, random_graph())
    strided = [x.detach().T.contiguous().T.requires_grad_() for x in inputs]
    out, expected = function(*strided), function(*inputs)
    assert_close(out, expected)
    grad = torch.randn(out.shape[::-1], dtype=out.dtype).T
    assert_close(
        torch.autograd.grad(out, strided, grad), torch.autograd.grad(expected, inputs, grad)
    )


@pytest.mark.parametrize("attributes", [1, 2])
@EACH
def test_results_do_not_depend_on_the_number_of_threads(operation, attributes):
    graph = random_graph(rows=120, attributes=attributes)
    function, inputs = bind(operation, graph, channels=128)
    assert graph.edges * 128 > kernels.PARALLEL_WORK
    grad = torch.randn(graph.rows, 128, dtype=torch.float64)

    def both() -> tuple[torch.Tensor, tuple[torch.Tensor, ...]]:
        out = function(*inputs)
        return out.detach(), torch.autograd.grad(out, inputs, grad)

    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        alone, alone_gradients = both()
        torch.set_num_threads(2)
        shared, shared_gradients = both()
    finally:
        torch.set_num_threads(before)
    assert torch.equal(alone, shared)
    # A sum over all edges is cut in two, so its rounding may differ; all else is one row's own.
    edge = [3] if operation == "neighbour_sum" else []
    for number, (one, two) in enumerate(zip(alone_gradients, shared_gradients, strict=True), 1):
        if number in edge:
            assert_close(one, two)
        else:
            assert torch.equal(one, two)


@EACH
def test_renaming_rows_and_columns_renames_the_result(operation):
    graph = random_graph(rows=5, columns=7, attributes=2)
    new_row, new_column = torch.randperm(5), torch.randperm(7)
    renamed = Graph.from_edges(
        new_row[graph.receivers].numpy(),
        new_column[graph.senders.long()].numpy(),
        graph.attributes.numpy(),
        5,
        7,
        dtype=torch.float64,
    )
    function, inputs = bind(operation, graph)
    again, _ = bind(operation, renamed)
    places = {
        "neighbour_sum": (new_row, new_column, torch.arange(2)),
        "weighted_sum": (new_column,),
        "attend": (new_row, new_column, new_column),
        "softmax_attend": (new_row, new_column, new_column),
    }[operation]
    moved = [x[place.argsort()] for x, place in zip(inputs, places, strict=True)]
    assert_close(again(*moved), function(*inputs)[new_row.argsort()])


def test_moving_to_another_precision_keeps_the_structure():
    graph = random_graph(attributes=2)
    moved = graph.to(dtype=torch.float32)
    assert moved.attributes.dtype == torch.float32
    assert_close(moved.attributes.double(), graph.attributes, rtol=1e-6, atol=0)
    assert torch.equal(moved.senders, graph.senders)
    assert torch.equal(moved.reverse_edges, graph.reverse_edges)
    assert moved.senders.dtype == torch.int32
