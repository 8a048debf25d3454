"""A run's files to a `Report`. Reads; writes nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from convex_evals.analysis.trial import read_source
from convex_evals.errors import UserError
from convex_evals.records import Counts, Outcome, RunPlan, StepName, StepOutcome, Summary, TrialGrade
from convex_evals.render.results import counted, dollars, duration, headline
from convex_evals.reports.actions import Repository
from convex_evals.reports.classify import Decision, propose, read_decision
from convex_evals.reports.failure_groups import FailureGroup, checks_of, groups_of, patterns
from convex_evals.reports.human_sections import Document, SectionKey
from convex_evals.reports.links import Linker
from convex_evals.reports.model import (
    Classification,
    EvalHistory,
    Failure,
    Impact,
    Judgement,
    Part,
    Previous,
    Report,
    Step,
    Unscored,
)
from convex_evals.reports.previous import Past, against, past_runs
from convex_evals.reports.relevant_lines import focus_of, focused_diff
from convex_evals.reports.signature import gist, signatures
from convex_evals.store.runs import Run, RunStore
from convex_evals.store.summary import summarize, why_unscored
from convex_evals.suite.extract import extract
from convex_evals.suite.suite import Eval

MOST_CHECKS = 3
Tell = Callable[[int, int], None]


@dataclass(frozen=True)
class Sources:
    """What reports are built from, read once for all of a command."""

    store: RunStore
    home: Path  # the repository that the report stands in
    suite: Path
    evals: Mapping[str, Eval]
    repository: Repository
    decisions: Sequence[Decision]  # of all reports
    others: Mapping[str, Mapping[str, Counts]]  # by model that was asked: its newest counts by eval

    def asked(self, eval_id: str, model: str) -> tuple[int, int]:
        """How many other models were asked this eval, and how many passed it at least once."""
        counts = [c[eval_id] for m, c in self.others.items() if m != model and eval_id in c]
        return sum(c.scored > 0 for c in counts), sum(c.passed > 0 for c in counts)


def newest_counts(store: RunStore) -> dict[str, dict[str, Counts]]:
    """By model, what came of each eval in its newest complete run; synthetic ones are no models."""
    found: dict[str, dict[str, Counts]] = {}
    for model in store.models():
        for run in store.of_model(model):
            summary = None if run.plan.synthetic else run.summary()
            if summary:
                found[model] = {e: s.counts for e, s in summary.evals.items()}
                break
    return found


def build(run: Run, sources: Sources, path: Path, document: Document | None, tell: Tell = lambda a, b: None) -> Report:
    """The report on `run`, to stand in `path`; `document` is the one that stands there now.

    Raises `UserError` where nothing of the run is graded, or a person's classification is none.
    """
    plan = run.plan
    complete = run.summary()
    summary = complete or summarize(run)
    if not summary.evals:
        raise UserError(f"{run.folder}: nothing of it is graded yet; `cli status {plan.run_id}` says how far it is")
    graded = _grades(run, summary)
    groups = [g for eval_id, grades in graded.items() for g in groups_of(eval_id, grades)]
    linker = Linker(sources.home, sources.suite, sources.repository, run, path)
    failures = list(_failures(run, groups, sources, linker, path, document, tell))
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
        facts=tuple(_facts(plan, summary)),
        counts=summary.counts,
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


def _failures(
    run: Run,
    groups: Sequence[FailureGroup],
    sources: Sources,
    linker: Linker,
    path: Path,
    document: Document | None,
    tell: Tell,
) -> Iterator[Failure]:
    """With what people decided in `document`, which stands in `path`, and in other reports."""
    shown = str(os.path.relpath(path, sources.home)).replace(os.sep, "/")
    earlier = [d for d in sources.decisions if d.report != shown]
    for done, group in enumerate(groups):
        tell(done, len(groups))
        yield _failure(run, group, sources, linker, earlier, _decided(group, document, shown))


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


def _decided(group: FailureGroup, document: Document | None, where: str) -> Judgement | None:
    place = SectionKey("classification", group.eval_id, group.kind.key)
    written = document.places.get(place) if document else None
    found = read_decision(written, where) if written else None
    return Judgement(found[0], found[1], "a person", True) if found else None


def _failure(
    run: Run,
    group: FailureGroup,
    sources: Sources,
    linker: Linker,
    earlier: Sequence[Decision],
    decided: Judgement | None,
) -> Failure:
    verdict, trial, eval_id = group.first.verdict, group.first.trial, group.eval_id
    source = read_source(run, eval_id, sources.evals.get(eval_id))
    place = run.eval_folder(eval_id) / f"{trial}.md"
    reply = run.reply(eval_id, trial)
    files = dict(extract(reply).files) if reply is not None else {}
    checks = list(checks_of(verdict))
    diff, note = focused_diff(source.expected, files, focus_of([c.message for c in checks], files))
    if reply is None:
        note = "The reply is no longer here."
    step = verdict.caught_by or StepName.TESTS
    tests = [t for t in verdict.tests if t.outcome != "skipped"]
    return Failure(
        eval=eval_id,
        trials=tuple(g.trial for g in group.grades),
        of_trials=run.plan.trials,
        step=step.value,
        gist=gist(verdict),
        headline=headline(verdict.reason, 240),
        signature=group.kind,
        also=signatures(verdict)[1:],
        checks=tuple(checks[:MOST_CHECKS]),
        checks_left_out=max(0, len(checks) - MOST_CHECKS),
        passed_tests=sum(t.outcome == "passed" for t in tests),
        tests=len(tests),
        task=source.task,
        diff=diff,
        diff_note=note,
        notes=source.notes,
        reply=linker.file(place, f"reply {trial}"),
        files=tuple(linker.of_eval(eval_id)),
        proposed=propose(eval_id, group.kind, verdict, earlier, *sources.asked(eval_id, run.plan.model)),
        decided=decided,
    )


def _unscored(run: Run, graded: Mapping[str, Sequence[TrialGrade]]) -> Iterator[Unscored]:
    for eval_id, grades in graded.items():
        lost = [g for g in grades if g.verdict.outcome is Outcome.UNSCORED]
        own = run.generations(eval_id) if lost else {}
        for grade in lost:
            why, reason = why_unscored(grade.verdict, own[grade.trial]), grade.verdict.reason
            yield Unscored(eval_id, grade.trial, headline(reason, 240) if reason else why)


def _categories(summary: Summary) -> Iterator[Part]:
    for name, part in sorted(summary.categories.items()):
        tokens = part.usage.input_tokens + part.usage.output_tokens
        yield Part(name, part.counts, part.cost_usd, part.generation_ms + part.grading_ms, tokens)


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


def _facts(plan: RunPlan, summary: Summary) -> Iterator[tuple[str, str]]:
    yield "Model", plan.model + (" (synthetic: no model was asked)" if plan.synthetic else "")
    yield "Experiment", plan.experiment
    given = f"{plan.guidelines or ''} {plan.guidelines_sha256[:8]}".strip() if plan.guidelines_sha256 else "none"
    yield "Guidelines", given
    yield "Suite", plan.suite_commit[:10] if plan.suite_commit else "not committed"
    yield "Evals and trials", f"{counted(len(plan.evals), 'eval')}, {counted(plan.trials, 'trial')} each"
    tools = plan.toolchain
    yield "Backend", f"{plan.backend.kind} {plan.backend.version}, grading protocol {plan.grading_protocol}"
    yield (
        "Toolchain",
        f"Node {tools.node}, TypeScript {tools.typescript}, ESLint {tools.eslint}, vitest {tools.vitest}, "
        f"convex {tools.convex}, lint rules {tools.lint_rules_sha256[:8]}",
    )
    yield "Sandbox", ", ".join(summary.sandbox) or "none was needed"
    reused = f"; {summary.reused} replies of earlier runs" if summary.reused else ""
    yield "Cost", f"{dollars(summary.cost_usd)}{' (estimated)' if summary.cost_estimated else ''}{reused}"
    usage = summary.usage
    yield "Tokens", f"{usage.input_tokens:,} in, {usage.output_tokens:,} out"
    yield "Time", f"{duration(summary.generation_ms)} of replies, {duration(summary.grading_ms)} of grading"
