"""Headings and fenced code of Markdown, line by line: each is looked at once, so the time is linear in the text.

Of CommonMark's blocks it knows those that headings and fences may stand in or beside: quotes, lists, indented code,
HTML, paragraphs. Text inside of lines has no meaning here; a parser of all of Markdown takes minutes for a megabyte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

# What is nested takes time for each level: deeper ones are text.
_MOST_CONTAINERS = 20
_HEADING = re.compile(r"(#{1,6})(?=[ \t]|$)")
_FENCE = re.compile(r"`{3,}(?=[^`]*$)|~{3,}")
_UNDERLINE = re.compile(r"(=+|-+)[ \t]*$")
_RULE = re.compile(r"(?:(?:\*[ \t]*+){3,}+|(?:-[ \t]*+){3,}+|(?:_[ \t]*+){3,}+)$")
_ITEM = re.compile(r"(?:[-+*]|(\d{1,9})[.)])(?=[ \t]|$)")
_INDENT = re.compile(r"[ \t]*")
_TAGS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|"
    "fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|"
    "menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|"
    "track|ul"
)
# How HTML begins, and what ends it: a blank line where there is no pattern.
_HTML: tuple[tuple[re.Pattern[str], re.Pattern[str] | None], ...] = (
    (
        re.compile(r"<(?:script|pre|style|textarea)(?=\s|>|$)", re.I),
        re.compile("</(?:script|pre|style|textarea)>", re.I),
    ),
    (re.compile("<!--"), re.compile("-->")),
    (re.compile(r"<\?"), re.compile(r"\?>")),
    (re.compile("<![A-Z]"), re.compile(">")),
    (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>")),
    (re.compile(rf"</?(?:{_TAGS})(?=\s|/?>|$)", re.I), None),
)
# Any other tag, where it is all of the line and no paragraph goes before.
_TAG_ALONE = re.compile(r"(?:<[a-z][a-z0-9-]*(?:\s[^<>]*|/)?>|</[a-z][a-z0-9-]*\s*>)\s*$", re.I)
_QUOTE = -1  # as a container; other ones are items of lists, by how far their text is indented


@dataclass(frozen=True)
class Heading:
    level: int
    title: str  # as it is written


@dataclass(frozen=True)
class Fenced:
    """Code between fences. A block that is never closed ends with what it stands in."""

    text: str


def blocks(text: str) -> Iterator[Heading | Fenced]:
    """The headings and fenced blocks of a document, in order."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd").split("\n")
    ends_in_line = lines[-1] != ""
    if not ends_in_line:
        lines.pop()
    reader = _Reader()
    for line in lines:
        # Most lines are code.
        if reader.marker and not reader.containers and reader.marker[0] not in line:
            reader.code.append(_unindented(line, reader.indent))
        else:
            yield from reader.take(line)
    yield from reader.end(cut=ends_in_line)


