"""JUnit's XML: a suite for each run, a case for each trial.

A case that failed has a `failure`, one without a verdict an `error`. Characters that XML cannot hold are spelled out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

from convex_evals.exports.trials import ExportedRun, ExportedTrial
from convex_evals.records import Outcome
from convex_evals.text import shortened, spelled_out, well_formed

_ELEMENTS = {Outcome.FAILED: "failure", Outcome.UNSCORED: "error"}
_LONGEST_MESSAGE = 200  # characters


@dataclass
class _Totals:
    """Of a run's cases."""

    outcomes: Counter[Outcome] = field(default_factory=Counter)
    milliseconds: int = 0

    def add(self, trial: ExportedTrial) -> None:
        self.outcomes[trial.verdict.outcome] += 1
        self.milliseconds += trial.duration_ms

    def attributes(self) -> dict[str, str]:
        return {
            "tests": str(self.outcomes.total()),
            "failures": str(self.outcomes[Outcome.FAILED]),
            "errors": str(self.outcomes[Outcome.UNSCORED]),
            "skipped": "0",
            "time": _seconds(self.milliseconds),
        }


def write(runs: Sequence[ExportedRun]) -> Iterator[bytes]:
    whole, totals = _Totals(), [_Totals() for _ in runs]
    for run, own in zip(runs, totals, strict=True):
        for trial in run.trials():
            own.add(trial)
            whole.add(trial)
    yield b'<?xml version="1.0" encoding="utf-8"?>\n'
    yield _tag("testsuites", {"name": "convex-evals", **whole.attributes()})
    for run, own in zip(runs, totals, strict=True):
        yield from _suite(run, own)
    yield b"</testsuites>\n"


def _suite(exported: ExportedRun, totals: _Totals) -> Iterator[bytes]:
    plan = exported.run.plan
    name = f"{plan.model} {plan.experiment} {plan.date} {plan.run_id}"
    yield _tag("  testsuite", {"name": name, **totals.attributes(), "timestamp": f"{plan.date}T00:00:00"})
    facts = {
        "run_id": plan.run_id,
        "date": plan.date,
        "model": plan.model,
        "experiment": plan.experiment,
        "guidelines": plan.guidelines,
        "guidelines_sha256": plan.guidelines_sha256,
        "suite_commit": plan.suite_commit,
    }
    yield b"    <properties>\n"
    for key, value in facts.items():
        if value is not None:
            yield _tag("      property", {"name": key, "value": value}, end="/>")
    yield b"    </properties>\n"
    for trial in exported.trials():
        yield _case(trial)
    yield b"  </testsuite>\n"


def _case(trial: ExportedTrial) -> bytes:
    # Readers that compare two reports know a case by class and name.
    case = {
        "classname": f"{trial.plan.model} {trial.plan.experiment}",
        "name": trial.name,
        "time": _seconds(trial.duration_ms),
    }
    element = _ELEMENTS.get(trial.verdict.outcome)
    if element is None:
        return _tag("    testcase", case, end="/>")
    reason = trial.reason or "no reason was recorded"
    why = {"type": trial.caught_by or trial.generation.fault or "grading", "message": _first_line(reason)}
    inside = _tag(f"      {element}", why, end=">").rstrip(b"\n") + f"{_text(reason)}</{element}>\n".encode()
    return _tag("    testcase", case) + inside + b"    </testcase>\n"


def _first_line(reason: str) -> str:
    return shortened(reason.strip().partition("\n")[0], _LONGEST_MESSAGE)


def _seconds(milliseconds: int) -> str:
    return f"{milliseconds / 1000:.3f}"


def _tag(name: str, attributes: Mapping[str, str], end: str = ">") -> bytes:
    """A line with an opening tag; `name` brings its indentation."""
    indentation = " " * (len(name) - len(name.lstrip()))
    given = "".join(f" {key}={quoteattr(_legal(value))}" for key, value in attributes.items())
    return f"{indentation}<{name.lstrip()}{given}{end}\n".encode()


def _text(text: str) -> str:
    return escape(_legal(text))


def _legal(text: str) -> str:
    return spelled_out(well_formed(text))
