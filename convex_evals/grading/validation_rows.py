"""What came of the projects of each eval, counted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from convex_evals.grading.case_results import CaseResult

KINDS = ("answer", "wrong", "accept", "foil")


@dataclass(frozen=True)
class EvalRow:
    """What came of one eval's projects. A project counts as good where it was so every time."""

    name: str
    results: tuple[CaseResult, ...]

    def good(self, kind: str) -> int:
        return len(self._names(kind) - {r.case.name for r in self._of(kind) if not r.as_expected})

    def total(self, kind: str) -> int:
        return len(self._names(kind))

    def _names(self, kind: str) -> set[str]:
        return {r.case.name for r in self._of(kind)}

    def _of(self, kind: str) -> Iterable[CaseResult]:
        return (r for r in self.results if r.case.kind == kind)

    @property
    def seconds(self) -> float:
        """Of all gradings together."""
        return sum(r.verdict.duration_ms for r in self.results) / 1000

    @property
    def _slowest(self) -> CaseResult:
        return max(self.results, key=lambda r: r.grader_seconds)

    @property
    def slowest(self) -> float:
        """The longest that the grader took, in seconds."""
        return self._slowest.grader_seconds

    @property
    def slowest_case(self) -> str:
        return self._slowest.case.name

    def to_json(self) -> dict[str, object]:
        counts = {kind: {"good": self.good(kind), "total": self.total(kind)} for kind in KINDS}
        return {
            "eval": self.name,
            **counts,
            "duration_ms": round(self.seconds * 1000),
            "slowest_grader_ms": round(self.slowest * 1000),
            "slowest_grader_project": self.slowest_case,
        }
