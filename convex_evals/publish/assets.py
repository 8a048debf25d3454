"""Files in a deployment's storage: sources once for each hash, replies once for each process."""

from __future__ import annotations

import asyncio
import hashlib
from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial

from convex_evals.errors import UserError
from convex_evals.publish.bundles import EvalSource
from convex_evals.publish.client import FunctionFailedError
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
        file: str | None = None

        async def register() -> str:
            nonlocal file
            stored = await self.leaderboard.stored_source(source.digest)
            if stored is not None:
                return stored
            file = file or await self._upload(source.zipped)
            await self.leaderboard.register_source(source.digest, file)
            return file

        try:
            return await self.leaderboard.client.again("admin:registerAsset", register)
        except FunctionFailedError as error:
            raise UserError(f"{self.leaderboard.client.deployment.url}: {error}") from None

    async def _upload(self, data: bytes) -> str:
        return await self.leaderboard.client.again("upload", partial(self.leaderboard.upload, data))
