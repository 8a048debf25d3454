"""The words that verdicts are made of."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """What became of a trial."""

    PASSED = "passed"
    FAILED = "failed"
    UNSCORED = "unscored"


class StepOutcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    UNSCORED = "unscored"


class StepName(StrEnum):
    """The steps of grading, in their order."""

    FILESYSTEM = "filesystem"
    INSTALL = "install"
    DEPLOY = "deploy"
    TSC = "tsc"
    ESLINT = "eslint"
    TESTS = "tests"


class Pipeline(StrEnum):
    """`static` evals do filesystem and tests only; `comparison` compares the reply with a text, and runs nothing."""

    FULL = "full"
    STATIC = "static"
    COMPARISON = "comparison"


class ComparisonMethod(StrEnum):
    """When a reply counts as the text that was expected."""

    EXACT = "exact"
    NORMALISED = "normalised"
    SIMILARITY = "similarity"
    JUDGE = "judge"
