"""Runs of one command: each finds the run that it resumes, or creates one, and all share a grading service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from convex_evals.config import Workspace
from convex_evals.errors import UserError
from convex_evals.grading.sandbox.choice import Containment, own_code
from convex_evals.grading.service import GradingService
from convex_evals.grading.setup import ready_service
from convex_evals.models.batching.following import Following
from convex_evals.models.retries import ModelSolver
from convex_evals.models.solvers import refuse_without_keys
from convex_evals.models.waits import Waits
from convex_evals.render.terminal import Display
from convex_evals.render.verdicts import headline
from convex_evals.runs.costs import spent_on
from convex_evals.runs.finished import Ends, Finished
from convex_evals.runs.interruption import first_ctrl_c
from convex_evals.runs.judging import ComparingJudge, Judge, ServiceJudge
from convex_evals.runs.opening import count_by_own_keys, open_run
from convex_evals.runs.options import RunOptions
from convex_evals.runs.plan import RunRequest
from convex_evals.runs.progress import Progress
from convex_evals.runs.runner import Runner, TrialDone
from convex_evals.runs.shard import Shard
from convex_evals.runs.stage import Stage
from convex_evals.sessions.asking import AskedSession
from convex_evals.store.journal import Journal
from convex_evals.store.reuse import EarlierRuns
from convex_evals.store.run import Run
from convex_evals.store.runs import RunStore
from convex_evals.suite.suite import Eval


@dataclass
class Work(Ends):
    """Runs under way: what one command does."""

    workspace: Workspace
    store: RunStore
    display: Display
    containment: Containment = field(default_factory=Containment)
    workers: int | None = None  # None: as many as the workspace says
    fresh: bool = False  # new replies, even where earlier runs have some
    retry_unscored: bool = False
    shard: Shard | None = None  # None: everything
    only: Stage | None = None
    batch_wait_s: float | None = None  # for which batches are followed; None: to their end
    final: bool = False  # what has no verdict after this is written as it is
    runners: list[Runner] = field(default_factory=list)
    interrupted: bool = False
    waits: Waits = field(default_factory=Waits)  # of the models and judges that it asks
    _progress: Progress = field(default_factory=lambda: Progress(0))
    _places: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))

    async def do(self, *groups: Sequence[RunRequest]) -> None:
        """All requests of a group at the same time, one group after the other, while models may be asked.

        Raises `KeyboardInterrupt` once they ended after a Ctrl-C, and `UserError` where a key is missing, before
        anything is begun.
        """
        space, display = self.workspace, self.display
        self.shards = self.shard.of if self.shard else 1
        requests = [request for group in groups for request in group]
        if self.only is None or self.only.asks:
            refuse_without_keys(r.solver for r in requests if not (r.planned and r.planned.is_complete))
        executes = self.only is None or self.only.executes
        if executes:
            refuse_without_keys(r.judge.solver for r in requests if r.judge)
        count = (self.workers or space.workers) if executes else 1
        # Replies that nothing executes wait for a model at most, and those have limits of their own.
        self._places = asyncio.Semaphore(count if _needs_service(requests) else space.config.concurrency)
        containment = self.containment if executes else own_code()
        async with _service_for(requests, count, space, display, containment) as service:
            self._progress = Progress(sum(len(self._share(r)) * r.trials for r in requests))
            display.start("trials", self._progress.total)
            self._listen_to(requests)
            with first_ctrl_c(self._interrupt):
                async with self.waits.told(self.display.waiting):
                    await self._all(groups, requests, service)
        if self.interrupted:
            raise KeyboardInterrupt

    async def _all(
        self, groups: Sequence[Sequence[RunRequest]], requests: Sequence[RunRequest], service: GradingService | None
    ) -> None:
        async with asyncio.TaskGroup() as work:
            opening = [work.create_task(self._open(request, service)) for request in requests]
        opened = iter([task.result() for task in opening])
        for group in groups:
            pairs = [(request, run) for request in group if (run := next(opened))]
            if self.interrupted or self.fell_short:
                self.unbegun += sum(len(self._share(request)) * request.trials for request, _ in pairs)
                continue
            async with asyncio.TaskGroup() as work:
                tasks = [work.create_task(self._one(request, run, service)) for request, run in pairs]
            self.done += [task.result() for task in tasks]

    def _listen_to(self, requests: Sequence[RunRequest]) -> None:
        for request in requests:
            for solver in (request.solver, request.judge.solver if request.judge else None):
                if isinstance(solver, ModelSolver):
                    solver.following = Following(self.batch_wait_s, self.display.note, self.display.progress)
                    solver.waits = self.waits

    def _share(self, request: RunRequest) -> tuple[str, ...]:
        ids = [e.id for e in request.evals]
        return self.shard.share(ids) if self.shard else tuple(ids)

    async def _open(self, request: RunRequest, service: GradingService | None) -> Run | None:
        """Open the run for `request`; None where it is a leftover that can no longer be resumed.

        What earlier commands paid for it is taken from the budget before a model is asked.
        """
        try:
            run = await open_run(
                *(request, _judge_of(request, service), self.store),
                fresh=self.fresh,
                retry_unscored=self.retry_unscored,
            )
        except UserError as error:
            if not request.leftover:
                raise
            self.display.warn(f"skipped, though its batches go on: {error}")
            return None
        solver = request.solver
        if isinstance(solver, ModelSolver) and solver.budget.limit is not None:
            self.budget = solver.budget
        # A validation pays for all of its runs, though one command may have done the screening.
        counts = request.within is not None or not run.is_complete
        if isinstance(solver, ModelSolver) and solver.budget.limit is not None and counts:
            journal = Journal(self.workspace.journal_dir, run.plan)
            solver.budget.spent += spent_on(run, journal, self._share(request), request.prompts, solver.tariff)
        return run

    async def _one(self, request: RunRequest, run: Run, service: GradingService | None) -> Finished:
        share = self._share(request)
        count_by_own_keys(run)
        if run.is_complete:
            return Finished(run, run.summary(), share, only=self.only)
        journal = Journal(self.workspace.journal_dir, run.plan)
        earlier = EarlierRuns(RunStore(run.root), run.plan.model, self.workspace.journal_dir)
        runner = Runner(
            run,
            journal,
            request.solver,
            _judge_of(request, service),
            request.prompts,
            lambda done: self._show(request, done),
            None if self.fresh or run.plan.fresh else earlier,
            self.retry_unscored,
            self.only,
            self.final,
            places=self._places,
        )
        self.runners.append(runner)
        if self.interrupted:  # while the run was opened
            runner.stop_asking()
        summary = await runner.complete({e.id: e for e in request.evals}, share)
        if runner.stopped and not self.interrupted:
            self.faults.append(str(runner.stopped))
        if runner.over_budget:
            self.unasked[f"{run.plan.model} {run.plan.experiment}"] = runner.over_budget
        journalled = {} if summary else journal.of_unwritten(run)
        return Finished(run, summary, share, journalled, runner.without_reply, runner.pending, self.only)

    def _show(self, request: RunRequest, done: TrialDone) -> None:
        verdict = done.verdict
        name = done.eval_id if request.trials == 1 else f"{done.eval_id} #{done.trial}"
        if len(self.runners) > 1:
            name = f"{request.solver.model} {request.asked.experiment} {name}"
        note = f"{verdict.caught_by}: {headline(verdict.reason)}" if verdict and verdict.caught_by else ""
        if not note and not done.generation.received:
            note = headline(f"{done.generation.fault}: {done.generation.reason}")
        mark = verdict.outcome.value if verdict else "received" if done.generation.received else "unscored"
        took_ms = verdict.duration_ms if verdict else done.generation.duration_ms
        self.display.item(mark, name, took_ms / 1000, "reused" if done.reused else note)
        self._progress.add(done)
        self.display.progress(self._progress.line())

    def _interrupt(self) -> None:
        self.interrupted = True
        self.display.warn("stopping after the work in progress; press Ctrl-C again to stop at once")
        for runner in self.runners:
            runner.stop_asking()


def make_work(options: RunOptions, workspace: Workspace, display: Display, containment: Containment) -> Work:
    """What `cli run` with `options` does."""

    def resuming(run_ids: Sequence[str]) -> str:
        rest = options.after_interruption(run_ids)
        return "the same command" if rest is None else f"`{replace(rest, budget=None).command()}`"

    work = Work(
        workspace,
        RunStore(workspace.runs_dir),
        display,
        containment,
        workers=options.workers,
        fresh=options.fresh,
        retry_unscored=options.retry_unscored,
        shard=options.shard,
        only=options.only,
        batch_wait_s=None if options.batch_wait is None else options.batch_wait * 60,
        # A machine that only grades hands on what it made: it asks for nothing later.
        final=options.commit or options.push or options.only is Stage.GRADE,
    )
    work.same_command = resuming
    return work


def carry_out(
    workspace: Workspace,
    store: RunStore,
    containment: Containment,
    workers: int | None,
    *groups: Sequence[RunRequest],
    fresh: bool = False,
    only: Stage | None = None,
) -> Work:
    """Do `groups`, shown on a display of their own; the same command resumes them."""
    with Display() as display:
        final = only is Stage.GRADE
        work = Work(workspace, store, display, containment, workers=workers, fresh=fresh, only=only, final=final)
        try:
            asyncio.run(work.do(*groups))
        except KeyboardInterrupt:
            display.warn("stopped; the same command resumes it")
            raise
    return work


async def plan_runs(
    requests: Sequence[RunRequest], workspace: Workspace, display: Display, *, fresh: bool
) -> list[tuple[Run, RunRequest]]:
    """Open the runs that `Work` would resume or create, each with its run.json; no model is asked.

    A leftover that can no longer be resumed is left out.
    """
    work = Work(workspace, RunStore(workspace.runs_dir), display, fresh=fresh)
    async with _service_for(requests, 1, workspace, display, own_code()) as service:
        return [(run, request) for request in requests if (run := await work._open(request, service))]


def _needs_service(requests: Sequence[RunRequest]) -> bool:
    """Whether replies are executed, and not only compared with texts."""
    return not requests or any(request.comparison is None for request in requests)


@asynccontextmanager
async def _service_for(
    requests: Sequence[RunRequest], workers: int, workspace: Workspace, display: Display, containment: Containment
) -> AsyncIterator[GradingService | None]:
    """The grading service; None where replies are only compared with texts."""
    if not _needs_service(requests):
        yield None
        return
    async with ready_service(
        workspace.suite, workspace.config, workers, display.preparing, display.warn, containment
    ) as service:
        yield service


def _judge_of(request: RunRequest, service: GradingService | None) -> Judge:
    if request.comparison:
        sessions = {each.id: each for each in request.evals if isinstance(each, AskedSession)}
        return ComparingJudge(request.comparison, sessions, request.judge)
    assert service is not None, "a suite's replies are executed"
    return ServiceJudge(service, {ev.id: ev for ev in request.evals if isinstance(ev, Eval)})
