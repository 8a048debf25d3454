"""Runs of one command: each finds the run that it goes on with or makes one, and all share a grader."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from convex_evals.config import Workspace
from convex_evals.display import Display
from convex_evals.grade.grader import Grader
from convex_evals.grade.setup import ready_grader
from convex_evals.plan import Request, make_plan
from convex_evals.records import Summary
from convex_evals.results import headline
from convex_evals.runner import Runner, TrialDone
from convex_evals.store.journal import Journal
from convex_evals.store.reuse import EarlierRuns
from convex_evals.store.runs import Run, RunStore


@dataclass
class Work:
    """Runs under way: what one command does, all of it at the same time."""

    workspace: Workspace
    store: RunStore
    display: Display
    workers: int | None = None  # None: as many as the workspace says
    fresh: bool = False  # new replies, even where earlier runs have some
    retry_unscored: bool = False
    done: list[tuple[Run, Summary | None]] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)  # why models were asked nothing more
    runners: list[Runner] = field(default_factory=list)
    interrupted: bool = False

    async def do(self, requests: list[Request]) -> None:
        """All of `requests`, at the same time. Raises `KeyboardInterrupt` once they ended after a Ctrl-C."""

        space, display = self.workspace, self.display
        count = self.workers or space.workers
        async with ready_grader(space.suite, space.config, count, display.preparing, display.warn) as grader:
            display.start("trials", sum(len(r.evals) * r.trials for r in requests))
            with _ctrl_c(self._interrupt):
                async with asyncio.TaskGroup() as group:
                    tasks = [group.create_task(self._one(request, grader)) for request in requests]
            self.done = [task.result() for task in tasks]
        if self.interrupted:
            raise KeyboardInterrupt

    async def _one(self, request: Request, grader: Grader) -> tuple[Run, Summary | None]:
        plan = await make_plan(request, grader)
        # A run that is not complete goes on only with the toolchain that it says it was graded with.
        earlier = [] if self.fresh else self.store.same_work(plan)
        usable = (r for r in earlier if r.is_complete or r.plan.toolchain == plan.toolchain)
        run = next(usable, None) or self.store.create(plan)
        summary = run.summary()
        if summary and not (self.retry_unscored and summary.counts.unscored):
            return run, summary
        if summary:
            run = self.store.create(plan)
        runner = Runner(
            run,
            Journal(self.workspace.journal_dir, run.plan.run_id),
            request.answerer,
            grader,
            request.prompts,
            lambda done: self._show(request, done),
            None if self.fresh else EarlierRuns(self.store, plan.model),
            self.retry_unscored,
        )
        self.runners.append(runner)
        summary = await runner.complete({e.id: e for e in request.evals})
        if runner.stopped and not self.interrupted:
            self.stopped.append(str(runner.stopped))
        if runner.over_budget:
            self.stopped.append(
                f"{plan.model}: {runner.over_budget} trials were not asked: the budget is used up; "
                "the same command with more --budget goes on"
            )
        return run, summary

    def _show(self, request: Request, done: TrialDone) -> None:
        verdict = done.verdict
        name = done.eval_id if request.trials == 1 else f"{done.eval_id} #{done.trial}"
        if len(self.runners) > 1:
            name = f"{request.answerer.model} {request.experiment} {name}"
        note = "" if verdict.caught_by is None else f"{verdict.caught_by}: {headline(verdict.reason)}"
        if verdict.caught_by is None and not done.generation.received:
            note = headline(f"{done.generation.fault}: {done.generation.reason}")
        self.display.item(
            verdict.outcome.value, name, verdict.duration_ms / 1000, "done before" if done.reused else note
        )

    def _interrupt(self) -> None:
        self.interrupted = True
        self.display.warn("stopping: what is under way is finished first; Ctrl-C again stops at once")
        for runner in self.runners:
            runner.stop_asking()

    @property
    def all_passed(self) -> bool:
        return all(s is not None and s.counts.passed == sum(s.counts.model_dump().values()) for _, s in self.done)


@contextmanager
def _ctrl_c(first: Callable[[], None]) -> Iterator[None]:
    """The first Ctrl-C calls `first`; the second is what it always was. Inside of a running event loop."""
    loop = asyncio.get_running_loop()

    def handle() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)
        first()

    before = signal.getsignal(signal.SIGINT)
    try:
        loop.add_signal_handler(signal.SIGINT, handle)
    except (NotImplementedError, RuntimeError):  # Windows, or not the main thread
        yield
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)
