"""Runs that are taken back from a deployment: each trial is deleted there, and stays so."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from convex_evals.config import Workspace
from convex_evals.publish import probes
from convex_evals.publish.client import ConvexClient
from convex_evals.publish.content import TrialContent
from convex_evals.publish.deployments import Deployment
from convex_evals.publish.leaderboard import MOST_LISTED, LeaderboardApi
from convex_evals.publish.ledger import Ledger, open_ledger
from convex_evals.publish.locks import locked
from convex_evals.publish.outputs import Outputs
from convex_evals.publish.published import Published
from convex_evals.publish.refusals import refuse_unguarded
from convex_evals.publish.trial import How, hidden
from convex_evals.publish.trial_runs import RunError, TrialRuns
from convex_evals.publish.versions import BenchmarkVersion
from convex_evals.records.publication import PublishedTrial
from convex_evals.render.terminal import Display
from convex_evals.store.run import Run
from convex_evals.store.runs import RunStore


@dataclass(frozen=True)
class Withdrawal:
    workspace: Workspace
    deployment: Deployment
    dry_run: bool
    display: Display

    async def withdraw(self, names: Sequence[str]) -> list[Published]:
        """Delete these runs there. Raises `UserError`; what was deleted until then stands in the ledgers."""
        if not self.dry_run:
            refuse_unguarded(self.deployment, os.environ)
        runs = RunStore(self.workspace.runs_dir).find_all(names)
        found = [Published(run, ledger=open_ledger(run, self.deployment)) for run in runs]
        async with ConvexClient(self.deployment, 1, probes.PATIENCE) as client:
            board = LeaderboardApi(client)
            await probes.probe(board)
            if self.dry_run:
                for each in found:
                    await self._each(each, board)
                return found
            with locked(self.workspace, self.deployment):
                for number, each in enumerate(found, 1):
                    self.display.preparing("withdrawing runs", number, len(found))
                    each.ledger = open_ledger(each.run, self.deployment)  # another may have been at it until now
                    await self._each(each, board)
        return found

    async def _each(self, each: Published, board: LeaderboardApi) -> None:
        run, ledger = each.run, each.ledger
        assert ledger is not None
        model = await board.model(run.plan.model)
        for number in range(1, run.plan.trials + 1):
            with each.of_trial(number):
                each.trials[number] = await self._trial(run, number, ledger, board, model)

    async def _trial(self, run: Run, number: int, ledger: Ledger, board: LeaderboardApi, model: str | None) -> How:
        content = TrialContent(run.plan, number, {}, {}, BenchmarkVersion(run.benchmark, frozenset()))
        there = [] if model is None else await _runs_there(content, ledger, board, model)
        if self.dry_run:
            return "would be withdrawn" if there else "was not there"
        for run_id, runs in there:
            ledger.write(PublishedTrial(trial=number, state="deleting", id=run_id))
            await runs.delete(run_id)
        ledger.write(PublishedTrial(trial=number, state="withdrawn"))
        return "withdrawn" if there else "was not there"


async def _runs_there(
    content: TrialContent, ledger: Ledger, board: LeaderboardApi, model: str
) -> list[tuple[str, TrialRuns]]:
    """The ids of all runs there that are this trial. Raises `RunError` where that cannot be told."""
    runs = TrialRuns(board, content, model, True, Outputs(board, content))
    known = ledger.trial(content.trial)
    claimed = known and known.id and await runs.claimed(known.id, ledger.path)
    listed = await runs.listed()
    ids = [run.id for run in runs.own(listed)]
    if claimed and claimed not in ids and await runs.run(claimed) is not None:
        ids.append(claimed)
    is_known_absent = known is not None and known.state in ("planned", "withdrawn")
    if not ids and not claimed and not is_known_absent and len(listed) >= MOST_LISTED:
        raise RunError(hidden(board.client.deployment.url, content.text))
    return [(run_id, runs) for run_id in ids]
