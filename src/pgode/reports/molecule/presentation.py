"""A molecule in a report: atoms in 3D, C-alphas in flat pictures, and its deviation."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pgode.reports.base.example import MAX_OBJECTS, Example, included
from pgode.reports.base.page import Section, asset
from pgode.reports.base.presentation import Player, player_html
from pgode.reports.molecule.charts import deviation_html
from pgode.reports.molecule.data import MoleculeData
from pgode.reports.molecule.player import drawing_library, player_data

EXPLANATION = (
    "Any included system, frame by frame: the forecast in colour over the truth in grey. Frames up "
    "to time 0 were observed; the model sees no others."
)


@dataclass(frozen=True)
class MoleculePresentation:
    """The `Presentation` of systems whose objects are the atoms of one molecule."""

    molecule: MoleculeData
    time_units: str

    @property
    def objects_note(self) -> str:
        """Which atoms flat pictures show."""
        return f"Only the {self.molecule.backbone_name} of the molecule are shown."

    def included(self, examples: Sequence[Example]) -> list[Example]:
        """The systems that fit on a page, with all atoms."""
        return included(examples, len(self.molecule.atoms))

    def pictured(self, example: Example) -> Example:
        """A system with few enough atoms for a flat picture, named by residue and atom."""
        labels = [f"{atom.residue} {atom.name}" for atom in self.molecule.atoms]
        return replace(example, labels=labels).only(self.molecule.backbone).first(MAX_OBJECTS)

    def sections(self) -> list[Section]:
        """The deviation of forecasts from the truth."""
        return [Section("deviation", "Deviation", deviation_html(self.molecule, self.time_units))]

    def player(self, examples: Sequence[Example]) -> Player:
        """The molecule in three dimensions, drawn by 3Dmol.js."""
        script = "".join(map(asset, ("player.js", "playback.js", "molecule.js")))
        return Player(
            player_html("molecule.html", examples, EXPLANATION),
            [drawing_library(), script],
            player_data(self.molecule, examples, self.time_units),
        )
