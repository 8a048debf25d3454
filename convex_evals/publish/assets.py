"""Files in a deployment's storage: sources once for each hash, replies once for each process."""

from __future__ import annotations

import asyncio
import hashlib
from collections import defaultdict
from dataclasses import dataclass, field

from convex_evals.errors import UserError
from convex_evals.publish.bundles import EvalSource
from convex_evals.publish.client import FunctionFailedError, LostAnswerError
from convex_evals.publish.leaderboard import LeaderboardApi


@dataclass
class Assets:
    leaderboard: LeaderboardApi
    _locks: dict[str, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))
    _files: dict[str, str] = field(default_factory=dict)

    async def source(self, source: EvalSource) -> str:
        """The id of its file, which is uploaded where the deployment has none of its hash."""
        async with self._locks[source.digest]:
            if source.digest not in self._files:
                self._files[source.digest] = await self._source(source)
            return self._files[source.digest]

    async def output(self, zipped: bytes) -> str:
        """The id of a new file. A trial that is sent again by this process refers to the same. Raises `UserError`."""
        digest = hashlib.sha256(zipped).hexdigest()
        async with self._locks[digest]:
            if digest not in self._files:
                self._files[digest] = await self._upload(zipped)
            return self._files[digest]

    async def _source(self, source: EvalSource) -> str:
        patience = self.leaderboard.client.patience
        file, failures = None, 0
        while True:
            stored = await self.leaderboard.stored_source(source.digest)
            if stored is not None:
                return stored
            file = file or await self._upload(source.zipped)
            try:
                await self.leaderboard.register_source(source.digest, file)
                return file
            except LostAnswerError as lost:
                failures += 1
                if failures >= patience.tries:
                    raise self._given_up("admin:registerAsset", failures, lost) from None
                await asyncio.sleep(patience.pause(failures))
            except FunctionFailedError as error:
                raise UserError(f"{self.leaderboard.client.deployment.url}: {error}") from None

    async def _upload(self, data: bytes) -> str:
        patience = self.leaderboard.client.patience
        failures = 0
        while True:
            try:
                return await self.leaderboard.upload(data)
            except LostAnswerError as lost:
                failures += 1
                if failures >= patience.tries:
                    raise self._given_up("upload", failures, lost) from None
                await asyncio.sleep(patience.pause(failures))

    def _given_up(self, what: str, failures: int, lost: LostAnswerError) -> UserError:
        url = self.leaderboard.client.deployment.url
        return UserError(f"{url}: {what}: no answer after {failures} tries ({lost}); the same command resumes")
