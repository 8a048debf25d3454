"""A change of guidelines taken apart: each place that changed, as the old text with that place alone changed. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from convex_evals.guidelines.diff import GuidelineDiff, diff_guidelines
from convex_evals.inputs.bounded_diff import matcher
from convex_evals.suite.prompt import given_guidelines


@dataclass(frozen=True)
class Hunk:
    """Lines that changed together, as `git diff` has them."""

    number: int  # from 1, in the order of the text
    before: str  # all of the old text
    text: str  # the old text with this hunk alone

    @property
    def name(self) -> str:
        return f"hunk {self.number}"

    @cached_property
    def diff(self) -> GuidelineDiff:
        return diff_guidelines(self.before, self.text)


def hunks(before: str, after: str) -> list[Hunk]:
    """The changes that models see, each alone; one that moved lines is two of them."""
    old, new = (text.replace("\r\n", "\n").splitlines(keepends=True) for text in (before, after))
    plain, given = "".join(old), given_guidelines("".join(old))
    texts = ["".join([*old[:i1], *new[j1:j2], *old[i2:]]) for i1, i2, j1, j2 in _changed(old, new)]
    seen = [text for text in texts if given_guidelines(text) != given]
    return [Hunk(number, plain, text) for number, text in enumerate(seen, 1)]


def _changed(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Line ranges of both sides; what only blank lines part belongs together."""
    held: tuple[int, int, int, int] | None = None
    for tag, i1, i2, j1, j2 in matcher(old, new).get_opcodes():
        if tag == "equal":
            if held and "".join(old[i1:i2]).strip():
                yield held
                held = None
        else:
            held = (held[0], i2, held[2], j2) if held else (i1, i2, j1, j2)
    if held:
        yield held
