"""What two sides have in common, and what not, besides the outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from convex_evals.analysis.compare.sides import Match, Side
from convex_evals.records import EvalPlan, RunPlan


@dataclass(frozen=True)
class Fact:
    """One input of both sides. Values for people; runs of one side that differ have theirs joined."""

    name: str
    a: str
    b: str
    equal: bool | None  # None: not known


_OF_RUN: dict[str, Callable[[RunPlan], str]] = {
    "model": lambda p: p.model,
    "experiment": lambda p: p.experiment,
    "guidelines": lambda p: (p.guidelines_sha256 or "none")[:8],
    "prompt template": lambda p: (p.prompt_sha256 or "none")[:8],
    "web search and parameters": lambda p: p.settings_sha256[:8],
    "trials per eval": lambda p: str(p.trials),
    "backend": lambda p: p.backend_words,
    "TypeScript": lambda p: p.toolchain.typescript if p.toolchain else "none",
    "lint rules": lambda p: p.toolchain.lint_rules_sha256[:8] if p.toolchain else "none",
    "meaning of a pass": lambda p: str(p.grading_protocol),
    "ESLint": lambda p: p.toolchain.eslint if p.toolchain else "none",
    "vitest": lambda p: p.toolchain.vitest if p.toolchain else "none",
    "convex": lambda p: p.toolchain.convex if p.toolchain else "none",
    "Node.js": lambda p: p.toolchain.node if p.toolchain else "none",
    "toolchain's lockfile": lambda p: p.toolchain.lockfile_sha256[:8] if p.toolchain else "none",
}
_OF_EVAL: dict[str, Callable[[EvalPlan], str]] = {
    "tasks": lambda e: e.task_sha256,
    "graders": lambda e: e.grader_sha256,
    "answers": lambda e: e.answer_sha256,
    "pipelines": lambda e: e.pipeline.value,
}


def facts(a: Side, b: Side, matches: Sequence[Match]) -> list[Fact]:
    """All that was recorded of the inputs of both sides."""
    common = sorted(a.planned & b.planned)
    found = [_of_runs(name, read, a, b) for name, read in _OF_RUN.items()]
    found.append(_fact("benchmark", *(_joined(run.benchmark[:8] for run in side.runs) for side in (a, b))))
    found += [_of_evals(name, read, a, b, common) for name, read in _OF_EVAL.items()]
    if matches:
        a_levels, b_levels = (_joined(s for m in matches for s in part(m)) for part in _SANDBOXES)
        found.append(_fact("sandbox", a_levels, b_levels))
    by_name = {f.name: f for f in found}
    same_words = all(by_name[name].equal for name in _SAID)
    return [*found, _requests(a, b, common, same_words)] if common else found


# With these equal, what makes requests differ can only be the model's own parameters.
_SAID = ("model", "guidelines", "tasks", "prompt template", "web search and parameters")
_SANDBOXES: tuple[Callable[[Match], set[str]], ...] = (lambda m: m.a.sandboxes, lambda m: m.b.sandboxes)


def _fact(name: str, a: str, b: str) -> Fact:
    return Fact(name, a, b, a == b)


def _joined(values: Iterable[str]) -> str:
    return ", ".join(sorted(set(values)))


def _of_runs(name: str, read: Callable[[RunPlan], str], a: Side, b: Side) -> Fact:
    fact = _fact(name, _of_side(a, read), _of_side(b, read))
    if name != "guidelines":
        return fact
    # Equal is what models got; where it came from is for people.
    return Fact(name, _of_side(a, _guidelines), _of_side(b, _guidelines), fact.equal)


def _of_side(side: Side, read: Callable[[RunPlan], str]) -> str:
    return _joined(read(run.plan) for run in side.runs)


def _guidelines(plan: RunPlan) -> str:
    return f"{plan.guidelines_sha256[:8]} {plan.guidelines or ''}".rstrip() if plan.guidelines_sha256 else "none"


def _planned(side: Side, eval_id: str) -> list[EvalPlan]:
    return [run.plan.evals[eval_id] for run in side.runs if eval_id in run.plan.evals]


def _of_evals(name: str, read: Callable[[EvalPlan], str], a: Side, b: Side, common: Sequence[str]) -> Fact:
    changed = [e for e in common if {*map(read, _planned(a, e))} != {*map(read, _planned(b, e))}]
    if not changed:
        return _fact(name, f"of {len(common)} evals", f"of {len(common)} evals")
    said = f"{len(changed)} of {len(common)} are others"
    return Fact(name, said, said, False)


def _requests(a: Side, b: Side, common: Sequence[str], same_words: bool) -> Fact:
    """The parameters of models.yaml are recorded in one key with all else that is sent."""
    name = "model's parameters"
    keys = [[{plan.generation_key for plan in _planned(side, e)} for e in common] for side in (a, b)]
    if keys[0] == keys[1]:
        return Fact(name, "", "", True)
    return Fact(name, "", "", False if same_words else None)
