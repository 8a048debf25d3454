"""A run's files to a `Report`. Reads; writes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from convex_evals.errors import UserError
from convex_evals.records import ComparisonMethod, Counts, Outcome, RunPlan, StepName, StepOutcome, Summary, TrialGrade
from convex_evals.render.numbers import dollars, duration
from convex_evals.render.verdicts import headline
from convex_evals.reports.failure_groups import FailureGroup, groups_of, patterns
from convex_evals.reports.failures import LONGEST_HEADLINE, Failures, Tell
from convex_evals.reports.human_sections import Document
from convex_evals.reports.links import Linker
from convex_evals.reports.model import (
    Classification,
    EvalHistory,
    Failure,
    Impact,
    Part,
    Previous,
    Report,
    Step,
    Unscored,
)
from convex_evals.reports.previous import Past, against, past_runs
from convex_evals.reports.sources import Sources
from convex_evals.store.run import Run
from convex_evals.store.summary import refuse_other_verdicts, summarize, why_unscored
from convex_evals.text import counted


class NothingGraded(UserError):
    """No trial of the run has a verdict: there is nothing to report on."""


def build(run: Run, sources: Sources, path: Path, document: Document | None, tell: Tell = lambda a, b: None) -> Report:
    """The report on `run`, to stand in `path`; `document` is the one that stands there now.

    Raises `NothingGraded`, and `UserError` where a person's classification is none.
    """
    plan, (summary, complete) = run.plan, _summary(run)
    graded = _grades(run, summary)
    if not summary.counts.scored:
        raise NothingGraded(
            f"{run.folder}: no trial has a verdict, so there is nothing to report; `cli show {plan.run_id}` says why"
        )
    groups = [g for eval_id, grades in graded.items() for g in groups_of(eval_id, grades)]
    linker = Linker(sources.home, sources.suite, sources.repository, run, path)
    failures = list(Failures(run, sources, linker, path, document).show(groups, tell))
    past = past_runs(sources.store, run)
    previous, no_previous = _previous(past, run, path)
    failed = {f.eval for f in failures}
    actions, note = sources.repository.since(plan.suite_commit, plan.date, failed)
    shared, single = patterns(groups)
    return Report(
        run_id=plan.run_id,
        date=plan.date,
        model=plan.model,
        experiment=plan.experiment,
        synthetic=plan.synthetic,
        facts=tuple(run_facts(plan, summary)),
        counts=summary.counts,
        evals=summary.tallies,
        missing=tuple(summary.missing),
        previous=previous,
        no_previous=no_previous,
        categories=tuple(_categories(summary)),
        steps=tuple(_steps(groups)),
        failures=tuple(failures),
        unscored=tuple(_unscored(run, graded)),
        patterns=tuple(shared),
        single=single,
        earlier_runs=tuple(f"{p.run.plan.date} {p.run.plan.run_id}" for p in past),
        stability=tuple(_stability(sorted(failed), summary, past)),
        unstable=tuple(e for e, s in summary.evals.items() if s.counts.passed and s.counts.failed),
        actions=tuple(actions),
        actions_note=note,
        impact=impact(summary.counts, failures),
        links=tuple(linker.of_run()),
        warnings=() if complete else ("the run is not complete: what is not written yet is not counted",),
    )


def _summary(run: Run) -> tuple[Summary, bool]:
    """What came out so far, and whether that is all of it.

    Raises `UserError` where it is nothing, or not what the grade files say.
    """
    complete = run.summary()
    if complete:
        refuse_other_verdicts(run, complete)
    summary = complete or summarize(run)
    if not summary.evals:
        raise NothingGraded(
            f"{run.folder}: none of it is graded yet; `cli status {run.plan.run_id}` shows how far it is"
        )
    return summary, complete is not None


def _previous(past: Sequence[Past], run: Run, path: Path) -> tuple[Previous | None, str]:
    """The run that this one is compared with, linked to its report if that is beside `path`; or why there is none."""
    previous, why_not = against(past, run)
    if previous is None:
        return None, why_not
    report = path.parent / f"{previous.run_id}_{previous.date}.md"
    return replace(previous, href=quote(report.name) if report.is_file() else None), why_not


def _grades(run: Run, summary: Summary) -> dict[str, tuple[TrialGrade, ...]]:
    """Of the evals where something is not a pass."""
    wanted = {e: s for e, s in summary.evals.items() if s.counts.failed or s.counts.unscored}
    return {e: run.grade_file(e, s.grade).trials for e, s in sorted(wanted.items())}


def _unscored(run: Run, graded: Mapping[str, Sequence[TrialGrade]]) -> Iterator[Unscored]:
    for eval_id, grades in graded.items():
        lost = [g for g in grades if g.verdict.outcome is Outcome.UNSCORED]
        own = run.generations(eval_id) if lost else {}
        for grade in lost:
            why, reason = why_unscored(grade.verdict, own[grade.trial]), grade.verdict.reason
            yield Unscored(eval_id, grade.trial, headline(reason, LONGEST_HEADLINE) if reason else why)


def _categories(summary: Summary) -> Iterator[Part]:
    for name, part in sorted(summary.categories.items()):
        tokens = part.usage.input_tokens + part.usage.output_tokens
        yield Part(name, part.counts, summary.rate(name), part.cost_usd, part.generation_ms + part.grading_ms, tokens)


def _steps(groups: Sequence[FailureGroup]) -> Iterator[Step]:
    verdicts = [g.verdict for group in groups for g in group.grades]
    for step in StepName:
        caught = sum(v.caught_by is step for v in verdicts)
        failed = sum(any(s.step is step and s.outcome is StepOutcome.FAILED for s in v.steps) for v in verdicts)
        if caught or failed:
            yield Step(step.value, caught, failed)


def _stability(failed: Sequence[str], summary: Summary, past: Sequence[Past]) -> Iterator[EvalHistory]:
    for eval_id in failed:
        runs = [summary.evals.get(eval_id), *(p.summary.evals.get(eval_id) for p in past)]
        yield EvalHistory(eval_id, tuple((s.counts.passed, s.counts.scored) if s else None for s in runs))


def impact(counts: Counts, failures: Sequence[Failure]) -> Impact:
    """What the pass rate would be without what is not the model's fault."""
    excused = {True: 0, False: 0}
    by_class = {c.value: [0, 0] for c in Classification}
    for failure in failures:
        judgement = failure.judgement
        by_class[judgement.classification][not judgement.decided] += len(failure.trials)
        if judgement.classification is not Classification.MODEL_FAULT:
            excused[judgement.decided] += len(failure.trials)
    decided = counts.model_copy(update={"failed": counts.failed - excused[True]})
    proposed = decided.model_copy(update={"failed": decided.failed - excused[False]})
    undecided = sum(f.decided is None for f in failures)
    return Impact(counts, decided, proposed, undecided, {c: (n[0], n[1]) for c, n in by_class.items()})


