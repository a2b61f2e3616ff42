"""Turn the equations of the pages into MathML while they are built.

Browsers draw MathML by themselves, so the pages need no script and no network to show an equation.
`pymdownx.arithmatex` has by then marked each one: \\(...\\) within a line, \\[...\\] on its own.
"""

import html
import re
from typing import Any

from latex2mathml.converter import convert

MARKED = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<latex>.*?)\\[)\]]</(?P=tag)>', re.DOTALL
)


def on_page_content(page_html: str, **_: Any) -> str:
    """Replace every marked equation of a rendered page; mkdocs calls this for each page."""
    return MARKED.sub(_as_mathml, page_html)


def _as_mathml(found: re.Match[str]) -> str:
    display = "block" if found["tag"] == "div" else "inline"
    mathml = convert(html.unescape(found["latex"]), display=display)
    return f'<{found["tag"]} class="arithmatex">{mathml}</{found["tag"]}>'
