"""The ids that `-f` means, of evals or of sessions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from convex_evals.text import compiled, shortened

_EXCLUDES = "!"  # begins a pattern of what is left out
_LONGEST = 300  # characters of options that are told


@dataclass(frozen=True)
class IdFilter:
    """Ids that match any of `wanted`, or all where there is none, without those that match any of `unwanted`."""

    wanted: tuple[re.Pattern[str], ...] = ()
    unwanted: tuple[re.Pattern[str], ...] = ()

    def matches(self, name: str) -> bool:
        if any(pattern.search(name) for pattern in self.unwanted):
            return False
        return not self.wanted or any(pattern.search(name) for pattern in self.wanted)


def id_filter(patterns: Sequence[str], option: str = "-f") -> IdFilter:
    """What `patterns` mean, each a regular expression that is searched, `!REGEX` for what is left out.

    Raises `UserError` where one is no regular expression.
    """
    wanted = [compiled(option, p) for p in patterns if not p.startswith(_EXCLUDES)]
    unwanted = [compiled(option, p, p.removeprefix(_EXCLUDES)) for p in patterns if p.startswith(_EXCLUDES)]
    return IdFilter(tuple(wanted), tuple(unwanted))


def selection_words(selection: Mapping[str, Sequence[str]]) -> str:
    """Say what was selected by, values by their option, as on a command line: `-f 'a' -f '!b' --tag 'c'`."""
    words = [f"{option} {value!r}" for option, values in selection.items() for value in values]
    return shortened(" ".join(words), _LONGEST)


def pattern_of(ids: Sequence[str]) -> str:
    """A regular expression for exactly these ids, as `-f` takes it."""
    return "^(" + "|".join(re.escape(i).replace(r"\-", "-") for i in ids) + ")$"
