"""What of a trial a deployment has, and what it lacks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from convex_evals.publish.content import EvalContent, TrialContent
from convex_evals.publish.leaderboard import FoundEval, FoundRun

# Of an eval; every other status means that it is under way.
_FINISHED = frozenset(("passed", "failed"))


@dataclass(frozen=True)
class Missing:
    """What one eval lacks."""

    content: EvalContent
    id: str | None  # None: it was not begun
    steps: tuple[str, ...]


@dataclass(frozen=True)
class RunState:
    """A run there against the trial that it should be."""

    missing: tuple[Missing, ...]
    fault: str | None  # why it cannot become what it should be; None where it can
    is_completed: bool

    @property
    def is_whole(self) -> bool:
        return self.is_completed and self.fault is None and not self.missing


def compare(content: TrialContent, found: FoundRun) -> RunState:
    missing = tuple(m for m in (_missing(c, found.evals.get(e)) for e, c in content.evals.items()) if m)
    fault = _fault_of_run(content, found) or next(
        filter(None, (_fault(c, found.evals[e]) for e, c in content.evals.items() if e in found.evals)), None
    )
    if fault is None and missing and found.status == "completed":
        fault = f"it is completed without {missing[0].content.id}"
    return RunState(missing, fault, found.status == "completed")


def other_run(content: TrialContent, model: str, found: FoundRun) -> str | None:
    """Which run this is, where it is another trial's or of another model; None for one of this trial."""
    if found.text != content.text:
        return f"the run {found.text}" if found.text else "a run without a name"
    return None if found.model == model else f"a run of another model ({found.model})"


def other_result(content: TrialContent, found: FoundRun) -> str | None:
    """What a run that is complete there says otherwise; None where it says the same, or is not complete."""
    if found.status != "completed":
        return None
    kinds = {e: "passed" if own.passed else "failed" for e, own in content.evals.items()}
    other = next((e for e, own in found.evals.items() if own.status in _FINISHED and own.status != kinds.get(e)), None)
    return None if other is None else f"{other} is {found.evals[other].status} there, not {kinds.get(other, 'in it')}"


def other_benchmark(content: TrialContent, found: FoundRun) -> str | None:
    """How a run of this trial is not the one that is published; None where it is."""
    if found.benchmark is not None and found.benchmark not in content.version.accepted:  # not every deployment tells it
        return "it is of another benchmark"
    return None if found.experiment == content.experiment else "it is of another experiment"


def _fault_of_run(content: TrialContent, found: FoundRun) -> str | None:
    if found.status == "failed":
        return "it is failed"
    other = other_benchmark(content, found)
    if other:
        return other
    if found.has_repeated_evals:
        return "an eval is there twice"
    unplanned = next((e for e in found.evals if e not in content.evals), None)
    return f"{unplanned} was not planned" if unplanned else None


def _fault(content: EvalContent, found: FoundEval) -> str | None:
    """Why this eval cannot become what it should be."""
    if found.has_repeated_steps:
        return f"a step of {content.id} is there twice"
    finished = "passed" if content.passed else "failed"
    if found.status in _FINISHED - {finished}:
        return f"{content.id} is {found.status}, not {finished}"
    if _other_step(content.steps, found.steps):
        return f"the steps of {content.id} are other ones"
    if found.status == finished and len(found.steps) < len(content.steps):
        return f"{content.id} is {finished} without all of its steps"
    return None


def _other_step(own: Mapping[str, Mapping[str, object]], found: Mapping[str, str]) -> bool:
    return any(name not in own or own[name]["kind"] != kind for name, kind in found.items())


def _missing(content: EvalContent, found: FoundEval | None) -> Missing | None:
    if found is None:
        return Missing(content, None, tuple(content.steps))
    if found.status in _FINISHED:
        return None
    return Missing(content, found.id, tuple(name for name in content.steps if name not in found.steps))
