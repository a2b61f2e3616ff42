"""Matrix products: their speed on this machine, and those of a training step run alone."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from benchmarks import Figure, Measurements

PRODUCTS: dict[str, Callable[..., Tensor]] = {
    "mm": torch.mm,
    "addmm": torch.addmm,
    "bmm": torch.bmm,
    "baddbmm": torch.baddbmm,
    "addbmm": torch.addbmm,
}

Layout = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True)
class Product:
    """One call: the operation, the shape and strides of each operand, alpha and beta."""

    name: str
    operands: tuple[Layout, ...]
    scalars: tuple[tuple[str, float], ...]

    @property
    def operations(self) -> int:
        """Floating-point operations of the product itself."""
        (*batch, rows, inner), (*_, columns) = (shape for shape, _ in self.operands[-2:])
        return 2 * rows * inner * columns * (batch[0] if batch else 1)


class Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Records every matrix product that runs under it, in the backward pass too.

    Products of a row with a column are left out: they are sums, which do not
    measure matrix-product speed.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.products: list[Product] = []

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        name = func.overloadpacket.__name__.rstrip("_")
        if name in PRODUCTS:
            operands = tuple((tuple(a.shape), a.stride()) for a in args if isinstance(a, Tensor))
            scalars = {k: v for k, v in (kwargs or {}).items() if k in ("alpha", "beta")}
            product = Product(name, operands, tuple(scalars.items()))
            if operands[-2][0][-2] > 1 or operands[-1][0][-1] > 1:
                self.products.append(product)
        return func(*args, **(kwargs or {}))


class Replay:
    """Recorded products on random numbers, in the recorded order, into preallocated memory.

    Operands have the recorded shapes and strides (transposed where they were transposed). Equal
    calls share their operands, so nothing is allocated and little leaves the caches: the products
    are never slower here than within the step.
    """

    def __init__(self, products: list[Product]) -> None:
        self.products = products
        ready = {product: self._prepared(product) for product in set(products)}
        self.calls = [ready[product] for product in products]

    @property
    def operations(self) -> int:
        """Floating-point operations of one replay."""
        return sum(product.operations for product in self.products)

    def run(self) -> None:
        """Compute each product as often as it was recorded."""
        for call in self.calls:
            call()

    @staticmethod
    def _prepared(product: Product) -> Callable[[], Tensor]:
        function = PRODUCTS[product.name]
        operands = [_random(*layout) for layout in product.operands]
        scalars: dict[str, Any] = dict(product.scalars)
        out = function(*operands, **scalars)
        return lambda: function(*operands, **scalars, out=out)


def _random(shape: tuple[int, ...], strides: tuple[int, ...]) -> Tensor:
    size = 1 + sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True))
    return torch.randn(size).as_strided(shape, strides)


def run(threads: int = 2, repeats: int = 20) -> Measurements:
    """GFLOP/s of a large square product and of the two shapes that PGODE uses most."""
    torch.set_num_threads(threads)
    shapes = {
        "square 1024": ((1024, 1024), (1024, 1024)),
        "messages 2560 x 132 by 132 x 1280": ((2560, 132), (132, 1280)),
        "updates 5 x (2560 x 128 by 128 x 128)": ((5, 2560, 128), (5, 128, 128)),
    }
    result: Measurements = {"benchmark": "products", "threads": threads, "gflops": {}}
    for name, (left, right) in shapes.items():
        a, b = torch.randn(left), torch.randn(right)
        out = a @ b
        times = []
        for _ in range(repeats):
            begun = perf_counter()
            torch.matmul(a, b, out=out)
            times.append(perf_counter() - begun)
        result["gflops"][name] = round(2 * out.numel() * left[-1] / median(times) / 1e9, 1)
    return result


def figures(measured: Measurements) -> list[Figure]:
    """None: this is context for the other figures."""
    return []
