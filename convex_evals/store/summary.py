"""A run's totals, from its files alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import ValidationError

from convex_evals.errors import UserError
from convex_evals.records import (
    CategorySummary,
    Counts,
    EvalSummary,
    Generation,
    Outcome,
    Summary,
    TrialGrade,
    Usage,
    Verdict,
)
from convex_evals.records.generation import MISSING
from convex_evals.records.human import explain
from convex_evals.records.journal import MAX_COMMANDS, JournalEntry
from convex_evals.store.runs import Run, grade_name


def count(verdicts: Sequence[Verdict]) -> Counts:
    return Counts(
        passed=sum(v.outcome is Outcome.PASSED for v in verdicts),
        failed=sum(v.outcome is Outcome.FAILED for v in verdicts),
        unscored=sum(v.outcome is Outcome.UNSCORED for v in verdicts),
    )


@dataclass
class _Part:
    """What is added up: of a category, or of the whole run."""

    grades: list[TrialGrade] = field(default_factory=list)
    generations: list[Generation] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, grades: Sequence[TrialGrade], own: Mapping[int, Generation]) -> None:
        self.grades += grades
        self.generations += own.values()
        self.reasons.update(
            why_unscored(t.verdict, own[t.trial]) for t in grades if t.verdict.outcome is Outcome.UNSCORED
        )

    def totals(self) -> CategorySummary:
        verdicts = [t.verdict for t in self.grades]
        return CategorySummary(
            counts=count(verdicts),
            unscored=dict(sorted(self.reasons.items())),
            cost_usd=round(sum(g.cost_usd for g in self.generations if g.reused_from is None), 6),
            usage=_usage(self.generations),
            generation_ms=sum(g.duration_ms for g in self.generations),
            grading_ms=sum(v.duration_ms for v in verdicts),
        )


def summarize(
    run: Run,
    *,
    only: Collection[str] | None = None,
    counting: Mapping[str, str] | None = None,
    journalled: Mapping[str, Sequence[JournalEntry]] | None = None,
) -> Summary:
    """The totals of what is written of a run, or of the evals `only`; those that are not written are named.

    `counting` names, by eval, the grade file that counts; without it those count that the summary names by now.
    An eval that is not in it counts under the plan's own key. `journalled` are trials of evals that are not written:
    they count where they have a verdict; their evals stay missing.

    Raises `UserError` where figures, each of which can be, add up to what cannot.
    """
    try:
        return _summarize(run, only, counting, journalled)
    except ValidationError as error:
        raise UserError(f"{run.folder}: its figures add up to what cannot be: {explain(error, Summary)}") from None


def _summarize(
    run: Run,
    only: Collection[str] | None,
    counting: Mapping[str, str] | None,
    journalled: Mapping[str, Sequence[JournalEntry]] | None,
) -> Summary:
    if counting is None:
        before = run.summary()
        counting = {e: found.grade for e, found in before.evals.items()} if before else {}
    plan = run.plan
    wanted = [e for e in plan.evals if only is None or e in only]
    evals: dict[str, EvalSummary] = {}
    categories: dict[str, _Part] = {}
    whole = _Part()
    sandboxes: set[str] = set()
    for eval_id in (e for e in wanted if run.is_written(e)):
        name = counting.get(eval_id) or grade_name(plan.evals[eval_id].grading_key)
        file = run.grade_file(eval_id, name)
        grades = file.trials
        sandboxes.add(file.sandbox)
        own = run.generations(eval_id)
        verdicts = [t.verdict for t in grades]
        evals[eval_id] = _eval(verdicts, list(own.values()), name)
        for part in (whole, categories.setdefault(eval_id.partition("/")[0], _Part())):
            part.add(grades, own)
    for eval_id, entries in (journalled or {}).items():
        judged = {e.generation.trial: e for e in entries if e.verdict is not None}
        grades = tuple(
            TrialGrade(trial=n, generation_id=e.generation.generation_id, verdict=e.verdict)
            for n, e in judged.items()
            if e.verdict is not None
        )
        for part in (whole, categories.setdefault(eval_id.partition("/")[0], _Part())):
            part.add(grades, {n: e.generation for n, e in judged.items()})
    return Summary(
        run_id=plan.run_id,
        model=plan.model,
        experiment=plan.experiment,
        date=plan.date,
        synthetic=plan.synthetic,
        categories={name: part.totals() for name, part in categories.items()},
        evals=evals,
        replies_cost_usd=round(sum(g.cost_usd for g in whole.generations), 6),
        cost_estimated=any(g.cost_estimated for g in whole.generations),
        reused=sum(g.reused_from is not None for g in whole.generations),
        searches=sum(g.searches for g in whole.generations),
        sandbox=tuple(sorted(sandboxes)),
        missing=tuple(e for e in wanted if e not in evals),
        **dict(whole.totals()),
    )


def given_up(run: Run, summary: Summary) -> bool:
    """Whether all that has no verdict was asked for, or graded, by as many commands as take it up by themselves."""
    for eval_id in (e for e, found in summary.evals.items() if found.counts.unscored):
        replies = run.generations(eval_id)
        for grade in run.grade(eval_id).trials:
            reply = replies[grade.trial]
            commands = grade.commands if reply.received else reply.commands
            waits = grade.verdict.outcome is Outcome.UNSCORED and reply.fault != MISSING
            if waits and commands < MAX_COMMANDS:
                return False
    return True


def _eval(verdicts: Sequence[Verdict], generations: Sequence[Generation], grade: str) -> EvalSummary:
    scored = [v.score for v in verdicts if v.outcome is not Outcome.UNSCORED]
    return EvalSummary(
        counts=count(verdicts),
        grade=grade,
        generation_ms=round(_mean([g.duration_ms for g in generations if g.received])),
        score=round(_mean(scored), 6),
    )


def why_unscored(verdict: Verdict, generation: Generation) -> str:
    """Why a trial has no verdict: the provider's fault, or the step at which something of ours failed."""
    return generation.fault or (f"grading: {verdict.caught_by}" if verdict.caught_by else "grading")


def _usage(generations: Iterable[Generation]) -> Usage:
    names = Usage.model_fields
    return Usage(**{name: sum(getattr(g.usage, name) for g in generations) for name in names})


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers) if numbers else 0.0
