"""The runs before this one: the newest that can be compared, and how each eval did in the others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from convex_evals.analysis.compare import Comparison, Side, advice, compare, verdict_line
from convex_evals.records import Summary
from convex_evals.reports.model import Flipped, Previous
from convex_evals.store.run import Run
from convex_evals.store.runs import RunStore

MOST_EARLIER = 5
# A comparison calls its sides by letters; here they have names.
_RUNS = {"A": "the earlier run", "B": "this run"}
_SIDES = re.compile(r"(?<=\bin )[AB]\b")


@dataclass(frozen=True)
class Past:
    """One earlier run of the same model under the same experiment."""

    run: Run
    summary: Summary


def past_runs(store: RunStore, run: Run) -> list[Past]:
    """Newest first, at most `MOST_EARLIER` of those that were planned no later than `run` and have a summary."""
    found: list[Past] = []
    before = False
    for other, summary in store.with_summaries(store.of_model(run.plan.model)):
        if other.folder == run.folder:
            before = True
        elif before and summary and other.plan.experiment == run.plan.experiment:
            found.append(Past(other, summary))
        if len(found) == MOST_EARLIER:
            break
    return found


def against(past: Sequence[Past], run: Run) -> tuple[Previous | None, str]:
    """The comparison with the newest of `past` that shares half of the evals, else the most; else why there is none."""
    if not past:
        return None, f"there is no earlier run of {run.plan.model} under {run.plan.experiment}"
    best: tuple[Past, Comparison] | None = None
    for other in past:
        found = compare(Side(other.run.plan.run_id, (other.run,)), Side(run.plan.run_id, (run,)))
        if best is None or len(found.pairs) > len(best[1].pairs):
            best = other, found
        # A run of a few evals, made to try something, says nothing about all of them.
        if 2 * len(found.pairs) >= len(run.plan.evals):
            break
    if best is None or not best[1].pairs:
        return None, "no eval has other replies graded alike in an earlier run"
    return _previous(*best), ""


def _previous(other: Past, found: Comparison) -> Previous:
    flips = tuple(Flipped(f.pair.eval, float(f.pair.difference), f.surety.value) for f in found.flips)
    return Previous(
        run_id=other.run.plan.run_id,
        date=other.run.plan.date,
        counts=other.summary.counts,
        rate=other.summary.rate(),
        verdict=found.paired.verdict.words,
        line=verdict_line(found.paired),
        advice=advice(found.paired),
        difference=found.paired.difference,
        interval=found.paired.interval,
        p=found.paired.p,
        pairs=found.paired.evals,
        flips=flips,
        changed=tuple(f"{f.name} ({f.a}, now {f.b})" if f.a != f.b else f.name for f in found.differing),
        left_out=dict(Counter(_SIDES.sub(lambda m: _RUNS[m[0]], x.reason) for x in found.left_out).most_common()),
        notes=found.notes,
        href=None,
    )
