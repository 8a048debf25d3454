"""From what was expected to what the model wrote: only the lines that have to do with the failure. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import PurePosixPath

from convex_evals.inputs.bounded_diff import matcher

MAX_LINES = 60
_AROUND = 4  # lines shown before and after
_LONGEST_FILE = 2_000  # lines; a longer one is not compared, it takes too long
# Anything may be in a message: each repetition has a bound, so that reading it takes no time.
_PLACE = re.compile(r"(?<![\w@./-])([\w@./-]{1,200}\.(?:tsx?|jsx?|json)):(\d{1,7})")
_FUNCTION = re.compile(r"(?<![\w/])([\w/]{1,100}):([A-Za-z_]\w{0,60})\b")
_MOST_TEXT = 20_000  # characters of one message that are looked at
# The values in a validator's complaint are data of the test, not names.
_VALUES = re.compile(r"^(?:Object|Value|Validator): .*$", re.MULTILINE)
_DECLARED = re.compile(
    r"(?:export )?(?:default |declare )?(?:async )?(?:const|let|var|function\*?|class|type|interface|enum)\s+([\w$]+)"
)
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_WORD = re.compile(r"""[`'"]([A-Za-z_$][\w$]{2,40})[`'"]""")


@dataclass(frozen=True)
class Focus:
    """What a failing check points at."""

    lines: Mapping[str, Set[int]]  # by path of the reply
    functions: Mapping[str, Set[str]]  # likewise
    words: Set[str]


@dataclass(frozen=True)
class _Line:
    mark: str  # " ", "-" or "+"
    text: str
    old: int  # numbers of the line in both files, of the next one where it is not there
    new: int


def focus_of(messages: Sequence[str], files: Mapping[str, str]) -> Focus:
    """The places and names in `messages` that occur in `files`."""
    lines: dict[str, set[int]] = {}
    functions: dict[str, set[str]] = {}
    words: set[str] = set()
    modules = {str(PurePosixPath(p).with_suffix("")): p for p in files}
    for message in (_VALUES.sub("", m[:_MOST_TEXT]) for m in messages):
        for path, number in _PLACE.findall(message):
            if path in files:
                lines.setdefault(path, set()).add(int(number))
        for module, function in _FUNCTION.findall(message):
            if path := modules.get(f"convex/{module}"):
                functions.setdefault(path, set()).add(function)
        words |= set(_WORD.findall(message))
    known = words & {name for text in files.values() for name in _NAME.findall(text)}
    return Focus(lines, functions, known)


def focused_diff(
    expected: Mapping[str, str] | None, files: Mapping[str, str], focus: Focus, limit: int = MAX_LINES
) -> tuple[str, str]:
    """A unified diff of at most `limit` lines, and what it leaves out, in words.

    Where the focus names lines, these alone; else the changes in its functions; else those that have one of its words;
    else all of them.
    """
    if not files:
        return "", "The reply has no files."
    known = expected or {}
    paths = sorted({*known, *files}, key=lambda p: _rank(p, focus))
    changed = [p for p in paths if known.get(p) != files.get(p)]
    pairs = {p: list(_compare(known.get(p), files.get(p))) for p in paths if p in focus.lines or p in changed}
    anchors = _anchors(pairs, focus)
    chosen = {p: _window(pairs[p], at) for p, at in anchors.items() if at}
    shown: list[str] = []
    for path, windows in chosen.items():
        ranges = [(start, _end(pairs[path], start, end)) for start, end in windows]
        part = [f"--- {_name(known, path, 'expected')}", f"+++ {_name(files, path, 'response')}"]
        for start, end in ranges:
            piece = pairs[path][start:end]
            old, new = sum(x.mark != "+" for x in piece), sum(x.mark != "-" for x in piece)
            part.append(f"@@ -{piece[0].old},{old} +{piece[0].new},{new} @@")
            part += [x.mark + x.text for x in piece]
        if shown and len(shown) + len(part) > limit:
            break
        shown += part
    cut = len(shown) > limit
    left = [p for p in changed if f"+++ response/{p}" not in shown and f"--- expected/{p}" not in shown]
    cut = cut or any(p in chosen for p in left) or any(len(pairs[p]) > _LONGEST_FILE for p in pairs)
    note = _note([p for p in left if p not in chosen], expected is None, cut)
    return "\n".join(shown[:limit]), note


def _rank(path: str, focus: Focus) -> tuple[bool, bool, bool, str]:
    """What the focus names comes first: there may be no room for the rest."""
    return path not in focus.lines, path not in focus.functions, path == "package.json", path


def _end(lines: Sequence[_Line], start: int, end: int) -> int:
    """Without the unchanged blank lines at the end."""
    while end > start + 1 and lines[end - 1].mark == " " and not lines[end - 1].text.strip():
        end -= 1
    return end


def _name(side: Mapping[str, str], path: str, label: str) -> str:
    return f"{label}/{path}" if path in side else "/dev/null"


def _note(left: Sequence[str], nothing_expected: bool, cut: bool) -> str:
    parts = []
    if nothing_expected:
        parts.append("The suite has no answer to compare with any more.")
    if cut:
        parts.append("Shortened.")
    if left:
        more = f" and {len(left) - 4} more" if len(left) > 4 else ""
        parts.append(f"Not shown, since nothing points there: {', '.join(left[:4])}{more}.")
    return " ".join(parts)


def _compare(before: str | None, after: str | None) -> Iterator[_Line]:
    old, new = (before or "").splitlines(), (after or "").splitlines()
    if before is None or len(old) > _LONGEST_FILE or len(new) > _LONGEST_FILE:
        yield from (_Line("+", text, 1, n) for n, text in enumerate(new[: 10 * _LONGEST_FILE], 1))
        return
    for tag, a, b, c, d in matcher(old, new).get_opcodes():
        if tag == "equal":
            yield from (_Line(" ", old[a + i], a + i + 1, c + i + 1) for i in range(b - a))
        else:
            yield from (_Line("-", old[i], i + 1, c + 1) for i in range(a, b))
            yield from (_Line("+", new[i], b + 1, i + 1) for i in range(c, d))


def _anchors(pairs: Mapping[str, Sequence[_Line]], focus: Focus) -> dict[str, list[int]]:
    """By path, the lines of its comparison that matter."""
    if focus.lines:
        return {
            p: [i for i, x in enumerate(lines) if x.mark != "-" and x.new in focus.lines.get(p, ())]
            for p, lines in pairs.items()
        }
    if focus.functions:
        found = {p: list(_changes_in(lines, focus.functions.get(p, frozenset()))) for p, lines in pairs.items()}
        if any(found.values()):
            return found
    if focus.words:
        found = {
            p: [i for i, x in enumerate(lines) if x.mark != " " and not focus.words.isdisjoint(_NAME.findall(x.text))]
            for p, lines in pairs.items()
        }
        if any(found.values()):
            return found
    return {p: [i for i, x in enumerate(lines) if x.mark != " "] for p, lines in pairs.items()}


def _changes_in(lines: Sequence[_Line], functions: Collection[str]) -> Iterator[int]:
    inside = False
    for i, line in enumerate(lines):
        if declared := _DECLARED.match(line.text):
            inside = declared[1] in functions
        if inside and line.mark != " ":
            yield i


def _window(lines: Sequence[_Line], at: Sequence[int]) -> list[tuple[int, int]]:
    """Ranges around the lines `at`, with what stood there before them, joined where they touch."""
    before: list[int] = []  # of each line, the last one up to it that is not new
    for i, line in enumerate(lines):
        before.append(before[-1] if line.mark == "+" and before else i)
    wanted: set[int] = set()
    for i in at:
        wanted.update(range(max(0, i - _AROUND), min(len(lines), i + _AROUND + 1)))
        removed = before[i]
        if lines[removed].mark == "-":
            wanted.update(range(max(0, removed - 2 * _AROUND), removed + 1))
    ranges: list[tuple[int, int]] = []
    for i in sorted(wanted):
        if ranges and i <= ranges[-1][1]:
            ranges[-1] = (ranges[-1][0], i + 1)
        else:
            ranges.append((i, i + 1))
    return ranges
