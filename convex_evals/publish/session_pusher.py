"""Sessions to a deployment, which then has those that were chosen, each exactly once, and no others of this folder."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from convex_evals.errors import UserError
from convex_evals.publish.client import ConvexClient, FunctionFailedError, Patience
from convex_evals.publish.deployments import Deployment
from convex_evals.publish.refusals import refuse_unguarded
from convex_evals.publish.session_content import SessionContent, content_of, keys_content, keys_digest
from convex_evals.publish.sessions_api import SessionsApi
from convex_evals.render.terminal import Display
from convex_evals.sessions.exporting import labelled
from convex_evals.sessions.index import SessionFilter, open_index
from convex_evals.sessions.store import SessionStore
from convex_evals.store.api_keys import ApiKeyStore

PATIENCE = Patience()
FAILED = "failed"
_AGAIN = "someone else may have pushed in the meantime; push again"
_KEPT = "has secrets that its import kept; import it again without --keep-secrets"


@dataclass(frozen=True)
class PushOptions:
    wanted: SessionFilter
    dry_run: bool = False
    prune: bool = False
    concurrency: int = 8


@dataclass(frozen=True)
class PushedSession:
    """What became of one session that was not there already as it is here."""

    id: str
    result: str  # sent, replaced, withdrawn, left out, failed
    reason: str | None = None

    def to_data(self) -> dict[str, Any]:
        return {"session": self.id, "result": self.result, "reason": self.reason}


@dataclass
class PushedSessions:
    """What a deployment has now."""

    sessions: list[PushedSession] = field(default_factory=list)
    unchanged: int = 0
    unknown: int = 0  # sessions there that are not here
    keys: int = 0
    keys_result: str = "unchanged"  # or replaced, failed
    keys_reason: str | None = None

    @property
    def failed(self) -> list[str]:
        """Lines of what is not there as it should be."""
        sessions = [f"session {each.id}: {each.reason}" for each in self.sessions if each.result == FAILED]
        return [*([f"keys: {self.keys_reason}"] if self.keys_reason else []), *sessions]


@dataclass
class SessionPusher:
    store: SessionStore
    deployment: Deployment
    options: PushOptions
    display: Display

    async def push(self) -> PushedSessions:
        """Raises `UserError`: what was sent until then is there, and the same command goes on."""
        if not self.options.dry_run:
            refuse_unguarded(self.deployment, os.environ)
        here = set(self.store.ids())
        if not here and not self.options.prune:
            # In a wrong folder, a push would take everyone's keys away.
            raise UserError(
                f"{self.store.root}: has no sessions; go to the folder that sessions/ is in, or name it with -C. With "
                "--prune, everything is removed from the deployment"
            )
        keys = keys_content(ApiKeyStore(self.store.root).all())
        pushed = PushedSessions(keys=len(keys))
        async with ConvexClient(self.deployment, self.options.concurrency, PATIENCE) as client:
            api = SessionsApi(client)
            found = await api.found()
            # What takes access away comes first, and keys need no session that can be read.
            await self._put_keys(api, keys, found.keys, pushed)
            chosen = self._chosen()
            surplus = found.digests.keys() - set(chosen)
            going = sorted(surplus if self.options.prune else surplus & here)
            pushed.unknown = len(surplus) - len(going)
            there = found.digests
            withdrawn = await self._each("withdrawing", going, lambda i: self._withdrawn(api, i, there[i]))
            brought = await self._each("pushing", chosen, lambda i: self._bring(api, i, there.get(i)))
        pushed.sessions += filter(None, [*withdrawn, *brought])
        pushed.unchanged = brought.count(None)
        return pushed

    def _chosen(self) -> list[str]:
        """The newest first. Raises `UserError` where a file is broken: its session could be one of them."""
        with open_index(self.store, lambda n, total: self.display.preparing("reading sessions", n, total)) as index:
            index.refuse_problems()
            return [entry.id for entry in index.find(self.options.wanted)]

    async def _put_keys(
        self, api: SessionsApi, keys: list[dict[str, Any]], there: str | None, pushed: PushedSessions
    ) -> None:
        digest = keys_digest(keys)
        if digest == there or (there is None and not keys):
            return
        pushed.keys_result = "replaced"
        try:
            if not self.options.dry_run:
                await api.put_keys(keys, digest, there)
        except FunctionFailedError as error:
            pushed.keys_result, pushed.keys_reason = FAILED, f"{error}; {_AGAIN}"

    async def _each(
        self, what: str, ids: Sequence[str], do: Callable[[str], Awaitable[PushedSession | None]]
    ) -> list[PushedSession | None]:
        """What became of these sessions, in this order; some are done at a time, so that few are in memory."""
        slots = asyncio.Semaphore(self.options.concurrency)
        tasks = []

        async def one(session_id: str) -> PushedSession | None:
            try:
                return await do(session_id)
            finally:
                slots.release()

        try:
            async with asyncio.TaskGroup() as group:
                for number, session_id in enumerate(ids, 1):
                    await slots.acquire()
                    self.display.preparing(f"{what} sessions", number, len(ids))
                    tasks.append(group.create_task(one(session_id)))
        except* UserError as errors:
            raise errors.exceptions[0] from None
        return [task.result() for task in tasks]

    async def _bring(self, api: SessionsApi, session_id: str, there: str | None) -> PushedSession | None:
        """Make a session there what it is here. None where it was."""
        try:
            content = await asyncio.to_thread(self._read, session_id)
        except UserError as error:
            return PushedSession(session_id, FAILED, str(error))
        if isinstance(content, str):
            left_out = PushedSession(session_id, "left out", content)
            return left_out if there is None else await self._withdrawn(api, session_id, there, content)
        if content.digest == there:
            return None
        done = PushedSession(session_id, "sent" if there is None else "replaced")
        return await self._tried(done, lambda: api.put(content, there))

    def _read(self, session_id: str) -> SessionContent | str:
        """What is sent of a session, or why nothing is."""
        (found,) = labelled(self.store, [session_id])
        if found.session.secrets_kept:
            return _KEPT
        content = content_of(found)
        return content.too_large() or content

    async def _withdrawn(
        self, api: SessionsApi, session_id: str, there: str, reason: str | None = None
    ) -> PushedSession:
        done = PushedSession(session_id, "withdrawn", reason)
        return await self._tried(done, lambda: api.withdraw(session_id, there))

    async def _tried(self, done: PushedSession, call: Callable[[], Awaitable[None]]) -> PushedSession:
        """`done` once the call is."""
        if self.options.dry_run:
            return done
        try:
            await call()
        except FunctionFailedError as error:
            return PushedSession(done.id, FAILED, f"{error}; {_AGAIN}")
        return done
