"""What a run asks for, pays for and keeps: real classes and a real HTTP server; a stand-in grades."""

from __future__ import annotations

import asyncio
import math
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from convex_evals.config import open_workspace
from convex_evals.grading.service import GradingService
from convex_evals.models import Ask
from convex_evals.models.budget import Budget
from convex_evals.models.faults import ModelStopped
from convex_evals.models.limits import ProviderLimit
from convex_evals.models.price import Tariff
from convex_evals.models.retries import ModelSolver
from convex_evals.records import Attempt, Outcome, RunPlan, Usage, Verdict
from convex_evals.records.hashes import sha256_text
from convex_evals.records.models import ModelEntry, Parameters, Price
from convex_evals.records.reply import Reply
from convex_evals.render.terminal import Display
from convex_evals.runs import execute as work_module
from convex_evals.runs import opening
from convex_evals.runs.costs import spent_on
from convex_evals.runs.execute import Work
from convex_evals.runs.judging import Judge
from convex_evals.runs.plan import RunRequest
from convex_evals.store.journal import Journal
from convex_evals.store.replies import ReplyFile
from convex_evals.store.runs import RunStore
from convex_evals.suite.prompt import Prompt
from convex_evals.suite.suite import Eval, load_suite
from tests.factories import make_asked, make_eval, make_plan, make_verdict
from tests.provider import Provider, serve
from tests.wire import question

COST = 0.006  # of a reply of the stub
PRICE = Price(input=10, output=100)


@dataclass
class Bench:
    """A suite, a provider, and a grading service that says what the test wants."""

    root: Path
    stub: Provider
    outcome: Callable[[str], Outcome] = lambda eval_id: Outcome.PASSED
    graded: list[str] = field(default_factory=list)
    work: Work | None = None
    on_grade: Callable[[], None] = lambda: None
    on_plan: Callable[[], None] = lambda: None
    seconds: float = 0.0  # that a grading takes

    tester = SimpleNamespace(sandbox=SimpleNamespace(level="none"))

    def ctrl_c(self) -> None:
        assert self.work
        self.work._interrupt()

    async def grade(self, ev: Eval, files: object) -> Verdict:
        self.graded.append(ev.id)
        self.on_grade()
        await asyncio.sleep(self.seconds)
        return make_verdict(self.outcome(ev.id))

    async def plan(self, request: RunRequest, judge: Judge) -> RunPlan:
        await asyncio.sleep(0)
        self.on_plan()
        (planned,) = make_plan().evals.values()
        keys = {
            e.id: planned.model_copy(
                update={"generation_key": sha256_text(f"{request.solver.model} {request.prompts[e.id].text}")}
            )
            for e in request.evals
        }
        names = {"run_id": request.run_id, "date": request.date, "model": request.solver.model}
        return make_plan(**names, synthetic=False, trials=request.trials, evals=keys)

    def request(self, run_id: str = "x", model: str = "a", budget: Budget | None = None, **changes: Any) -> RunRequest:
        entry = ModelEntry(
            slug=f"stub/{model}",
            litellm="openai/model",
            base_url=self.stub.url,
            parameters=Parameters(max_output_tokens=100),
        )
        evals = load_suite(self.root).evals
        solver = ModelSolver(entry, Tariff(PRICE), 100, ProviderLimit(8), budget or Budget(None), first_pause=0.01)
        given: dict[str, Any] = {
            "solver": solver,
            "evals": evals,
            "prompts": {e.id: Prompt("", e.task) for e in evals},
            "trials": 1,
            "asked": make_asked(),
            "run_id": run_id,
            "date": "2026-01-31",
            "suite_commit": None,
        }
        return RunRequest(**{**given, **changes})

    def do(self, *requests: RunRequest, **options: Any) -> Work:
        """What one command does."""
        space = open_workspace(self.root, None, self.root)
        with Display() as display:
            self.work = Work(space, RunStore(space.runs_dir), display, workers=1, **options)
            asyncio.run(self.work.do(requests))
        return self.work

    def asked(self) -> list[str]:
        """The tasks that were asked since the last time."""
        tasks = sorted(question(body).strip() for body in self.stub.requests)
        self.stub.requests.clear()
        return tasks


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    for i in range(2):
        make_eval(tmp_path, f"000-fundamentals/00{i}-eval", {"TASK.txt": f"Task {i}.\n"})
    with serve(Provider()) as stub:
        found = Bench(tmp_path, stub)

        @asynccontextmanager
        async def ready(*_: object) -> AsyncIterator[GradingService]:
            yield cast(GradingService, found)

        monkeypatch.setattr(work_module, "ready_service", ready)
        monkeypatch.setattr(opening, "make_plan", found.plan)
        yield found


