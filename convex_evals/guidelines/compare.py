"""`cli diff-guidelines` from its revisions to its report: what changed, what that did, and which runs are missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from convex_evals.config import Workspace
from convex_evals.errors import UserError
from convex_evals.guidelines.confirmed import find_confirmed
from convex_evals.guidelines.diff_report import DiffReport, changes
from convex_evals.guidelines.effect import measure
from convex_evals.guidelines.missing_runs import Gap, find_gaps
from convex_evals.guidelines.proposal import propose
from convex_evals.guidelines.revisions import Revisions, read_versions
from convex_evals.models.budget import Budget
from convex_evals.models.catalog import find_ran_or_known, load_catalog
from convex_evals.runs.options import RunOptions, named_experiment
from convex_evals.store.runs import RunStore
from convex_evals.suite.suite import load_suite

if TYPE_CHECKING:
    from convex_evals.grading.sandbox.choice import Containment
    from convex_evals.runs.execute import Work


@dataclass(frozen=True)
class VersionComparison:
    """Two versions of the guidelines of one experiment, and the models that ran with them."""

    workspace: Workspace
    revisions: Revisions
    experiment: str
    models: Sequence[str]  # as they are named; none: all that have runs
    budget: float | None  # dollars, for runs that are missing
    where: RunOptions  # the options about folders, for commands that are proposed

    def report(self) -> DiffReport:
        """Raises `UserError` where a name means nothing."""
        from convex_evals.models.solvers import is_stand_in

        store = RunStore(self.workspace.runs_dir)
        slugs = self._slugs(store)
        before, after = read_versions(self.workspace, self.experiment, self.revisions)
        evals = [e.id for e in load_suite(self.workspace.suite).evals]
        effect = measure(store, before, after, self.experiment, slugs)
        confirmed = find_confirmed(store, before, after, self.experiment, slugs)
        gaps: Sequence[Gap] = ()
        if effect.lacks:
            from convex_evals.runs.costs import left_to_ask
            from convex_evals.runs.request import make_resolver

            left = partial(left_to_ask, store=store, workspace=self.workspace)
            resolver = make_resolver(self.workspace, Budget(self.budget))
            named = {e for change in changes(before, after).changes for e in change.evals}
            gaps = find_gaps(effect.lacks, self.experiment, self.workspace, evals, named, resolver, left, self.where)
        report = DiffReport.of(self.experiment, before, after, effect, evals, gaps)
        ran = [*(m.model for m in effect.models), *(lack.model for lack in effect.lacks)]
        models = slugs or [model for model in ran if not is_stand_in(model)]
        options = replace(self.where, experiments=named_experiment(self.experiment))
        proposal = propose(report.diff, self.revisions, options, evals, list(dict.fromkeys(models)), confirmed)
        return replace(report, confirmed=confirmed, proposal=proposal)

    def run_missing(self, report: DiffReport, containment: Containment, workers: int | None) -> Work | None:
        """Do what `report` lacks, and return what came of it; None where it lacks nothing.

        Raises `UserError` where a part of it cannot be done.
        """
        from convex_evals.runs.execute import carry_out

        if report.hint:
            raise UserError("--run: no model has runs with either version; name models with -m")
        problem = next((line for gap in report.gaps for line in gap.problems), None)
        if problem:
            raise UserError(problem)
        requests = [request for gap in report.gaps for request in gap.requests]
        if not requests:
            return None
        store = RunStore(self.workspace.runs_dir)
        return carry_out(self.workspace, store, containment, workers, requests)

    def _slugs(self, store: RunStore) -> list[str] | None:
        if not self.models:
            return None
        catalog, ran = load_catalog(self.workspace.home), store.models()
        return [find_ran_or_known(name, catalog, ran) for name in self.models]
