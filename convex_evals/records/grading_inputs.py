"""All that a verdict depends on besides the project: what is equal here makes two verdicts comparable."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from convex_evals.records.hashes import sha256_parts
from convex_evals.records.outcome import Pipeline
from convex_evals.records.run import BackendIdentity, RunPlan

# What people read for a field.
_NAMES = {
    "task_sha256": "task",
    "grader_sha256": "grader",
    "answer_sha256": "answer",
    "pipeline": "pipeline",
    "backend": "backend",
    "typescript": "TypeScript",
    "lint_rules_sha256": "lint rules",
    "grading_protocol": "meaning of a pass",
    "strict_types": "strict types",
}


@dataclass(frozen=True)
class Difference:
    """An input that two verdicts do not share."""

    name: str
    before: object
    after: object

    def __str__(self) -> str:
        if not isinstance(self.before, int | BackendIdentity) and self.name != "TypeScript":
            return self.name  # hashes say nothing
        return f"{self.name} {_shown(self.before)} -> {_shown(self.after)}"


@dataclass(frozen=True)
class GradingInputs:
    """The inputs of one eval's grading; `key()` is what records hold."""

    task_sha256: str
    grader_sha256: str
    answer_sha256: str
    pipeline: Pipeline
    backend: BackendIdentity | None  # these three: None where nothing of a reply is run
    typescript: str | None
    lint_rules_sha256: str | None
    grading_protocol: int
    strict_types: bool = True

    @classmethod
    def recorded(cls, plan: RunPlan, eval_id: str) -> Self:
        """Those of a planned run. Whether types were strict is not recorded, but the key tells."""
        planned, tools = plan.evals[eval_id], plan.toolchain
        found = cls(
            task_sha256=planned.task_sha256,
            grader_sha256=planned.grader_sha256,
            answer_sha256=planned.answer_sha256,
            pipeline=planned.pipeline,
            backend=plan.backend,
            typescript=tools.typescript if tools else None,
            lint_rules_sha256=tools.lint_rules_sha256 if tools else None,
            grading_protocol=plan.grading_protocol,
        )
        loose = replace(found, strict_types=False)
        return loose if loose.key() == planned.grading_key else found

    def key(self) -> str:
        """The grading key: equal exactly where all inputs are."""
        inputs: Mapping[str, Any] = {
            "protocol": self.grading_protocol,
            "task": self.task_sha256,
            "grader": self.grader_sha256,
            "answer": self.answer_sha256,
            "pipeline": self.pipeline,
            "lint": self.lint_rules_sha256,
            "typescript": self.typescript,
            "backend": self.backend and self.backend.model_dump(mode="json"),
            **({} if self.strict_types else {"types": "as strictly as the project says"}),
        }
        return sha256_parts([json.dumps(inputs, sort_keys=True)])

    def diff(self, later: Self) -> tuple[Difference, ...]:
        """Which inputs differ, in the order of the fields."""
        pairs = ((f.name, getattr(self, f.name), getattr(later, f.name)) for f in fields(self))
        return tuple(Difference(_NAMES[name], before, after) for name, before, after in pairs if before != after)


def grade_name(grading_key: str) -> str:
    """Of the file that holds the verdicts under this key."""
    return f"grade.{grading_key[:8]}.json"


def _shown(value: object) -> str:
    return f"{value.kind} {value.version}" if isinstance(value, BackendIdentity) else str(value)
