"""Options that `pgode import table` and `pgode import wide` share."""

from dataclasses import dataclass
from typing import Annotated, Any

from cyclopts import Parameter


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """How a table is read and cut.

    Parameters
    ----------
    time_units
        Unit of time. Dates get days, hours, minutes or seconds by their spacing.
    date_format
        Form of dates that can be read in two ways, such as %d/%m/%Y.
    undirected
        Edges of a file act both ways, or from sender to receiver only; by default both ways if no
        pair is there twice.
    window
        Frames of each system that a series is cut into; by default series stay whole, and training
        cuts windows by itself.
    stride
        Frames between the starts of two windows; by default the window.
    split_time
        Shares for training, validation and test of each series, cut in time.
    gap
        Frames left out between two splits in time.
    split
        Shares for training, validation and test of whole systems: 0.7,0.15,0.15.
    seed
        Fixes which systems are in which split.
    delimiter
        comma, tab, semicolon, space, pipe, or the character; by default found out.
    decimal
        Decimal mark of numbers in text: . or comma.
    """

    time_units: str = ""
    date_format: str = ""
    undirected: Annotated[bool | None, Parameter(negative="--directed")] = None
    window: int | None = None
    stride: int | None = None
    split_time: str = ""
    gap: int = 0
    split: str = ""
    seed: int = 0
    delimiter: str = ""
    decimal: str = "."

    def arguments(self) -> dict[str, Any]:
        """For `from_table`, with shares as numbers."""
        from pgode.cli.parsing import shares

        return {
            **vars(self),
            "split_time": shares(self.split_time, "--split-time"),
            "split": shares(self.split, "--split"),
        }


DEFAULTS = TableOptions()
