"""Minted benchmarks as tables and data: all of them, one, and what changed from one to another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from convex_evals.analysis.candidates import read_candidates
from convex_evals.records.benchmark import Benchmark, BenchmarkHead
from convex_evals.render.model import Column, Row, Section, Table, apart
from convex_evals.store.runs import RunStore
from convex_evals.text import counted

_LIST = (
    Column("name", "benchmark", is_id=True),
    Column("id", None),
    Column(None, "id"),
    Column("date", "date", right=True),
    Column("experiment", "experiment", right=True),
    Column("evals", "evals", right=True),
    Column(None, "guidelines", right=True),
    Column("guidelines_sha256", None),
    Column("models", "curated models", right=True),
    Column("runs", "runs", right=True),
)
_EVALS = (
    Column("eval", "eval", is_id=True),
    Column("pipeline", "pipeline"),
    Column(None, "task"),
    Column(None, "grader"),
    Column(None, "answer"),
    Column("task_sha256", None),
    Column("grader_sha256", None),
    Column("answer_sha256", None),
    Column("grading_key", None),
)
_CHANGES = (Column("eval", "eval", is_id=True), Column("change", "change"))
_NAMED = {
    "experiment": "experiment",
    "guidelines_sha256": "guidelines",
    "prompt_sha256": "prompt",
    "settings_sha256": "settings (web search, parameters)",
}


def runs_by_benchmark(store: RunStore) -> Mapping[str, int]:
    """How many complete runs of models there are by the id of their benchmark."""
    return Counter(run.benchmark for run in read_candidates(store, None, drafts=True).runs)


def benchmarks_table(found: Sequence[Benchmark], runs: Mapping[str, int]) -> Table:
    """A row for each, newest first."""
    return Table.of(_LIST, [_row(each, runs.get(each.id, 0)) for each in found])


def _row(each: Benchmark, runs: int) -> Row:
    return [
        *(each.name, each.id, each.id[:8], each.date, each.experiment, len(each.evals)),
        *((each.guidelines_sha256 or "none")[:8], each.guidelines_sha256, len(each.models), runs),
    ]


def benchmark_section(each: Benchmark, runs: int) -> Section:
    """What it is of, and its evals with the beginnings of their fingerprints."""
    lines = [f"{name}: {value}" for name, value in _facts(each, runs).items()]
    rows: list[Row] = [
        [
            *(e, own.pipeline.value, own.task_sha256[:8], own.grader_sha256[:8], own.answer_sha256[:8]),
            *(own.task_sha256, own.grader_sha256, own.answer_sha256, own.grading_key),
        ]
        for e, own in each.evals.items()
    ]
    return apart(Section.of(*lines, heading=each.name), Section.of(Table.of(_EVALS, rows)))


def _facts(each: Benchmark, runs: int) -> dict[str, str]:
    given = f"{each.guidelines_sha256[:8]} {each.guidelines or ''}".rstrip() if each.guidelines_sha256 else "none"
    return {
        "id": each.id,
        "minted": each.date + (f", suite at {each.suite_commit[:10]}" if each.suite_commit else ""),
        "experiment": each.experiment,
        "guidelines": given,
        "backend": f"{each.backend.kind} {each.backend.version}, TypeScript {each.typescript}",
        "curated models": ", ".join(each.models) or "none",
        "runs": str(runs),
    }


def benchmark_to_data(each: Benchmark, runs: int) -> dict[str, Any]:
    return {**each.model_dump(mode="json", by_alias=True), "runs": runs}


@dataclass(frozen=True)
class BenchmarkDiff:
    """What changed from one benchmark to another."""

    before: Benchmark
    after: Benchmark
    asked: tuple[str, ...]  # what models are asked with that is another
    evals: Mapping[str, str]  # by eval: what happened to it
    alike: int  # evals that are graded alike

    def to_section(self) -> Section:
        names = f"{self.before.name} -> {self.after.name}"
        if self.before.id == self.after.id:
            return Section.of("They are the same.", heading=names)
        asked = f"Models are asked with another {', '.join(self.asked)}." if self.asked else "Models are asked alike."
        total = counted(len({*self.before.evals, *self.after.evals}), "eval")
        lines = [asked, f"{self.alike} of {total} are graded alike."]
        rows: list[Row] = [[e, change] for e, change in self.evals.items()]
        return Section.of(*lines, *([Table.of(_CHANGES, rows)] if rows else []), heading=names)

    def to_data(self) -> dict[str, Any]:
        return {
            "before": {"name": self.before.name, "id": self.before.id},
            "after": {"name": self.after.name, "id": self.after.id},
            "asked": list(self.asked),
            "evals": dict(self.evals),
            "alike": self.alike,
        }


def diff_benchmarks(before: Benchmark, after: Benchmark) -> BenchmarkDiff:
    """Eval by eval: added, removed, or which inputs of its grading are others."""
    changes: dict[str, str] = {}
    for eval_id in sorted({*before.evals, *after.evals}):
        if eval_id not in after.evals:
            changes[eval_id] = "removed"
        elif eval_id not in before.evals:
            changes[eval_id] = "added"
        elif differences := before.inputs(eval_id).diff(after.inputs(eval_id)):
            changes[eval_id] = ", ".join(map(str, differences))
    common = len(before.evals.keys() & after.evals.keys())
    edited = sum(change not in ("added", "removed") for change in changes.values())
    return BenchmarkDiff(before, after, asked_otherwise(before, after), changes, common - edited)


def asked_otherwise(before: BenchmarkHead, after: BenchmarkHead) -> tuple[str, ...]:
    """What models are sent besides the tasks that is another."""
    return tuple(words for name, words in _NAMED.items() if getattr(before, name) != getattr(after, name))
