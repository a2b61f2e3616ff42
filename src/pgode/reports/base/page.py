"""The shell of every page: one file with its style, scripts and data, which needs no network."""

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

NO_DATA = '{"systems":[]}'
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src"


@dataclass(frozen=True)
class Section:
    """A titled part of a page; `key` is its anchor. One without content is left out."""

    key: str
    title: str
    content: str


def render_page(
    title: str,
    kind: str,
    sections: Sequence[Section],
    *,
    scripts: Sequence[str] | None = None,
    data: str = NO_DATA,
) -> str:
    """The text of one HTML file. `kind` is the line above the title.

    `scripts` run in this order (only the one for charts and tool tips if not given); `data` is the
    JSON that they read, see `page_json`.
    """
    shown = [section for section in sections if section.content]
    scripts = [asset("report.js")] if scripts is None else scripts
    return Template(asset("report.html")).substitute(
        title=escape(title),
        kind=escape(kind),
        policy=_policy(scripts),
        style=asset("report.css"),
        links="".join(f'<a href="#{each.key}">{escape(each.title)}</a>' for each in shown),
        body="".join(map(_section, shown)),
        first=shown[0].key if shown else "",
        data=data,
        script="</script>\n<script>".join(scripts),
    )


@cache
def asset(name: str) -> str:
    """A file of `pgode/reports/assets`."""
    return (files("pgode.reports") / "assets" / name).read_text(encoding="utf-8")


def is_page(path: Path) -> bool:
    """Whether a file is a page that pgode wrote: all of them begin with the same policy."""
    start = asset("report.html").split("$policy")[0] + POLICY
    try:
        with path.open("rb") as file:
            return file.read(len(start)) == start.encode()
    except OSError:
        return False


def page_json(content: Any) -> str:
    """JSON for `data`; characters that could end a script element are escaped."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def folded(title: str, content: str, *, opened: bool = False) -> str:
    """A part that unfolds when its title is clicked."""
    state = " open" if opened else ""
    return f"<details{state}><summary>{escape(title)}</summary>{content}</details>"


def _section(section: Section) -> str:
    return (
        f'<section id="{section.key}" aria-labelledby="{section.key}-title">'
        f'<h2 id="{section.key}-title">{escape(section.title)}</h2>{section.content}</section>'
    )


def _policy(scripts: Sequence[str]) -> str:
    """A content security policy: nothing is fetched, and only these scripts run.

    Names in the data may contain markup. They are escaped; the policy is a second safeguard.
    """
    digests = [base64.b64encode(hashlib.sha256(each.encode()).digest()) for each in scripts]
    allowed = " ".join(f"'sha256-{digest.decode()}'" for digest in digests)
    return f"{POLICY} {allowed}"
