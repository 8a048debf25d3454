"""A run's totals, from its files alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from convex_evals.records import Counts, EvalSummary, Generation, Outcome, Summary, Usage, Verdict
from convex_evals.store.runs import Run, grade_name


def count(verdicts: Sequence[Verdict]) -> Counts:
    return Counts(
        passed=sum(v.outcome is Outcome.PASSED for v in verdicts),
        failed=sum(v.outcome is Outcome.FAILED for v in verdicts),
        unscored=sum(v.outcome is Outcome.UNSCORED for v in verdicts),
    )


def summarize(run: Run, counting: Mapping[str, str] | None = None) -> Summary:
    """The totals of what is written of a run; evals that are not written are named.

    `counting` names, by eval, the grade file that counts where it is not the one under the plan's own key.
    """
    counting = counting or {}
    plan = run.plan
    evals: dict[str, EvalSummary] = {}
    categories: dict[str, Counts] = {}
    reasons: Counter[str] = Counter()
    generations: list[Generation] = []
    grading_ms = 0
    written = [e for e in plan.evals if run.is_written(e)]
    for eval_id in written:
        name = counting.get(eval_id) or grade_name(plan.evals[eval_id].grading_key)
        grades = run.grade_file(eval_id, name).trials
        own = {g.trial: g for g in run.generation(eval_id).trials}
        verdicts = [t.verdict for t in grades]
        evals[eval_id] = _eval(verdicts, list(own.values()), name)
        category = eval_id.partition("/")[0]
        categories[category] = categories.get(category, Counts()) + evals[eval_id].counts
        reasons.update(_reason(t.verdict, own[t.trial]) for t in grades if t.verdict.outcome is Outcome.UNSCORED)
        generations += own.values()
        grading_ms += sum(v.duration_ms for v in verdicts)
    return Summary(
        run_id=plan.run_id,
        model=plan.model,
        experiment=plan.experiment,
        date=plan.date,
        counts=sum(categories.values(), Counts()),
        categories=categories,
        evals=evals,
        cost_usd=round(sum(g.cost_usd for g in generations if g.reused_from is None), 6),
        replies_cost_usd=round(sum(g.cost_usd for g in generations), 6),
        cost_estimated=any(g.cost_estimated for g in generations),
        reused=sum(g.reused_from is not None for g in generations),
        usage=_usage(generations),
        searches=sum(g.searches for g in generations),
        unscored=dict(sorted(reasons.items())),
        missing=tuple(e for e in plan.evals if e not in evals),
        generation_ms=sum(g.duration_ms for g in generations),
        grading_ms=grading_ms,
    )


def _eval(verdicts: Sequence[Verdict], generations: Sequence[Generation], grade: str) -> EvalSummary:
    scored = [v.score for v in verdicts if v.outcome is not Outcome.UNSCORED]
    return EvalSummary(
        counts=count(verdicts),
        grade=grade,
        generation_ms=round(_mean([g.duration_ms for g in generations if g.received])),
        score=round(_mean(scored), 6),
    )


def _reason(verdict: Verdict, generation: Generation) -> str:
    """Why a trial has no verdict: the provider's fault, or the step at which something of ours failed."""
    return generation.fault or (f"grading: {verdict.caught_by}" if verdict.caught_by else "grading")


def _usage(generations: Iterable[Generation]) -> Usage:
    names = Usage.model_fields
    return Usage(**{name: sum(getattr(g.usage, name) for g in generations) for name in names})


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers) if numbers else 0.0
