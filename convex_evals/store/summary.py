"""A run's totals, from its files alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import ValidationError

from convex_evals.errors import UserError, WrongFigures
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
from convex_evals.records.benchmark import benchmark_id
from convex_evals.records.generation import MISSING
from convex_evals.records.grading_inputs import grade_name
from convex_evals.records.human import explain
from convex_evals.records.journal import MAX_COMMANDS, JournalEntry
from convex_evals.store.records import find_record
from convex_evals.store.run import SUMMARY_NAME, Run
from convex_evals.store.run_checks import refuse_elsewhere


def count(verdicts: Sequence[Verdict]) -> Counts:
    return Counts(
        passed=sum(v.outcome is Outcome.PASSED for v in verdicts),
        failed=sum(v.outcome is Outcome.FAILED for v in verdicts),
        unscored=sum(v.outcome is Outcome.UNSCORED for v in verdicts),
    )


def refuse_other_verdicts(run: Run, summary: Summary) -> None:
    """Raise `UserError` where the summary of a run says something else of an eval than the verdicts that it counts."""
    for eval_id, found in summary.evals.items():
        counts = count([t.verdict for t in run.grade_file(eval_id, found.grade).trials])
        if counts != found.counts:
            raise WrongFigures(
                f"{run.folder / SUMMARY_NAME}: says that {found.counts.passed} of {found.counts.scored} trials of "
                f"{eval_id} passed, and {found.grade} that {counts.passed} of {counts.scored} did; "
                f"`cli finish {run.plan.run_id}` makes it again"
            )


@dataclass(frozen=True)
class _EvalTrials:
    """The trials of one eval that count, from its files or from the journal."""

    eval_id: str
    grades: Sequence[TrialGrade]
    generations: Mapping[int, Generation]  # by trial
    grade: str | None = None  # name of the grade file; None: they are in the journal
    sandbox: str | None = None

    @property
    def category(self) -> str:
        return self.eval_id.partition("/")[0]


@dataclass
class _Totals:
    """What is added up: of a category, or of the whole run."""

    grades: list[TrialGrade] = field(default_factory=list)
    generations: list[Generation] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, trials: _EvalTrials) -> None:
        self.grades += trials.grades
        self.generations += trials.generations.values()
        self.reasons.update(
            why_unscored(t.verdict, trials.generations[t.trial])
            for t in trials.grades
            if t.verdict.outcome is Outcome.UNSCORED
        )

    def summary(self) -> CategorySummary:
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
        raise UserError(f"{run.folder}: its figures are impossible: {explain(error, Summary)}") from None


def _summarize(
    run: Run,
    only: Collection[str] | None,
    counting: Mapping[str, str] | None,
    journalled: Mapping[str, Sequence[JournalEntry]] | None,
) -> Summary:
    plan = run.plan
    wanted = [e for e in plan.evals if only is None or e in only]
    written = list(_written(run, wanted, _counting(run) if counting is None else counting))
    whole = _Totals()
    categories: dict[str, _Totals] = {}
    for trials in (*written, *_journalled(journalled or {})):
        for totals in (whole, categories.setdefault(trials.category, _Totals())):
            totals.add(trials)
    evals = {t.eval_id: _eval(t, t.grade) for t in written if t.grade is not None}
    return Summary(
        run_id=plan.run_id,
        model=plan.model,
        experiment=plan.experiment,
        date=plan.date,
        synthetic=plan.synthetic,
        benchmark=benchmark_id(plan, {e: found.grade for e, found in evals.items()}),
        guidelines=plan.guidelines,
        guidelines_sha256=plan.guidelines_sha256,
        suite_commit=plan.suite_commit,
        suite_evals=plan.suite_evals,
        categories={name: totals.summary() for name, totals in categories.items()},
        evals=evals,
        replies_cost_usd=round(sum(g.cost_usd for g in whole.generations), 6),
        judge_cost_usd=round(sum(t.verdict.judge_cost_usd for t in whole.grades), 6),
        cost_estimated=any(g.cost_estimated for g in whole.generations),
        reused=sum(g.reused_from is not None for g in whole.generations),
        reused_from=tuple(sorted({g.reused_from for g in whole.generations if g.reused_from is not None})),
        searches=sum(g.searches for g in whole.generations),
        sandbox=tuple(sorted({t.sandbox for t in written if t.sandbox is not None})),
        elsewhere=tuple(sorted({g.server for g in whole.generations if g.elsewhere and g.server})),
        missing=tuple(e for e in wanted if e not in evals),
        first_token_ms=_first_token_ms(whole.generations),
        **dict(whole.summary()),
    )


def _counting(run: Run) -> Mapping[str, str]:
    """The grade files that the run's summary names by now, by eval, whatever else it says: it is made again."""
    path = run.folder / SUMMARY_NAME
    before = find_record(path, Summary, run.root)
    if before is None:
        return {}
    refuse_elsewhere(path, before)
    return {e: found.grade for e, found in before.evals.items()}


def _written(run: Run, evals: Iterable[str], counting: Mapping[str, str]) -> Iterator[_EvalTrials]:
    """The trials of those of `evals` whose files are there."""
    for eval_id in evals:
        if run.is_written(eval_id):
            name = counting.get(eval_id) or grade_name(run.plan.evals[eval_id].grading_key)
            file = run.grade_file(eval_id, name)
            yield _EvalTrials(eval_id, file.trials, run.generations(eval_id), name, file.sandbox)


def _journalled(journalled: Mapping[str, Sequence[JournalEntry]]) -> Iterator[_EvalTrials]:
    """The trials of each eval that have a verdict."""
    for eval_id, entries in journalled.items():
        judged = {e.generation.trial: (e.generation, e.verdict) for e in entries if e.verdict is not None}
        grades = [
            TrialGrade(trial=n, generation_id=generation.generation_id, verdict=verdict)
            for n, (generation, verdict) in judged.items()
        ]
        yield _EvalTrials(eval_id, grades, {n: generation for n, (generation, _) in judged.items()})


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


def _eval(trials: _EvalTrials, grade: str) -> EvalSummary:
    verdicts = [t.verdict for t in trials.grades]
    scored = [v.score for v in verdicts if v.outcome is not Outcome.UNSCORED]
    return EvalSummary(
        counts=count(verdicts),
        grade=grade,
        replies_ms=tuple(g.duration_ms for _, g in sorted(trials.generations.items()) if g.received),
        score=round(_mean(scored), 6),
    )


def why_unscored(verdict: Verdict, generation: Generation) -> str:
    """Why a trial has no verdict: the provider's fault, or the step at which something of ours failed."""
    return generation.fault or (f"grading: {verdict.caught_by}" if verdict.caught_by else "grading")


def _usage(generations: Iterable[Generation]) -> Usage:
    names = Usage.model_fields
    return Usage(**{name: sum(getattr(g.usage, name) for g in generations) for name in names})


def _first_token_ms(generations: Iterable[Generation]) -> int | None:
    found = [g.first_token_ms for g in generations if g.first_token_ms is not None]
    return round(_mean(found)) if found else None


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers) if numbers else 0.0
