"""`summary.json`: totals of a complete run. Derivable from the other files; what lists read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from convex_evals.records.base import FileRecord, Record
from convex_evals.records.generation import Usage
from convex_evals.records.names import (
    Category,
    Commit,
    Day,
    Dollars,
    EvalId,
    ExperimentName,
    GradeName,
    Line,
    Natural,
    RunId,
    Sha256,
    Slug,
)
from convex_evals.stats import Rate, Tally

MOST_UNSCORED = 5  # per cent of a run's trials, for it to be ranked


class Counts(Record):
    """Trials by outcome. Unscored ones are in no denominator."""

    passed: Natural = Field(default=0, description="trials")
    failed: Natural = Field(default=0, description="trials")
    unscored: Natural = Field(default=0, description="trials")

    @property
    def scored(self) -> int:
        return self.passed + self.failed

    @property
    def tally(self) -> Tally:
        return Tally(self.passed, self.passed + self.failed)

    @property
    def pass_rate(self) -> float | None:
        """In [0, 1]; None where nothing was scored."""
        return self.passed / self.scored if self.scored else None

    @property
    def unscored_share(self) -> float:
        """In [0, 1], of all trials."""
        return self.unscored / ((self.scored + self.unscored) or 1)

    @property
    def too_many_unscored(self) -> bool:
        """Whether so many trials have no verdict that the rate of the others is none of the model's."""
        return 100 * self.unscored > MOST_UNSCORED * (self.scored + self.unscored)

    @classmethod
    def total(cls, parts: Iterable[Counts]) -> Counts:
        """All of these together, in one step: many small records take their time."""
        passed = failed = unscored = 0
        for part in parts:
            passed, failed, unscored = passed + part.passed, failed + part.failed, unscored + part.unscored
        return cls(passed=passed, failed=failed, unscored=unscored)

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            passed=self.passed + other.passed,
            failed=self.failed + other.failed,
            unscored=self.unscored + other.unscored,
        )


class CategorySummary(Record):
    counts: Counts = Field(description="trials of this category")
    unscored: dict[Line, Natural] = Field(default={}, description="trials without a verdict, by the reason")
    cost_usd: Dollars = Field(default=0.0, description="dollars that this run paid, all attempts together")
    usage: Usage = Field(default=Usage.model_construct(), description="tokens of all replies together")
    generation_ms: Natural = Field(default=0, description="sum of the replies' wall clock")
    grading_ms: Natural = Field(default=0, description="sum of the steps' wall clock")


class EvalSummary(Record):
    counts: Counts = Field(description="trials of this eval")
    grade: GradeName = Field(description="name of the grade file that counts")
    replies_ms: tuple[Natural, ...] = Field(default=(), description="wall clock of each reply, in the order of trials")
    score: float = Field(ge=0, le=1, description="mean over its scored trials of passed tests / tests that ran")


class Summary(FileRecord):
    kind: Literal["summary"] = "summary"
    schema_: Literal[1] = Field(default=1, alias="schema", description="version of this format")
    run_id: RunId = Field(description="the run's folder name")
    model: Slug = Field(description="true slug")
    experiment: ExperimentName = Field(description="name of the experiment")
    date: Day = Field(description="UTC day of planning")
    synthetic: bool = Field(description="as in run.json: no model was asked, so it is never ranked")
    benchmark: Sha256 = Field(description="id of its benchmark: runs that share it can be ranked together")
    guidelines: Line | None = Field(description="as in run.json")
    guidelines_sha256: Sha256 | None = Field(description="as in run.json")
    suite_commit: Commit | None = Field(description="as in run.json: null for a draft, which is never ranked")
    suite_evals: Natural | None = Field(default=None, description="as in run.json: a run of fewer evals is partial")
    counts: Counts = Field(description="all trials")
    categories: dict[Category, CategorySummary] = Field(description="by category")
    evals: dict[EvalId, EvalSummary] = Field(description="by eval id")
    cost_usd: Dollars = Field(description="dollars that this run paid, all attempts together")
    replies_cost_usd: Dollars = Field(
        default=0.0, description="dollars that its replies cost, paid by this run or by earlier ones"
    )
    judge_cost_usd: Dollars = Field(default=0.0, description="dollars that this run paid for a judge's opinions")
    cost_estimated: bool = Field(default=False, description="true where a price map says so, for at least one reply")
    reused: Natural = Field(default=0, description="replies that an earlier run paid for")
    reused_from: tuple[RunId, ...] = Field(default=(), description="the runs that paid for them")
    usage: Usage = Field(default=Usage.model_construct(), description="tokens of all replies together")
    searches: Natural = Field(default=0, description="web searches that providers report, all replies together")
    unscored: dict[Line, Natural] = Field(default={}, description="trials without a verdict, by the reason")
    sandbox: tuple[Line, ...] = Field(default=(), description="levels of containment that projects ran under")
    elsewhere: tuple[Line, ...] = Field(
        default=(), description="servers that answered under a provider's name without being one's own: never ranked"
    )
    missing: tuple[EvalId, ...] = Field(default=(), description="evals that no shard delivered")
    generation_ms: Natural = Field(description="sum of the replies' wall clock")
    first_token_ms: Natural | None = Field(
        default=None, description="mean time to a reply's first text; null where no provider's stream told it"
    )
    grading_ms: Natural = Field(description="sum of the steps' wall clock")

    @property
    def replies_of(self) -> set[str]:
        """The runs that paid for its replies, itself included where it paid for some."""
        used = set(self.reused_from)
        trials = self.counts.scored + self.counts.unscored
        return used if used and self.reused == trials else used | {self.run_id}

    @property
    def tallies(self) -> dict[str, Tally]:
        """Trials by eval id, of what is written."""
        return {name: found.counts.tally for name, found in self.evals.items()}

    def rate(self, category: str | None = None) -> Rate:
        """The pass rate of one of its categories, or of all.

        Trials that are not written yet count as those of one eval more.
        """
        counts = self.counts if category is None else self.categories[category].counts
        own = [tally for name, tally in self.tallies.items() if category in (None, name.partition("/")[0])]
        passed = counts.passed - sum(each.passed for each in own)
        scored = counts.scored - sum(each.scored for each in own)
        return Rate.of([*own, Tally(passed, scored)] if 0 <= passed <= scored else own)
