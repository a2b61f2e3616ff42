"""Devices: which one computes, and what there is to choose from.

A device belongs to the machine, not to the run: it is chosen when a run is trained or opened, and
never stored with it. Only the CPU and CUDA have double precision, see `exact`.
"""

import re

import torch
from torch import Tensor

from pgode.runtime.errors import InputError

AUTO = "auto"
"""CUDA if there is any, else Apple's MPS, else the CPU."""

KINDS = ("cpu", "cuda", "mps")


def chosen_device(name: str | torch.device = AUTO) -> torch.device:
    """The device of this name; one that is not there is an error that names those that are.

    Other kinds that torch knows (xpu) have no name here, but can be given as they are in Python.
    """
    text = str(name)
    if isinstance(name, torch.device) and name.type not in KINDS:
        return name
    if text == AUTO:
        return torch.device(_numbered("cuda") if _cuda() else "mps" if _mps() else "cpu")
    if not re.fullmatch(r"cpu|mps|cuda(:\d+)?", text):
        raise InputError(
            f'there is no kind of device "{text}". Expected auto, cpu, cuda, cuda:N (its number) '
            f"or mps. Choose one of these; this machine has {_listed()}."
        )
    kind, _, number = text.partition(":")
    there = {"cpu": 1, "mps": int(_mps()), "cuda": _cuda()}[kind]
    if int(number or 0) >= there:
        why = ""
        if kind == "cuda" and torch.version.cuda is None and torch.version.hip is None:
            why = ", and its torch was built without CUDA"
        raise InputError(
            f"this machine has no device {text}{why}. Expected one that is there: {_listed()}. "
            f"Choose it with --device, or leave the option out."
        )
    return torch.device(_numbered(text))


def device_name(device: torch.device) -> str:
    """A device as a person knows it: cpu, mps, or cuda:0 with the name of the card."""
    if device.type != "cuda":
        return device.type
    return f"{device} ({torch.cuda.get_device_name(device)})"


def has_doubles(device: torch.device) -> bool:
    """Whether a device computes in double precision: Apple's does not."""
    return device.type != "mps"


def exact(tensor: Tensor) -> Tensor:
    """A tensor in double precision; on the CPU if its own device has none."""
    return (tensor if has_doubles(tensor.device) else tensor.cpu()).double()


def random_devices(device: torch.device) -> list[torch.device]:
    """Devices besides the CPU whose random numbers `torch.random.fork_rng` has to keep."""
    return [device] if device.type == "cuda" else []


def _cuda() -> int:
    """Number of CUDA devices."""
    return torch.cuda.device_count() if torch.cuda.is_available() else 0


def _mps() -> bool:
    return bool(torch.backends.mps.is_available())


def _numbered(text: str) -> str:
    """With the number of the current CUDA device if none is given, so that names are unique."""
    return f"cuda:{torch.cuda.current_device()}" if text == "cuda" else text


def _listed() -> str:
    cards = [device_name(torch.device("cuda", number)) for number in range(_cuda())]
    return ", ".join(["cpu", *cards, *(["mps"] if _mps() else [])])
