"""`run.json`: the plan of a run. Written once, never changed, free of host facts and clocks."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from convex_evals.records.base import FileRecord, Record
from convex_evals.records.names import (
    Commit,
    Day,
    EvalId,
    ExperimentName,
    Line,
    Moment,
    Natural,
    RulesHash,
    RunId,
    Sha256,
    Slug,
    TrialNumber,
)
from convex_evals.records.outcome import ComparisonMethod, Pipeline
from convex_evals.text import counted


class EvalPlan(Record):
    """One eval of a run, with what identifies its inputs."""

    task_sha256: Sha256 = Field(description="of TASK.txt, as LF text; of a session's messages up to its last request")
    answer_sha256: Sha256 = Field(
        description="of the reference project without `_generated`; of the text that a session's reply is compared with"
    )
    grader_sha256: Sha256 = Field(
        description="of grader.test.ts and everything it imports relatively; of the rules of a comparison"
    )
    pipeline: Pipeline = Field(description="`full` or `static`; `comparison` of sessions")
    generation_key: Sha256 = Field(description="rendered prompt, model and parameters; the trial number is added to it")
    grading_key: Sha256 = Field(description="what must be equal for two verdicts to be comparable")


class ToolVersions(Record):
    """What graded. Recorded; only backend kind and rules, TypeScript and lint rules are part of the grading key."""

    node: Line = Field(description="version of Node.js")
    typescript: Line = Field(description="version of the type checker")
    eslint: Line = Field(description="version of ESLint")
    vitest: Line = Field(description="version of vitest that runs graders")
    convex: Line = Field(description="version of the official bundler and code generator")
    lockfile_sha256: Sha256 = Field(description="of the toolchain's package-lock.json")
    lint_rules_sha256: RulesHash = Field(description="of the table of lint rules")


class BackendIdentity(Record):
    kind: Literal["embedded", "local"] = Field(description="which implementation runs the project")
    version: Line = Field(description="rules version of `embedded`, release of `local`")


class ComparisonRules(Record):
    """How replies to sessions are compared with what was expected."""

    method: ComparisonMethod = Field(
        default=ComparisonMethod.SIMILARITY,
        description="what a pass is: `exact`, the same text; `normalised`, the same but for case, blanks and forms of "
        "characters; `similarity`, at least as alike as `threshold`; `judge`, acceptable to the judge",
    )
    threshold: float = Field(
        default=0.75, ge=0, le=1, description="least similarity of a pass, 0 to 1; used by `similarity` alone"
    )
    judge: Slug | None = Field(
        default=None, description="model that is asked for its opinion of each reply, whether it decides or not"
    )
    judge_sha256: Sha256 | None = Field(
        default=None, description="of the judge with its parameters, the rubric and the way of asking"
    )
    rubric: Line | None = Field(
        default=None, description="the file of the judge's rubric, `path@REV` from Git; null for the usual one"
    )

    @model_validator(mode="after")
    def _has_its_judge(self) -> ComparisonRules:
        if (self.judge is None) != (self.judge_sha256 is None):
            raise ValueError("judge and judge_sha256: one without the other")
        if self.method is ComparisonMethod.JUDGE and self.judge is None:
            raise ValueError("method is judge, and no judge is named")
        return self


def part_of_suite(evals: int, suite_evals: int | None) -> str | None:
    """`2 of 40 evals`, where the suite had more than a run; None for a run of all, and where that is not known."""
    return f"{evals} of {counted(suite_evals, 'eval')}" if suite_evals and evals < suite_evals else None


class RunPlan(FileRecord):
    """The plan: which model is asked about which evals, how often, under which fingerprints."""

    kind: Literal["run"] = "run"
    schema_: Literal[1] = Field(default=1, alias="schema", description="version of this format")
    run_id: RunId = Field(description="name of the run's folder")
    date: Day = Field(description="UTC day of planning, YYYY-MM-DD")
    planned_at: Moment | None = Field(
        default=None,
        description="UTC, by which runs of one day are sorted; null (the earliest) where the day was given (--date)",
    )
    model: Slug = Field(description="the model's true slug, `provider/name`")
    experiment: ExperimentName = Field(description="name of the experiment")
    trials: TrialNumber = Field(description="trials per eval")
    synthetic: bool = Field(description="true where no model was asked: never published, never ranked")
    fresh: bool = Field(default=False, description="true where replies of earlier runs are not used again (--fresh)")
    guidelines: Line | None = Field(default=None, description="the file that was given, `path@REV` from Git; or null")
    guidelines_sha256: Sha256 | None = Field(
        description="of the guidelines without comments; null where none are given"
    )
    prompt_sha256: Sha256 | None = Field(description="of the prompt's template; null where no model was asked")
    settings_sha256: Sha256 = Field(description="of the experiment's web search and parameters")
    suite_commit: Commit | None = Field(
        description="commit of the suite's repository; null outside of Git or with uncommitted changes"
    )
    grading_protocol: Natural = Field(description="raised by hand when the meaning of a pass changes")
    backend: BackendIdentity | None = Field(description="what graded; null where replies are compared with texts")
    toolchain: ToolVersions | None = Field(
        description="versions in use when the run was planned; null where replies are compared with texts"
    )
    comparison: ComparisonRules | None = Field(
        default=None, description="how replies to sessions are compared; null in a run of evals"
    )
    suite_evals: Natural | None = Field(
        default=None, description="evals that the suite had: a run of fewer is partial; null in a run of sessions"
    )
    evals: dict[EvalId, EvalPlan] = Field(description="by eval id, `category/name`; sessions are `sessions/ID`")

    @property
    def is_partial(self) -> bool:
        """Whether the suite had more evals: as the result of a model, such a run is misleading."""
        return self.suite_evals is not None and len(self.evals) < self.suite_evals

    @property
    def backend_words(self) -> str:
        """What graded, for people."""
        return f"{self.backend.kind} {self.backend.version}" if self.backend else "none"

    def fingerprint_inputs(self) -> dict[str, object]:
        """What makes two plans the same work: everything but names and times."""
        named = {"run_id", "date", "planned_at", "suite_commit", "toolchain", "guidelines", "fresh", "suite_evals"}
        return self.model_dump(mode="json", by_alias=True, exclude=named)
