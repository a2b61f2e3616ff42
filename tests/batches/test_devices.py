"""Which device a name stands for, and what is said about one that is not there."""

import pytest
import torch

from pgode.batches.devices import chosen_device, device_name, exact, has_doubles
from pgode.runtime.errors import InputError


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch):
    """A machine with so many CUDA devices, with Apple's or without."""

    def made(cuda: int, mps: bool = False) -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: cuda)
        monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
        monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: f"card {device.index}")
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)

    return made


@pytest.mark.parametrize(
    "cuda, mps, expected",
    [(0, False, "cpu"), (0, True, "mps"), (1, True, "cuda:0"), (2, False, "cuda:0")],
)
def test_auto_prefers_cuda_then_mps_then_the_cpu(machine, cuda, mps, expected) -> None:
    machine(cuda, mps)
    assert chosen_device() == chosen_device("auto") == torch.device(expected)


def test_devices_that_are_there_are_taken_by_name(machine) -> None:
    machine(2)
    assert chosen_device("cuda:1") == torch.device("cuda", 1)
    assert chosen_device("cuda") == torch.device("cuda", 0)
    assert chosen_device("cpu") == torch.device("cpu")
    assert chosen_device(torch.device("cuda:1")) == torch.device("cuda", 1)
    assert device_name(torch.device("cuda:1")) == "cuda:1 (card 1)"


@pytest.mark.parametrize("name", ["cuda", "cuda:0", "mps"])
def test_a_device_that_is_not_there_is_refused_with_those_that_are(machine, name) -> None:
    machine(0)
    with pytest.raises(InputError) as error:
        chosen_device(name)
    assert f"no device {name}" in str(error.value) and "Expected one that is there: cpu." in str(
        error.value
    )


def test_a_number_that_is_too_high_is_refused_with_the_cards(machine) -> None:
    machine(2)
    with pytest.raises(InputError, match=r"no device cuda:2.*cuda:0 \(card 0\), cuda:1 \(card 1\)"):
        chosen_device("cuda:2")


@pytest.mark.parametrize("name", ["gpu", "cuda:x", "cuda:", "CPU", "", "cuda:-1", "cpu:1"])
def test_an_unknown_word_is_refused_with_all_that_are_known(name) -> None:
    with pytest.raises(InputError, match=r"Expected auto, cpu, cuda, cuda:N .* or mps"):
        chosen_device(name)


def test_kinds_without_a_name_here_are_taken_from_python_alone() -> None:
    assert chosen_device(torch.device("meta")) == torch.device("meta")
    with pytest.raises(InputError):
        chosen_device("meta")


def test_double_precision_is_computed_where_it_is() -> None:
    assert not has_doubles(torch.device("mps"))
    assert exact(torch.ones(2)).dtype == torch.float64
    assert exact(torch.ones(2, device="meta")).device.type == "meta"
