"""The runs in a deployment that are one trial: looked up, and deleted. Nothing is done to any other run.

A ledger is a file of the repository, so what it claims may be wrong or malicious: each run is looked at before anything
is done to it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.publish.client import FunctionFailedError, LostAnswerError
from convex_evals.publish.content import TrialContent
from convex_evals.publish.leaderboard import FoundRun, LeaderboardApi, ListedRun
from convex_evals.publish.outputs import Outputs
from convex_evals.publish.reconcile import other_benchmark, other_run


class RunError(UserError):
    """What keeps one run or one of its trials from being published, and no other."""


@dataclass(frozen=True)
class TrialRuns:
    """Those of one trial; there is one, unless a request was doubled on its way."""

    board: LeaderboardApi
    content: TrialContent
    model: str  # its id there
    repair: bool  # one of another benchmark may be replaced
    outputs: Outputs

    async def run(self, run_id: str) -> FoundRun | None:
        """Return a run of this trial; None where there is none. Raises `RunError` for any other run."""
        found = await self.board.run(run_id)
        if found is None:
            return None
        other = other_run(self.content, self.model, found)
        if other:
            raise RunError(f"{self.url}: its run {run_id} is not {self.content.text}, but {other}; it stays as it is")
        benchmark = other_benchmark(self.content, found)
        if benchmark and not self.repair:
            raise RunError(
                f"{self.url}: has {self.content.text} as {run_id}, and {benchmark}: was it graded again since? "
                "`cli publish --repair` replaces it"
            )
        return found

    async def claimed(self, run_id: str, ledger: Path) -> str | None:
        """Return the id that a ledger gives; None where that is another run, which --repair leaves as it is."""
        found = await self.board.run(run_id)
        other = found and other_run(self.content, self.model, found)
        if other and not self.repair:
            raise RunError(
                f"{ledger}: says that trial {self.content.trial} is {run_id}, which is {other} there; nothing was "
                "changed; restore the file from Git, or delete it"
            )
        return None if other else run_id

    async def listed(self) -> list[ListedRun]:
        return await self.board.runs(self.model)

    def own(self, listed: Sequence[ListedRun]) -> list[ListedRun]:
        """Return those of this trial, oldest first."""
        return sorted((run for run in listed if run.text == self.content.text), key=lambda run: run.created)

    async def delete_others(self, run_id: str) -> None:
        """Delete what a doubled request made besides this run. Raises `UserError`."""
        for run in self.own(await self.listed()):
            if run.id != run_id:
                await self.delete(run.id)

    async def delete(self, run_id: str) -> None:
        """Delete a run until it is not there. Raises `UserError`."""
        patience, why = self.board.client.patience, ""
        for failures in range(1, patience.tries + 1):
            if await self.run(run_id) is None:
                return
            why = await tried(self.board.delete_run(run_id)) or "the run is still there"
            found = await self.run(run_id)
            if found is None:
                return
            if not await self._made_deletable(found):
                await asyncio.sleep(patience.pause(failures))  # a deployment may delete a part after the other
        raise self.given_up("admin:deleteRun", why)

    async def _made_deletable(self, found: FoundRun) -> bool:
        try:
            return await self.outputs.make_deletable(found)
        except FunctionFailedError:
            return False

    def given_up(self, what: str, why: str) -> RunError:
        return RunError(f"{self.url}: {what}: given up ({why}); the same command resumes")

    @property
    def url(self) -> str:
        return self.board.client.deployment.url


async def tried(sending: Awaitable[object]) -> str | None:
    """Do it; return why it is not known to be done."""
    try:
        await sending
    except (LostAnswerError, FunctionFailedError) as error:
        return str(error)
    return None
