"""A part of the guidelines that fits into a file of limited size: whole rules, the most useful ones. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from convex_evals.guidelines.document import Guidelines, Rule

# Rules by their places in `Guidelines.rules`.
Kept = frozenset[int]


@dataclass(frozen=True)
class _Part:
    """A heading or a rule, as it stands in the document."""

    place: int  # among all headings and rules
    text: str
    is_item: bool = False  # of a list
    is_title: bool = False  # of the document


def ranked(guidelines: Guidelines) -> list[int]:
    """All rules, the most useful first.

    First what introduces the document, above its first section, then the rules that most evals name; among those that
    as many evals name, the earlier ones: a document begins with what every task needs.
    """
    rules = guidelines.rules

    def key(place: int) -> tuple[bool, int, int]:
        rule = rules[place]
        return bool(guidelines.section_of(rule).path), -len(rule.evals), place

    return sorted(range(len(rules)), key=key)


def most_that_fit(order: Sequence[int], fits: Callable[[Kept], bool]) -> Kept | None:
    """As many of the first rules of `order` as fit; None where not even a file without rules does.

    A larger limit never leaves out what a smaller one keeps. If `fits` takes some of them, it must take fewer.
    """
    if fits(frozenset(order)):
        return frozenset(order)
    # All rules are not tried again: a file that has them all says so in fewer words.
    number = bisect_left(range(len(order)), True, key=lambda n: not fits(frozenset(order[:n]))) - 1
    return None if number < 0 else frozenset(order[:number])


def compose(guidelines: Guidelines, kept: Collection[int], note: str) -> str:
    """The document with these rules alone, and without sections that have none; `note` stands below its title."""
    text, above = "", None
    for part in _parts(guidelines, kept):
        text = _joined(text, above, part)
        above = part
        if part.is_title:
            text, above, note = f"{text.rstrip()}\n\n{note}\n\n", None, ""
    return f"{note}\n\n{text}".strip() + "\n"


def title_of(guidelines: Guidelines) -> str:
    """Of the document: its only first-level heading. Empty where it has none."""
    return next((section.title for section in guidelines.sections if section.title and not section.path), "")


def _parts(guidelines: Guidelines, kept: Collection[int]) -> list[_Part]:
    """The headings and rules that stay, in their order."""
    by_section: list[list[int]] = [[] for _ in guidelines.sections]
    for place, rule in enumerate(guidelines.rules):
        by_section[rule.section].append(place)
    needed = _needed(guidelines, [guidelines.rules[place] for place in kept])
    parts, place = [], 0
    for i, section in enumerate(guidelines.sections):
        if i in needed or not section.path:
            parts.append(_Part(place, section.source, is_title=bool(section.title) and not section.path))
        place += 1
        for own in by_section[i]:
            if own in kept:
                rule = guidelines.rules[own]
                parts.append(_Part(place, rule.source, rule.wording != rule.text))
            place += 1
    return [part for part in parts if part.text]


def _needed(guidelines: Guidelines, rules: Collection[Rule]) -> set[int]:
    """The sections of these rules, and those that they stand in."""
    last: dict[tuple[str, ...], int] = {}
    above: list[set[int]] = []
    for i, section in enumerate(guidelines.sections):
        last[section.path] = i
        outer = {last[section.path[:n]] for n in range(1, len(section.path)) if section.path[:n] in last}
        above.append({i} | outer)
    return {i for rule in rules for i in above[rule.section]}


def _joined(text: str, above: _Part | None, part: _Part) -> str:
    """Without what stood between them, two paragraphs must not become one."""
    if above is None or part.place == above.place + 1:
        return text + part.text
    gap = "\n" if above.is_item and part.is_item else "\n\n"
    return f"{text.rstrip()}{gap}{part.text}"
