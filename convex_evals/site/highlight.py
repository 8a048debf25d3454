"""Source text as HTML, coloured by Pygments; a few short elements, since a site has many pages."""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from convex_evals.site.html import short, shown_name
from convex_evals.text import spelled_out

if TYPE_CHECKING:
    from pygments.lexer import Lexer
    from pygments.token import _TokenType

# Longer texts, and longer lines, are shown without colours: some patterns of lexers take their time. Those of other
# languages (Markdown, HTML) take the square of it.
_MOST_COLOURED = 40_000
_LONGEST_LINE = 1_000
_LEXERS = {
    ".ts": "typescript",
    ".tsx": "tsx",
    ".mts": "typescript",
    ".js": "javascript",
    ".jsx": "jsx",
    ".json": "json",
}
_LINES = {"+": "add", "-": "del", "@": "hunk"}
# By the beginning of a token's name; the first that fits.
_CLASSES = (
    ("Comment", "c"),
    ("Literal.String", "s"),
    ("Literal.Number", "n"),
    ("Keyword.Type", "t"),
    ("Keyword", "k"),
    ("Name.Class", "t"),
    ("Name.Function", "f"),
    ("Name.Tag", "k"),
)


def file_section(path: str, text: str) -> Markup:
    """A file under its name."""
    name, lines = shown_name(path), highlight(path, text)
    return Markup(
        f'<section class="file"><h3><code>{name}</code></h3>'
        f'<pre class="code" tabindex="0" aria-label="{name}"><code>{lines}</code></pre></section>\n'
    )


@lru_cache(maxsize=2_000)
def highlight(path: str, text: str) -> Markup:
    """The text of a file, coloured by the ending of its path."""
    name = _LEXERS.get(PurePosixPath(path).suffix)
    plain = short(text)
    too_long = len(text) > _MOST_COLOURED or max(map(len, text.split("\n"))) > _LONGEST_LINE
    if name is None or too_long or plain is not text:
        return Markup(escape(spelled_out(plain)))
    parts = []
    before, run = "", ""
    for kind, value in _lexer(name).get_tokens(text):
        own = _class_of(kind)
        if own == before or (own and value.isspace()):
            run += value
        else:
            parts.append(_marked(before, run))
            before, run = own, value
    parts.append(_marked(before, run))
    return Markup("".join(parts))


def _marked(own: str, text: str) -> str:
    shown = str(escape(spelled_out(text)))
    return f'<i class="{own}">{shown}</i>' if own and shown else shown


@cache
def _class_of(kind: _TokenType) -> str:
    name = str(kind).removeprefix("Token.")
    return next((own for start, own in _CLASSES if name.startswith(start)), "")


@cache
def _lexer(name: str) -> Lexer:
    from pygments.lexers import get_lexer_by_name

    found: Lexer = get_lexer_by_name(name, stripnl=False, ensurenl=False)
    return found


def diff_lines(text: str) -> Markup:
    """A unified diff, each line marked as what it is."""
    parts = []
    for line in str(escape(spelled_out(short(text)))).split("\n"):
        # What a line begins with is not escaped.
        own = "file" if line.startswith(("--- ", "+++ ")) else _LINES.get(line[:1])
        parts.append(f'<span class="{own}">{line}\n</span>' if own else f"{line}\n")
    return Markup("".join(parts))
