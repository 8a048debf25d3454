"""`benchmarks/NAME.yaml`: what must be equal for two scores to stand in one table, under a name.

A benchmark is identified by a hash of what a model is asked and of what its verdicts depend on: the experiment with
its guidelines, prompt and settings, and of each eval the grading key, which covers task, answer, grader, backend and
the rules. The id can be derived from a run alone, so that runs can be ranked before a benchmark is minted.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

from pydantic import Field

from convex_evals.records.base import FileRecord, Record
from convex_evals.records.grading_inputs import GradingInputs, grade_name
from convex_evals.records.hashes import sha256_parts
from convex_evals.records.names import (
    BenchmarkName,
    Commit,
    Day,
    EvalId,
    ExperimentName,
    Line,
    Natural,
    RulesHash,
    Sha256,
    Slug,
)
from convex_evals.records.outcome import Pipeline
from convex_evals.records.run import BackendIdentity, RunPlan


class BenchmarkEval(Record):
    """One eval, with the fingerprints of what its verdicts depend on."""

    task_sha256: Sha256 = Field(description="as in run.json")
    answer_sha256: Sha256 = Field(description="as in run.json")
    grader_sha256: Sha256 = Field(description="as in run.json")
    pipeline: Pipeline = Field(description="`full` or `static`")
    strict_types: bool = Field(default=True, description="whether projects are type-checked strictly in any case")
    grading_key: Sha256 = Field(description="as in run.json: covers all of these, backend, TypeScript and lint rules")


class BenchmarkHead(FileRecord):
    """A benchmark without its evals."""

    kind: Literal["benchmark"] = "benchmark"
    schema_: Literal[1] = Field(default=1, alias="schema", description="version of this format")
    name: BenchmarkName = Field(description="name of the file")
    id: Sha256 = Field(description="hash of all that must be equal; summaries of runs carry it as `benchmark`")
    date: Day = Field(description="UTC day of minting")
    experiment: ExperimentName = Field(description="name of the experiment")
    guidelines: Line | None = Field(description="where the guidelines came from; null where none are given")
    guidelines_sha256: Sha256 | None = Field(description="as in run.json")
    prompt_sha256: Sha256 | None = Field(description="as in run.json")
    settings_sha256: Sha256 = Field(description="as in run.json")
    suite_commit: Commit | None = Field(description="commit of the suite that was minted; null outside of Git")
    grading_protocol: Natural = Field(description="as in run.json")
    backend: BackendIdentity = Field(description="what grades")
    typescript: Line = Field(description="version of the type checker")
    lint_rules_sha256: RulesHash = Field(description="of the table of lint rules")
    models: tuple[Slug, ...] = Field(default=(), description="curated models: those that should have a run")


class Benchmark(BenchmarkHead):
    """Written once by `cli benchmark mint`, and never changed."""

    evals: dict[EvalId, BenchmarkEval] = Field(description="by eval id", min_length=1)

    def to_yaml(self) -> str:
        """The file's text: one key a line, the evals last."""
        import yaml

        head = self.model_dump(mode="json", by_alias=True)
        evals = {"evals": dict(sorted(head.pop("evals").items()))}
        return "".join(yaml.safe_dump(part, sort_keys=False, allow_unicode=True, width=1_000) for part in (head, evals))

    def inputs(self, eval_id: str) -> GradingInputs:
        """What the verdicts on one eval depend on."""
        own = self.evals[eval_id]
        return GradingInputs(
            task_sha256=own.task_sha256,
            grader_sha256=own.grader_sha256,
            answer_sha256=own.answer_sha256,
            pipeline=own.pipeline,
            backend=self.backend,
            typescript=self.typescript,
            lint_rules_sha256=self.lint_rules_sha256,
            grading_protocol=self.grading_protocol,
            strict_types=own.strict_types,
        )

    def grades(self) -> dict[str, str]:
        """The names of the grade files that count, by eval."""
        return {e: grade_name(own.grading_key) for e, own in self.evals.items()}

    def derived_id(self) -> str:
        """The id that follows from the rest of the file."""
        return _id(self, self.grades())


def benchmark_id(plan: RunPlan, grades: Mapping[str, str] | None = None) -> str:
    """The id of the benchmark that a run is of, 64 hexadecimal digits.

    `grades` names the grade files that count, by eval, where they are not those that were planned (`cli regrade`).
    """
    counting = grades or {}
    return _id(plan, {e: counting.get(e) or grade_name(each.grading_key) for e, each in plan.evals.items()})


def _id(asked: RunPlan | Benchmark, grades: Mapping[str, str]) -> str:
    given = (asked.experiment, asked.guidelines_sha256 or "", asked.prompt_sha256 or "", asked.settings_sha256)
    return _digest(given, tuple(sorted(grades.items())))


@lru_cache(maxsize=64)  # of many runs, most are of a few benchmarks
def _digest(given: tuple[str, ...], grades: tuple[tuple[str, str], ...]) -> str:
    return sha256_parts([*given, *(part for pair in grades for part in pair)])
