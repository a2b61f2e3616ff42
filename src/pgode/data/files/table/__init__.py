"""Tables (delimited text, Parquet, frames of pandas, polars and Arrow) as trajectories."""

from pgode.data.files.table.assembly import from_frame
from pgode.data.files.table.importing import from_table
from pgode.data.files.table.reading.frames import is_table, read_frame
from pgode.data.files.table.recipe import EdgeList, TableRecipe, recipe_of

__all__ = [
    "EdgeList",
    "TableRecipe",
    "from_frame",
    "from_table",
    "is_table",
    "read_frame",
    "recipe_of",
]
