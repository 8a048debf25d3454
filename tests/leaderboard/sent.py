"""Runs as a publisher sends them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.publish.deployed import Deployment

CATEGORIES = ("000-fundamentals", "001-queries")
# Of the eval at the same place of a run's letters: p, f, or u for one that does not count.
PLAN = [f"{category}/{n:03}-eval" for n in range(2) for category in CATEGORIES]


@dataclass(frozen=True)
class Sent:
    """The calls that sent a run, which can be repeated."""

    board: Deployment
    run: str
    calls: list[tuple[str, dict[str, Any], Any]]  # function, arguments, answer

    def repeat(self) -> None:
        for function, args, answer in self.calls:
            assert self.board.mutation(function, **args) == answer, function


def mint(board: Deployment, version: str = "v1", evals: int = len(PLAN)) -> None:
    board.mutation("mintBenchmark", version=version, evalCount=evals, curatedModels=["acme/m"])


def send(
    board: Deployment,
    letters: str = "pppp",
    *,
    plan: Sequence[str] = PLAN,
    complete: bool = True,
    model: str = "acme/m",
    **more: Any,
) -> Sent:
    """One run with an outcome for each eval of `plan`."""
    calls: list[tuple[str, dict[str, Any], Any]] = []

    def call(function: str, **args: Any) -> Any:
        answer = board.mutation(function, **args)
        calls.append((function, args, answer))
        return answer

    model_id = call("ensureModelFromSlug", slug=model, formattedName=model.upper(), provider="acme")
    start: Mapping[str, Any] = {
        "modelId": model_id,
        "provider": "acme",
        "plannedEvals": list(plan),
        "benchmarkVersion": "v1",
        "runId": "2026-11-01/run/1",
        **more,
    }
    run = str(call("startRun", **start))
    for path, letter in zip(plan, letters, strict=True):
        category, _, name = path.partition("/")
        eval_id = call("startEval", runId=run, evalPath=path, category=category, name=name)
        call("recordStep", evalId=eval_id, name="tests", status={"kind": "skipped"})
        call("completeEval", evalId=eval_id, status=_status(letter))
    if complete:
        call("completeRun", runId=run, status={"kind": "completed", "durationMs": 4000})
    return Sent(board, run, calls)


def _status(letter: str) -> dict[str, Any]:
    usage = {"inputTokens": 1, "raw": {"cost": 0.25}}
    if letter == "p":
        return {"kind": "passed", "durationMs": 1000, "usage": usage}
    reason = "tests" if letter == "f" else "[rate_limit] asked too often"
    return {"kind": "failed", "durationMs": 1000, "failureReason": reason, "usage": usage}
