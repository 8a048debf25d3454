"""Text of others inside of Markdown that GitHub renders: whatever it says, it stays text. Pure.

In running text (`inline`, `cell`) whatever CommonMark or GitHub gives a meaning is escaped, or parted by a word joiner
(U+2060, invisible) where GitHub looks at the rendered text and escapes do not help: mentions, references, commits, bare
addresses. In code (`code`, `fenced`) GitHub looks for none of these; there only the end of the code is kept safe, and
workflow commands are parted, since a report may be printed in a CI log.
`folded` is the one that writes HTML.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator, Sequence

from convex_evals.render.model import Column, Section, Table
from convex_evals.text import JOINER, spelled_out

# More than a screen's width says nothing more; GitHub stops rendering where a file is too long.
WIDTH = 400
_SPACE = re.compile(r"\s+")
_ENTITY = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;", "$": "&#36;"}
_MEANT = re.compile(r"[&<>|$]|[\\`*_\[\]{}~]")
# At the beginning of a line these make a list, a heading, a rule, a table or an underlined heading.
_LEADING = re.compile(r"^(?:([#=:]|[-+](?!\d))|(\d{1,9})([.)])(?=\s|$))")
# What GitHub looks for in rendered text: @name, #12, :emoji:, scheme:, GH-12 and TICKET-12.
_REFERENCE = re.compile(r"(?:#|:(?=\S)|(?<=[A-Za-z])-(?=\w*\d)|(?<=GHSA)-)", re.IGNORECASE)
# A host may begin with any letter of Unicode, a joiner too: it has to stand before the dot, or the at sign.
_BARE = re.compile(r"(?<=www)\.|@", re.IGNORECASE)
# 7 to 40 hex digits are a commit.
_COMMIT = re.compile(r"(?<![A-Za-z0-9])[0-9a-f]{7,}(?![A-Za-z0-9])", re.IGNORECASE)
_LANGUAGE = re.compile(r"[a-z0-9+-]*")
# These are drawn, not shown.
_DRAWN = {"mermaid", "math", "geojson", "topojson", "stl"}
_TICKS = re.compile(r"`+")
_LINE_TICKS = re.compile(r"^[ ]{0,3}(`+)", re.MULTILINE)
# Commands of CI systems, where what is printed becomes a log: `::name::` begins a line, `##[name]` and `##vso[` are
# anywhere.
_COMMAND_LINE = re.compile(r"^([^\S\n]*):(?=:)", re.MULTILINE)
_COMMAND = re.compile(r"##(?=\w*\[)")
# A renderer keeps the length of a fence in one byte.
_LONGEST_FENCE = 200


def inline(text: str, limit: int = WIDTH) -> str:
    """`text` on one line of running text or in a table's cell; what is over `limit` characters is left out.

    Nothing in it is a link, an image, HTML, a mention, a reference, a formula, or the beginning of a block. Empty where
    `text` is blank.
    """
    plain = _parted(_one_line(text, limit))
    escaped = _MEANT.sub(lambda c: _ENTITY.get(c[0]) or "\\" + c[0], plain)
    return _LEADING.sub(lambda c: f"\\{c[1]}" if c[1] else f"{c[2]}\\{c[3]}", escaped)


def cell(text: str, limit: int = WIDTH) -> str:
    """`inline` for a table's cell, which is not left empty."""
    return inline(text, limit) or "–"


def table(header: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> list[str]:
    """The lines of a table: two of plain text, then one for each row; the columns of `right` are right-aligned."""
    return _table(header, [[cell(text) for text in row] for row in rows], right)


def table_lines(of: Table) -> list[str]:
    """The lines of a table, with the columns for people."""
    head = [inline(of.columns[i].heading or "") for i in of.shown]
    right = [n for n, i in enumerate(of.shown) if of.columns[i].right]
    return _table(head, [[_cell(of.columns[i], row[i].text) for i in of.shown] for row in of.rows], right)


def _cell(column: Column, text: str) -> str:
    """Code needs no joiners, which would be copied along with an id."""
    return code(text, in_table=True) if column.is_id else cell(text)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int]) -> list[str]:
    lines = [header, ["--:" if n in right else "---" for n in range(len(header))], *rows]
    return [f"| {' | '.join(line)} |" for line in lines]


