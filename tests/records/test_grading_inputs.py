from __future__ import annotations

from dataclasses import fields, replace

import pytest

from convex_evals.records import BackendIdentity
from convex_evals.records.grading_inputs import GradingInputs
from convex_evals.records.outcome import Pipeline
from tests.factories import make_plan

PLAN = make_plan()
EVAL = next(iter(PLAN.evals))
INPUTS = GradingInputs.recorded(PLAN, EVAL)
OTHERS: dict[str, tuple[object, str]] = {
    "task_sha256": ("f" * 64, "task"),
    "grader_sha256": ("f" * 64, "grader"),
    "answer_sha256": ("f" * 64, "answer"),
    "pipeline": (Pipeline.STATIC, "pipeline"),
    "backend": (BackendIdentity(kind="local", version="9"), "backend embedded 1 -> local 9"),
    "typescript": ("6.0.0", "TypeScript 5.9.3 -> 6.0.0"),
    "lint_rules_sha256": ("f" * 64, "lint rules"),
    "grading_protocol": (9, "meaning of a pass 1 -> 9"),
    "strict_types": (False, "strict types True -> False"),
}


def test_the_key_of_records_stays_as_it_is() -> None:
    assert INPUTS.key() == "cffe6e44465b5c8683d2af9788849b5fff22b8199e1d7a2d112630f412c6f15a"
    assert (
        replace(INPUTS, strict_types=False).key() == "0da0034f59ada74554575163071973d4c0225ee8e600bcc1a9d10fd10033cd4e"
    )


@pytest.mark.parametrize("name", [f.name for f in fields(GradingInputs)])
def test_each_input_changes_the_key_and_is_named(name: str) -> None:
    value, said = OTHERS[name]
    other = replace(INPUTS, **{name: value})  # type: ignore[arg-type]
    assert other.key() != INPUTS.key()
    assert [str(difference) for difference in INPUTS.diff(other)] == [said]


@pytest.mark.parametrize("strict", [True, False])
def test_whether_types_were_strict_is_told_by_the_recorded_key(strict: bool) -> None:
    inputs = replace(INPUTS, strict_types=strict)
    planned = PLAN.evals[EVAL].model_copy(update={"grading_key": inputs.key()})
    assert GradingInputs.recorded(PLAN.model_copy(update={"evals": {EVAL: planned}}), EVAL) == inputs
