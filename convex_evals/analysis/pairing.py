"""Two groups of runs paired over evals, told from their summaries alone: many pages need that, and reading every
verdict takes a thousand times as long. What counts is what `cli compare` counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from convex_evals.records import Summary
from convex_evals.stats import EvalPair

# By eval and grade file, whose name says under which rules: passed and scored trials.
_Tallies = dict[tuple[str, str], tuple[int, int]]


def counting_once(runs: Iterable[Summary]) -> list[Summary]:
    """Those of `runs`, newest first, whose replies no newer one counts."""
    found: list[Summary] = []
    counted: set[str] = set()
    for run in runs:
        if not run.replies_of & counted:
            counted |= run.replies_of
            found.append(run)
    return found


def pairs(a: Sequence[Summary], b: Sequence[Summary]) -> list[EvalPair]:
    """The evals whose verdicts mean the same on both sides: of each the rules under which both scored most."""
    before, after = _tallies(a), _tallies(b)
    best: dict[str, str] = {}
    for eval_id, grade in sorted(before.keys() & after.keys()):
        known = best.get(eval_id)
        if known is None or _least(before, after, eval_id, grade) > _least(before, after, eval_id, known):
            best[eval_id] = grade
    return [EvalPair(e, *before[e, g], *after[e, g]) for e, g in best.items()]


def _least(a: _Tallies, b: _Tallies, eval_id: str, grade: str) -> int:
    return min(a[eval_id, grade][1], b[eval_id, grade][1])


def _tallies(runs: Sequence[Summary]) -> _Tallies:
    found: _Tallies = {}
    for run in runs:
        for eval_id, own in run.evals.items():
            if own.counts.scored:
                passed, scored = found.get((eval_id, own.grade), (0, 0))
                found[eval_id, own.grade] = passed + own.counts.passed, scored + own.counts.scored
    return found
