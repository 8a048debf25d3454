"""Runs that no ranking will count: said before they start and at their end, with what to do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from convex_evals.runs.plan import RunRequest
from convex_evals.text import and_more, counted
from convex_evals.vcs.git import has_commits, uncommitted


def unranked_lines(requests: Sequence[RunRequest], suite: Path) -> list[str]:
    """Say why runs of models will not be ranked, a line for each reason; none where they will."""
    asked = [r for r in requests if not r.solver.synthetic and r.comparison is None and r.within is None]
    drafts = [r for r in asked if _commit(r) is None]
    lines = []
    if drafts and has_commits(suite):
        files = uncommitted(suite)
        where = f" ({files[0]}{and_more(len(files) - 1)})" if files else ""
        lines.append(
            f"not ranked: of uncommitted changes to the suite{where}; commit them, and the same command makes the run "
            "count without asking again"
        )
    parts = {(len(_evals(r)), whole) for r in asked if (whole := _whole(r)) and len(_evals(r)) < whole}
    lines += [f"not ranked: partial, {n} of {counted(whole, 'eval')}" for n, whole in sorted(parts)]
    return lines


def _commit(request: RunRequest) -> str | None:
    return request.planned.plan.suite_commit if request.planned else request.suite_commit


def _evals(request: RunRequest) -> Sequence[object]:
    return list(request.planned.plan.evals) if request.planned else request.evals


def _whole(request: RunRequest) -> int | None:
    return request.planned.plan.suite_evals if request.planned else request.suite_evals
