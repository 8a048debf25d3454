"""Markdown of people and models as HTML that loads nothing, runs nothing and leads nowhere unasked.

Raw HTML stays text. Of reports, which write some, what folds (`<details>`, `<summary>`) and where links lead to is
kept, and comments are left out. Images are not shown. Links lead to pages of the site, to places on the page, or to
http(s) addresses.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from markupsafe import Markup, escape

from convex_evals.site.highlight import diff_lines, highlight
from convex_evals.site.html import short
from convex_evals.text import JOINER, spelled_out, without_enclosed

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

Resolve = Callable[[str], str | None]
_MOST_TEXT = 400_000  # characters
# Of a text that anyone may have written: what the parser takes grows with the square of some.
MOST_PROSE = 10_000
# To a screen reader, a heading without words is an error.
_EMPTY_HEAD = re.compile(r'<th(?: class="n")?></th>')
_KEPT = re.compile(r'</?(?:details|summary|sub)>|<details open>|<a id="(failure-\d{1,6})">|</a>')


def to_html(text: str, resolve: Resolve = lambda path: None, *, of_report: bool = False) -> Markup:
    """`resolve` gives the address of the page on a relative path, None where there is none."""
    shown = spelled_out(short(text.replace("\r\n", "\n"), _MOST_TEXT), keep=JOINER)
    html = _parser().render(shown, {"resolve": resolve, "of_report": of_report})
    return Markup(_EMPTY_HEAD.sub("<td></td>", html))


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).disable(["image"])
    parser.validateLink = lambda url: True  # type: ignore[method-assign]  # `_link` decides
    for name, rule in (
        ("html_block", _html),
        ("html_inline", _html),
        ("link_open", _link),
        ("fence", _fence),
        ("code_block", _fence),
        ("image", _image),
        ("th_open", _cell),
        ("td_open", _cell),
    ):
        parser.add_render_rule(name, rule)
    return parser


def _html(renderer: Any, tokens: Any, index: int, options: Any, env: Mapping[str, Any]) -> str:
    if not env["of_report"]:
        return str(escape(tokens[index].content))
    text = "".join(without_enclosed(tokens[index].content, "<!--", "-->"))
    parts, at = [], 0
    for found in _KEPT.finditer(text):
        parts += [str(escape(text[at : found.start()])), _kept(found)]
        at = found.end()
    return "".join([*parts, str(escape(text[at:]))])


def _kept(found: re.Match[str]) -> str:
    if found[1]:
        return f'<span id="{found[1]}"></span>'
    return "" if found[0] == "</a>" else found[0]


def _link(renderer: Any, tokens: Any, index: int, options: Any, env: Mapping[str, Any]) -> str:
    address = str(tokens[index].attrGet("href") or "")
    try:
        parts = urlsplit(address)
    except ValueError:
        return "<a>"
    if parts.scheme in ("http", "https") and parts.netloc:
        return f'<a href="{escape(address)}" rel="noopener noreferrer nofollow">'
    if parts.scheme or parts.netloc:
        return "<a>"
    if not parts.path:
        return f'<a href="{escape(address)}">'
    found = env["resolve"](posixpath.normpath(unquote(parts.path)))
    return "<a>" if found is None else f'<a href="{escape(found)}">'


def _image(renderer: Any, tokens: Any, index: int, options: Any, env: Mapping[str, Any]) -> str:
    return str(escape(tokens[index].content))


def _cell(renderer: Any, tokens: Any, index: int, options: Any, env: Mapping[str, Any]) -> str:
    token = tokens[index]
    return f'<{token.tag} class="n">' if "right" in str(token.attrGet("style") or "") else f"<{token.tag}>"


def _fence(renderer: Any, tokens: Any, index: int, options: Any, env: Mapping[str, Any]) -> str:
    token = tokens[index]
    language = token.info.strip().split(" ")[0]
    if language == "diff":
        return f'<pre class="diff" tabindex="0"><code>{diff_lines(token.content)}</code></pre>\n'
    return f'<pre class="code" tabindex="0"><code>{highlight(f"x.{language}", token.content)}</code></pre>\n'
