"""One trial to a deployment, exactly once, whatever is lost on the way.

Nothing there is idempotent. So a mutation whose answer was lost, or that was refused, is never simply sent again: the
deployment is asked what it has, and then what is missing is sent. What cannot be completed (an eval or a step that is
there twice) is deleted with its run, and the trial is sent as a new one. The ledger says what is about to be done
before it is done.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from convex_evals.errors import UserError
from convex_evals.publish.assets import Assets
from convex_evals.publish.client import FunctionFailedError, LostAnswerError
from convex_evals.publish.content import TrialContent
from convex_evals.publish.leaderboard import MOST_LISTED, LeaderboardApi, ListedRun
from convex_evals.publish.ledger import Ledger
from convex_evals.publish.reconcile import Missing, RunState, compare, other_result
from convex_evals.records.publication import PublishedTrial, State


class RunError(UserError):
    """What keeps one run from being published, and no other."""


MOST_SENT = 20  # times that a trial is sent from its beginning
_MOST_IDLE = 5  # rounds after which nothing more was there
Sent = Literal["sent", "completed", "was there"]


@dataclass
class TrialPublisher:
    board: LeaderboardApi
    assets: Assets
    ledger: Ledger
    content: TrialContent
    model: str  # its id there
    repair: bool  # what the ledger says is there, and is not, is sent again
    told: Callable[[], None]  # called when an eval is complete there

    @property
    def _url(self) -> str:
        return self.board.client.deployment.url

    async def publish(self) -> Sent:
        """Raises `UserError` where that is impossible; the ledger says how far it came."""
        how: Sent = "was there"
        for _ in range(MOST_SENT):
            run_id, found = await self._find()
            if run_id is None:
                run_id, how = await self._start(), "sent"
            elif found is None or not found.is_whole:
                how = "completed" if how == "was there" else how
            if await self._complete(run_id):
                await self._delete_others(run_id)
                self._note("published", run_id)
                return how
            await self._delete(run_id)
        raise RunError(
            f"{self._url}: {self.content.text}: was sent {MOST_SENT} times, and each time something was there twice; "
            "is another program publishing to it?"
        )

    async def sweep(self) -> None:
        """Look once more: what was late may have arrived since."""
        known = self.ledger.trial(self.content.trial)
        if known is None or known.id is None:
            return
        found = await self.board.run(known.id)
        if found is not None and compare(self.content, found).is_whole:
            await self._delete_others(known.id)
        else:
            self._note("started", known.id)
            await self.publish()

    async def _find(self) -> tuple[str | None, RunState | None]:
        """The id of the run that is to be completed, None where one has to be started, and what of it is known."""
        known = self.ledger.trial(self.content.trial)
        if known is not None and known.state == "deleting" and known.id is not None:
            await self._delete(known.id)
        elif known is not None and known.id is not None:
            found = await self.board.run(known.id)
            compared = compare(self.content, found) if found else None
            if found is not None and (known.state == "started" or self.repair or (compared and compared.is_whole)):
                return known.id, compared
            if not self.repair:
                raise self._contradiction(known.id, compared)
        listed = await self._listed()
        own = self._own(listed)
        if own:
            found = await self.board.run(own[0].id)
            other = found and other_result(self.content, found)
            if other and not self.repair:
                raise RunError(
                    f"{self._url}: has {self.content.text} complete already, with other results ({other}): was it "
                    "graded again since? `cli publish --repair` replaces it"
                )
            self._note("started", own[0].id)
            return own[0].id, compare(self.content, found) if found else None
        if known is not None and known.state == "starting" and not self.repair:
            self._refuse_hidden(listed, known.after)
        return None, None

    def _contradiction(self, run_id: str, compared: RunState | None) -> RunError:
        why = "the deployment has no such run"
        if compared is not None:
            missing = [f"{m.content.id} is not complete there" for m in compared.missing]
            why = compared.fault or (missing[0] if missing else "it is not completed there")
        return RunError(
            f"{self.ledger.path}: says that trial {self.content.trial} is published as {run_id}, and {why}; if it was "
            "deleted there on purpose, delete it here, else `cli publish --repair` sends what is missing"
        )

    def _refuse_hidden(self, listed: Sequence[ListedRun], after: str | None) -> None:
        """Where so many were started since that this one would no longer be listed."""
        if len(listed) >= MOST_LISTED and after not in [run.id for run in listed]:
            raise RunError(hidden(self._url, self.content.text))

    async def _listed(self) -> list[ListedRun]:
        return await self.board.runs(self.model)

    def _own(self, listed: Sequence[ListedRun]) -> list[ListedRun]:
        """Those that are this trial, oldest first."""
        return sorted((run for run in listed if run.text == self.content.text), key=lambda run: run.created)

    async def _start(self) -> str:
        """The id of a new run."""
        patience = self.board.client.patience
        for failures in range(1, patience.tries + 1):
            listed = await self._listed()
            own = self._own(listed)
            if own:
                self._note("started", own[0].id)
                return own[0].id
            self._note("starting", after=listed[0].id if listed else None)
            try:
                run_id = await self.board.start_run(self.content.start(self.model))
                self._note("started", run_id)
                await self._delete_others(run_id)  # a request may have been doubled on the way
                return run_id
            except LostAnswerError as lost:
                why = str(lost)
                await asyncio.sleep(max(patience.settle_seconds, patience.pause(failures)))
            except FunctionFailedError as error:
                self._note("planned")
                raise RunError(f"{self._url}: {error}") from None
        raise self._given_up("admin:startRun", why)

    async def _complete(self, run_id: str) -> bool:
        """Send what is missing until all of it is there; False where that can never be.

        Raises `UserError` where nothing comes of it.
        """
        patience = self.board.client.patience
        before: RunState | None = None
        idle, why = 0, ""
        while idle < _MOST_IDLE:
            found = await self.board.run(run_id)
            if found is None:
                raise UserError(f"{self._url}: its run {run_id} ({self.content.text}) is gone; was it deleted there?")
            now = compare(self.content, found)
            if now.fault is not None:
                return False
            if now.is_whole:
                return True
            idle = idle + 1 if before is not None and _size(now) == _size(before) else 0
            before = now
            problems = await self._send(run_id, now)
            if problems:
                why = problems[0]
                await asyncio.sleep(max(patience.settle_seconds, patience.pause(idle + 1)))
        raise self._given_up(self.content.text, why)

    async def _send(self, run_id: str, now: RunState) -> list[str]:
        """What is missing, or the end of the run where nothing is; what went wrong."""
        if not now.missing:
            return await self._try(self.board.complete_run(run_id, self.content.status))
        problems: list[str] = []

        async def send(missing: Missing) -> None:
            own = await self._try(self._eval(run_id, missing))
            problems.extend(own)
            if not own:
                self.told()

        try:
            async with asyncio.TaskGroup() as group:
                for missing in now.missing:
                    group.create_task(send(missing))
        except* UserError as errors:
            raise errors.exceptions[0] from None
        return problems

    async def _try(self, sending: object) -> list[str]:
        try:
            await sending  # type: ignore[misc]
        except (LostAnswerError, FunctionFailedError) as error:
            return [str(error)]
        return []

    async def _eval(self, run_id: str, missing: Missing) -> None:
        """All that one eval lacks, in order. Raises `LostAnswerError` and `FunctionFailedError`."""
        content = missing.content
        category, _, name = content.id.partition("/")
        zipped = content.zip_output()
        output = None if zipped is None else await self.assets.output(zipped)
        eval_id = missing.id
        if eval_id is None:
            source = self.content.sources[content.id]
            begun = {
                "runId": run_id,
                "evalPath": content.id,
                "category": category,
                "name": name,
                **({} if source.task is None else {"task": source.task}),
                "evalSourceStorageId": await self.assets.source(source),
            }
            eval_id = await self.board.start_eval(begun)
        steps = content.steps
        for step in missing.steps:
            await self.board.record_step(eval_id, step, steps[step])
        await self.board.complete_eval(eval_id, content.status(output))

    async def _delete_others(self, run_id: str) -> None:
        """Those that are this trial, too: requests that were doubled on the way."""
        for run in self._own(await self._listed()):
            if run.id != run_id:
                await self._delete_there(run.id)

    async def _delete(self, run_id: str) -> None:
        """A run that cannot be completed."""
        self._note("deleting", run_id)
        await self._delete_there(run_id)
        self._note("planned")

    async def _delete_there(self, run_id: str) -> None:
        """Until it is not there. Raises `UserError`."""
        patience, why = self.board.client.patience, ""
        for failures in range(1, patience.tries + 1):
            if await self.board.run(run_id) is None:
                return
            problems = await self._try(self.board.delete_run(run_id))
            why = problems[0] if problems else "the run is still there"
            if await self.board.run(run_id) is None:
                return
            await asyncio.sleep(patience.pause(failures))  # a deployment may delete a part after the other
        raise self._given_up("admin:deleteRun", why)

    def _note(
        self,
        state: State,
        run_id: str | None = None,
        after: str | None = None,
    ) -> None:
        now = PublishedTrial(trial=self.content.trial, state=state, id=run_id, after=after)
        if self.ledger.trial(self.content.trial) != now:
            self.ledger.write(now)

    def _given_up(self, what: str, why: str) -> UserError:
        return UserError(f"{self._url}: {what}: given up ({why}); the same command resumes")


def _size(now: RunState) -> tuple[int, int]:
    return len(now.missing), sum(len(m.steps) + (m.id is None) for m in now.missing)


def hidden(url: str, text: str) -> str:
    """The message where it cannot be told whether a run is there."""
    return (
        f"{url}: lists its newest {MOST_LISTED} runs of this model, and {text} may be an older one; restore its ledger "
        "from Git, or send it with --repair if it was never published"
    )
