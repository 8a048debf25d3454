"""Two wordings as one text: the words that stayed, went and came."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from convex_evals.inputs.bounded_diff import matcher

_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")
_FENCE = re.compile(r"^[ \t>]*(?:```|~~~)", re.MULTILINE)
MOST_COMPARED = 2_000_000  # pairs of words; longer texts are compared by lines
_Token = tuple[str, str]  # what is compared, what is shown
_Step = tuple[str, int, int, int, int]  # as `difflib` has them: tag, from and to in the old and in the new text


@dataclass(frozen=True)
class Span:
    """Words that stayed, went or came."""

    kind: str  # `same`, `removed` or `added`
    text: str


def word_diff(before: str, after: str) -> tuple[Span, ...]:
    """Both texts as one: what stayed (as it stands in `after`), what went and what came.

    Line ends within a paragraph mean nothing, so a text that was only rewrapped has no changed words.
    """
    old, new = _tokens(before), _tokens(after)
    head, tail = _count_common_ends(old, new) if len(old) * len(new) > MOST_COMPARED else (0, 0)
    if (len(old) - head - tail) * (len(new) - head - tail) > MOST_COMPARED:
        old, new = _lines(before), _lines(after)
        head, tail = _count_common_ends(old, new)
    keys = [[key for key, _ in side[head : len(side) - tail]] for side in (old, new)]
    found = matcher(keys[0], keys[1]).get_opcodes()
    steps: list[_Step] = [(tag, i1 + head, i2 + head, j1 + head, j2 + head) for tag, i1, i2, j1, j2 in found]
    if head:
        steps.insert(0, ("equal", 0, head, 0, head))
    if tail:
        steps.append(("equal", len(old) - tail, len(old), len(new) - tail, len(new)))
    spans: list[Span] = []
    for tag, i1, i2, j1, j2 in _join_islands(steps, new):
        if tag == "equal":
            spans.append(Span("same", _text(new[j1:j2])))
        else:
            spans += [Span("removed", _text(old[i1:i2]))] if i1 < i2 else []
            spans += [Span("added", _text(new[j1:j2]))] if j1 < j2 else []
    return tuple(spans)


def excerpts(words: Sequence[Span], context: int) -> Iterator[Span]:
    """The same words, of what stayed only as many characters as `context` next to what changed."""
    for n, part in enumerate(words):
        head = part.text[:context] if n else ""
        tail = part.text[-context:] if n < len(words) - 1 else ""
        if part.kind != "same" or len(part.text) <= len(head) + len(tail) + 3:
            yield part
        else:
            yield Span("same", f"{head}...{tail}")


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    fenced = False
    for line in text.splitlines(keepends=True):
        fence = bool(_FENCE.match(line))
        exact = fenced or fence
        fenced ^= fence
        found += [(part if exact or not part.isspace() else " ", part) for part in _TOKEN.findall(line)]
    return _collapse_spaces(found)


def _lines(text: str) -> list[_Token]:
    return [(line, line) for line in text.splitlines(keepends=True)]


def _count_common_ends(old: Sequence[_Token], new: Sequence[_Token]) -> tuple[int, int]:
    """How many tokens both begin with, and how many of the rest both end with."""
    most = min(len(old), len(new))
    head = next((n for n in range(most) if old[n][0] != new[n][0]), most)
    tail = next((n for n in range(most - head) if old[-1 - n][0] != new[-1 - n][0]), most - head)
    return head, tail


def _collapse_spaces(tokens: Sequence[_Token]) -> list[_Token]:
    """A line end and the indentation of the next line are one space."""
    found: list[_Token] = []
    for key, part in tokens:
        if key == " " and found and found[-1][0] == " ":
            found[-1] = (" ", found[-1][1] + part)
        else:
            found.append((key, part))
    return found


def _text(tokens: Iterable[_Token]) -> str:
    return "".join(part for _, part in tokens)


def _join_islands(steps: Sequence[_Step], new: Sequence[_Token]) -> list[_Step]:
    """Without islands: a space or a mark that stayed between changed words is shown as part of the change."""
    found: list[_Step] = []
    for n, (tag, i1, i2, j1, j2) in enumerate(steps):
        island = tag == "equal" and 0 < n < len(steps) - 1 and not re.search(r"\w", _text(new[j1:j2]))
        kind = "replace" if island else tag
        if found and kind != "equal" and found[-1][0] != "equal":
            _, a1, _, b1, _ = found[-1]
            found[-1] = ("replace", a1, i2, b1, j2)
        else:
            found.append((kind, i1, i2, j1, j2))
    return found
