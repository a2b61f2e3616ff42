"""Checkpoints: plain safetensors, written whole or not at all, refused when they do not fit."""

import json
import math
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from tests.flips import flips, refusal
from tests.trained_runs import trained
from torch import nn

from pgode.runtime.errors import InputError
from pgode.training import checkpoint
from pgode.training.checkpoint import (
    Progress,
    load_checkpoint,
    load_model,
    read_tensors,
    save_checkpoint,
    write_tensors,
)


def small(seed: int = 0) -> tuple[nn.Module, dict[str, torch.optim.Optimizer]]:
    torch.manual_seed(seed)
    model = nn.Linear(3, 2)
    return model, {"optimiser": torch.optim.AdamW(model.parameters(), 0.1)}


def stepped(seed: int = 0) -> tuple[nn.Module, dict[str, torch.optim.Optimizer]]:
    model, optimisers = small(seed)
    for _ in range(3):
        model(torch.ones(4, 3)).square().mean().backward()
        optimisers["optimiser"].step()
    return model, optimisers


@pytest.mark.parametrize("name", ["best", "last"])
def test_a_checkpoint_opens_with_plain_safetensors(name: str) -> None:
    run = trained()
    with safe_open(str(run.folder / f"checkpoints/{name}.safetensors"), framework="numpy") as file:
        names, header = set(file.keys()), file.metadata()
    assert header["format"] == str(checkpoint.FORMAT)
    assert json.loads(header["progress"])["epoch"] in (1, 2, 3)
    weights = {key.removeprefix("model.") for key in names if key.startswith("model.")}
    assert weights == run.model.state_dict().keys()
    states = {key.rpartition(".")[2] for key in names if not key.startswith("model.")}
    assert states == {"step", "exp_avg", "exp_avg_sq"}
    assert {key.partition(".")[0] for key in names} == {"model", "optimiser", "adversary"}


def test_what_was_saved_comes_back_bit_for_bit(tmp_path: Path) -> None:
    path = tmp_path / "one.safetensors"
    model, optimisers = stepped()
    progress = Progress(2, 1, 7, 1.5, 0.25, 2, False, 0.1, {"mse": 0.1 + 0.2})
    save_checkpoint(path, model, optimisers, progress)
    other, others = small(1)
    assert load_checkpoint(path, other, others) == progress
    for name, value in model.state_dict().items():
        assert torch.equal(other.state_dict()[name], value)
    for _ in range(2):
        for each, its in ((model, optimisers), (other, others)):
            its["optimiser"].zero_grad()
            each(torch.ones(4, 3)).square().mean().backward()
            its["optimiser"].step()
    assert torch.equal(other.weight, model.weight)


def test_no_best_error_yet_is_kept_as_infinite(tmp_path: Path) -> None:
    path = tmp_path / "one.safetensors"
    save_checkpoint(path, *small(), Progress())
    with safe_open(str(path), framework="numpy") as file:
        assert json.loads(file.metadata()["progress"])["best"] is None
    assert load_checkpoint(path, small()[0]).best == math.inf


def test_a_save_that_fails_leaves_the_checkpoint_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "one.safetensors"
    save_checkpoint(path, *small(), Progress(epoch=1))
    before = path.read_bytes()

    whole = Path.write_bytes

    def half(target: Path, content: bytes) -> int:
        whole(target, content[: len(content) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises(InputError, match=r"one.safetensors: there is no room left on its disk"):
        save_checkpoint(path, *stepped(), Progress(epoch=2))
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("content", [b"", b"not safetensors at all", None])
def test_a_damaged_checkpoint_is_refused(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "one.safetensors"
    save_checkpoint(path, *stepped(), Progress())
    path.write_bytes(path.read_bytes()[:-8] if content is None else content)
    with pytest.raises(InputError, match=r"cannot read the checkpoint .*one.safetensors"):
        load_checkpoint(path, small()[0])


def test_weights_of_another_model_are_refused_in_a_few_words(tmp_path: Path) -> None:
    model = nn.Sequential(*(nn.Linear(3, 3) for _ in range(50)))
    with pytest.raises(InputError) as raised:
        load_model(model, {"weight": torch.zeros(2, 3)}, tmp_path / "w.safetensors")
    message = str(raised.value)
    assert "w.safetensors do not fit the model its config describes: Missing key(s)" in message
    assert "Restore config.json and the checkpoint together." in message
    assert "\n" not in message
    assert len(message) < 500 + len(str(tmp_path))


def test_a_checkpoint_of_another_format_is_refused_with_the_way_to_convert_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = torch.nn.Linear(2, 2)
    path = tmp_path / "old.safetensors"
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "FORMAT", 1)
        checkpoint.save_checkpoint(path, model, {}, checkpoint.Progress())
    with pytest.raises(InputError, match=r"a run of format 1\. Expected format 2.*pgode convert"):
        checkpoint.load_checkpoint(path, model)


def test_no_flipped_byte_of_a_checkpoint_goes_unnoticed(tmp_path: Path) -> None:
    """Also of one that no manifest lists, as after a kill: it has a checksum of its own."""
    path = tmp_path / "one.safetensors"
    save_checkpoint(path, *stepped(), Progress(epoch=3, best=0.25))
    whole, header = read_tensors(path)
    refused = 0
    for _ in flips(path, 300):
        message = refusal(lambda: read_tensors(path))
        assert "one.safetensors" in message or not message
        if message:
            refused += 1
            continue
        tensors, text = read_tensors(path)
        assert tensors.keys() == whole.keys()
        assert all(torch.equal(tensors[name], whole[name]) for name in whole)
        assert {name: text[name] for name in header} == header  # A flip in the name of the sum.
    assert refused > 280


@pytest.mark.parametrize(
    "progress, words",
    [
        ("{", "not valid JSON"),
        ("[]", "it holds a list (0)"),
        ('{"epoch": -1}', '"epoch" is -1'),
        ('{"epoch": 1.5}', '"epoch" is 1.5'),
        ('{"best": NaN}', '"best" is nan'),
        ('{"seconds": "long"}', "\"seconds\" is 'long'"),
        ('{"finished": 1}', '"finished" is 1'),
        ('{"sums": {"mse": null}}', '"sums.mse" is null'),
        ('{"colour": 1}', 'unknown entry "colour"'),
    ],
)
def test_a_wrong_state_of_training_is_named(progress: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "one.safetensors"
    model, _ = small()
    tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
    write_tensors(path, tensors, {"format": "2", "progress": progress})
    message = refusal(lambda: load_checkpoint(path, model))
    assert f"the state of training in {path}" in message
    assert words in message


@pytest.mark.parametrize(
    "name, value, words",
    [
        ("model.weight", torch.full((2, 3), torch.nan), "weight has values that are not finite"),
        ("model.weight", torch.zeros(2, 3, dtype=torch.float64), "the type torch.float64"),
        ("model.weight", torch.zeros(3, 2), "size mismatch"),
        ("model.other", torch.zeros(1), "Unexpected key(s)"),
        ("optimiser.0.exp_avg", torch.zeros(4), "has the shape (4,), not (2, 3)"),
        ("optimiser.0.exp_avg", torch.full((2, 3), torch.inf), "are not finite numbers"),
        ("optimiser.7.exp_avg", torch.zeros(1), "belongs to no weight"),
        ("optimiser.0.step.more", torch.zeros(1), "belongs to no weight"),
        ("optimiser.0.more", torch.zeros(()), "lacks a part that others have"),
        ("foreign.0", torch.zeros(1), "'foreign.0' is no name of pgode's"),
    ],
)
def test_tensors_that_do_not_fit_are_named(
    name: str, value: torch.Tensor, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "one.safetensors"
    save_checkpoint(path, *stepped(), Progress())
    tensors, header = read_tensors(path)
    write_tensors(path, {**tensors, name: value}, header)
    message = refusal(lambda: load_checkpoint(path, *small()))
    assert str(path) in message
    assert words in message
    assert "\n" not in message
