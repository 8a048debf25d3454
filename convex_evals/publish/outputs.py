"""The files of a trial's replies in a deployment.

A deployment deletes them with their run, and a file that is already gone makes the whole deletion fail. So each is of
one eval of one run alone, it is asked for once all is sent, and what keeps a run from being deleted is replaced first.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from convex_evals.publish.client import together
from convex_evals.publish.content import EvalContent, TrialContent
from convex_evals.publish.leaderboard import FoundEval, FoundRun, LeaderboardApi

_PLACEHOLDER = b"PK\x05\x06" + bytes(18)  # a zip file without files


@dataclass
class Outputs:
    """Of one trial."""

    board: LeaderboardApi
    content: TrialContent
    _files: dict[tuple[str, str], str] = field(default_factory=dict)  # by run there and eval
    _locks: dict[tuple[str, str], asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))
    _restored: set[str] = field(default_factory=set)  # ids of evals there

    async def file(self, run_id: str, content: EvalContent) -> str | None:
        """Return the id of the file of a reply; None where it has no files. Raises `UserError`.

        It is uploaded once for a run: where a call that names it is lost, the next one names it again.
        """
        key = run_id, content.id
        async with self._locks[key]:
            if key not in self._files:
                zipped = content.zip_output()
                if zipped is None:
                    return None
                self._files[key] = await self.board.upload(zipped)
            return self._files[key]

    async def lost(self, found: FoundRun) -> Sequence[str]:
        """Return the evals of a complete run whose file is not there."""
        own = [(e, each) for e, each in found.evals.items() if e in self.content.evals]
        gone = await together(self._is_lost(self.content.evals[e], each) for e, each in own)
        return [e for (e, _), is_lost in zip(own, gone, strict=True) if is_lost]

    async def _is_lost(self, content: EvalContent, found: FoundEval) -> bool:
        if found.output is not None:
            return not await self.board.has_file(found.output)
        # A deployment that names no files has to be believed.
        return found.id not in self._restored and content.zip_output() is not None

    async def restore(self, run_id: str, found: FoundRun, lost: Sequence[str]) -> None:
        """Upload the files of these evals again. Raises `FunctionFailedError` and `UserError`."""
        await together(self._restore(run_id, found.evals[e], self.content.evals[e]) for e in lost)

    async def _restore(self, run_id: str, found: FoundEval, content: EvalContent) -> None:
        self._files.pop((run_id, content.id), None)
        file = await self.file(run_id, content) or await self.board.upload(_PLACEHOLDER)
        await self.board.update_output(found.id, file)
        self._restored.add(found.id)

    async def make_deletable(self, found: FoundRun) -> bool:
        """Give evals of a run whose file cannot be deleted with them another; whether there were any.

        That is a file which is gone, and one which several evals have: with the first of them it would be gone.
        Raises `FunctionFailedError` and `UserError`.
        """
        with_files = [(each, each.output) for _, each in found.all_evals if each.output is not None]
        files = list(dict.fromkeys(file for _, file in with_files))
        there = dict(zip(files, await together(map(self.board.has_file, files)), strict=True))
        uses = Counter(file for _, file in with_files)
        blocked = []
        for each, file in with_files:
            uses[file] -= 1
            if not there[file] or uses[file]:
                blocked.append(each)
        await together(self._replace(each) for each in blocked)
        return bool(blocked)

    async def _replace(self, found: FoundEval) -> None:
        await self.board.update_output(found.id, await self.board.upload(_PLACEHOLDER))
