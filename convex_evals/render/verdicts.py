"""Verdicts, and the reasons they give, as text. Pure."""

from __future__ import annotations

import re

from convex_evals.records import Outcome, Verdict
from convex_evals.render.lead_ins import from_the_cause
from convex_evals.render.marks import MARKS
from convex_evals.render.model import Tone
from convex_evals.text import shortened

TONES = {Outcome.PASSED: Tone.GOOD, Outcome.FAILED: Tone.BAD, Outcome.UNSCORED: Tone.UNSURE}

# Convex's clients put this before the message of a function that threw.
_SERVER_ERROR = re.compile(r"\[Request ID: \w+\] Server Error\s*")
_LOCATION = re.compile(r"^\s*(\S+:\d+:\d+):?$")


def headline(text: str | None, width: int = 160) -> str:
    """The first line of a reason that says what is wrong, after the place that the bundler names below it."""
    lines = from_the_cause(_SERVER_ERROR.sub("", text or "")) or ["no reason given"]
    line = lines[0]
    if line.startswith("✘ [ERROR] "):
        place = next((m[1] for m in map(_LOCATION.match, lines[1:]) if m), None)
        line = f"{place}: {line[10:]}" if place else line[10:]
    return shortened(line, width)


def verdict_text(verdict: Verdict) -> str:
    """All steps and failing tests of a verdict."""
    lines = []
    for step in verdict.steps:
        reason = f"  {step.reason}" if step.reason and step.outcome.value != "failed" else ""
        lines.append(f"  {step.step:10} {step.outcome:8} {step.duration_ms:6} ms{reason}")
        if step.reason and step.outcome.value == "failed" and step.step.value != "tests":
            lines += [f"      {line}" for line in step.reason.splitlines()]
    for test in verdict.tests:
        mark = MARKS["passed" if test.outcome == "passed" else "failed"]
        lines.append(f"    {mark} {test.name} ({test.duration_ms} ms)")
        lines += [f"        {line}" for line in (test.message or "").splitlines()]
    return "\n".join(lines)
