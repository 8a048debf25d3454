"""Frozen records: the files of a repository, key by key. docs/formats.md is generated from these classes."""

from convex_evals.records.base import FileRecord, Record, dump_json
from convex_evals.records.eval_config import EvalConfig, Timeouts
from convex_evals.records.generation import Attempt, Generation, GenerationFile, Usage
from convex_evals.records.grade import GradeFile, StepResult, TestResult, TrialGrade, Verdict
from convex_evals.records.outcome import ComparisonMethod, Outcome, Pipeline, StepName, StepOutcome
from convex_evals.records.pruned import Pruned
from convex_evals.records.run import BackendIdentity, ComparisonRules, EvalPlan, RunPlan, ToolVersions
from convex_evals.records.summary import CategorySummary, Counts, EvalSummary, Summary

__all__ = [
    "Attempt",
    "BackendIdentity",
    "CategorySummary",
    "ComparisonMethod",
    "ComparisonRules",
    "Counts",
    "EvalConfig",
    "EvalPlan",
    "EvalSummary",
    "FileRecord",
    "Generation",
    "GenerationFile",
    "GradeFile",
    "Outcome",
    "Pipeline",
    "Pruned",
    "Record",
    "RunPlan",
    "StepName",
    "StepOutcome",
    "StepResult",
    "Summary",
    "TestResult",
    "Timeouts",
    "ToolVersions",
    "TrialGrade",
    "Usage",
    "Verdict",
    "dump_json",
]
