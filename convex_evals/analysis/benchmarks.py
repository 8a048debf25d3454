"""Minted benchmarks as tables and data: all of them, one, and what changed from one to another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from convex_evals.analysis.candidates import read_candidates
from convex_evals.records.benchmark import Benchmark, BenchmarkExperiment, BenchmarkHead
from convex_evals.render.model import Column, Row, Section, Table, apart
from convex_evals.store.runs import RunStore
from convex_evals.text import counted, listed

_LIST = (
    Column("name", "benchmark", is_id=True),
    Column("version", None),
    Column(None, "version"),
    Column("date", "date"),
    Column("evals", "evals", right=True),
    Column("experiments", "experiments"),
    Column("models", "curated models", right=True, spare=1),
    Column("runs", "runs", right=True),
)
_EXPERIMENTS = (
    Column("experiment", "experiment", is_id=True),
    Column("id", None),
    Column(None, "guidelines"),
    Column("guidelines", None),
    Column("guidelines_sha256", None),
    Column("models", "models with a run", right=True),
    Column("runs", "runs", right=True),
)
_EVALS = (
    Column("eval", "eval", is_id=True),
    Column("pipeline", "pipeline", spare=1),
    Column(None, "task", spare=1),
    Column(None, "grader", spare=2),
    Column(None, "answer", spare=2),
    Column("task_sha256", None),
    Column("grader_sha256", None),
    Column("answer_sha256", None),
    Column("grading_key", None),
)
_CHANGES = (Column("eval", "eval", is_id=True), Column("change", "change"))
_NAMED = {
    "guidelines_sha256": "guidelines",
    "prompt_sha256": "prompt",
    "settings_sha256": "settings (web search, parameters)",
}


RunCounts = Mapping[str, Mapping[str, int]]  # complete runs by the id that they carry, and by model


def runs_by_id(store: RunStore) -> RunCounts:
    """How many complete runs of models there are."""
    found: dict[str, Counter[str]] = {}
    for run in read_candidates(store, None, drafts=True).runs:
        found.setdefault(run.benchmark, Counter())[run.model] += 1
    return found


def runs_under(each: BenchmarkHead, runs: RunCounts) -> dict[str, int]:
    """How many there are of a benchmark, by its experiments."""
    return {name: sum(runs.get(own.id, {}).values()) for name, own in each.experiments.items()}


def benchmarks_table(found: Sequence[Benchmark], runs: RunCounts) -> Table:
    """A row for each, newest first."""
    return Table.of(_LIST, [_row(each, sum(runs_under(each, runs).values())) for each in found])


def _row(each: Benchmark, runs: int) -> Row:
    return [
        *(each.name, each.version, each.version[:8], each.date, len(each.evals), ", ".join(each.experiments)),
        *(len(each.models), runs),
    ]


def benchmark_section(each: Benchmark, runs: RunCounts) -> Section:
    """What it is of, its experiments, and its evals with the beginnings of their fingerprints."""
    lines = [f"{name}: {value}" for name, value in _facts(each).items()]
    rows: list[Row] = [
        [
            *(e, own.pipeline.value, own.task_sha256[:8], own.grader_sha256[:8], own.answer_sha256[:8]),
            *(own.task_sha256, own.grader_sha256, own.answer_sha256, own.grading_key),
        ]
        for e, own in each.evals.items()
    ]
    return apart(
        Section.of(*lines, heading=each.name),
        Section.of(experiments_table(each, runs)),
        Section.of(Table.of(_EVALS, rows)),
    )


def experiments_table(each: BenchmarkHead, runs: RunCounts) -> Table:
    """A row for each experiment: what models are given, and how many have run it."""
    return Table.of(_EXPERIMENTS, [_experiment_row(name, own, runs) for name, own in each.experiments.items()])


def _experiment_row(name: str, own: BenchmarkExperiment, runs: RunCounts) -> Row:
    given = f"{own.guidelines_sha256[:8]} {own.guidelines or ''}".rstrip() if own.guidelines_sha256 else "none"
    by_model = runs.get(own.id, {})
    return [
        *(name, own.id, given, own.guidelines, own.guidelines_sha256),
        *(len(by_model), sum(by_model.values())),
    ]


def _facts(each: Benchmark) -> dict[str, str]:
    return {
        "version": each.version,
        "minted": each.date + (f", suite at {each.suite_commit[:10]}" if each.suite_commit else ""),
        "backend": f"{each.backend.kind} {each.backend.version}, TypeScript {each.typescript}",
        "curated models": ", ".join(each.models) or "none",
    }


def benchmark_to_data(each: Benchmark, runs: RunCounts) -> dict[str, Any]:
    """All of it, and how many complete runs each experiment has."""
    return {**each.model_dump(mode="json", by_alias=True), "runs": runs_under(each, runs)}


@dataclass(frozen=True)
class BenchmarkDiff:
    """What changed from one benchmark to another."""

    before: Benchmark
    after: Benchmark
    asked: Mapping[str, str]  # by experiment that is not asked alike in both: how
    evals: Mapping[str, str]  # by eval: what happened to it
    alike: int  # evals that are graded alike

    def to_section(self) -> Section:
        names = f"{self.before.name} -> {self.after.name}"
        table = Table.of(_CHANGES, [[e, change] for e, change in self.evals.items()]).if_any()
        if self.before.version == self.after.version:
            return Section.of("They are the same.", table, heading=names)
        asked = [f"{name} is {how}." for name, how in self.asked.items()]
        common = [name for name in self.before.experiments if name in self.after.experiments and name not in self.asked]
        if common:
            asked.append(f"Models are asked alike under {listed(common)}.")
        total = counted(len({*self.before.evals, *self.after.evals}), "eval")
        lines = [*asked, f"{self.alike} of {total} are graded alike."]
        return Section.of(*lines, table, heading=names)

    def to_data(self) -> dict[str, Any]:
        return {
            "before": {"name": self.before.name, "version": self.before.version},
            "after": {"name": self.after.name, "version": self.after.version},
            "asked": dict(self.asked),
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


def asked_otherwise(before: BenchmarkHead, after: BenchmarkHead) -> dict[str, str]:
    """The experiments under which models are not sent the same besides the tasks, and how: `only in v1`."""
    found: dict[str, str] = {}
    for name in dict.fromkeys([*before.experiments, *after.experiments]):
        first, second = before.experiments.get(name), after.experiments.get(name)
        if first is None or second is None:
            found[name] = f"only in {after.name if first is None else before.name}"
        elif other := [words for key, words in _NAMED.items() if getattr(first, key) != getattr(second, key)]:
            found[name] = f"asked with other {listed(other)}"
    return found
