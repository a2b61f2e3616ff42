"""A device for tests on machines that have none but the CPU: it refuses what a real one refuses.

Each tensor on it is two: a fake one, on which `FakeTensorMode` follows devices and refuses any
operation that mixes them, and a real one on the CPU that has the values. So models that decide by
values (adaptive steps, chosen prototypes, rebuilt graphs) run as they do on a real device, and
their numbers can be compared with those of the CPU.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import torch
from torch import Tensor
from torch._subclasses import FakeTensorMode
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

from pgode.batches import operators

DEVICE = torch.device("lazy:0")
"""Stands in for CUDA, which autograd refuses even by name where torch was built without it. Every
torch knows this one, and no code of ours does: it can only be treated as a device in general."""

if not hasattr(torch, "lazy"):
    # Checkpointing looks for the module of a device, of which it then needs nothing.
    torch._register_device_module("lazy", ModuleType("torch.lazy"))

PLAIN = {
    f"pgode::{name}": getattr(operators, name)._init_fn
    for name in (
        *("neighbour_sum", "neighbour_sum_backward", "weighted_sum"),
        *("attend", "softmax_attend", "softmax_attend_backward", "edge_sum", "spread"),
    )
}
"""What the graph operators are where they have no kernel of their own."""


class Elsewhere(Tensor):
    """A tensor on `DEVICE`, with the values that it would have there."""

    shadow: Tensor
    value: Tensor

    @staticmethod
    def __new__(cls, fake: Tensor, real: Tensor) -> "Elsewhere":
        made = Tensor._make_wrapper_subclass(
            cls,
            real.shape,
            strides=real.stride(),
            storage_offset=real.storage_offset(),
            dtype=real.dtype,
            device=DEVICE,
        )
        made.shadow, made.value = fake, real
        return made

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, operation, types, args=(), kwargs=None):
        raise AssertionError(f"{operation} was called outside of `pretended_device`")

    def __repr__(self) -> str:
        return f"Elsewhere({self.value})"

    # torch would refuse these for any tensor class of Python; here they do as on a real device.
    def tolist(self):
        return self.cpu().tolist()

    def __deepcopy__(self, memo):
        copied = self.detach().clone()
        if isinstance(self, torch.nn.Parameter):
            copied = torch.nn.Parameter(copied, self.requires_grad)
        memo[id(self)] = copied
        return copied

    def numpy(self, *, force: bool = False):
        if not force:
            raise TypeError(f"can't convert {self.device} tensor to numpy")
        return self.detach().cpu().numpy()


class _Device(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.fakes = FakeTensorMode(allow_non_fake_inputs=False)
        self.reads = 0
        """How often the CPU had to wait for a value of the device."""

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        given = (args, kwargs or {})
        inputs = _tensors(given)
        there = any(isinstance(each, Elsewhere) for each in inputs)
        if not there and given[1].get("device") != DEVICE:
            return operation(*args, **given[1])
        with self.fakes:
            try:
                fake_args, fake_kwargs = tree_map_only(Tensor, self._fake, given)
                fake = operation(*fake_args, **fake_kwargs)
            except (DataDependentOutputException, DynamicOutputShapeException):
                fake = None
        if fake is None:
            self.reads += there
            stays = there
        else:
            stays = any(each.device == DEVICE for each in _tensors(fake))
        real_args, real_kwargs = tree_map_only(Elsewhere, lambda each: each.value, given)
        if "device" in real_kwargs and real_kwargs["device"] is not None:
            real_kwargs["device"] = torch.device("cpu")
        plain = PLAIN.get(operation.name().rpartition(".")[0] or operation.name())
        plain = plain or PLAIN.get(operation.name())
        real = (plain if plain and there else operation)(*real_args, **real_kwargs)
        self.reads += there and fake is not None and not stays and bool(_tensors(fake))
        if not stays:
            return real
        if torch.Tag.inplace_view in operation.tags:  # Such as transpose_: the shape changes, too.
            _reshape(operation, given)
            return args[0]
        written = {id(each.value): each for each in inputs if isinstance(each, Elsewhere)}
        shadows = iter(_tensors(fake))

        def moved(each: Tensor) -> Tensor:
            shadow = next(shadows, None)
            return written[id(each)] if id(each) in written else self._moved(each, shadow)

        return tree_map_only(Tensor, moved, real)

    def _fake(self, tensor: Tensor) -> Tensor:
        if isinstance(tensor, Elsewhere):
            return tensor.shadow
        return self.fakes.from_tensor(tensor)

    def _moved(self, real: Tensor, shadow: Tensor | None) -> Elsewhere:
        """Real devices may lay out a result in another way than the CPU; views need one of both."""
        if shadow is None or shadow.stride() != real.stride() or shadow.shape != real.shape:
            with self.fakes:
                like = {"dtype": real.dtype, "device": DEVICE}
                shadow = torch.empty_strided(real.shape, real.stride(), **like)
        return Elsewhere(shadow, real)


def _reshape(operation: Any, given: tuple[Any, Any]) -> None:
    """Apply an operation to the shape of the tensor itself, as torch does for such classes."""
    with torch.utils._mode_utils.no_dispatch():
        before = torch._C._meta_in_tls_dispatch_include()
        torch._C._set_meta_in_tls_dispatch_include(True)
        try:
            operation(*given[0], **given[1])
        finally:
            torch._C._set_meta_in_tls_dispatch_include(before)


def _tensors(tree: Any) -> list[Tensor]:
    return [each for each in torch.utils._pytree.tree_leaves(tree) if isinstance(each, Tensor)]


@contextmanager
def pretended_device() -> Iterator[_Device]:
    """Within it, tensors and models can be moved to `DEVICE`."""
    before = torch._C._only_lift_cpu_tensors()
    # As `FakeTensorMode` does: lists become tensors on the CPU first, then they are moved.
    torch._C._set_only_lift_cpu_tensors(True)
    # Parameters in another precision are new ones: the values of these cannot be exchanged.
    torch.__future__.set_overwrite_module_params_on_conversion(True)
    try:
        with _Device() as mode:
            yield mode
    finally:
        torch.__future__.set_overwrite_module_params_on_conversion(False)
        torch._C._set_only_lift_cpu_tensors(before)
