"""`pgode import mocap`: import motion capture from BVH files."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pgode.cli.parameters import Output, Overwrite


def import_mocap(
    *bvh: Path,
    output: Output,
    rate: float | None = None,
    window: int | None = None,
    stride: int | None = None,
    relative: str = "hip",
    skip: int = 0,
    end_sites: Annotated[bool, Parameter(negative=())] = False,
    units: str = "",
    splits: str = "0.7,0.15,0.15",
    seed: int = 0,
    overwrite: Overwrite = False,
) -> None:
    """Turn recorded bodies into systems of joints joined by bones.

    Parameters
    ----------
    bvh
        BVH files of one skeleton; each is a trial and goes to one split as a whole.
    output
        File to write: .nc (NetCDF) or .zarr.
    rate
        Frames per second to keep; it has to divide that of the files. All frames if not given.
    window
        Cut each file into systems of this many frames; by default each file is one system.
    stride
        Frames between the starts of two windows; by default the length of a window.
    relative
        hip (positions relative to the root at each frame, directions kept) or world.
    skip
        Frames to drop at the start of each file, for instance the rest pose that some begin with.
    end_sites
        Keep the ends of limbs, which have no angles, as objects too.
    units
        Unit of length of the files, as a label; BVH files do not state it.
    splits
        Shares of the files for training, validation and test.
    seed
        Seed that draws the files of each split.
    """
    from typing import cast

    from pgode.cli.parsing import numbers
    from pgode.data import files
    from pgode.data.files import mocap
    from pgode.data.files.mocap.systems import BLOCKS
    from pgode.data.files.mocap.trials import Relative
    from pgode.runtime.terminal.console import Terminal

    files.check_output(output, inputs=bvh, overwrite=overwrite)
    cut = mocap.Cut(rate, window, stride, cast(Relative, relative), skip, end_sites)
    data = mocap.read(bvh, cut, splits=numbers(splits, "--splits"), units=units, seed=seed)
    files.write(data, output, overwrite=overwrite)
    parts = ", ".join(f"{(data.split == name).sum()} {name}" for name in BLOCKS)
    lengths = sorted({int(data.n_frames.min()), int(data.n_frames.max())})
    place = f"relative to {data.object_label(0, 0)}" if relative == "hip" else "in the world"
    console = Terminal()

    def counted(number: int, name: str) -> str:
        return f"{number} {name}{'s' * (number != 1)}"

    console.print(
        f"wrote {output}: {counted(len(bvh), 'file')}, {counted(data.systems, 'system')} ({parts}) "
        f"of {counted(data.objects, 'joint')}, {' to '.join(map(str, lengths))} frames, "
        f"positions {place}, hash {data.hash[:12]}",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )
    if found := mocap.jumps(data):
        console.print(
            f"note: {counted(len(found), 'system')} ({', '.join(found[:3])}"
            f"{', ...' if len(found) > 3 else ''}) with a jump after the first frame, as in files "
            f"that begin with a rest pose; --skip 1 drops it",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )
