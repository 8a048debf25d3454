"""Runs that no ranking will count: said before they start and at their end, with what to do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from convex_evals.records.run import part_of_suite
from convex_evals.runs.plan import RunRequest
from convex_evals.text import and_more
from convex_evals.vcs.git import has_commits, uncommitted


def unranked_lines(requests: Sequence[RunRequest], suite: Path) -> list[str]:
    """Say why runs of models will not be ranked, a line for each reason; none where they will."""
    asked = [r for r in requests if not r.solver.synthetic and r.comparison is None and r.within is None]
    plans = [r.planned.plan if r.planned else r for r in asked]
    lines = []
    if any(plan.suite_commit is None for plan in plans) and has_commits(suite):
        files = uncommitted(suite)
        where = f" ({files[0]}{and_more(len(files) - 1)})" if files else ""
        lines.append(
            f"not ranked: of uncommitted changes to the suite{where}; commit them, and the same command makes the run "
            "count without asking again"
        )
    parts = {part_of_suite(len(plan.evals), plan.suite_evals) for plan in plans}
    return [*lines, *(f"not ranked: partial, {part}" for part in sorted(filter(None, parts)))]