def test_runs_of_one_name_share_no_reply(bench: Bench) -> None:
    bench.outcome = lambda eval_id: Outcome.UNSCORED
    bench.do(bench.request(model="a"))
    assert bench.asked() == ["Task 0.", "Task 1."]
    bench.do(bench.request(model="b"))
    assert bench.asked() == ["Task 0.", "Task 1."], "and not the replies of a, which the journal has"
    other = open_workspace(bench.root, bench.root / "elsewhere", bench.root)
    prompts = {e.id: Prompt("", f"Another: {e.task}") for e in load_suite(bench.root).evals}
    with Display() as display:
        work = Work(other, RunStore(other.runs_dir), display, workers=1)
        asyncio.run(work.do([bench.request(model="a", prompts=prompts)]))
    assert bench.asked() == ["Another: Task 0.", "Another: Task 1."]


def test_a_ctrl_c_while_a_run_is_opened_stops_it(bench: Bench) -> None:
    bench.on_plan = bench.ctrl_c
    with pytest.raises(KeyboardInterrupt):
        bench.do(bench.request())
    assert bench.asked() == []


def test_what_grading_left_unscored_is_graded_in_three_runs(bench: Bench) -> None:
    """Also where no journal is kept: `final` is what --commit means."""
    bench.outcome = lambda eval_id: Outcome.UNSCORED if "001" in eval_id else Outcome.PASSED
    runs = [bench.do(bench.request(f"run-{n}"), final=True).done[0].run.plan.run_id for n in range(5)]
    assert runs == ["run-0", "run-1", "run-2", "run-2", "run-2"]
    assert bench.asked() == ["Task 0.", "Task 1."]
    assert sorted(bench.graded) == ["000-fundamentals/000-eval"] + ["000-fundamentals/001-eval"] * 3


def test_a_ctrl_c_begins_no_grading(bench: Bench) -> None:
    bench.on_grade = bench.ctrl_c
    bench.seconds = 0.2
    with pytest.raises(KeyboardInterrupt):
        bench.do(bench.request())
    assert len(bench.asked()) == 2 and len(bench.graded) == 1
    bench.on_grade = lambda: None
    bench.do(bench.request(named=True))
    assert bench.asked() == [] and len(bench.graded) == 2


@pytest.mark.parametrize("way", ["much_later", "auth"])
def test_a_pause_ends_when_the_model_is_stopped(way: str, bench: Bench) -> None:
    """Of the trial that is to be tried later, and of one that waits for its turn: by a Ctrl-C, and by a wrong key."""
    bench.stub.behave = lambda n, body: "much_later" if n == 0 else way
    request = bench.request()
    solver = cast(ModelSolver, request.solver)
    prompt = Prompt("", "Task.")

    async def ask(trial: int) -> None:
        log = ReplyFile(bench.root / f"{trial}.jsonl")
        with pytest.raises(ModelStopped):
            await solver.respond(Ask(request.evals[0], trial, "key", prompt), log)
        log.close()

    async def everything() -> None:
        paused = [asyncio.create_task(ask(1))]
        while not solver.limit.not_before:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        paused.append(asyncio.create_task(ask(2)))
        await asyncio.sleep(0.05)
        if way == "auth":
            solver.limit.not_before = 0
            paused.append(asyncio.create_task(ask(3)))
        else:
            solver.stop()
        await asyncio.wait_for(asyncio.gather(*paused), 10)

    asyncio.run(everything())
    assert solver.limit.under_way == 0


