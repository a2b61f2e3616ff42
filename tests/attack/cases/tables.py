"""Tables, bodies and molecules whose files are damaged or say something else."""

from pathlib import Path

from tests.attack.cases.case import Case, Make, case, cut, renamed, replaced, write

HEAD = "object,time,x,y\n"
TWO = "".join(f"{name},{t},{t},{t * 2}\n" for name in "ab" for t in range(12))

TABLES: dict[str, str | bytes] = {
    "empty": "",
    "header only": HEAD,
    "newlines": "\n\n\n",
    "one row": HEAD + "a,0,1,2\n",
    "one object": HEAD + "".join(f"a,{t},1,2\n" for t in range(2)),
    "no UTF-8": HEAD.encode() + b"\xff\xfe,0,1,2\n",
    "UTF-16": (HEAD + TWO).encode("utf-16"),
    "NUL": HEAD + "a\0b,0,1,2\n" + TWO,
    "short row": HEAD + TWO + "a,99\n",
    "long row": HEAD + TWO + "a,99,1,2,3,4\n",
    "open quote": HEAD + TWO + '"a,99,1,2\n',
    "words as numbers": HEAD + "a,0,one,two\nb,0,three,four\n",
    "infinite": HEAD + TWO + "a,99,inf,2\n",
    "infinite time": HEAD + TWO + "a,inf,1,2\n",
    "no time": HEAD + TWO + "a,,1,2\n",
    "huge": HEAD + TWO + "a,99,1e999,2\n",
    "same row twice": HEAD + TWO + "a,3,9,9\n",
    "same name twice": "object,time,x,x\n" + TWO,
    "no names": ",,,\n" + TWO,
    "a bad date": HEAD + "a,2020-02-31,1,2\na,2020-03-01,1,2\n",
    "mixed dates": HEAD + "a,2020-01-31,1,2\na,7,1,2\nb,tomorrow,1,2\n",
    "constant time": HEAD + "a,5,1,2\nb,5,1,2\n",
    "empty values": HEAD + "".join(f"a,{t},,\n" for t in range(12)),
    "binary": bytes(range(256)) * 20,
    "html": "<html><body>404 not found</body></html>\n",
    "json": '{"object": ["a"], "time": [0]}\n',
}

EDGES: dict[str, str] = {
    "unknown object": "sender,receiver\nann,zoe\n",
    "no names": "1,2,3\n",
    "not square": "0,1\n1,0\n1,1\n",
    "words": "a,b,c\nd,e,f\ng,h,i\n",
    "NaN": "0,nan,0\n1,0,1\n0,1,0\n",
    "infinite": "sender,receiver,weight\nann,bob,inf\n",
    "itself": "sender,receiver\nann,ann\n",
    "twice": "sender,receiver\nann,bob\nann,bob\n",
    "empty": "",
    "binary": "\x00\x01\x02\n",
}

GRID = "system,object,time,x\n" + "".join(
    [f"a,{k},{t},1\n" for k in range(2000) for t in range(2)]
    + [f"b,0,{t},1\n" for t in range(20_000)]
    + [f"s{k},0,{t},1\n" for k in range(2000) for t in range(2)]
)
"""28000 rows that span 2000 systems of 2000 objects and 20000 frames: terabytes."""


def _packed_zeros(path: str) -> Make:
    """800 MB of zeros in a file of a few kilobytes."""

    def make() -> None:
        import numpy as np
        import pyarrow as arrow

        part = arrow.record_batch({name: np.zeros(500_000) for name in ("object", "time")})
        options = arrow.ipc.IpcWriteOptions(compression="zstd", use_threads=False)
        with arrow.ipc.new_file(path, part.schema, options=options) as file:
            for _ in range(100):
                file.write_batch(part)

    return make


def _nulls(path: str) -> Make:
    """A billion rows of nothing, which have no bytes."""

    def make() -> None:
        import pyarrow as arrow

        part = arrow.record_batch({name: arrow.nulls(10**9) for name in ("object", "time")})
        with arrow.ipc.new_file(path, part.schema) as file:
            file.write_batch(part)

    return make


