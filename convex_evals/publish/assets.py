"""Sources of evals in a deployment's storage: one file for each hash."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field

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
        """The id of its file, which is uploaded where the deployment has none of its hash. Raises `UserError`."""
        async with self._locks[source.digest]:
            if source.digest not in self._files:
                self._files[source.digest] = await self._source(source)
            return self._files[source.digest]

    async def _source(self, source: EvalSource) -> str:
        file: str | None = None

        async def register() -> str:
            nonlocal file
            stored = await self.leaderboard.stored_source(source.digest)
            # Another publisher's file may have been deleted since.
            if stored is not None and (stored == file or await self.leaderboard.has_file(stored)):
                return stored
            file = file or await self.leaderboard.upload(source.zipped)
            await self.leaderboard.register_source(source.digest, file)
            return file

        try:
            return await self.leaderboard.client.again("admin:registerAsset", register)
        except FunctionFailedError as error:
            raise UserError(f"{self.leaderboard.client.deployment.url}: {error}") from None
