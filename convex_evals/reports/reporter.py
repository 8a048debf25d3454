"""`cli report`: the reports on several runs, made from each run, the file that is there, and a model's proposals."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from convex_evals.config import Workspace
from convex_evals.errors import UserError
from convex_evals.models import Item
from convex_evals.models.retries import ModelSolver
from convex_evals.render.terminal import Display
from convex_evals.reports.actions import Repository
from convex_evals.reports.analyze import analyze, kept, open_questions, with_proposals
from convex_evals.reports.build import NothingGraded, build
from convex_evals.reports.classify import WrongDecisions
from convex_evals.reports.files import ExistingReport, Folder, read
from convex_evals.reports.model import Classification, Failure, Judgement, Report
from convex_evals.reports.render import render
from convex_evals.reports.sources import Sources, newest_counts
from convex_evals.sessions.asking import AskedSessions
from convex_evals.store.run import Run
from convex_evals.store.runs import RunStore
from convex_evals.suite.suite import load_suite

_QUIET_SECONDS = 2.0


@dataclass
class Reporter:
    """Makes reports; writes none of them."""

    workspace: Workspace
    folder: Folder
    solver: ModelSolver | None  # the model of --analyze
    warn: Callable[[str], None]
    problems: list[str] = field(default_factory=list)  # why the model was not asked about some failures
    faulty: list[str] = field(default_factory=list)  # why there is no report on some runs
    empty: list[str] = field(default_factory=list)  # the same of runs that no report can be made of yet

    store: RunStore = field(init=False)

    def __post_init__(self) -> None:
        self.store = RunStore(self.workspace.runs_dir, left_out=[])

    def reports(self, runs: Sequence[Run], output: Path | None) -> Iterator[tuple[Report, ExistingReport]]:
        """One by one, each with what stands in its file: `output`, or its place in the folder.

        A run that cannot be reported on is noted, and does not keep the others from it.
        """
        if not runs:
            return
        sources = self._sources(runs)
        for run in runs:
            path = output.absolute() if output else self.folder.path(run.plan)
            try:
                found = read(path, run.plan, self.workspace.home)
                made = self._report(run, sources, found)
            except NothingGraded as error:
                self.empty.append(str(error))
            except WrongDecisions as error:
                self.faulty += error.lines
            except UserError as error:
                self.faulty.append(str(error))
            else:
                yield made, found

    def text(self, report: Report, found: ExistingReport) -> str:
        """As Markdown, with what people wrote into the file that is there."""
        return render(report, found.document, self.workspace.home / "templates", str(found.path))

    def _sources(self, runs: Sequence[Run]) -> Sources:
        space = self.workspace
        decisions, unread = self.folder.decisions()
        own = {self.folder.path(run.plan) for run in runs}
        for path, why in unread.items():
            # About those that are regenerated an error will say it.
            if path not in own:
                self.warn(f"its decisions are not used: {why}")
        return Sources(
            store=self.store,
            home=space.home,
            suite=space.suite,
            items=_items(space.suite, runs),
            repository=Repository(space.suite),
            decisions=decisions,
            others=newest_counts(self.store),
        )

    def _report(self, run: Run, sources: Sources, found: ExistingReport) -> Report:
        with Display() as display:
            tell = _later(display.preparing, f"report on {run.plan.run_id}")
            made = build(run, sources, found.path, found.document, tell)
            if found.document:
                made = with_proposals(made, kept(found.document.data))
            return self._analyzed(made, sources, display) if self.solver else made

    def _analyzed(self, made: Report, sources: Sources, display: Display) -> Report:
        """With the model's proposals for failures that have none yet."""
        assert self.solver is not None
        questions = open_questions(made)
        if not questions:
            return made

        def show(failure: Failure, judgement: Judgement | None) -> None:
            found: Classification | str = judgement.classification if judgement else ""
            display.item("passed" if judgement else "unscored", failure.eval, 0, found)

        display.start(f"failures for {self.solver.model}", len(questions))
        analysis = asyncio.run(analyze(questions, sources.items, self.solver, show, display.waiting))
        self.problems += analysis.unasked
        return with_proposals(made, analysis.judgements)


def _items(suite: Path, runs: Sequence[Run]) -> dict[str, Item]:
    """What `runs` asked about, as it is here now."""
    items: dict[str, Item] = {ev.id: ev for ev in load_suite(suite).evals}
    sessions = AskedSessions(suite)
    for run in runs:
        if run.plan.comparison:
            items |= {each: found for each in run.plan.evals if (found := sessions.find(each))}
    return items


def _later(tell: Callable[[str, int, int], None], what: str) -> Callable[[int, int], None]:
    """Progress, once it takes long enough to be worth showing."""
    start = time.monotonic()

    def told(done: int, total: int) -> None:
        if time.monotonic() - start > _QUIET_SECONDS:
            tell(what, done, total)

    return told
