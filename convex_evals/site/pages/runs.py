"""All runs, and one run: totals, what failed at which step and how, what has no verdict, progress while it lasts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from convex_evals.analysis.totals import parts_of
from convex_evals.records import Counts, EvalSummary, Outcome, Summary, TrialGrade
from convex_evals.render.verdicts import headline
from convex_evals.reports.build import run_facts
from convex_evals.reports.failure_groups import FailureGroup, groups_of, patterns
from convex_evals.reports.model import Pattern
from convex_evals.reports.signature import gist
from convex_evals.runs.status import Status, status_of
from convex_evals.site import urls
from convex_evals.site.html import Page
from convex_evals.site.library import Entry, Library
from convex_evals.store.journal import Journal
from convex_evals.store.summary import why_unscored

_LIVE_MS = 2_000


@dataclass(frozen=True)
class EvalLine:
    """One eval of a run. Trials are listed where something is not a pass."""

    eval_id: str
    own: EvalSummary | None  # None: not done yet
    trials: Sequence[TrialGrade]

    @property
    def category(self) -> str:
        return self.eval_id.partition("/")[0]

    @property
    def outcome(self) -> str:
        counts = self.own.counts if self.own else Counts()
        if not self.own:
            return "waiting"
        return "failed" if counts.failed else "unscored" if counts.unscored else "passed"

    @property
    def steps(self) -> list[str]:
        """Where its trials were caught, each step once."""
        found = (t.verdict.caught_by for t in self.trials if t.verdict.outcome is not Outcome.PASSED)
        return list(dict.fromkeys(step.value for step in found if step))

    @property
    def gist(self) -> str:
        first = next((t for t in self.trials if t.verdict.outcome is Outcome.FAILED), None)
        return gist(first.verdict) if first else ""


def runs_page(library: Library) -> Page:
    entries = library.entries
    context = {
        "entries": entries,
        "left_out": library.left_out,
        "models": sorted({e.plan.model for e in entries}),
        "experiments": sorted({e.plan.experiment for e in entries}),
        "runs_dir": library.workspace.runs_dir.name,
    }
    return Page(urls.RUNS, "runs", "Runs", "Runs", context)


def run_page(library: Library, entry: Entry) -> Page:
    """Made again at each request while it is not complete."""
    plan = entry.plan
    if entry.summary and not entry.summary.missing:
        context = library.keep_for_page(
            ("run", entry.run.folder), lambda: _context(library, entry, entry.summary, None)
        )
        return Page(urls.run(plan), "run", f"{plan.model} {plan.run_id}", "Runs", context)
    status = _status(library, entry)
    context = _context(library, entry, status.summary, status)
    live = None if status.complete else _LIVE_MS
    title = f"{plan.model} {plan.run_id}"
    return Page(urls.run(plan), "run", title, "Runs", context, live_ms=live, is_lasting=False)


def _status(library: Library, entry: Entry) -> Status:
    space = library.workspace
    # A journal is this machine's: no other checkout has it.
    journal = Journal(space.journal_dir if library.live else space.journal_dir / "none", entry.plan)
    return status_of(entry.run, journal, list(library.evals), space.config.experiments)


def _context(library: Library, entry: Entry, summary: Summary | None, status: Status | None) -> dict[str, Any]:
    assert summary is not None
    lines = list(_lines(entry, summary))
    groups = [g for line in lines for g in groups_of(line.eval_id, line.trials)]
    shared, single = patterns(groups)
    siblings = library.of_model(entry.plan.model)
    at = next(i for i, e in enumerate(siblings) if e.run.folder == entry.run.folder)
    return {
        "entry": entry,
        "plan": entry.plan,
        "summary": summary,
        "status": status,
        "facts": list(run_facts(entry.plan, summary)),
        "lines": lines,
        "categories": parts_of(summary),
        "steps": _steps(groups),
        "patterns": [(p, _places(entry, p)) for p in shared],
        "single": single,
        "unscored": list(_unscored(entry, lines)),
        "before": siblings[at + 1].plan if at + 1 < len(siblings) else None,
        "after": siblings[at - 1].plan if at else None,
        "report": report_place(library, entry),
    }


def _lines(entry: Entry, summary: Summary) -> Iterator[EvalLine]:
    for eval_id in entry.plan.evals:
        own = summary.evals.get(eval_id)
        imperfect = own and (own.counts.failed or own.counts.unscored)
        yield EvalLine(eval_id, own, entry.run.grade_file(eval_id, own.grade).trials if own and imperfect else ())


def _steps(groups: Sequence[FailureGroup]) -> Mapping[str, int]:
    """Failed trials by the step that caught them."""
    return Counter(g.verdict.caught_by.value for group in groups for g in group.grades if g.verdict.caught_by)


def _places(entry: Entry, pattern: Pattern) -> list[tuple[str, str]]:
    return [(eval_id, urls.trials(entry.plan, eval_id)) for eval_id in pattern.evals]


def _unscored(entry: Entry, lines: Sequence[EvalLine]) -> Iterator[tuple[str, int, str]]:
    """Eval, trial and reason."""
    for line in lines:
        lost = [t for t in line.trials if t.verdict.outcome is Outcome.UNSCORED]
        own = entry.run.generations(line.eval_id) if lost else {}
        for trial in lost:
            why, reason = why_unscored(trial.verdict, own[trial.trial]), trial.verdict.reason
            yield line.eval_id, trial.trial, f"{why}: {headline(reason)}" if reason else why


def report_place(library: Library, entry: Entry) -> str | None:
    """The page of the report on a run, where there is one."""
    from convex_evals.reports.files import Folder
    from convex_evals.site.pages.reports import report_paths

    folder = Folder(library.reports_dir)
    path = folder.path(entry.plan).relative_to(folder.root).as_posix()
    return urls.report(path) if path in report_paths(library) else None
