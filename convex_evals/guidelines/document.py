"""Guidelines as sections and rules. Pure.

A rule is a top-level list item or paragraph, with the code and tables that follow it. It ends at the comment that
names its evals, and maybe its sources: `<!-- evals: 000-x/001-y, ... -->` (`sources.py`). Models never get comments, so
rules are read from what is left without them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from convex_evals.guidelines.sources import Note, read_note
from convex_evals.suite.prompt import comments as find_comments
from convex_evals.suite.prompt import given_guidelines

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_MARK = re.compile(r"^(?:[-*+]|\d+[.)])\s+")
# To Markdown, other white space is text, and may be all that a paragraph has.
_BLANK = " \t\r\n"
# What illustrates the rule above it, and is none by itself.
_ILLUSTRATIONS = {"fence", "code_block", "table_open"}


@dataclass(frozen=True)
class Rule:
    section: int  # its place in `Guidelines.sections`
    source: str  # its lines, and whatever stands between it and what is next
    text: str
    line: int  # where it begins in the file, from 1
    notes: tuple[Note, ...]  # the comments about it

    @property
    def evals(self) -> tuple[str, ...]:
        """That it names."""
        return tuple(dict.fromkeys(name for note in self.notes for name in note.evals))

    @property
    def wording(self) -> str:
        """The text without the mark of a list."""
        return _MARK.sub("", self.text)

    @property
    def headline(self) -> str:
        """Its first line."""
        return self.wording.partition("\n")[0].strip()


@dataclass(frozen=True)
class GuidelinesSection:
    path: tuple[str, ...]  # titles from the outermost on, without that of a document's only first-level heading
    title: str  # empty: what stands before the first heading
    source: str  # the heading, and whatever stands between it and what is next
    line: int  # from 1

    @property
    def name(self) -> str:
        return " › ".join(self.path) or self.title or "(beginning)"


@dataclass(frozen=True)
class Misplaced:
    """A comment that names evals where no rule is above it in its section."""

    line: int
    evals: tuple[str, ...]


@dataclass(frozen=True)
class Guidelines:
    """A text in parts: sections and rules, in order, are all that is left of it without comments."""

    text: str = field(repr=False)
    sections: tuple[GuidelinesSection, ...]  # the first is what stands before the first heading
    rules: tuple[Rule, ...]
    misplaced: tuple[Misplaced, ...]

    @cached_property
    def given(self) -> str:
        """What models get."""
        return given_guidelines(self.text)

    @property
    def source(self) -> str:
        """The text without comments, put together again."""
        rules = defaultdict(list)
        for rule in self.rules:
            rules[rule.section].append(rule.source)
        return "".join(s.source + "".join(rules[i]) for i, s in enumerate(self.sections))

    def section_of(self, rule: Rule) -> GuidelinesSection:
        return self.sections[rule.section]


@dataclass(frozen=True)
class _Comment:
    """A comment that names evals."""

    at: int  # in the text without comments
    origin: int  # in the text
    note: Note


@dataclass
class _Piece:
    """A heading, or a rule."""

    first: int  # line, from 0
    level: int | None = None  # of a heading
    title: str = ""
    ruler: int | None = None  # line of a thematic break below a rule, which is no part of its wording
    after: int = 0  # first line that is no longer part of it


def read_guidelines(text: str) -> Guidelines:
    """The sections and rules of `text`. Never raises, whatever it is."""
    sent, comments, places = _split(text)
    lines = _LINE.findall(sent)
    starts = [0, *accumulate(map(len, lines))]
    pieces = _pieces(sent, starts, [c.at for c in comments])
    for n, piece in enumerate(pieces, 1):
        piece.after = pieces[n].first if n < len(pieces) else len(lines)
    sections = [GuidelinesSection((), "", "".join(lines[: pieces[0].first] if pieces else lines), 1)]
    rules: list[Rule] = []
    placed: set[int] = set()
    for piece, path in zip(pieces, _paths(pieces), strict=True):
        source, (low, high) = "".join(lines[piece.first : piece.after]), (starts[piece.first], starts[piece.after])
        line = places.line_of_kept(low)
        if piece.level is not None:
            sections.append(GuidelinesSection(path, piece.title, source, line))
            continue
        own = [c for c in comments if low < c.at <= high]
        placed.update(c.origin for c in own)
        wording = "".join(lines[piece.first : piece.after if piece.ruler is None else piece.ruler])
        rules.append(Rule(len(sections) - 1, source, wording.strip(_BLANK), line, tuple(c.note for c in own)))
    misplaced = tuple(Misplaced(places.line(c.origin), c.note.evals) for c in comments if c.origin not in placed)
    return Guidelines(text, tuple(sections), tuple(rules), misplaced)


def _split(text: str) -> tuple[str, list[_Comment], _Places]:
    """The text without comments, the comments that name evals, and which lines things stand in."""
    kept: list[str] = []
    comments: list[_Comment] = []
    length, done = 0, 0
    seams: list[tuple[int, int]] = [(0, 0)]
    for start, end in find_comments(text):
        kept.append(text[done:start])
        length += start - done
        done = end
        seams.append((length, done))
        note = read_note(text[start:end])
        if note:
            comments.append(_Comment(length, start, note))
    return "".join([*kept, text[done:]]), comments, _Places(text, seams)


class _Places:
    """Lines in a text of what stands in it, and in what is left of it without comments."""

    def __init__(self, text: str, seams: Sequence[tuple[int, int]]) -> None:
        self._lines = list(accumulate(map(len, _LINE.findall(text))))  # where each one ends
        self._kept = [kept for kept, _ in seams]
        self._origins = [origin for _, origin in seams]

    def line(self, offset: int) -> int:
        """Of an offset in the text, from 1."""
        return bisect_right(self._lines, offset) + 1

    def line_of_kept(self, offset: int) -> int:
        """Of an offset in the text without comments."""
        seam = bisect_right(self._kept, offset) - 1
        return self.line(self._origins[seam] + offset - self._kept[seam])


def _pieces(sent: str, starts: Sequence[int], ends: Sequence[int]) -> list[_Piece]:
    """Headings and rules, in order; a rule ends at each of `ends`, the places of comments that name evals."""
    pieces: list[_Piece] = []
    for kind, first, level, title in _blocks(sent):
        above = pieces[-1] if pieces and pieces[-1].level is None else None
        if kind == "hr":
            if above and above.ruler is None:
                above.ruler = first
        elif level is not None:
            pieces.append(_Piece(first, level, title))
        elif (
            kind not in _ILLUSTRATIONS
            or above is None
            or above.ruler is not None
            or any(starts[above.first] < end <= starts[first] for end in ends)
        ):
            pieces.append(_Piece(first))
    return pieces


def _blocks(sent: str) -> Iterator[tuple[str, int, int | None, str]]:
    """Blocks that stand in no other, and items of such lists: kind, first line, level and title of a heading."""
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").enable("table").disable("inline").parse(sent)
    for i, token in enumerate(tokens):
        item = token.type == "list_item_open" and token.level == 1
        block = token.level == 0 and token.nesting >= 0 and token.type not in ("bullet_list_open", "ordered_list_open")
        if token.map is None or not (item or block):
            continue
        if token.type == "heading_open":
            yield token.type, token.map[0], int(token.tag[1]), tokens[i + 1].content
        else:
            yield token.type, token.map[0], None, ""


def _paths(pieces: Sequence[_Piece]) -> Iterator[tuple[str, ...]]:
    """For each piece, the titles that it stands below, its own included."""
    alone = sum(p.level == 1 for p in pieces) == 1
    open_: list[tuple[int, str]] = []
    for piece in pieces:
        if piece.level is not None:
            level = piece.level
            open_ = [(n, title) for n, title in open_ if n < level] + [(level, piece.title)]
        yield tuple(title for n, title in open_ if not (alone and n == 1))
