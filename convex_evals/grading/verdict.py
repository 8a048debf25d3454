"""Step results to a verdict: pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from convex_evals.grading.tester import TestReport
from convex_evals.records import Outcome, StepName, StepOutcome, StepResult, Verdict

_SHOWN = 10
_MOST_LINE = 4_000  # characters of one diagnostic
_MOST_TEXT = 40_000  # characters of a reason, or of a test's message
# All but the line feed and the tabulator.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class StepFailed(Exception):
    """The project is at fault; the message says why."""


def skipped(step: StepName, reason: str) -> StepResult:
    return StepResult(step=step, outcome=StepOutcome.SKIPPED, reason=reason)


def build_verdict(steps: Sequence[StepResult], report: TestReport | None) -> Verdict:
    """Failed when a step failed, caught by the first; unscored when one could not tell; else passed."""
    failed = [s.step for s in steps if s.outcome is StepOutcome.FAILED]
    unscored = [s.step for s in steps if s.outcome is StepOutcome.UNSCORED]
    if failed:
        outcome, caught = Outcome.FAILED, failed[0]
    elif unscored:
        outcome, caught = Outcome.UNSCORED, unscored[0]
    else:
        outcome, caught = Outcome.PASSED, None
    return Verdict(
        outcome=outcome,
        caught_by=caught,
        score=report.score if report else 0.0,
        steps=tuple(s.model_copy(update={"reason": _plain(s.reason)}) for s in steps),
        tests=tuple(t.model_copy(update={"message": _plain(t.message)}) for t in report.tests) if report else (),
    )


def _plain(text: str | None) -> str | None:
    """Whoever shows a verdict must not have to know that it quotes model-written code."""
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", _shortened(text, _MOST_TEXT)) if text else text


def _shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text) - limit:,} more characters)"


def unscored(reason: str) -> Verdict:
    """Nothing was received, so there is nothing to judge."""
    return Verdict(
        outcome=Outcome.UNSCORED, caught_by=None, score=0.0, steps=tuple(skipped(s, reason) for s in StepName)
    )


def failed_reply(reason: str) -> Verdict:
    """The model's reply is a failure before anything of it runs."""
    first = StepResult(step=StepName.FILESYSTEM, outcome=StepOutcome.FAILED, reason=reason)
    rest = [skipped(s, "filesystem did not pass") for s in StepName if s is not StepName.FILESYSTEM]
    return build_verdict([first, *rest], None)


def blame(verdict: Verdict) -> Verdict:
    """The verdict on a project that brings our processes down while a canary beside it does well: failed."""
    steps = tuple(
        s.model_copy(
            update={
                "outcome": StepOutcome.FAILED,
                "reason": f"{s.reason} (twice, while a canary project passed)",
            }
        )
        if s.outcome is StepOutcome.UNSCORED
        else s
        for s in verdict.steps
    )
    return verdict.model_copy(update={"outcome": Outcome.FAILED, "steps": steps})


def summarize(found: Sequence[dict[str, Any]]) -> str:
    """Diagnostics or lint problems as lines `file:line:column code: message`."""
    lines = [f"{_place(d)} {d.get('code') or d.get('rule')}: {d['message']}" for d in found[:_SHOWN]]
    lines = [_shortened(line, _MOST_LINE) for line in lines]
    if len(found) > _SHOWN:
        lines.append(f"... and {len(found) - _SHOWN} more")
    return "\n".join(lines)


def _place(problem: dict[str, Any]) -> str:
    """Where a problem is. A file that cannot be parsed at all has no line: ESLint gives up where its stack ends."""
    line = problem.get("line")
    return str(problem["file"]) if line is None else f"{problem['file']}:{line}:{problem.get('column')}"
