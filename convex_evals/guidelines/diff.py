"""What changed between two texts of guidelines: rules added, removed, changed word by word, moved. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from heapq import nlargest

from convex_evals.guidelines.diff_words import MOST_COMPARED, Span, word_diff
from convex_evals.guidelines.document import Guidelines, Rule, read_guidelines
from convex_evals.inputs.bounded_diff import matcher

# How alike, of 1, a removed and an added rule are to be one that changed: in the same section, and elsewhere.
_ALIKE, _ALIKE_ELSEWHERE = 0.4, 0.6
_CANDIDATES = 5  # of each rule that are looked at closely
_MANY_PAIRS = 40_000  # of rules; of more, only neighbours are looked at


class ChangeKind(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    MOVED = "moved"


@dataclass(frozen=True)
class RuleChange:
    """One rule that is not what, or where, it was."""

    kind: ChangeKind
    before: Rule | None  # None: added
    after: Rule | None  # None: removed
    moved: bool = False  # also true of a changed rule that stands elsewhere

    @property
    def rule(self) -> Rule:
        """As it is now, or was last."""
        found = self.after or self.before
        assert found is not None
        return found

    @property
    def evals(self) -> tuple[str, ...]:
        """Those that it names, or named."""
        named = [e for rule in (self.before, self.after) if rule for e in rule.evals]
        return tuple(dict.fromkeys(named))

    @cached_property
    def words(self) -> tuple[Span, ...]:
        """The wording before and after as one."""
        return word_diff(self.before.wording if self.before else "", self.after.wording if self.after else "")

    @property
    def reworded(self) -> bool:
        """Whether words differ, and not just line ends, indentation or the mark of a list."""
        return any(span.kind != "same" for span in self.words)


@dataclass(frozen=True)
class SectionChange:
    kind: ChangeKind  # CHANGED: it has another title
    before: str | None
    after: str | None


@dataclass(frozen=True)
class GuidelineDiff:
    before: Guidelines
    after: Guidelines
    changes: tuple[RuleChange, ...]  # in the order of the text
    sections: tuple[SectionChange, ...]

    @property
    def same_for_models(self) -> bool:
        return self.before.given == self.after.given

    @property
    def comments_changed(self) -> bool:
        """Whether texts that are the same for models are not the same for people."""
        return self.same_for_models and self.before.text.strip() != self.after.text.strip()

    def count(self, kind: ChangeKind) -> int:
        return sum(change.kind is kind for change in self.changes)

    def section(self, change: RuleChange) -> str:
        """Where the rule stands, or stood."""
        of = self.after if change.after else self.before
        return of.section_of(change.rule).name


def diff_guidelines(before: str, after: str) -> GuidelineDiff:
    """What leads from one text to the other."""
    old, new = read_guidelines(before), read_guidelines(after)
    pairs = _pair_equal_rules(old, new)
    homes = _pair_sections(old, new, pairs)
    pairs |= _pair_changed_rules(old, new, pairs, homes)
    stayed = _find_unmoved(old, new, pairs, homes)
    changes = [(i, _change(old.rules[i], new.rules[j], i not in stayed)) for i, j in sorted(pairs.items())]
    found = [(float(pairs[i]), c) for i, c in changes if c]
    back = set(pairs.values())
    found += [(float(j), RuleChange(ChangeKind.ADDED, None, r)) for j, r in enumerate(new.rules) if j not in back]
    place = -1.0
    for i, rule in enumerate(old.rules):
        if i in pairs:
            place = max(place, float(pairs[i])) if i not in stayed else float(pairs[i])
        else:
            found.append((place + 0.5, RuleChange(ChangeKind.REMOVED, rule, None)))
    found.sort(key=lambda item: item[0])
    return GuidelineDiff(old, new, tuple(c for _, c in found), tuple(_section_changes(old, new, homes)))


def _change(before: Rule, after: Rule, moved: bool) -> RuleChange | None:
    if before.text != after.text:
        return RuleChange(ChangeKind.CHANGED, before, after, moved)
    return RuleChange(ChangeKind.MOVED, before, after, True) if moved else None


def _pair_equal_rules(old: Guidelines, new: Guidelines) -> dict[int, int]:
    """Rules of the same wording: those of the same section first, then wherever they are."""
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for by_section in (True, False):
        places: dict[tuple[object, str], list[int]] = {}
        for j, rule in enumerate(new.rules):
            if j not in taken:
                places.setdefault((by_section and new.section_of(rule).path, rule.text), []).append(j)
        for i, rule in enumerate(old.rules):
            there = places.get((by_section and old.section_of(rule).path, rule.text))
            if i not in pairs and there:
                pairs[i] = there.pop(0)
                taken.add(pairs[i])
    return pairs


def _pair_sections(old: Guidelines, new: Guidelines, pairs: Mapping[int, int]) -> dict[int, int]:
    """Sections of the same title, and those that got another one: most of what they held went to one new section."""
    homes: dict[int, int] = {0: 0}
    by_path: dict[tuple[str, ...], list[int]] = {}
    for j, section in enumerate(new.sections[1:], 1):
        by_path.setdefault(section.path or (section.title,), []).append(j)
    for i, section in enumerate(old.sections[1:], 1):
        there = by_path.get(section.path or (section.title,))
        if there:
            homes[i] = there.pop(0)
    taken = set(homes.values())
    for i in range(1, len(old.sections)):
        own = [n for n, rule in enumerate(old.rules) if rule.section == i]
        went = Counter(new.rules[pairs[n]].section for n in own if n in pairs)
        best, count = went.most_common(1)[0] if went else (0, 0)
        if i not in homes and best not in taken and count * 2 >= len(own):
            homes[i] = best
            taken.add(best)
    return homes


def _pair_changed_rules(
    old: Guidelines, new: Guidelines, pairs: Mapping[int, int], homes: Mapping[int, int]
) -> dict[int, int]:
    """Of the rules that are left on both sides, those that are alike; the most alike first."""
    back = set(pairs.values())
    left = {i: _words(r.text) for i, r in enumerate(old.rules) if i not in pairs}
    right = {j: _words(r.text) for j, r in enumerate(new.rules) if j not in back}
    alike = []
    for i, candidates in _candidates(left, right).items():
        for j in candidates:
            near = homes.get(old.rules[i].section) == new.rules[j].section
            ratio = matcher(left[i], right[j]).ratio()
            if ratio >= (_ALIKE if near else _ALIKE_ELSEWHERE):
                alike.append((ratio + (0.2 if near else 0), -abs(i - j), i, j))
    found: dict[int, int] = {}
    for _, _, i, j in sorted(alike, reverse=True):
        if i not in found and j not in found.values():
            found[i] = j
    return found


def _candidates(left: Mapping[int, Sequence[str]], right: Mapping[int, Sequence[str]]) -> dict[int, list[int]]:
    """For each text on the left, those on the right that have most words in common with it, in any order.

    Where there are very many, only those at about the same place are looked at.
    """
    counts = {j: Counter(words) for j, words in right.items()}
    window = max(20, _MANY_PAIRS // max(1, len(left)))
    places = list(right)
    found = {}
    for n, (i, words) in enumerate(left.items()):
        own = Counter(words)
        middle = n * len(right) // len(left)
        shares = [
            (2 * sum((own & counts[j]).values()) / (len(words) + len(right[j]) or 1), -abs(i - j), j)
            for j in places[max(0, middle - window // 2) : middle + window // 2 + 1]
        ]
        best = nlargest(_CANDIDATES, (share for share in shares if share[0] >= _ALIKE))
        found[i] = [j for _, _, j in best]
    return found


def _words(text: str) -> list[str]:
    words = text.split()
    return words if len(words) ** 2 <= MOST_COMPARED else text.splitlines()


def _find_unmoved(old: Guidelines, new: Guidelines, pairs: Mapping[int, int], homes: Mapping[int, int]) -> set[int]:
    """The rules that stand where they stood: in the same section, and in the same order as most others of it."""
    by_section: dict[int, list[int]] = {}
    for i, j in sorted(pairs.items()):
        if homes.get(old.rules[i].section) == new.rules[j].section:
            by_section.setdefault(old.rules[i].section, []).append(i)
    return {own[n] for own in by_section.values() for n in _longest_increasing([pairs[i] for i in own])}


def _longest_increasing(numbers: Sequence[int]) -> list[int]:
    """Positions of a longest increasing subsequence."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for n, number in enumerate(numbers):
        at = bisect_left(tails, number)
        before.append(ends[at - 1] if at else -1)
        tails[at : at + 1], ends[at : at + 1] = [number], [n]
    found, n = [], ends[-1] if ends else -1
    while n >= 0:
        found.append(n)
        n = before[n]
    return found[::-1]


def _section_changes(old: Guidelines, new: Guidelines, homes: Mapping[int, int]) -> Iterator[SectionChange]:
    ordered = sorted(homes)
    in_order = {ordered[n] for n in _longest_increasing([homes[i] for i in ordered])}
    for i, section in enumerate(old.sections):
        home = homes.get(i)
        if home is None:
            yield SectionChange(ChangeKind.REMOVED, section.name, None)
        elif section.title != new.sections[home].title:
            yield SectionChange(ChangeKind.CHANGED, section.name, new.sections[home].name)
        elif i not in in_order:
            yield SectionChange(ChangeKind.MOVED, section.name, new.sections[home].name)
    there = set(homes.values())
    yield from (SectionChange(ChangeKind.ADDED, None, s.name) for j, s in enumerate(new.sections) if j not in there)
