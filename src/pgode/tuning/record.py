"""What a tuning folder is a search of: `tuning.json`, compared before a search goes on."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgode import __version__
from pgode.runtime.errors import InputError
from pgode.runtime.outputs import claim_folder
from pgode.runtime.settings import validated
from pgode.runtime.stored.schema import parsed
from pgode.runtime.stored.sealed import read_sealed, write_sealed
from pgode.training import RunConfig
from pgode.tuning.space.default import laws_alone
from pgode.tuning.space.domains import Domain, shown, space_from_json, space_json
from pgode.tuning.trials.stored import StoredSearch

RECORD = "tuning.json"
FORMAT = 1
FIX = "Restore the file, or start a new search in another folder."
PRUNE_AFTER = 3
"""Trials are pruned after one part in this many of their epochs at the earliest: the learning rate
rises first, and a high one looks bad until it falls again."""


@dataclass(frozen=True)
class TuningRecord:
    """Everything that determines a search of one worker, with the data of that hash.

    `asked` are the settings of the command, `config` those with what the data decided (whether
    force laws need messages beside them), which all trials share.
    """

    data_hash: str
    source: str
    asked: RunConfig
    config: RunConfig
    space: Mapping[str, Domain]
    prune: bool

    @property
    def seed(self) -> int:
        """Of the search, and of every training."""
        return self.config.training.seed

    @property
    def epochs(self) -> int:
        """Epochs of a trial that is not pruned; force laws alone are validated once."""
        return 1 if laws_alone(self.config) else self.config.training.epochs

    @property
    def warm_up(self) -> int:
        """The first epoch after which a trial may be pruned."""
        return max(1, -(-self.epochs // PRUNE_AFTER))

    def write(self, folder: Path) -> None:
        """Store it in a tuning folder."""
        content = {
            "format": FORMAT,
            "pgode": __version__,
            "data_hash": self.data_hash,
            "source": self.source,
            "asked": self.asked.model_dump(mode="json"),
            "config": self.config.model_dump(mode="json"),
            "space": space_json(self.space),
            "prune": self.prune,
        }
        write_sealed(folder / RECORD, content)

    @classmethod
    def read(cls, folder: Path) -> "TuningRecord | None":
        """The record of a tuning folder; None for a folder that is new or empty."""
        path = folder / RECORD
        if not path.exists():
            claim_folder(folder)
            return None
        content = read_sealed(path, FIX)
        parsed(StoredSearch, content, str(path), FIX)
        try:
            return cls(
                data_hash=content["data_hash"],
                source=content["source"],
                asked=validated(RunConfig, content["asked"], ""),
                config=validated(RunConfig, content["config"], ""),
                space=space_from_json(content["space"]),
                prune=bool(content["prune"]),
            )
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            detail = f"it lacks {error}" if isinstance(error, KeyError) else str(error).rstrip(".")
            raise InputError(
                f"cannot read {path}: {detail}. Expected the file that pgode tune wrote there. "
                f"{FIX}"
            ) from None


def check_basis(
    record: TuningRecord, data_hash: str, source: str, asked: RunConfig, folder: Path
) -> None:
    """Refuse to go on with a search of other data or with other settings."""
    if record.data_hash != data_hash:
        raise _other(
            folder,
            f"its data ({record.source}) have the hash {record.data_hash[:12]}, those given now "
            f"({source}) {data_hash[:12]}",
        )
    before, now = record.asked, asked
    for what in ("name", "preset"):
        first, second = getattr(before, what), getattr(now, what)
        if first != second:
            word = "model" if what == "name" else what
            raise _other(folder, f'its {word} is "{first}", the one given now "{second}"')
    old = dict(_flat(before.model_dump(mode="json")))
    new = dict(_flat(now.model_dump(mode="json")))
    for name in [*old, *new]:
        first, second = old.get(name), new.get(name)
        if first != second:
            raise _other(folder, f"its {name} is {_said(first)}, the one given now {_said(second)}")


def check_search(record: TuningRecord, asked: TuningRecord, folder: Path) -> None:
    """Refuse to go on with a search of another space, or one that prunes differently."""
    for name in [*record.space, *asked.space]:
        first, second = (space.get(name) for space in (record.space, asked.space))
        if first != second:
            said = [f'"{each.text}"' if each else "not searched" for each in (first, second)]
            raise _other(folder, f"its space has {name}: {said[0]}, the one given now: {said[1]}")
    if record.prune != asked.prune:
        raise _other(folder, f"it was started {'without' if asked.prune else 'with'} pruning")


def _other(folder: Path, difference: str) -> InputError:
    return InputError(
        f"{folder} holds a search of something else: {difference}. Expected the command that "
        f"started it, so that its trials can be compared. Repeat that command, or choose another "
        f"folder with -o."
    )


def _flat(content: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in content.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{key}.")
        else:
            yield before + key, value


def _said(value: Any) -> str:
    return shown(value) if not isinstance(value, list) else str(value)