def _prefixes(path: str) -> Make:
    """1000 texts of 400 kB that share what they begin with, in a kilobyte."""

    def make() -> None:
        import pyarrow as arrow
        from pyarrow import parquet

        texts = [f"{'x' * 400_000}{k}" for k in range(1000)]
        parquet.write_table(
            arrow.table({"object": texts}),
            path,
            compression="zstd",
            use_dictionary=False,
            column_encoding={"object": "DELTA_BYTE_ARRAY"},
        )

    return make


PARQUETS: dict[str, Make] = {
    "cut": cut("tracks.parquet", "bad.parquet"),
    "empty": write("bad.parquet", b""),
    "magic": write("bad.parquet", b"PAR1" + b"\xff" * 60 + b"PAR1"),
    "huge footer": write("bad.parquet", b"PAR1" + bytes(20) + b"\xff\xff\xff\x7fPAR1"),
    "text": renamed("tracks.csv", "bad.parquet"),
    "arrow": renamed("tracks.parquet", "bad.arrow"),
    "gzip": write("bad.csv.gz", b"\x1f\x8b\x08" + bytes(30)),
    "cut gzip": write("bad.csv.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00"),
    "a folder": lambda: Path("bad.parquet").mkdir(),
    "shared prefixes": _prefixes("bad.parquet"),
    "packed zeros": _packed_zeros("bad.feather"),
    "nulls": _nulls("bad.arrow"),
}


def _parquet_path(name: str) -> str:
    paths = {
        "arrow": "bad.arrow",
        "gzip": "bad.csv.gz",
        "cut gzip": "bad.csv.gz",
        "packed zeros": "bad.feather",
        "nulls": "bad.arrow",
    }
    return paths.get(name, "bad.parquet")


BVH = "trial_0.bvh"
BODIES: dict[str, Make] = {
    "empty": write("bad.bvh", b""),
    "text": write("bad.bvh", "HIERARCHY\nnothing\n"),
    "binary": write("bad.bvh", bytes(range(256)) * 8),
    "cut in the skeleton": cut(BVH, "bad.bvh", 0.2),
    "cut in the motion": cut(BVH, "bad.bvh", 0.9),
    "no motion": cut(BVH, "bad.bvh", 0.27),
    "words": replaced(BVH, "bad.bvh", b"0.1 5 0", b"0.1 five 0"),
    "NaN": replaced(BVH, "bad.bvh", b"0.1 5 0", b"0.1 nan 0"),
    "infinite": replaced(BVH, "bad.bvh", b"0.1 5 0", b"0.1 inf 0"),
    "huge": replaced(BVH, "bad.bvh", b"0.1 5 0", b"0.1 1e999 0"),
    "more frames than rows": replaced(BVH, "bad.bvh", b"Frames: 40", b"Frames: 4000000000000"),
    "fewer frames than rows": replaced(BVH, "bad.bvh", b"Frames: 40", b"Frames: 4"),
    "negative frames": replaced(BVH, "bad.bvh", b"Frames: 40", b"Frames: -40"),
    "no frame time": replaced(BVH, "bad.bvh", b"Frame Time: 0.01", b"Frame Time: 0"),
    "negative time": replaced(BVH, "bad.bvh", b"Frame Time: 0.01", b"Frame Time: -1"),
    "time NaN": replaced(BVH, "bad.bvh", b"Frame Time: 0.01", b"Frame Time: nan"),
    "channels": replaced(BVH, "bad.bvh", b"CHANNELS 3", b"CHANNELS 999999999"),
    "unknown channel": replaced(BVH, "bad.bvh", b"Zrotation Yrotation", b"Zrotation Wrotation"),
    "offset": replaced(BVH, "bad.bvh", b"OFFSET 2 0 0", b"OFFSET 2 nan 0"),
    "deep": write("bad.bvh", "HIERARCHY\nROOT a\n{\n" + "JOINT b\n{\n" * 20_000),
    "other skeleton": replaced(BVH, "bad.bvh", b"Elbow", b"Wrist"),
}

