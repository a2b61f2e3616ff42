"""The run to go on from, opened, and the settings of the run that goes on from it."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from pgode.batches.normaliser import Normaliser
from pgode.models import build_model, model_config
from pgode.models.registry import NAIVE
from pgode.runs import folder as run_folder
from pgode.runs.data_record import DataRecord
from pgode.runs.run import Run
from pgode.runtime.errors import InputError
from pgode.training.checkpoint import check_format, model_tensors, read_tensors
from pgode.training.config import RunConfig, read_settings, run_config

RATE = 0.3
"""Peak learning rate of a run that goes on, as a share of that of a run from fresh weights.

Measured by `python -m benchmarks.fine_tuning`, see docs/fine-tuning.md.
"""


@dataclass(frozen=True)
class Origin:
    """A trained run that another one goes on from."""

    name: str
    """As the user named it."""
    folder: Path
    config: RunConfig
    normaliser: Normaliser
    data: DataRecord
    tensors: Mapping[str, Tensor]
    hash: str
    """SHA-256 of the file of weights."""

    @classmethod
    def open(cls, start: Run | Path | str) -> "Origin":
        """Open a run, or a model that comes with the package; an error if it has no weights."""
        path = start.folder if isinstance(start, Run) else run_folder.find_run(start)
        config = run_folder.read_config(path)
        if config.name in NAIVE:
            raise InputError(
                f"{path} holds the model {config.name}, which has no weights to go on from. "
                f"Expected a run of a model that is trained. Start a new run of it: pgode train "
                f"DATA -o RUN --model {config.name}."
            )
        weights = run_folder.weights_file(path)
        tensors, header = read_tensors(weights)
        check_format(header.get("format"), weights)
        shipped = run_folder.is_shipped(path)
        return cls(
            name=path.name if shipped else str(path),
            folder=path,
            config=config,
            normaliser=run_folder.read_normaliser(path),
            data=run_folder.read_data(path),
            tensors=model_tensors(tensors),
            hash=hashlib.sha256(weights.read_bytes()).hexdigest(),
        )

    @property
    def has_laws(self) -> bool:
        """Whether there are force laws, with networks beside them or without."""
        return self._dynamics.get("kind") == "laws"

    @property
    def laws_alone(self) -> bool:
        """Whether there are laws and no networks, so that nothing descends a gradient."""
        return self.has_laws and not self._dynamics.get("messages")

    @property
    def _dynamics(self) -> dict[str, Any]:
        group = self.config.model.get("dynamics")
        return group if isinstance(group, dict) else {}

    def settings(
        self,
        model: str | None,
        preset: str | None,
        file: Path | None,
        changes: Mapping[str, Any],
    ) -> RunConfig:
        """The settings of the run with a smaller learning rate and no curriculum, then changes.

        A trained model forecasts the whole horizon already, so it need not begin with a part.
        """
        written = {} if file is None else read_settings(file)
        self._check_named("model", "--model", self.config.name, model, written.get("name"))
        self._check_named("preset", "--preset", self.config.preset, preset, written.get("preset"))
        own = self.config
        rate = own.training.learning_rate
        # A run that went on itself has the smaller rate already.
        rate = rate if self.data.parent is not None else float(f"{RATE * rate:.6g}")
        training = own.training.model_copy(update={"learning_rate": rate, "curriculum": ()})
        base = own.model_copy(update={"training": training}).model_dump(mode="json")
        new = run_config(own.name, own.preset, file, dict(changes), base=base)
        self._check_shapes(new)
        return new

    def _check_named(self, what: str, option: str, own: str, *given: object) -> None:
        for other in given:
            if other is not None and other != own:
                raise InputError(
                    f'the {what} "{other}" was asked for, but {self.name}, the run to go on from, '
                    f'has the {what} "{own}", and its weights belong to that. Expected the same. '
                    f"Leave out {option}, or start a new run without --from."
                )

    def _check_shapes(self, new: RunConfig) -> None:
        """Refuse settings with which the weights do not fit, by their names."""
        if self._fits(new.model):
            return
        old_settings, new_settings = dict(_flat(self.config.model)), dict(_flat(new.model))
        changed = [
            key
            for key in {**old_settings, **new_settings}
            if old_settings.get(key) != new_settings.get(key)
        ]
        guilty = [key for key in changed if not self._fits_with(key, new_settings.get(key))]
        names = " and ".join(f"model.{key}" for key in guilty or changed)
        raise InputError(
            f"the weights of {self.name} do not fit a model with another {names}. Expected "
            f"changes that leave the shapes of weights as they are, such as those of training, "
            f"window and model.solver. Leave the setting out, or start a new run without --from."
        )

    def _fits_with(self, key: str, value: object) -> bool:
        """Whether the weights fit the run's own settings with one of them changed."""
        model = _changed(self.config.model, key.split("."), value)
        try:
            return self._fits(model)
        except InputError:  # Not possible alone: it belongs to another change.
            return False

    def _fits(self, model: dict[str, Any]) -> bool:
        config = model_config(self.config.name, model)
        built = build_model(self.config.name, config, self.normaliser).state_dict()
        shapes = {name: tensor.shape for name, tensor in self.tensors.items()}
        return {name: tensor.shape for name, tensor in built.items()} == shapes


def _flat(settings: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in settings.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{key}.")
        else:
            yield before + key, value


def _changed(settings: dict[str, Any], path: list[str], value: object) -> dict[str, Any]:
    first, *rest = path
    inner = settings.get(first)
    if rest:
        value = _changed(inner if isinstance(inner, dict) else {}, rest, value)
    return {**settings, first: value}