def to_markdown(section: Section) -> str:
    """A document: headings from the third level on, lines as paragraphs, tables with the columns for people."""
    return "\n\n".join(_blocks(section, 3)) + "\n"


def _blocks(section: Section, level: int) -> Iterator[str]:
    if section.heading:
        yield f"{'#' * min(level, 6)} {inline(section.heading)}"
    for part in section.shown:
        if isinstance(part, Section):
            yield from _blocks(part, level + 1 if section.heading else level)
        elif isinstance(part, Table):
            yield "\n".join(table_lines(part))
        else:
            yield from filter(None, map(inline, part.split("\n")))


def code(text: str, limit: int = WIDTH, *, in_table: bool = False) -> str:
    """`text` on one line as inline code. In a table's cell, `in_table` keeps its bars from ending the cell.

    Two of these do not stand next to each other without something between them.
    """
    line = _one_line(text, limit)
    if not line:
        return "–"
    taken = {len(run) for run in _TICKS.findall(line)}
    ticks = "`" * next(n for n in range(1, len(taken) + 2) if n not in taken)
    padding = " " if line[0] == "`" or line[-1] == "`" else ""
    if in_table:
        line = line.replace("|", "\\|")
    return f"{ticks}{padding}{_no_command(line)}{padding}{ticks}"


def fenced(text: str, language: str = "", limit: int = 200, width: int = WIDTH) -> str:
    """`text` as a block of code, of at most `limit` lines of `width` characters; it says what it leaves out.

    Stands alone: the caller puts a blank line before it, and does not indent it.
    """
    lines = spelled_out(text.replace("\r\n", "\n")).rstrip("\n").split("\n")
    left_out = len(lines) - limit
    lines = [x if len(x) <= width else f"{x[:width]}… ({len(x) - width} more characters)" for x in lines[:limit]]
    if left_out > 0:
        lines.append(f"… ({left_out} more lines)")
    body = _LINE_TICKS.sub(
        lambda m: m[0] if len(m[1]) < _LONGEST_FENCE else JOINER + m[0], _no_command("\n".join(lines))
    )
    ticks = "`" * max(3, *(len(run) + 1 for run in [*_LINE_TICKS.findall(body), ""]))
    if not _LANGUAGE.fullmatch(language) or language in _DRAWN:
        language = ""
    return f"{ticks}{language}\n{body}\n{ticks}"


def folded(summary: str, body: str, *, title: str = "", is_open: bool = False) -> str:
    """`body`, which is Markdown already, behind a line of plain text that opens it; `title` stands bold before it."""
    parts = [f"<b>{_html(title)}</b>"] if title.strip() else []
    parts += [_html(summary)] if summary.strip() else []
    head = f"<details{' open' if is_open else ''}><summary>{' '.join(parts)}</summary>"
    return f"{head}\n\n{body.strip(chr(10))}\n\n</details>"


def _html(text: str) -> str:
    return html.escape(_parted(_one_line(text, WIDTH)), quote=False).replace("$", "&#36;")


def _no_command(text: str) -> str:
    return _COMMAND.sub(f"##{JOINER}", _COMMAND_LINE.sub(rf"\1{JOINER}:", text))


def _one_line(text: str, limit: int) -> str:
    line = spelled_out(_SPACE.sub(" ", text[: 8 * limit])).strip()
    return line if len(line) <= limit and len(text) <= 8 * limit else line[: limit - 1].rstrip() + "…"


def _parted(line: str) -> str:
    """With a word joiner inside of whatever GitHub would make a link of, or a picture."""
    line = _REFERENCE.sub(lambda c: c[0] + JOINER, line)
    line = _BARE.sub(lambda c: JOINER + c[0] + JOINER, line)
    return _COMMIT.sub(lambda c: JOINER.join(re.findall(".{1,6}", c[0])), line)
