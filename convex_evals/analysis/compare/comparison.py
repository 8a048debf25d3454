"""Two sides, paired over what is comparable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from statistics import fmean

from convex_evals.analysis.compare.facts import Fact, facts
from convex_evals.analysis.compare.sides import Graded, LeftOut, Match, Side, match
from convex_evals.errors import UserError
from convex_evals.stats import EvalPair, Flip, Paired, family, flips, paired


@dataclass(frozen=True)
class Means:
    """Of one side: per reply, averaged over evals. None where nothing was received."""

    cost_usd: float | None  # all attempts together
    input_tokens: float | None
    output_tokens: float | None
    duration_ms: float | None  # wall clock of a reply
    cost_estimated: bool  # a price map, and not the provider, says so


@dataclass(frozen=True)
class Comparison:
    """What there is to say about two sides. Rates and differences are shares of 1; a difference is B less A."""

    a: Side
    b: Side
    facts: tuple[Fact, ...]
    pairs: tuple[EvalPair, ...]
    paired: Paired
    categories: Mapping[str, Paired]  # corrected for their number
    flips: tuple[Flip, ...]  # the surest first
    left_out: tuple[LeftOut, ...]
    a_means: Means
    b_means: Means
    a_unscored: Mapping[str, int]  # trials of paired evals without a verdict, by the reason
    b_unscored: Mapping[str, int]
    notes: tuple[str, ...]

    @property
    def equal(self) -> list[Fact]:
        return [f for f in self.facts if f.equal]

    @property
    def differing(self) -> list[Fact]:
        return [f for f in self.facts if f.equal is False]


def compare(a: Side, b: Side, *, seed: int = 0) -> Comparison:
    """Read both sides' verdicts and compare eval means; only verdicts under the same grading key make a pair.

    A reply counts once, however many runs used it; one that both sides have counts on neither. Raises `UserError`
    where both sides are the same runs.
    """
    folders = [{run.folder for run in side.runs} for side in (a, b)]
    if folders[0] == folders[1]:
        raise UserError(f"{a.label} and {b.label} have the same runs; name others")
    found = list(match(a, b))
    matches = [m for m in found if isinstance(m, Match)]
    pairs = [m.pair for m in matches]
    by_category = groupby(pairs, key=lambda pair: pair.eval.partition("/")[0])
    return Comparison(
        a=a,
        b=b,
        facts=tuple(facts(a, b, matches)),
        pairs=tuple(pairs),
        paired=paired(pairs, seed=seed),
        categories=family({name: paired(list(part), seed=seed) for name, part in by_category}),
        flips=tuple(flips(pairs)),
        left_out=tuple(x for x in found if isinstance(x, LeftOut)),
        a_means=_means([m.a for m in matches]),
        b_means=_means([m.b for m in matches]),
        a_unscored=_unscored(m.a for m in matches),
        b_unscored=_unscored(m.b for m in matches),
        notes=(
            *(side.left_out for side in (a, b) if side.left_out),
            *_notes(a, b, matches, bool(folders[0] & folders[1])),
        ),
    )


def _shares(side: Side) -> dict[str, Fraction]:
    """What each model has of the trials that were planned."""
    planned: Counter[str] = Counter()
    for run in side.runs:
        planned[run.plan.model] += run.plan.trials * len(run.plan.evals)
    return {model: Fraction(n, planned.total() or 1) for model, n in planned.items()}


def _unscored(parts: Iterable[Graded]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for part in parts:
        total += part.unscored
    return dict(sorted(total.items()))


def _means(parts: Sequence[Graded]) -> Means:
    rows = [[reply.generation for reply in part.replies.values() if reply.generation.received] for part in parts]
    return Means(
        _mean([[g.cost_usd for g in row] for row in rows]),
        _mean([[g.usage.input_tokens for g in row] for row in rows]),
        _mean([[g.usage.output_tokens for g in row] for row in rows]),
        _mean([[g.duration_ms for g in row] for row in rows]),
        any(g.cost_estimated for row in rows for g in row),
    )


def _mean(rows: Sequence[Sequence[float]]) -> float | None:
    means = [fmean(row) for row in rows if row]
    return fmean(means) if means else None


def _notes(a: Side, b: Side, matches: Sequence[Match], overlapping: bool) -> Iterable[str]:
    if overlapping:
        yield "Some runs are on both sides; what they have counts on neither."
    shared = sum(m.shared for m in matches)
    if shared and not overlapping:
        yield f"{shared} replies are on both sides (used again); they count on neither."
    a_shares, b_shares = _shares(a), _shares(b)
    if a_shares != b_shares and max(len(a_shares), len(b_shares)) > 1:
        yield "The sides mix models in other shares: the difference may be one between models; name one (model=)."
    for name, side in (("A", a), ("B", b)):
        synthetic = sorted({run.plan.model for run in side.runs if run.plan.synthetic})
        if synthetic:
            yield f"{name} is synthetic ({', '.join(synthetic)}): no model was asked."
        incomplete = [run.plan.run_id for run in side.runs if not run.is_complete]
        if incomplete:
            yield f"{name} is not complete ({', '.join(incomplete[:3])}{', ...' if len(incomplete) > 3 else ''})."
