"""Tables as lines of text: columns below each other, wrapped where a terminal is too narrow for them. Pure.

Without a width, as in a pipe, a row is one line and nothing is cut. With one, no line of a table is wider: columns that
can be spared are left out before a word or a name would be broken, and a line below says so; then columns are narrowed,
first at the ends of words; where that is not enough, each row becomes a block of `heading  value` lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from convex_evals.render.model import Cell, Column, Section, Table, Tone
from convex_evals.text import one_line, printable

Style = Tone | Literal["heading", "rule"] | None
Line = tuple[tuple[str, Style], ...]

# A column is padded to no more than that, and a terminal shows no more of a cell.
_WIDEST = 200
# Longer words are broken anywhere.
_LONGEST_WORD = 24
# Neither a Chinese character nor an escaped one fits in less.
_NARROWEST = 2
# Where words may be broken: after what joins their parts, so that dates, slugs and paths come apart, but not `4-70%`.
_JOINT = re.compile(r"(?<=[^\s/_-]{3}[/_-])(?=[^\s/_-])|(?<=\s)(?=\S)")


def plain(content: Section | Table) -> str:
    """As text without an end of line."""
    section = content if isinstance(content, Section) else Section((content,))
    return "\n".join("".join(text for text, _ in line) for line in lines(section))


def lines(section: Section, width: int | None = None) -> Iterator[Line]:
    """All lines; `width` columns are what the terminal has."""
    if section.heading:
        yield ((_shown(section.heading), "heading"),)
    before: object = None
    for part in section.shown:
        if before and (isinstance(part, Section) or isinstance(before, Section)):
            yield ()
        if isinstance(part, Section):
            yield from lines(part, width)
        elif isinstance(part, Table):
            yield from _table(part, width)
        else:
            yield from (((line, None),) for line in part.split("\n"))
        before = part


def width_of(text: str) -> int:
    """On a terminal, where a Chinese character takes two columns and a mark above a letter none."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _table(table: Table, width: int | None) -> Iterator[Line]:
    unbroken = {} if width is None else {i: _unbroken(table, i) for i in table.shown}
    kept = table.shown if width is None else _with_room(table, unbroken, width)
    columns = [table.columns[i] for i in kept]
    head = [_shown(column.heading or "") for column in columns]
    rows = [[row[i] for i in kept] for row in table.rows]
    texts = [[_shown(cell.text) for cell in row] for row in rows]
    if width is None:
        widths: list[int] | None = [min(_WIDEST, max(map(width_of, cells))) for cells in zip(head, *texts, strict=True)]
        gap = 2
    else:
        texts = [[_cut(text) for text in row] for row in texts]
        widths, gap = _fitting([head, *texts], [unbroken[i] for i in kept], width)
    if widths is None:
        yield from _blocks(head, rows, texts, max(width or 0, _NARROWEST))
        return
    folded = width is not None
    yield from _row(head, ["heading"] * len(head), columns, widths, gap, folded)
    yield (((" " * gap).join("-" * w for w in widths), "rule"),)
    for row, shown in zip(rows, texts, strict=True):
        yield from _row(shown, [cell.tone for cell in row], columns, widths, gap, folded)
    left_out = [table.columns[i].heading or "" for i in table.shown if i not in kept]
    if left_out and width:
        told = f"Not shown, for want of width: {', '.join(left_out)}; `--json` has all."
        yield from (((line, None),) for line in fold(_shown(told), width))


def _with_room(table: Table, unbroken: Mapping[int, int], width: int) -> list[int]:
    """The columns of which no word and no name has to be broken; all, where there are none to spare for it."""
    kept = table.shown
    while sum(unbroken[i] for i in kept) + len(kept) - 1 > width:
        most = max(table.columns[i].spare for i in kept)
        if most == 0:
            return table.shown
        kept.remove([i for i in kept if table.columns[i].spare == most][-1])
    return kept


def _unbroken(table: Table, number: int) -> int:
    """How wide a column must be for the words of its heading, for its names, or for the words of its other cells."""
    column = table.columns[number]
    texts = [_shown(row[number].text) for row in table.rows]
    cells = [width_of(text) if column.is_id else min(_longest_whole(text), _LONGEST_WORD) for text in texts]
    return max([_longest_whole(_shown(column.heading or "")), *cells])


def _longest_whole(text: str) -> int:
    return max((width_of(word) for word in text.split()), default=0)


