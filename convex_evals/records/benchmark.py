"""`benchmarks/NAME.yaml`: what must be equal for two scores to stand in one table, under a name.

A benchmark is a suite as it was, with the experiments under which models are asked. Each of these has an id: a hash of
what a model is asked and of what its verdicts depend on, which are the experiment with its guidelines, prompt and
settings, and of each eval the grading key, which covers task, answer, grader, backend and the rules. It can be
derived from a run alone, so that runs can be ranked before a benchmark is minted. The version of the whole follows from
those of its experiments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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


class BenchmarkExperiment(Record):
    """How models are asked under one experiment."""

    id: Sha256 = Field(description="hash of all that must be equal; summaries of runs carry it as `benchmark`")
    guidelines: Line | None = Field(description="where the guidelines came from; null where none are given")
    guidelines_sha256: Sha256 | None = Field(description="as in run.json")
    prompt_sha256: Sha256 | None = Field(description="as in run.json")
    settings_sha256: Sha256 = Field(description="as in run.json")


class BenchmarkHead(FileRecord):
    """A benchmark without its evals."""

    kind: Literal["benchmark"] = "benchmark"
    schema_: Literal[1] = Field(default=1, alias="schema", description="version of this format")
    name: BenchmarkName = Field(description="name of the file")
    version: Sha256 = Field(description="hash of the ids of its experiments: what leaderboards know it by")
    date: Day = Field(description="UTC day of minting")
    suite_commit: Commit | None = Field(description="commit of the suite that was minted; null outside of Git")
    grading_protocol: Natural = Field(description="as in run.json")
    backend: BackendIdentity = Field(description="what grades")
    typescript: Line = Field(description="version of the type checker")
    lint_rules_sha256: RulesHash = Field(description="of the table of lint rules")
    models: tuple[Slug, ...] = Field(default=(), description="curated models: those that should have a run")
    experiments: dict[ExperimentName, BenchmarkExperiment] = Field(description="by name", min_length=1)

    @property
    def ids(self) -> frozenset[str]:
        """Those that runs of it carry."""
        return frozenset(each.id for each in self.experiments.values())


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

    def with_ids(self) -> Benchmark:
        """The same with the version and the ids that follow from the rest."""
        grades = self.grades()
        ids = {name: _id(name, asked, grades) for name, asked in self.experiments.items()}
        experiments = {name: own.model_copy(update={"id": ids[name]}) for name, own in self.experiments.items()}
        version = sha256_parts(sorted(ids.values()))
        return self.model_copy(update={"experiments": experiments, "version": version})


def by_id(heads: Iterable[BenchmarkHead]) -> dict[str, list[BenchmarkHead]]:
    """The benchmarks that have an experiment of this id, which runs carry, in the order of `heads`."""
    found: dict[str, list[BenchmarkHead]] = {}
    for head in heads:
        for each in sorted(head.ids):
            found.setdefault(each, []).append(head)
    return found


def benchmark_id(plan: RunPlan, grades: Mapping[str, str] | None = None) -> str:
    """The id of the experiment of a benchmark that a run is of, 64 hexadecimal digits.

    `grades` names the grade files that count, by eval, where they are not those that were planned (`cli regrade`).
    """
    counting = grades or {}
    return _id(
        plan.experiment, plan, {e: counting.get(e) or grade_name(each.grading_key) for e, each in plan.evals.items()}
    )


def _id(experiment: str, asked: RunPlan | BenchmarkExperiment, grades: Mapping[str, str]) -> str:
    given = (experiment, asked.guidelines_sha256 or "", asked.prompt_sha256 or "", asked.settings_sha256)
    return _digest(given, tuple(sorted(grades.items())))


@lru_cache(maxsize=64)  # of many runs, most are of a few benchmarks
def _digest(given: tuple[str, ...], grades: tuple[tuple[str, str], ...]) -> str:
    return sha256_parts([*given, *(part for pair in grades for part in pair)])
