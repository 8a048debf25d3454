"""One trial to a deployment, exactly once, whatever is lost on the way.

Nothing there is idempotent. So a mutation whose answer was lost, or that was refused, is never simply sent again: the
deployment is asked what it has, and then what is missing is sent. What cannot be completed (an eval or a step that is
there twice) is deleted with its run, and the trial is sent as a new one. The ledger says what is about to be done
before it is done.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from convex_evals.publish.assets import Assets
from convex_evals.publish.client import FunctionFailedError, LostAnswerError, together
from convex_evals.publish.content import TrialContent
from convex_evals.publish.leaderboard import MOST_LISTED, LeaderboardApi, ListedRun
from convex_evals.publish.ledger import Ledger
from convex_evals.publish.outputs import Outputs
from convex_evals.publish.reconcile import Missing, RunState, compare, other_result
from convex_evals.publish.trial_runs import RunError, TrialRuns, tried
from convex_evals.records.publication import PublishedTrial, State

MOST_SENT = 20  # times that a trial is sent from its beginning
_MOST_IDLE = 5  # rounds after which nothing more was there
Done = Literal["sent", "completed", "was there", "withdrawn", "was not there"]
How = Done | Literal["would be sent", "would be completed", "would be replaced", "would be withdrawn"]
Step = Literal["start", "complete", "delete"]
Completed = Literal["before", "now", "never"]  # when all of a run was there


@dataclass
class TrialPublisher:
    board: LeaderboardApi
    assets: Assets
    ledger: Ledger
    content: TrialContent
    model: str  # its id there
    repair: bool  # what the ledger says is there, and is not, is sent again
    told: Callable[[], None] = lambda: None  # called when an eval is complete there
    outputs: Outputs = field(init=False)
    runs: TrialRuns = field(init=False)
    _version: str = field(init=False)  # that the run there has, as far as the deployment tells it

    def __post_init__(self) -> None:
        self.outputs = Outputs(self.board, self.content)
        self.runs = TrialRuns(self.board, self.content, self.model, self.repair, self.outputs)
        known = self.ledger.trial(self.content.trial)
        self._version = (known and known.version) or self.content.version.sent

    @property
    def _url(self) -> str:
        return self.runs.url

    async def publish(self) -> How:
        """Raises `UserError` where that is impossible; the ledger says how far it came."""
        how: How = "was there"
        for _ in range(MOST_SENT):
            run_id = await self._find()
            if run_id is None:
                run_id, how = await self._start(), "sent"
            completed = await self._complete(run_id)
            if completed != "never":
                await self.runs.delete_others(run_id)
                self._note("published", run_id, version=self._version)
                return "completed" if how == "was there" and completed == "now" else how
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
        found = await self.runs.run(known.id)
        if found is not None and compare(self.content, found).is_whole:
            await self.runs.delete_others(known.id)
        else:
            self._note("started", known.id)
            await self.publish()

    async def preview(self) -> How:
        """What `publish` would do, and nothing is done. Raises `UserError` where it would."""
        step, run_id = await self._look()
        if step == "start" or run_id is None:
            return "would be sent"
        found = await self.runs.run(run_id)
        if step == "delete" or found is None:
            return "would be replaced"
        now = compare(self.content, found)
        if now.fault:
            return "would be replaced"
        lost = await self.outputs.lost(found) if now.is_whole else []
        return "was there" if now.is_whole and not lost else "would be completed"

    async def _find(self) -> str | None:
        """The id of the run that is to be completed; None where one has to be started."""
        while True:
            step, run_id = await self._look()
            if run_id is None:
                return None
            if step == "complete":
                known = self.ledger.trial(self.content.trial)
                if known is None or known.id != run_id:
                    self._note("started", run_id)
                return run_id
            await self._delete(run_id)

    async def _look(self) -> tuple[Step, str | None]:
        """What is to be done first, and to which run there. Nothing is changed."""
        known = self.ledger.trial(self.content.trial)
        claimed = known and known.id and await self.runs.claimed(known.id, self.ledger.path)
        if known and claimed and known.state == "deleting":
            return "delete", claimed
        if known and claimed:
            found = await self.runs.run(claimed)
            compared = compare(self.content, found) if found else None
            if found and (known.state == "started" or self.repair or (compared and compared.is_whole)):
                return "complete", claimed
            if not self.repair:
                raise self._contradiction(claimed, compared)
        listed = await self.runs.listed()
        own = self.runs.own(listed)
        if own:
            found = await self.runs.run(own[0].id)
            other = found and other_result(self.content, found)
            if other and not self.repair:
                raise RunError(
                    f"{self._url}: has {self.content.text} complete already, with other results ({other}): was it "
                    "graded again since? `cli publish --repair` replaces it"
                )
            return "complete", own[0].id
        if known and known.state == "starting" and not self.repair:
            self._refuse_hidden(listed, known.after)
        return "start", None

    def _contradiction(self, run_id: str, compared: RunState | None) -> RunError:
        why = "the deployment has no such run"
        if compared is not None:
            missing = [f"{m.content.id} is not complete there" for m in compared.missing]
            why = compared.fault or (missing[0] if missing else "it is not completed there")
        return RunError(
            f"{self.ledger.path}: says that trial {self.content.trial} is published as {run_id}, and {why}; if it was "
            "deleted there on purpose, `cli unpublish` keeps it away, else `cli publish --repair` sends what is missing"
        )

    def _refuse_hidden(self, listed: Sequence[ListedRun], after: str | None) -> None:
        """Where so many were started since that this one would no longer be listed."""
        if len(listed) >= MOST_LISTED and after not in [run.id for run in listed]:
            raise RunError(hidden(self._url, self.content.text))

    async def _start(self) -> str:
        """The id of a new run."""
        patience = self.board.client.patience
        for failures in range(1, patience.tries + 1):
            listed = await self.runs.listed()
            own = self.runs.own(listed)
            if own:
                self._note("started", own[0].id)
                return own[0].id
            self._note("starting", after=listed[0].id if listed else None)
            self._version = self.content.version.sent
            try:
                run_id = await self.board.start_run(self.content.start(self.model))
                self._note("started", run_id)
                await self.runs.delete_others(run_id)  # a request may have been doubled on the way
                return run_id
            except LostAnswerError as lost:
                why = str(lost)
                await asyncio.sleep(max(patience.settle_seconds, patience.pause(failures)))
            except FunctionFailedError as error:
                self._note("planned")
                raise RunError(f"{self._url}: {error}") from None
        raise self.runs.given_up("admin:startRun", why)

    async def _complete(self, run_id: str) -> Completed:
        """Send what is missing until all of it is there, with its files.

        Raises `UserError` where nothing comes of it.
        """
        patience = self.board.client.patience
        sizes: list[tuple[int, ...]] = []  # of what was missing, round by round
        why = ""
        while len(sizes) <= _MOST_IDLE or sizes[-1] < sizes[-1 - _MOST_IDLE]:
            found = await self.runs.run(run_id)
            if found is None:
                raise RunError(f"{self._url}: its run {run_id} ({self.content.text}) is gone; was it deleted there?")
            self._version = found.benchmark or self._version
            now = compare(self.content, found)
            if now.fault is not None:
                return "never"
            lost = await self.outputs.lost(found) if now.is_whole else []
            if now.is_whole and not lost:
                return "now" if sizes else "before"
            sizes.append((*_size(now), len(lost)))
            if not lost:
                problem = await self._send(run_id, now)
            elif problem := await tried(self.outputs.restore(run_id, found, lost)):
                if self.repair:
                    return "never"
                raise RunError(
                    f"{self._url}: has {run_id} without the file of {lost[0]}, and cannot be given it ({problem}); "
                    "`cli publish --repair` sends the trial again"
                )
            if problem:
                why = problem
                await asyncio.sleep(max(patience.settle_seconds, patience.pause(len(sizes))))
        raise self.runs.given_up(self.content.text, why)

    async def _send(self, run_id: str, now: RunState) -> str | None:
        """What is missing, or the end of the run where nothing is; the first problem."""
        if not now.missing:
            return await tried(self.board.complete_run(run_id, self.content.status))

        async def send(missing: Missing) -> str | None:
            problem = await tried(self._eval(run_id, missing))
            if problem is None:
                self.told()
            return problem

        return next(filter(None, await together(map(send, now.missing))), None)

    async def _eval(self, run_id: str, missing: Missing) -> None:
        """All that one eval lacks, in order. Raises `LostAnswerError` and `FunctionFailedError`."""
        content = missing.content
        category, _, name = content.id.partition("/")
        output = await self.outputs.file(run_id, content)
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

    async def _delete(self, run_id: str) -> None:
        """A run that cannot be completed."""
        self._note("deleting", run_id)
        await self.runs.delete(run_id)
        self._note("planned")

    def _note(
        self,
        state: State,
        run_id: str | None = None,
        after: str | None = None,
        version: str | None = None,
    ) -> None:
        now = PublishedTrial(trial=self.content.trial, state=state, id=run_id, version=version, after=after)
        if self.ledger.trial(self.content.trial) != now:
            self.ledger.write(now)


def _size(now: RunState) -> tuple[int, ...]:
    return len(now.missing), sum(len(m.steps) + (m.id is None) for m in now.missing), int(not now.is_completed)


def hidden(url: str, text: str) -> str:
    """The message where it cannot be told whether a run is there."""
    return (
        f"{url}: lists its newest {MOST_LISTED} runs of this model, and {text} may be an older one; restore its ledger "
        "from Git, or send it with --repair if it was never published"
    )
