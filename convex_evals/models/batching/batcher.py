"""Gather requests into batches, and follow batches to their end.

Nothing is paid for twice, whatever ends the command, and on whichever machine the next one runs. A trace:

    1. trials ask; once no more do for a moment, their requests are a batch: a file in the run's folder, without an id
    2. the batch is submitted             killed before the id is known: the next command finds the batch by our token,
                                          or learns that there is none, and drops the file
    3. the id is written to the file      killed from here on: the next command follows the batch by its id
    4. it ends, and its results are read  killed meanwhile: the next command reads them again, for free
    5. each trial logs its own            with the batch's token: what is logged is not read again

A batch goes on at the provider while no command runs. Ctrl-C leaves it there, and so does the end of the time that a
command waits. A request without a result is sent again, in another batch.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, TypeVar

from convex_evals.models.batching.exchange import prepare, understand
from convex_evals.models.batching.following import Following
from convex_evals.models.batching.http import BatchGone
from convex_evals.models.batching.interface import BatchInterface, BatchState, Undecided, understood
from convex_evals.models.batching.interfaces import interface_for
from convex_evals.models.batching.waiting import Batched, NeverSubmitted, Row, Waiter, fail_all, split
from convex_evals.models.faults import Fault, Meaning, ModelStopped, NothingSent, ProviderFault, ReplyPending
from convex_evals.models.provider import Call
from convex_evals.records.batch import BatchedRequest, BatchFile
from convex_evals.records.models import ModelEntry
from convex_evals.records.names import utc_now
from convex_evals.render.numbers import rough_duration
from convex_evals.store.batches import BatchFolder, Ticket
from convex_evals.text import counted

T = TypeVar("T")
GATHER_SECONDS = 0.5  # without another request
_FIRST_POLL, _LONGEST_POLL = 1.0, 60.0  # seconds; in between, a tenth of the time that was waited
_PATIENCE = 600.0  # seconds for which a provider may fail to say how a batch is
# What OpenAI says if other batches have to be done first.
_FULL = re.compile(r"enqueued token limit|too many (?:enqueued|queued)", re.IGNORECASE)


@dataclass
class Batcher:
    """The batches of one model under one experiment."""

    entry: ModelEntry
    halted: asyncio.Event  # send nothing more, and wait for nothing
    following: Following
    _gathered: list[Waiter] = field(default_factory=list)
    _gathering: asyncio.Task[None] | None = None
    _followed: dict[str, dict[str, Waiter]] = field(default_factory=dict)  # by token, by what requests are called by
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _began: float | None = None  # waiting, in monotonic seconds

    async def ask(self, folder: BatchFolder, request: BatchedRequest, call: Call) -> Batched:
        """Send `call` in the next batch, and return its reply.

        Raises `ProviderFault`, with the batch's token if the request was in one; `ReplyPending` if the batch goes on
        without us; `ModelStopped` if this model cannot be asked, and of that `NothingSent` if nothing was.
        """
        waiter = Waiter.made(folder, request, call)
        self._gathered.append(waiter)
        if self._gathering is None:
            self._gathering = self._start(self._gather())
        return await waiter.reply

    async def rejoin(self, folder: BatchFolder, ticket: Ticket, call: Call) -> Batched:
        """Return the reply to a request of a batch that an earlier command submitted. Raises as `ask` does."""
        waiter = Waiter.made(folder, ticket.request, call)
        token = ticket.file.token
        is_first = token not in self._followed
        self._followed.setdefault(token, {})[ticket.custom_id] = waiter
        if is_first:
            self._start(self._follow(folder, ticket.file))
        try:
            return await waiter.reply
        except NeverSubmitted:
            return await self.ask(folder, ticket.request, call)

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # -- submitting --

    async def _gather(self) -> None:
        count = -1
        while count != len(self._gathered):
            count = len(self._gathered)
            await self._sleep(GATHER_SECONDS)
        waiters, self._gathered, self._gathering = self._gathered, [], None
        try:
            if self.halted.is_set():
                raise NothingSent(f"{self.entry.slug}: stopped before its batch was submitted")
            await self._submit_all(waiters)
        except BaseException as error:
            fail_all(waiters, error)
            if not isinstance(error, Exception):
                raise

    async def _submit_all(self, waiters: Sequence[Waiter]) -> None:
        requests = [await prepare(self.entry, each.call) for each in waiters]
        interface = interface_for(self.entry, requests[0])
        rows: list[Row] = list(zip(waiters, (request.body for request in requests), strict=True))
        for place, folder in {each.folder.run.folder: each.folder for each in waiters}.items():
            for part in split([row for row in rows if row[0].folder.run.folder == place], interface):
                await self._submit(interface, folder, part)

    async def _submit(self, interface: BatchInterface, folder: BatchFolder, rows: Sequence[Row]) -> None:
        waiters = [each for each, _ in rows]
        file = BatchFile(
            token=secrets.token_hex(8),
            model=self.entry.slug,
            submitted_at=utc_now(),
            requests=tuple(each.request for each in waiters),
        )
        bodies = [(file.custom_id(number), body) for number, (_, body) in enumerate(rows)]
        try:
            folder.write(file)
            batch = await self._hand_in(interface, folder, file, bodies)
            file = file.model_copy(update={"batch": batch})
            folder.write(file)
        except Exception as error:
            fail_all(waiters, error)
            return
        resume = f"cli run --run {folder.run.plan.run_id}"
        self.following.note(
            f"{self.entry.slug}: batch {batch} of {counted(len(waiters), 'request')} was submitted, at half the price, "
            f"to be done within 24 hours; Ctrl-C leaves it there, for `{resume}` to take up"
        )
        self._followed[file.token] = {name: each for (name, _), each in zip(bodies, waiters, strict=True)}
        self._start(self._follow(folder, file))

    async def _hand_in(
        self,
        interface: BatchInterface,
        folder: BatchFolder,
        file: BatchFile,
        bodies: Sequence[tuple[str, dict[str, Any]]],
    ) -> str:
        """Return the batch's id. The file is removed if the provider does not have the batch."""
        try:
            return await understood(interface.submit(file.token, bodies))
        except BatchGone as gone:
            folder.remove(file.token)
            raise NothingSent(
                f"{self.entry.slug}: the server has no batch interface ({gone}: not found); "
                "remove batch: true from models.yaml"
            ) from None
        except ProviderFault as fault:
            refused = fault.fault.meaning is Meaning.STOP or fault.fault in (Fault.REQUEST, Fault.RATE_LIMIT)
            # Otherwise it was perhaps accepted, and only its id was lost.
            batch = None if refused else await self._find(interface, folder, file)
            if batch is None:
                folder.remove(file.token)
                raise
            return batch

    # -- following --

    async def _follow(self, folder: BatchFolder, file: BatchFile) -> None:
        """Bring the results of a batch to those who wait for them."""
        waiting = self._followed[file.token]
        try:
            await asyncio.sleep(0)  # others rejoin in the same moment
            interface = await self._interface(file, next(iter(waiting.values())))
            if file.batch is None:
                batch = await self._find(interface, folder, file)
                if batch is None:
                    folder.remove(file.token)
                    raise NeverSubmitted
                file = file.model_copy(update={"batch": batch})
                folder.write(file)
            state = await self._ended(interface, folder, file)
            if state.failure:
                raise self._refusal(folder, file, state.failure)
            # A result may already have gone by for trials that rejoin from here on: they read all results again.
            del self._followed[file.token]
            await self._patiently(lambda: self._read_results(interface, file, state, waiting), folder, file)
            raise ProviderFault(Fault.UNPROCESSED, "the batch has no result for the request", batch=file.token)
        except BaseException as error:
            fail_all(waiting.values(), error)
            if not isinstance(error, Exception):
                raise
        finally:
            if self._followed.get(file.token) is waiting:
                del self._followed[file.token]

    async def _interface(self, file: BatchFile, waiter: Waiter) -> BatchInterface:
        try:
            return interface_for(self.entry, await prepare(self.entry, waiter.call))
        except ProviderFault as fault:
            raise self._cannot_follow(file, fault) from None

    def _refusal(self, folder: BatchFolder, file: BatchFile, why: str) -> Exception:
        """Return what it means for its requests that the provider did not begin with a batch."""
        if not _FULL.search(why):
            return ProviderFault(Fault.REQUEST, why, batch=file.token)
        folder.remove(file.token)
        return NothingSent(
            f"{self.entry.slug}: {why.rstrip('.')}; once other batches are done, the same command tries again"
        )

    async def _ended(self, interface: BatchInterface, folder: BatchFolder, file: BatchFile) -> BatchState:
        """Wait for the batch's end. Raises `ReplyPending` if it is not waited for."""
        while True:
            state = await self._patiently(lambda: interface.state(str(file.batch)), folder, file)
            if state.ended:
                return state
            self.following.progress(
                f"{self.entry.slug}: batch {file.batch}: {state.done} of {state.total or len(file.requests)} "
                f"done after {rough_duration(max(0.0, file.age_s()))}"
            )
            await self._wait()

    async def _read_results(
        self, interface: BatchInterface, file: BatchFile, state: BatchState, waiting: dict[str, Waiter]
    ) -> None:
        if all(each.reply.done() for each in waiting.values()):
            return
        async with aclosing(interface.results(state)) as results:
            async for name, result in results:
                waiter = waiting.get(name)
                if waiter is None or waiter.reply.done():
                    continue
                try:
                    reply = await understand(self.entry, waiter.call, result)
                except ProviderFault as fault:
                    fault.batch = file.token
                    waiter.fail(fault)
                else:
                    waiter.bring(reply, file.token)

    async def _find(self, interface: BatchInterface, folder: BatchFolder, file: BatchFile) -> str | None:
        """Return the id of a batch that was perhaps submitted, None if it was not.

        Raises `ReplyPending` if that cannot be told yet.
        """
        while True:
            try:
                return await self._patiently(lambda: interface.find(file), folder, file)
            except Undecided:
                await self._wait()

    async def _patiently(self, ask: Callable[[], Awaitable[T]], folder: BatchFolder, file: BatchFile) -> T:
        """Return what `ask` brings, tried again while the provider fails: the batch is there, whatever it says."""
        begin = time.monotonic()
        while True:
            try:
                return await understood(ask())
            except BatchGone:
                raise ModelStopped(
                    f"{self.entry.slug}: the provider has no batch {file.batch or file.token}; use the key that it was "
                    f"submitted with, or remove {folder.path(file.token)}, and its requests are paid for again"
                ) from None
            except ProviderFault as fault:
                if fault.fault.meaning is not Meaning.RETRY or time.monotonic() - begin > _PATIENCE:
                    raise self._cannot_follow(file, fault) from None
                self.following.progress(f"{self.entry.slug}: batch {file.batch or file.token}: {fault}; trying again")
                await self._wait(fault.retry_after)

    def _cannot_follow(self, file: BatchFile, fault: ProviderFault) -> ModelStopped:
        what = f"{self.entry.slug}: batch {file.batch or file.token} cannot be followed"
        return ModelStopped(f"{what}: {str(fault).rstrip('.')}; the same command tries again")

    async def _wait(self, seconds: float | None = None) -> None:
        """Wait before the provider is asked again. Raises `ReplyPending` if the command waits no longer."""
        now = time.monotonic()
        self._began = self._began or now
        waited, limit = now - self._began, self.following.wait_s
        if self.halted.is_set() or (limit is not None and waited >= limit):
            raise ReplyPending
        pause = min(_LONGEST_POLL, max(_FIRST_POLL, waited / 10, seconds or 0))
        await self._sleep(pause if limit is None else min(pause, limit - waited))

    async def _sleep(self, seconds: float) -> None:
        """Sleep, or until nothing more is sent."""
        try:
            await asyncio.wait_for(self.halted.wait(), seconds)
        except TimeoutError:
            return
