"""From what was expected to what the model wrote: only the lines that have to do with the failure. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, repeat
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


# A line of a comparison: " ", "-" or "+", its text, and its numbers in both files, or those of the next line where it
# is not there. Plain tuples, which are made without a call of ours: a site compares a million lines.
_Line = tuple[str, str, int, int]


def focus_of(messages: Sequence[str], files: Mapping[str, str]) -> Focus:
    """The places and names in `messages` that occur in `files`."""
    lines: dict[str, set[int]] = {}
    functions: dict[str, set[str]] = {}
    words: set[str] = set()
    modules = {_module(p): p for p in files}
    for message in (_VALUES.sub("", m[:_MOST_TEXT]) for m in messages):
        for path, number in _PLACE.findall(message):
            if path in files:
                lines.setdefault(path, set()).add(int(number))
        for module, function in _FUNCTION.findall(message):
            if path := modules.get(f"convex/{module}"):
                functions.setdefault(path, set()).add(function)
        words |= set(_WORD.findall(message))
    if words:
        words = words.intersection(chain.from_iterable(map(_NAME.findall, files.values())))
    return Focus(lines, functions, words)


@lru_cache(maxsize=1_000)  # replies to one task have files of the same names
def _module(path: str) -> str:
    return str(PurePosixPath(path).with_suffix(""))


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
            marks = [line[0] for line in piece]
            _, _, old, new = piece[0]
            part.append(f"@@ -{old},{len(marks) - marks.count('+')} +{new},{len(marks) - marks.count('-')} @@")
            part += [mark + text for mark, text, _, _ in piece]
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
    while end > start + 1 and lines[end - 1][0] == " " and not lines[end - 1][1].strip():
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
        shown = new[: 10 * _LONGEST_FILE]
        yield from zip(repeat("+"), shown, repeat(1), range(1, len(shown) + 1))
        return
    for tag, a, b, c, d in _opcodes(old, new):
        if tag == "equal":
            yield from zip(repeat(" "), old[a:b], range(a + 1, b + 1), range(c + 1, d + 1))
        else:
            yield from zip(repeat("-"), old[a:b], range(a + 1, b + 1), repeat(c + 1))
            yield from zip(repeat("+"), new[c:d], repeat(b + 1), range(c + 1, d + 1))


def _opcodes(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """What makes `new` of `old`, as `difflib` says it. Most replies begin and end like the answer."""
    start = _alike(zip(old, new, strict=False))
    end = _alike(zip(reversed(old[start:]), reversed(new[start:]), strict=False))
    last_old, last_new = len(old) - end, len(new) - end
    yield "equal", 0, start, 0, start
    for tag, a, b, c, d in matcher(old[start:last_old], new[start:last_new]).get_opcodes():
        yield tag, start + a, start + b, start + c, start + d
    yield "equal", last_old, len(old), last_new, len(new)


def _alike(pairs: Iterable[tuple[str, str]]) -> int:
    """How many there are before the first that differ."""
    count = 0
    for one, other in pairs:
        if one != other:
            break
        count += 1
    return count


def _anchors(pairs: Mapping[str, Sequence[_Line]], focus: Focus) -> dict[str, list[int]]:
    """By path, the lines of its comparison that matter."""
    if focus.lines:
        return {
            p: [i for i, (mark, _, _, new) in enumerate(lines) if mark != "-" and new in focus.lines.get(p, ())]
            for p, lines in pairs.items()
        }
    if focus.functions:
        found = {p: list(_changes_in(lines, focus.functions.get(p, frozenset()))) for p, lines in pairs.items()}
        if any(found.values()):
            return found
    if focus.words:
        found = {
            p: [i for i in _changes(lines) if not focus.words.isdisjoint(_NAME.findall(lines[i][1]))]
            for p, lines in pairs.items()
        }
        if any(found.values()):
            return found
    return {p: _changes(lines) for p, lines in pairs.items()}


def _changes(lines: Sequence[_Line]) -> list[int]:
    return [i for i, line in enumerate(lines) if line[0] != " "]


def _changes_in(lines: Sequence[_Line], functions: Collection[str]) -> Iterator[int]:
    inside = False
    for i, (mark, text, _, _) in enumerate(lines):
        if declared := _DECLARED.match(text):
            inside = declared[1] in functions
        if inside and mark != " ":
            yield i


def _window(lines: Sequence[_Line], at: Sequence[int]) -> list[tuple[int, int]]:
    """Ranges around the lines `at`, with what stood there before them, joined where they touch."""
    before: list[int] = []  # of each line, the last one up to it that is not new
    for i, line in enumerate(lines):
        before.append(before[-1] if line[0] == "+" and before else i)
    wanted: set[int] = set()
    for i in at:
        wanted.update(range(max(0, i - _AROUND), min(len(lines), i + _AROUND + 1)))
        removed = before[i]
        if lines[removed][0] == "-":
            wanted.update(range(max(0, removed - 2 * _AROUND), removed + 1))
    ranges: list[tuple[int, int]] = []
    for i in sorted(wanted):
        if ranges and i <= ranges[-1][1]:
            ranges[-1] = (ranges[-1][0], i + 1)
        else:
            ranges.append((i, i + 1))
    return ranges