def test_a_stop_is_not_late_for_who_waits(bench: Bench) -> None:
    """The lock of the turns is free again, whatever ended the wait."""
    limit = ProviderLimit(1)
    halted = asyncio.Event()

    async def everything() -> None:
        async with limit.turn(halted):
            waits = asyncio.create_task(limit.turn(asyncio.Event()).__aenter__())
            await asyncio.sleep(0.01)
            waits.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waits
        await asyncio.wait_for(limit.went_well(), 1)
        assert limit.under_way == 0

    asyncio.run(everything())


def test_a_budget_is_for_the_run(bench: Bench) -> None:
    """What an earlier command paid for is spent: in runs/, in the journal, or in a log without an end."""
    worst = cast(ModelSolver, bench.request().solver).tariff.worst(Prompt("", "Task 0.\n").text, 100)
    assert COST < worst < 2 * COST
    enough = COST + worst
    only_first = load_suite(bench.root).evals[0].id

    def outcome(eval_id: str) -> Outcome:
        return Outcome.UNSCORED if eval_id == only_first else Outcome.PASSED

    bench.outcome = outcome
    stopped = bench.do(bench.request(budget=Budget(worst))).complaints
    assert len(bench.asked()) == 1 and stopped[0][0] == "incomplete" and "1 trial was not asked" in stopped[0][1]
    assert f"resume by the same command, with --budget {math.ceil(enough * 10_000) / 10_000:g} (" in stopped[0][1]
    assert bench.do(bench.request(named=True, budget=Budget(worst))).fell_short
    assert bench.asked() == []
    money = Budget(enough)
    assert not bench.do(bench.request(named=True, budget=money)).fell_short
    assert len(bench.asked()) == 1 and money.spent == pytest.approx(2 * COST)
    assert not bench.do(bench.request("y", model="b", budget=Budget(2 * worst))).fell_short, "another run"

    assert bench.work
    run = RunStore(bench.root / "runs").create(bench.work.runners[0].run.plan.model_copy(update={"run_id": "z"}))
    journal = Journal(bench.root / "journal", run.plan)
    request = bench.request(model="b")
    ids = list(run.plan.evals)
    log = journal.reply_log(ids[1], 1, run.plan.evals[ids[1]].generation_key)
    log.begin(100)
    log.close()
    tariff = cast(ModelSolver, request.solver).tariff
    assert spent_on(run, journal, ids, request.prompts, tariff) == pytest.approx(worst)
    assert spent_on(run, journal, ids[:1], request.prompts, tariff) == 0, "another shard's"


def test_a_run_takes_over_what_another_has_in_its_journal(bench: Bench) -> None:
    """An entry with its verdict, and a reply that ended when the process did."""
    bench.outcome = lambda eval_id: Outcome.UNSCORED
    old = bench.do(bench.request("old")).runners[0]
    assert len(bench.asked()) == 2 and not old.run.is_complete
    first, second = old.run.plan.evals
    old.journal._path(second, 1).unlink()
    log = old.journal.reply_log(second, 1, old.run.plan.evals[second].generation_key)
    log.begin(100)
    log.text("# Files")
    log.end(Attempt(cost_usd=COST), Reply("# Files", "stop", Usage(), 0, None, 1, 2))
    log.close()
    bench.outcome = lambda eval_id: Outcome.PASSED
    evals = load_suite(bench.root).evals
    with old.journal.locked():
        bench.do(bench.request("busy", evals=evals[:1]), final=True)
    assert bench.asked() == ["Task 0."], "another process may be at it"
    shutil.rmtree(bench.root / "runs" / "stub" / "a" / "2026-01-31" / "busy")

    (one,) = bench.do(bench.request("one", evals=evals[:1])).done
    (other,) = bench.do(bench.request("other", evals=evals[1:])).done
    assert bench.asked() == []
    for done, eval_id in ((one, first), (other, second)):
        (generation,) = done.run.generation(eval_id).trials
        assert generation.reused_from is None and generation.cost_usd == pytest.approx(COST)
    again = bench.do(bench.request("old", named=True)).done[0].summary
    assert bench.asked() == [] and again and again.reused == 2 and again.cost_usd == 0