@dataclass
class _Reader:
    """Which blocks are open."""

    containers: list[int] = field(default_factory=list)
    marker: str = ""  # of the fence that is open
    indent: int = 0  # of that fence
    code: list[str] = field(default_factory=list)
    in_html: bool = False
    html_end: re.Pattern[str] | None = None
    paragraph: list[str] = field(default_factory=list)

    def take(self, line: str) -> Iterator[Heading | Fenced]:
        """What is complete with this line."""
        if not line and not self.containers and not self.in_html:
            self.paragraph = []  # all that a blank line does here: those of code do not come here
            return
        rest, matched = self._enter(line)
        if matched < len(self.containers):
            if self.paragraph and not _begins_block(rest):
                self.paragraph.append(rest)
                return
            yield from self.end()
            del self.containers[matched:]
        if self.marker:
            if self._is_end_of_fence(rest):
                yield from self.end()
            else:
                self.code.append(_unindented(rest, self.indent))
        elif self.in_html:
            self._html(rest)
        else:
            yield from self._block(self._open_containers(rest))

    def end(self, *, cut: bool = False) -> Iterator[Fenced]:
        """End what is open inside of the containers; `cut` where the last line has no line end."""
        if self.marker:
            yield Fenced("\n".join(self.code) + ("\n" if self.code and not cut else ""))
        self.marker, self.code, self.in_html, self.paragraph = "", [], False, []

    def _enter(self, line: str) -> tuple[str, int]:
        """The line inside of those containers that it is in, and how many they are."""
        for n, container in enumerate(self.containers):
            columns, at = _indentation(line)
            if container == _QUOTE:
                if columns > 3 or line[at : at + 1] != ">":
                    return line, n
                line = _unindented(_expanded(line, columns + 1, at + 1), 1)
            elif at == len(line) or columns >= container:
                line = _unindented(line, container)
            else:
                return line, n
        return line, len(self.containers)

    def _open_containers(self, line: str) -> str:
        """The line inside of the containers that begin in it."""
        while len(self.containers) < _MOST_CONTAINERS:
            columns, at = _indentation(line)
            if columns > 3:
                break
            if line[at : at + 1] == ">":
                self.paragraph = []
                self.containers.append(_QUOTE)
                line = _unindented(_expanded(line, columns + 1, at + 1), 1)
                continue
            item = _ITEM.match(line, at)
            if not item or _RULE.match(line, at) or (self.paragraph and not _interrupts(item)):
                break
            if self.paragraph and _UNDERLINE.match(line, at):
                break
            self.paragraph = []
            width = columns + item.end() - at
            inner = _expanded(line, width, item.end())
            spaces, start = _indentation(inner)
            # Code that is indented, and nothing at all, begin one column after the mark.
            spaces = 1 if spaces > 4 or start == len(inner) else spaces
            self.containers.append(width + spaces)
            line = _unindented(inner, spaces)
        return line

    def _block(self, line: str) -> Iterator[Heading | Fenced]:
        columns, at = _indentation(line)
        if at == len(line):
            self.paragraph = []
        elif columns > 3:
            if self.paragraph:
                self.paragraph.append(line)
        elif heading := _HEADING.match(line, at):
            self.paragraph = []
            yield Heading(len(heading[1]), _title(line[heading.end() :]))
        elif fence := _FENCE.match(line, at):
            self.paragraph = []
            self.marker, self.indent = fence[0], columns
        elif self.paragraph and (underline := _UNDERLINE.match(line, at)):
            title = "\n".join(self.paragraph).strip()
            self.paragraph = []
            yield Heading(1 if underline[1][0] == "=" else 2, title)
        elif _RULE.match(line, at):
            self.paragraph = []
        elif (html := _html_at(line, at)) or (not self.paragraph and _TAG_ALONE.match(line, at)):
            self.paragraph = []
            self.in_html, self.html_end = True, html[1] if html else None
            self._html(line)
        else:
            self.paragraph.append(line)

    def _html(self, line: str) -> None:
        """Inside of HTML, which may end here."""
        self.in_html = not (self.html_end.search(line) if self.html_end else not line.strip(" \t"))

    def _is_end_of_fence(self, line: str) -> bool:
        columns, at = _indentation(line)
        mark = line[at:].rstrip(" \t")
        return columns < 4 and len(mark) >= len(self.marker) and not mark.strip(self.marker[0])


def _begins_block(line: str) -> bool:
    """Whether the line ends a paragraph that it is not indented for."""
    columns, at = _indentation(line)
    if at == len(line):
        return True
    if columns > 3:
        return False
    item = _ITEM.match(line, at)
    found = line[at] == ">" or _HEADING.match(line, at) or _FENCE.match(line, at) or _RULE.match(line, at)
    return bool(found or (item and _interrupts(item)) or _html_at(line, at))


def _interrupts(item: re.Match[str]) -> bool:
    """Whether an item of a list may follow on a paragraph without a blank line."""
    return item[1] in (None, "1") and bool(item.string[item.end() :].strip(" \t"))


def _html_at(line: str, at: int) -> tuple[re.Pattern[str], re.Pattern[str] | None] | None:
    if line[at] != "<":
        return None
    return next((kind for kind in _HTML if kind[0].match(line, at)), None)


def _title(text: str) -> str:
    """Of a heading, without the marks that may close it."""
    text = text.strip(" \t")
    bare = text.rstrip("#")
    return bare.rstrip(" \t") if not bare or bare[-1] in " \t" else text


def _indentation(line: str) -> tuple[int, int]:
    """Of a line, in columns and in characters."""
    if line[:1] not in (" ", "\t"):
        return 0, 0
    found = _INDENT.match(line)
    assert found
    white = found[0]
    return (len(white.expandtabs(4)) if "\t" in white else len(white)), len(white)


def _expanded(line: str, column: int, at: int) -> str:
    """What stands from the character `at` on, which is in `column`, with spaces for the tabs that it begins with."""
    if line[at : at + 1] not in (" ", "\t"):
        return line[at:]
    found = _INDENT.match(line, at)
    assert found
    white = (" " * column + found[0]).expandtabs(4)[column:]
    return white + line[found.end() :]


def _unindented(line: str, columns: int) -> str:
    """Without up to so many columns of white space at its beginning."""
    if columns <= 0 or line[:1] not in (" ", "\t"):
        return line
    if line[:columns].isspace() and "\t" not in line[:columns]:
        return line[columns:]
    found = _INDENT.match(line)
    assert found
    white = found[0].expandtabs(4)
    return white[columns:] + line[found.end() :]