def _fitting(texts: Sequence[Sequence[str]], unbroken: Sequence[int], width: int) -> tuple[list[int] | None, int]:
    """Widths of columns that fit, and how far they stand apart; None where words break but at joints."""
    by_column = list(zip(*texts, strict=True))
    natural = [max(map(width_of, cells)) for cells in by_column]
    joints = [max(map(_longest_word, cells)) for cells in by_column]
    for needed in ([max(pair) for pair in zip(unbroken, joints, strict=True)], joints):
        for gap in (2, 1):
            room = width - gap * (len(natural) - 1)
            if sum(needed) <= room:
                return _narrowed(natural, needed, room), gap
    return None, 0


def _narrowed(natural: Sequence[int], needed: Sequence[int], room: int) -> list[int]:
    """The widest give way first."""
    widths = list(natural)
    for _ in range(sum(natural) - room):
        loose = [i for i, width in enumerate(widths) if width > needed[i]]
        widths[max(loose, key=lambda i: widths[i])] -= 1
    return widths


def _longest_word(text: str) -> int:
    longest = max((width_of(word.rstrip()) for word in _JOINT.split(text)), default=0)
    return max(min(longest, _LONGEST_WORD), min(width_of(text), _NARROWEST))


def _row(
    texts: Sequence[str],
    styles: Sequence[Style],
    columns: Sequence[Column],
    widths: Sequence[int],
    gap: int,
    folded: bool,
) -> Iterator[Line]:
    cells = [fold(text, max(w, _NARROWEST)) if folded else [text] for text, w in zip(texts, widths, strict=True)]
    for n in range(max(map(len, cells), default=0)):
        parts = [cell[n] if n < len(cell) else "" for cell in cells]
        line: list[tuple[str, Style]] = []
        for i, (part, w, column) in enumerate(zip(parts, widths, columns, strict=True)):
            padding = " " * (w - width_of(part))
            before, after = (padding, "") if column.right else ("", padding)
            line += [(" " * gap if i else "", None), (before, None), (part, styles[i]), (after, None)]
        yield _stripped(line)


def _stripped(line: Sequence[tuple[str, Style]]) -> Line:
    """Without blanks at the end."""
    end = next((i for i in range(len(line), 0, -1) if line[i - 1][0].strip()), 0)
    kept = [(text, style) for text, style in line[:end] if text]
    if kept:
        kept[-1] = (kept[-1][0].rstrip(), kept[-1][1])
    return tuple(kept)


def _blocks(
    head: Sequence[str], rows: Sequence[Sequence[Cell]], texts: Sequence[Sequence[str]], width: int
) -> Iterator[Line]:
    """Each row by itself: a line for each of its cells."""
    label = max(map(width_of, head))
    room = width - label - 2
    for n, (row, shown) in enumerate(zip(rows, texts, strict=True)):
        if n:
            yield ()
        for heading, cell, text in zip(head, row, shown, strict=True):
            if room < label:
                yield from (((line, cell.tone),) for line in fold(f"{heading}: {text}", width))
                continue
            for k, line in enumerate(fold(text, room)):
                name = "" if k else heading
                yield _stripped([(name, "heading"), (" " * (label - width_of(name) + 2), None), (line, cell.tone)])


def fold(text: str, width: int) -> list[str]:
    """`text` in lines of at most `width` columns (2 or more), broken between words where that is possible."""
    folded = []
    rest = printable(text)
    while (end := _break(rest, width)) < len(rest):
        folded.append(rest[:end].rstrip())
        rest = rest[end:].lstrip()
        # What begins a line may be a command only now; see text.printable.
        rest = f"\\{rest}" if rest.startswith("::") else rest
    return [*folded, rest.rstrip()]


def _break(text: str, width: int) -> int:
    """How many characters of `text` go on a line: all where they fit, else at least one."""
    fits, wide = 0, 0
    # A blank at the end may stand outside.
    while fits < len(text) and wide <= width:
        wide += width_of(text[fits])
        fits += 1
    while fits > 1 and width_of(text[:fits].rstrip()) > width:
        fits -= 1
    if fits == len(text):
        return fits
    joints = [m.start() for m in _JOINT.finditer(text, 0, fits + 1) if 0 < m.start() <= fits]
    return joints[-1] if joints else fits


def _cut(text: str) -> str:
    """What a terminal shows of a cell."""
    if width_of(text) <= _WIDEST:
        return text
    while width_of(text) >= _WIDEST:
        text = text[: _WIDEST - 1] if len(text) >= _WIDEST else text[:-1]
    return text + "…"


def _shown(text: str) -> str:
    """One line that is seen, whatever it was made of."""
    return printable(one_line(text)).replace("\t", " ")