def run_facts(plan: RunPlan, summary: Summary) -> Iterator[tuple[str, str]]:
    """Identity of a run and what it took, in the order in which it is shown."""
    yield "Model", plan.model + (" (synthetic: no model was asked)" if plan.synthetic else "")
    yield "Experiment", plan.experiment
    given = f"{plan.guidelines or ''} {plan.guidelines_sha256[:8]}".strip() if plan.guidelines_sha256 else "none"
    yield "Guidelines", given
    yield "Suite", plan.suite_commit[:10] if plan.suite_commit else "not committed"
    yield "Evals and trials", f"{counted(len(plan.evals), 'eval')}, {counted(plan.trials, 'trial')} each"
    yield from _grading_facts(plan, summary)
    reused = f"; {summary.reused} replies of earlier runs" if summary.reused else ""
    yield "Cost", f"{dollars(summary.cost_usd)}{' (estimated)' if summary.cost_estimated else ''}{reused}"
    usage = summary.usage
    yield "Tokens", f"{usage.input_tokens:,} in, {usage.output_tokens:,} out"
    yield "Time", f"{duration(summary.generation_ms)} of replies, {duration(summary.grading_ms)} of grading"


def _grading_facts(plan: RunPlan, summary: Summary) -> Iterator[tuple[str, str]]:
    tools, rules = plan.toolchain, plan.comparison
    if rules:
        least = f" of at least {rules.threshold:g}" if rules.method is ComparisonMethod.SIMILARITY else ""
        yield "Comparison", f"{rules.method}{least}, with the expected output or the session's own last reply"
    if tools:
        yield "Backend", f"{plan.backend_words}, grading protocol {plan.grading_protocol}"
        yield (
            "Toolchain",
            f"Node {tools.node}, TypeScript {tools.typescript}, ESLint {tools.eslint}, vitest {tools.vitest}, "
            f"convex {tools.convex}, lint rules {tools.lint_rules_sha256[:8]}",
        )
        yield "Sandbox", ", ".join(summary.sandbox) or "none was needed"