MOLECULES: dict[str, tuple[Make, str]] = {
    "cut": (cut("dynamics.dcd", "bad.dcd"), "--trajectory bad.dcd --topology top.pdb"),
    "empty": (write("bad.dcd", b""), "--trajectory bad.dcd --topology top.pdb"),
    "text": (renamed("notes.txt", "bad.dcd"), "--trajectory bad.dcd --topology top.pdb"),
    "foreign XTC": (renamed("dynamics.dcd", "bad.xtc"), "--trajectory bad.xtc --topology top.pdb"),
    "random XTC": (
        write("bad.xtc", bytes(range(256)) * 40),
        "--trajectory bad.xtc --topology top.pdb",
    ),
    "random TRR": (
        write("bad.trr", bytes(range(256)) * 40),
        "--trajectory bad.trr --topology top.pdb",
    ),
    "foreign NetCDF": (renamed("springs.nc", "bad.nc"), "--trajectory bad.nc --topology top.pdb"),
    "cut topology": (cut("top.pdb", "bad.pdb"), "--trajectory dynamics.dcd --topology bad.pdb"),
    "empty topology": (write("bad.pdb", b""), "--trajectory dynamics.dcd --topology bad.pdb"),
    "binary topology": (
        write("bad.pdb", bytes(range(256)) * 40),
        "--trajectory dynamics.dcd --topology bad.pdb",
    ),
    "random PRMTOP": (
        write("bad.prmtop", b"%VERSION  x\n%FLAG y\n"),
        "--trajectory dynamics.dcd --topology bad.prmtop",
    ),
    "unknown ending": (
        renamed("top.pdb", "bad.molecule"),
        "--trajectory dynamics.dcd --topology bad.molecule",
    ),
}

REPORTS: dict[str, Make] = {
    "no states": write("reports/04-13-2020.csv", "a,b\n1,2\n"),
    "empty": write("reports/04-13-2020.csv", ""),
    "binary": write("reports/04-13-2020.csv", bytes(range(256))),
    "other day": renamed("reports/04-12-2020.csv", "reports/99-99-2020.csv"),
}

CASES: list[Case] = [
    *(
        case(f"import table bad.csv -o new.nc {more}", write("bad.csv", text), name=f"import: {n}")
        for n, text in TABLES.items()
        for more in ("" if n in ("binary", "html", "json") else "--features x,y",)
    ),
    case(
        "import table bad.csv -o new.nc --system system --edges none",
        write("bad.csv", GRID),
        name="import: a huge grid",
    ),
    *(
        case("check bad.csv", write("bad.csv", TABLES[name]), name=f"check: {name}", code=(1, 2))
        for name in ("empty", "header only", "no UTF-8", "open quote", "binary", "NUL", "no names")
    ),
    *(
        case("info bad.csv", write("bad.csv", TABLES[name]), name=f"info: {name}", code=(0, 2))
        for name in ("empty", "newlines", "no UTF-8", "open quote", "binary", "same name twice")
    ),
    *(
        case(
            "forecast tracked bad.csv -o new.csv",
            write("bad.csv", TABLES[name]),
            name=f"forecast of a table: {name}",
        )
        for name in ("empty", "header only", "one row", "short row", "binary", "infinite")
    ),
    *(
        case(
            "import table tracks.csv -o new.nc --system match --edges bad.csv",
            write("bad.csv", text),
            name=f"edges: {name}",
        )
        for name, text in EDGES.items()
    ),
    *(
        case(f"import table {_parquet_path(name)} -o new.nc", make, name=f"import: {name} Parquet")
        for name, make in PARQUETS.items()
    ),
    *(
        case(f"info {_parquet_path(name)}", make, name=f"info: {name} Parquet")
        for name, make in PARQUETS.items()
        if name != "arrow"
    ),
    *(
        case(f"import mocap {BVH} bad.bvh -o new.nc", make, name=f"mocap: {name}")
        for name, make in BODIES.items()
    ),
    *(
        case(
            f"import md {options} -o new.nc --frames 12 --frame-time 0.2", make, name=f"md: {name}"
        )
        for name, (make, options) in MOLECULES.items()
    ),
    *(
        case("data covid -o new.nc --source reports", make, name=f"covid: {name}")
        for name, make in REPORTS.items()
    ),
]
