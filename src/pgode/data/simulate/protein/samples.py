"""The folder of a simulation: finished samples are kept, whatever happens afterwards."""

import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import cache
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from pgode.data.molecules import Molecule
from pgode.data.simulate.protein.forces import Solvated
from pgode.data.simulate.protein.rings import Ring
from pgode.data.simulate.protein.sampler import Sample, State
from pgode.data.simulate.protein.settings import EXTENSIBLE, VERSION, Branch, ProteinSettings
from pgode.data.simulate.protein.structure import Source
from pgode.runtime.errors import InputError
from pgode.runtime.files import write_bytes, write_json, write_text
from pgode.runtime.outputs import claim_folder

SAMPLE = ("frames", "parameters", "replicas", "condition", "positions", "box")
"""Arrays in the file of a finished sample."""


@dataclass(frozen=True)
class Samples:
    """Finished samples of one data set, one file each, and the state they start from."""

    folder: Path

    def check_free(self, source: Source) -> None:
        """Refuse a folder with other content."""
        if not (self.folder / "settings.json").exists():
            claim_folder(self.folder, begun=lambda folder: _is_begun(folder, source))

    def claim(self, settings: ProteinSettings, source: Source) -> None:
        """Create the folder for these settings, or check that it has them or can be extended."""
        path = self.folder / "settings.json"
        requested = {**settings.to_json(), **_versions()}
        if not path.exists():
            write_text(self.folder / "structure.pdb", source.pdb)
            write_json(path, requested)
            return
        stored = self._content()
        changed = [name for name in requested if requested[name] != stored.get(name)]
        if not changed:
            return
        # Complete data stays valid under a newer OpenMM; incomplete data must not be continued.
        allowed = {*EXTENSIBLE, *_versions()} if self._is_complete(settings) else set(EXTENSIBLE)
        if set(changed) <= allowed:
            write_json(path, {**requested, **self.versions()})
        else:
            listed = ", ".join(
                f"{name} {stored.get(name)} (now {requested[name]})" for name in changed
            )
            raise InputError(
                f"{self.folder} holds samples of another simulation: {listed}. Expected the same "
                f"settings, to continue it; only the numbers of samples and the settings of "
                f"replicas may differ. Repeat the settings, remove the folder, or choose another "
                f"output path."
            )

    @property
    def settings(self) -> ProteinSettings:
        """Settings that the folder was created for."""
        known = {each.name for each in fields(ProteinSettings)}
        return ProteinSettings(
            **{key: value for key, value in self._content().items() if key in known}
        )

    def versions(self) -> dict[str, str]:
        """Versions of the generator and of OpenMM when the folder was created."""
        return {key: str(self._content().get(key, "")) for key in _versions()}

    def _content(self) -> dict[str, Any]:
        path = self.folder / "settings.json"
        try:
            content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(content, dict) or not {"structure", "structure_hash"} <= set(content):
                raise ValueError("it names no structure")
        except (OSError, ValueError) as error:
            raise InputError(
                f"cannot read {path}: {error}. Expected the settings of a simulation. Choose "
                f"another folder, or remove this one."
            ) from None
        return content

    def keep_solvated(self, solvated: Solvated, state: State) -> None:
        """Save the equilibrated system, from which every branch starts."""
        molecule = solvated.molecule
        write_text(self.folder / "system.xml", solvated.system)
        write_text(self.folder / "molecule.pdb", molecule.pdb)
        rings = [[*ring.first, *ring.second, ring.residue] for ring in solvated.rings]
        with self._written("equilibrated.npz") as keep:
            keep["mass"], keep["residue"] = molecule.mass, molecule.residue
            keep["hydrogen"], keep["alpha"] = molecule.hydrogen, molecule.alpha
            keep["rings"] = np.array(json.dumps(rings))
            keep["repairs"] = np.array(json.dumps(solvated.repairs))
            keep["positions"], keep["box"] = state.positions, state.box

    def solvated(self) -> tuple[Solvated, State] | None:
        """The equilibrated system and its state, if they exist."""
        if not (self.folder / "equilibrated.npz").exists():
            return None
        kept = self._read("equilibrated.npz")
        molecule = Molecule(
            (self.folder / "molecule.pdb").read_text(encoding="utf-8"),
            *(kept[name] for name in ("mass", "residue", "hydrogen", "alpha")),
        )
        rings = tuple(Ring((a, b), (c, d), e) for a, b, c, d, e in json.loads(str(kept["rings"])))
        state = State(kept["positions"], kept["box"])
        system = (self.folder / "system.xml").read_text(encoding="utf-8")
        box = None if self.settings.implicit else state.box
        repairs = tuple(json.loads(str(kept["repairs"])))
        return Solvated(system, state.positions, box, molecule, rings, repairs), state

    def required_solvated(self) -> tuple[Solvated, State]:
        """The same, where it must exist."""
        start = self.solvated()
        if start is None:
            raise InputError(
                f"{self.folder} has no equilibrated molecule. Expected the folder of a simulation "
                f"that was started. Start it with pgode simulate protein."
            )
        return start

    def start_of(self, branch: Branch) -> State | None:
        """The initial state of a branch, once it has diverged from the others."""
        name = f"{branch.name}-start.npz"
        return self._state(self._read(name)) if (self.folder / name).exists() else None

    def keep_start(self, branch: Branch, state: State) -> None:
        """Save the initial state of a branch."""
        with self._written(f"{branch.name}-start.npz") as keep:
            keep["positions"], keep["box"] = state.positions, state.box

    def has(self, split: str, index: int) -> bool:
        """Whether a sample is finished, including the replicas it needs."""
        return self._has(self.settings, split, index)

    def _has(self, settings: ProteinSettings, split: str, index: int) -> bool:
        name = self._name(split, index)
        path = self.folder / name
        if not path.exists():
            return False
        replicas = settings.replicas_of(split, index)
        if not replicas:
            return True
        count, horizon, condition = _futures(self, name, path.stat().st_mtime_ns)
        return count >= replicas and (horizon, condition) == (settings.horizon, settings.condition)

    def keep(self, split: str, index: int, sample: Sample) -> None:
        """Save a finished sample, in one step."""
        with self._written(self._name(split, index)) as keep:
            keep["frames"], keep["parameters"] = sample.frames, sample.parameters
            keep["replicas"], keep["condition"] = sample.replicas, np.array(sample.condition)
            keep["positions"], keep["box"] = sample.end.positions, sample.end.box

    def sample(self, split: str, index: int) -> Sample:
        """Read a finished sample."""
        kept = self._read(self._name(split, index), SAMPLE)
        return Sample(
            kept["frames"],
            kept["parameters"],
            kept["replicas"],
            int(kept["condition"]),
            self._state(kept),
        )

    def finished(self) -> int:
        """Number of finished samples."""
        return self._finished(self.settings)

    def _finished(self, settings: ProteinSettings) -> int:
        counts = settings.counts.items()
        return sum(self._has(settings, split, k) for split, count in counts for k in range(count))

    def _is_complete(self, settings: ProteinSettings) -> bool:
        return self._finished(settings) == sum(settings.counts.values())

    @staticmethod
    def _name(split: str, index: int) -> str:
        return f"{split}-{index:04d}.npz"

    @staticmethod
    def _state(kept: dict[str, np.ndarray]) -> State:
        return State(kept["positions"], kept["box"])

    @contextmanager
    def _written(self, name: str) -> Iterator[dict[str, Any]]:
        arrays: dict[str, Any] = {}
        yield arrays
        content = BytesIO()
        np.savez_compressed(content, **arrays)
        write_bytes(self.folder / name, content.getvalue())

    def _read(self, name: str, needed: tuple[str, ...] = ()) -> dict[str, np.ndarray]:
        try:
            # Opened here because numpy does not close its handle when the archive is broken.
            with (self.folder / name).open("rb") as file:
                archive = np.load(file, allow_pickle=False)
                return {key: archive[key] for key in needed or archive.files}
        except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
            raise InputError(
                f"cannot read {self.folder / name}: {error}. Expected a finished part of a "
                f"simulation. Remove this file; the same command creates it again."
            ) from None


def _is_begun(folder: Path, source: Source) -> bool:
    """Whether a process was killed after the first of the two files that a folder begins with."""
    visible = [each for each in folder.iterdir() if not each.name.startswith(".")]
    return [each.name for each in visible] == ["structure.pdb"] and (
        visible[0].read_bytes() == source.pdb.encode()
    )


@cache
def _futures(samples: Samples, name: str, written: int) -> tuple[int, int, int]:
    """Replicas of a saved sample, their frames, and the frames before they diverge.

    Cached because progress is checked often; `written` distinguishes a new version of the file.
    """
    kept = samples._read(name, SAMPLE)
    count, horizon, *_ = kept["replicas"].shape
    return count, horizon, int(kept["condition"])


def _versions() -> dict[str, str]:
    """Versions that determine the numbers besides the settings."""
    return {"generator_version": VERSION, "openmm": version("openmm")}
