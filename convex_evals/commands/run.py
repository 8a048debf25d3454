"""`cli run`"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.commands.options import (
    filter_options,
    json_option,
    runs_dir_option,
    suite_path,
    workers_option,
)

if TYPE_CHECKING:
    from convex_evals.config import Workspace
    from convex_evals.display import Display
    from convex_evals.grade.grader import Grader
    from convex_evals.plan import Request
    from convex_evals.records import Summary
    from convex_evals.runner import Runner, TrialDone
    from convex_evals.store.runs import Run, RunStore


@click.command()
@click.option(
    "-m",
    "--model",
    "models",
    multiple=True,
    metavar="MODEL",
    help="Who answers: a model of models.yaml, `demo` (recorded replies, good and bad), `reference` (the suite's own "
    "answers), or `replay:PATH`; repeatable. Without it, a menu on a terminal.  [env: MODELS, comma-separated]",
)
@click.option(
    "-e",
    "--experiment",
    "experiments",
    multiple=True,
    metavar="NAME",
    help="How it is asked: default, no_guidelines, web_search, web_search_no_guidelines, or one of "
    "convex-evals.yaml; repeatable.  [env: EVALS_EXPERIMENT]",
)
@filter_options
@click.option("--trials", type=click.IntRange(1, 100), default=1, show_default=True, metavar="K", help="Per eval.")
@click.option(
    "--guidelines",
    metavar="PATH",
    envvar="CUSTOM_GUIDELINES_PATH",
    help="Other guidelines than the experiment's; `path@REV` reads them from Git.  [env: CUSTOM_GUIDELINES_PATH]",
)
@click.option("--budget", type=click.FloatRange(0), metavar="USD", help="Spend no more, whatever happens.")
@click.option("--concurrency", type=click.IntRange(1, 1000), metavar="N", help="Requests per provider at a time.")
@workers_option
@click.option("--dry-run", is_flag=True, help="Say what would be asked and what it may cost; ask nobody.")
@click.option("--fresh", is_flag=True, help="New replies, even where earlier runs have some.")
@click.option("--retry-unscored", is_flag=True, help="Ask again where three runs got no reply.")
@click.option("--fail-on-failure", is_flag=True, help="Exit with 4 unless every trial passed.")
@runs_dir_option
@json_option
@click.pass_context
def run(
    ctx: click.Context,
    models: tuple[str, ...],
    experiments: tuple[str, ...],
    pattern: str | None,
    categories: tuple[str, ...],
    trials: int,
    guidelines: str | None,
    budget: float | None,
    concurrency: int | None,
    workers: int | None,
    dry_run: bool,
    fresh: bool,
    retry_unscored: bool,
    fail_on_failure: bool,
    runs_dir: Path | None,
    as_json: bool,
) -> int:
    """Ask models, grade their answers, write the results to runs/.

    The same command again goes on where it was interrupted, and pays for nothing twice: replies and verdicts whose
    inputs have not changed are taken from earlier runs.

    \b
    Examples:
      cli run -m demo
      cli run -m reference
      cli run -m claude-sonnet-5 -e default -e no_guidelines --trials 5 --budget 20
      cli run -m gpt-5 -c queries -f pagination --dry-run
      cli -C ../other-suite run -m reference --runs-dir elsewhere/runs
    """
    import asyncio
    import os

    from convex_evals.config import open_workspace
    from convex_evals.display import Display
    from convex_evals.errors import ExitCode
    from convex_evals.generate.answerers import Answerers
    from convex_evals.generate.budget import Budget
    from convex_evals.models import load_models
    from convex_evals.order import Order, load_environment, resolve
    from convex_evals.store.runs import RunStore

    names = models or _words(os.environ.get("MODELS"))
    if not names and not _on_terminal():
        raise click.UsageError("Missing option '-m' / '--model'; `-m demo` shows a run that needs no key")
    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    load_environment(workspace.home)
    order = Order(
        models=names,
        experiments=experiments or _words(os.environ.get("EVALS_EXPERIMENT")) or ("default",),
        pattern=pattern or os.environ.get("TEST_FILTER"),
        categories=categories,
        trials=trials,
        guidelines=guidelines,
    )
    if not names:
        from convex_evals.menu import choose

        choice = choose(order, workspace, sys.argv[1:])
        order, fresh = choice.order, fresh or choice.fresh
    answerers = Answerers(
        load_models([workspace.home, workspace.suite]), concurrency or workspace.config.concurrency, Budget(budget)
    )
    with Display() as display:
        resolved = resolve(order, workspace, answerers)
        for line in resolved.skipped:
            display.warn(line)
        if dry_run:
            _print_estimate(resolved.requests, as_json)
            return ExitCode.OK
        work = _Work(workspace, RunStore(workspace.runs_dir), workers, fresh, retry_unscored, display)
        try:
            asyncio.run(work.do(resolved.requests))
        except KeyboardInterrupt:
            display.warn("stopped; the same command goes on where it was")
            raise
    work.report(as_json)
    if work.stopped:
        return ExitCode.USER_ERROR
    return ExitCode.EVALS_FAILED if fail_on_failure and not work.all_passed else ExitCode.OK


def _on_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _words(text: str | None) -> tuple[str, ...]:
    return tuple(word.strip() for word in (text or "").split(",") if word.strip())


@dataclass
class _Work:
    """Runs under way."""

    workspace: Workspace
    store: RunStore
    workers: int | None
    fresh: bool
    retry_unscored: bool
    display: Display
    done: list[tuple[Run, Summary | None]] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)  # why models were asked nothing more
    runners: list[Runner] = field(default_factory=list)
    interrupted: bool = False

    async def do(self, requests: list[Request]) -> None:
        """All of `requests`, at the same time. Raises `KeyboardInterrupt` once they ended after a Ctrl-C."""
        import asyncio

        from convex_evals.grade.setup import ready_grader

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
        from convex_evals.plan import make_plan
        from convex_evals.runner import Runner
        from convex_evals.store.journal import Journal
        from convex_evals.store.reuse import EarlierRuns

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
        from convex_evals.results import headline

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

    def report(self, as_json: bool) -> None:
        import json

        from convex_evals.results import run_report, run_to_data

        if as_json:
            click.echo(json.dumps([run_to_data(run, summary) for run, summary in self.done], indent=2))
        else:
            click.echo("\n\n".join(run_report(run, summary) for run, summary in self.done))
        for line in self.stopped:
            click.echo(f"error: {line}", err=True)


@contextmanager
def _ctrl_c(first: Callable[[], None]) -> Iterator[None]:
    """The first Ctrl-C calls `first`; the second is what it always was. Inside of a running event loop."""
    import asyncio
    import signal

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


def _print_estimate(requests: list[Request], as_json: bool) -> None:
    import json

    from convex_evals.order import estimate
    from convex_evals.results import table

    rows = [estimate(request) for request in requests]
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    header = ["model", "experiment", "calls", "input tokens", "usual cost", "at most"]
    cells = [
        [
            str(r["model"]),
            str(r["experiment"]),
            f"{r['calls']:,}",
            f"{r['input_tokens']:,}",
            _dollars(r["usual_usd"]),
            _dollars(r["most_usd"]),
        ]
        for r in rows
    ]
    click.echo(table(header, cells))


def _dollars(amount: object) -> str:
    return f"${amount:,.2f}" if isinstance(amount, float) else "no price"
