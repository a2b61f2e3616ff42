"""Whatever is wrong with a table: a sentence with file, line and column, exit code 2, no file."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

import pgode
from pgode.cli.app import run_command

HEAD = "object,time,x,y\n"


def rows(*lines: str, frames: int = 6, objects: str = "abc", head: str = HEAD) -> str:
    """A sound table, with these lines after it: line 1 is the header, 2 to 19 are rows."""
    sound = [f"{o},{t},{t + 0.5},{ord(o)}" for t in range(frames) for o in objects]
    return head + "\n".join([*sound, *lines]) + "\n"


def replaced(line: int, by: str, text: str = "") -> str:
    """A sound table in which one line, counted from 1, is another."""
    lines = (text or rows()).splitlines()
    lines[line - 1] = by
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Case:
    """A table, options, and words of the message."""

    name: str
    table: str | bytes
    options: str
    says: tuple[str, ...]
    more: dict[str, str] = field(default_factory=dict)
    file: str = "bad.csv"
    command: str = "table"


def case(name: str, table: str | bytes, options: str, *says: str, **other: object) -> Case:
    return Case(name, table, options, says, **other)  # type: ignore[arg-type]


def dated(*days: str) -> str:
    lines = [f"{o},{day},1,2" for day in days for o in "ab"]
    return "object,date,x,y\n" + "\n".join(lines) + "\n"


def systems(names: str) -> str:
    rest = [f"{s},{o},{t},{t}\n" for s in names for o in "ab" for t in range(8)]
    return "system,object,time,x\n" + "".join(rest)


SYSTEMS, FOUR = systems("pq"), systems("pqrs")

CASES = [
    # Columns.
    case("no such object", rows(), "--object objekt", '"objekt" (--object)', 'mean "object"?'),
    case("no such time", rows(), "--time tmie", '"tmie" (--time)', "object, time, x, y", '"time"'),
    case("no such feature", rows(), "--features x,z", '"z" (--features)', "Correct --features"),
    case("no such system", rows(), "--system match", '"match" (--system)', "bad.csv has no column"),
    case("no such constant", rows(), "--static mass", '"mass" (--static)', "one of its columns"),
    case("no such input", rows(), "--known policy", '"policy" (--known)', "one of its columns"),
    case("calendar", rows(), "--known weekday", '"weekday" is no column', "its times are no dates"),
    case("no object", "who,time,x\na,1,2\n", "", "object usually is", "who, time, x", "--object"),
    case("no time", "object,when,x\na,1,2\n", "", "time usually is", "Name it with --time"),
    case("no numbers", "object,time\na,1\nb,1\n", "", "no column of numbers", "--features"),
    case("two columns", rows(head="object,time,x,x\n"), "", "line 1", "columns 3 and 4", '"x"'),
    case("positions", rows(), "--positions lat", 'no feature "lat"', "x, y", "--positions"),
    case("no positions", SYSTEMS, "--velocities --features x --positions z", 'no feature "z"'),
    case("feature twice", rows(), "--features x,x", "features has", '"x" twice'),
    case("two meanings", rows(), "--features x,time", '"time" of bad.csv', "one meaning"),
    # Cells.
    case("repeated row", rows("a,3,1,1"), "", "line 11 ", "line 20", '"a"', '"time" 3', "one row"),
    case("word", replaced(7, "b,1,fast,2"), "--features x,y", "line 7 ", '"fast"', 'column "x"'),
    case("unit", replaced(9, "b,2,3.2 m,2"), "--features x,y", "line 9", '"3.2 m"', "--units x:m"),
    case("thousands", replaced(5, 'a,1,"1,234.5",2'), "--features x,y", "line 5", "thousands"),
    case(
        "decimal comma",
        rows().replace(",", ";").replace(".", ","),
        "--features x,y",
        "line 2 of bad.csv",
        '"0,5" in the column "x"',
        "--decimal comma",
    ),
    case("infinite", replaced(4, "c,0,inf,2"), "", "line 4 ", '"inf"', "a finite number"),
    case("no id", replaced(6, ",1,2,3"), "", "line 6 ", "has no object", '"object" is empty'),
    case("NaN id", replaced(6, "NaN,1,2,3"), "", "line 6 ", "has no object", "means a missing"),
    case("no moment", replaced(8, "a,,2,3"), "", "line 8 ", "has no time", '"time" is empty'),
    case("mixed times", replaced(8, "a,soon,2,3"), "", "line 8 ", '"soon"', 'as "0" before it'),
    case("log", replaced(9, "b,2,-4,2"), "--transform log1p", "line 9 ", '"-4"', "above -1"),
    case("no transform", rows(), "--transform log2", 'transform "log2"', "log1p, log, sqrt"),
    case(
        "changing constant",
        "object,time,x,mass\na,0,1,5\nb,0,1,6\na,1,1,5\nb,1,1,7\n",
        "--features x --static mass",
        '"mass" changes',
        "line 3 of bad.csv has 6",
        "line 5 of bad.csv has 7",
    ),
    # Dates.
    case("bad date", dated("2020-04-12", "2020-02-31"), "", "line 4 ", '"2020-02-31"', '"date"'),
    case("word for a date", dated("Easter", "Whitsun"), "", "line 2 ", '"Easter"', "a number, or"),
    case("mixed dates", dated("2020-04-12", "13/04/2020"), "", "line 4", '"13/04/2020"', "as "),
    case("ambiguous", dated("01/02/2020", "02/02/2020"), "", "line 2", "one way only", "%d/%m/%Y"),
    case("date form", dated("01/02/2020"), "--date-format %Y-%m", "line 2", "form %Y-%m"),
    case("unit of dates", dated("2020-01-01", "2020-01-02"), "--time-units s", '"s"', "days"),
    # Extent.
    case("one object", rows(objects="a"), "", 'one object, "a"', "at least two", "--object"),
    case("one frame", rows(frames=1), "", "one frame", "Expected several times", "--time"),
    case("long window", rows(), "--window 50", "no series", "2 frames of that split", "50"),
    case("stride alone", rows(), "--stride 5", "no --window", "Give --window"),
    case("short", rows(frames=4), "--split-time 0.7,0.15,0.15", "split in time", "4 frames", "6"),
    # Splits.
    case("shares", rows(), "--split-time 0.7,0.2,0.2", "0.7,0.2,0.2", "add up to 1"),
    case("share words", rows(), "--split-time most,few,few", "most,few,few", "list of numbers"),
    case("two ways", rows(), "--split-time 1,0,0 --split-by system", "one way to split"),
    case("few systems", SYSTEMS, "--split 0.6,0.2,0.2", "2 systems", "too few for train, val"),
    case("split column", SYSTEMS, "--split-column object --features x", 'column "object" changes'),
    case("gap unused", FOUR, "--gap 3", "--gap is 3", "only with --split-time"),
    case("gap", SYSTEMS, "--gap 3 --split-by none", "--gap is 3", "only with --split-time"),
    # Files.
    case("empty", "", "", "bad.csv is empty", "Check the path"),
    case("blank", "\n\n \n", "", "bad.csv is empty"),
    case("header only", HEAD, "", "no rows after line 1", "one row per object and time"),
    case("binary", bytes(range(256)) * 8, "", "bad.csv is not text", "Export the table as CSV"),
    case("latin 1", replaced(5, "é,1,2,3").encode("latin-1"), "", "line 5 ", "0xe9", "UTF-8"),
    case("UTF-16", rows().encode("utf-16"), "", "line 1 ", "not UTF-8", "Save the table"),
    case("too many fields", replaced(7, "b,1,2,3,4"), "", "line 7 ", "5 fields", "4 columns"),
    case("too few fields", replaced(7, "b,1,2"), "", "line 7 ", "3 fields", "4 columns", '"y"'),
    case("fields everywhere", rows(head="object,time,x\n"), "", "line 2 ", "4 fields", "3 columns"),
    case("open quote", replaced(7, '"b,1,2,3'), "", "line 7 ", "quotation mark", "Close it"),
    case("delimiter", rows(), "--delimiter tab --object object", "no column", "--delimiter"),
    case("no delimiter", rows(), "--delimiter ab", '"ab" is not known', "comma, tab"),
    case("parquet", b"PAR1 and nothing more", "", "bad.parquet", "damaged", file="bad.parquet"),
    case("feather", b"ARROW1 no", "", "bad.feather: it is damaged", file="bad.feather"),
    case("columns", rows(), "--no-header --columns a,b", "4 columns", "names 2: a, b"),
    case("columns and header", rows(), "--columns a,b,c,d", "Give --no-header"),
    # Edges.
    case("no file", rows(), "--edges gone.csv", "cannot read gone.csv", "no such file"),
    case("unknown end", rows(), "--edges e.csv", "line 3 of e.csv", '"z" in the column "to"',
         more={"e.csv": "from,to\na,b\na,z\n"}),
    case("same edge", rows(), "--edges e.csv", "line 2 of e.csv and line 3", "the same edge",
         more={"e.csv": "from,to\na,b\na,b\n"}),
    case("weight", rows(), "--edges e.csv", "line 2 of e.csv", '"near" in the column "w"',
         more={"e.csv": "from,to,w\na,b,near\n"}),
    case("unknown label", rows(), "--edges e.csv", "line 4 of e.csv", '"z"',
         more={"e.csv": ",a,b,c\na,0,1,0\nb,1,0,0\nz,0,0,1\n"}),
    case("many columns of edges", rows(), "--edges e.csv", "6 columns", "sender",
         more={"e.csv": "from,to,w,u,v,q\na,b,1,1,1,1\n"}),
    case("radius", rows(), "--edges radius:near", '"radius:near"', "radius:3", "Correct --edges"),
    case("radius of what", SYSTEMS.replace(",x", ",load"), "--edges radius:2", "--positions load"),
    case("direction", rows(), "--edges all --directed", "edges come from no file", "Leave it out"),
    case("misspelt rule", rows(), "--edges al", "cannot read al", "Expected all, none, radius:R"),
    case("every", rows(), "--edges all --edges-every 3", "does not change", "Leave it out"),
    # Wide.
    case("wide word", "time,a,b\n0,1,2\n1,x,2\n2,3,3\n", "", "line 3 ", '"x" in the column "a"',
         command="wide"),
    case("wide time twice", "time,a,b\n0,1,2\n0,1,2\n1,3,3\n", "", "line 2", "line 3", "both for",
         command="wide"),
]  # fmt: skip


@pytest.mark.parametrize("wrong", CASES, ids=lambda each: each.name)
def test_malformed_table_is_a_sentence_and_nothing_is_written(
    wrong: Case,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    content = wrong.table if isinstance(wrong.table, bytes) else wrong.table.encode()
    Path(wrong.file).write_bytes(content)
    for name, text in wrong.more.items():
        Path(name).write_text(text)
    words = ["import", wrong.command, wrong.file, "-o", "new/out.nc", *wrong.options.split()]
    assert run_command(words) == 2
    printed = capsys.readouterr()
    message = printed.err.strip()
    assert printed.out == ""
    assert message.startswith("Error: ") and "\n" not in message
    assert [word for word in wrong.says if word not in message] == [], message
    assert not Path("new").exists()


def test_there_are_more_than_forty() -> None:
    assert len({each.name for each in CASES}) == len(CASES) > 40


def test_a_million_columns_are_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for text in (",".join(map(str, range(10**6))), ",".join("c" * 10**6)):
        Path("huge.csv").write_text(text + "\n" + text + "\n")
        assert run_command(["import", "table", "huge.csv", "-o", "out.nc"]) == 2
        assert "Expected at most 20000 columns" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbf" + rows().encode(),
        rows().replace("\n", "\r\n").encode(),
        rows().replace(",", ";").encode(),
        rows().replace(",", "\t").encode(),
        rows().replace(",", ", ").encode(),
        rows().replace("a,", '"a",').encode(),
        b"\n" + rows().encode() + b"\n\n",
    ],
    ids=["BOM", "Windows", "semicolons", "tabs", "spaces", "quotes", "blank lines"],
)
def test_odd_but_sound_tables_are_the_same_data(
    text: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("table.csv").write_text(rows())
    Path("odd.csv").write_bytes(text)
    assert run_command(["import", "table", "odd.csv", "-o", "odd.nc"]) == 0
    found = pgode.read("odd.nc")
    expected = pgode.from_table("table.csv")
    assert found.dataset.drop_vars("system_name").equals(expected.dataset.drop_vars("system_name"))
    assert found.system_label(0) == "odd [train]" and expected.system_label(0) == "table [train]"
