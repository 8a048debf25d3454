"""The functions of the leaderboard's app that take sessions. All of them may be called again."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import Any

from convex_evals.errors import UserError
from convex_evals.publish.client import ConvexClient, FunctionFailedError
from convex_evals.publish.session_content import SessionContent

_LIST, _URLS = "sessions:list", "sessions:uploadUrls"
_URLS_AT_ONCE = 50
_URL_SECONDS = 1800.0  # half of what Convex gives


@dataclass(frozen=True)
class FoundSessions:
    """What a deployment has, by the digests it was sent with."""

    digests: dict[str, str]  # by session
    keys: str | None  # None: it never had any


@dataclass(frozen=True)
class SessionsApi:
    client: ConvexClient
    _urls: list[tuple[float, str]] = field(default_factory=list)  # upload URLs, and until when they are used
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def found(self) -> FoundSessions:
        """Raises `UserError` where it is no deployment that takes sessions."""
        digests: dict[str, str] = {}
        after: str | None = None
        while True:
            try:
                page = await self.client.mutate_again(_LIST, {"after": after})
            except FunctionFailedError as error:
                deployment = self.client.deployment
                raise UserError(
                    f"{deployment.url}: {error}; check the token in {deployment.token_variable}, and that the "
                    "deployment is the leaderboard app of this version; nothing was sent"
                ) from None
            try:
                digests |= {str(each["sessionId"]): str(each["digest"]) for each in page["sessions"]}
                after, keys = page["next"], page["keys"]
            except (KeyError, TypeError):
                raise self._unusable(_LIST) from None
            if after is None:
                return FoundSessions(digests, keys)

    async def put(self, content: SessionContent, replaces: str | None) -> None:
        """Raises `FunctionFailedError` where another state is there than `replaces` says, and `UserError`."""
        files = {form: await self._uploaded(data) for form, data in content.parts.items()}
        await self._call(
            "put",
            sessionId=content.id,
            digest=content.digest,
            replaces=replaces,
            status=content.status,
            tags=list(content.tags),
            order=content.order,
            files=files,
        )

    async def withdraw(self, session_id: str, digest: str) -> None:
        """Raises like `put`."""
        await self._call("withdraw", sessionId=session_id, digest=digest)

    async def put_keys(self, keys: list[dict[str, Any]], digest: str, replaces: str | None) -> None:
        """Raises like `put`."""
        await self._call("putKeys", keys=keys, digest=digest, replaces=replaces)

    async def _uploaded(self, data: bytes) -> str:
        """The id of a new file."""
        answer = await self.client.again("upload", partial(self._upload, data))
        try:
            return str(answer["storageId"])
        except (KeyError, TypeError):
            raise self._unusable("upload") from None

    async def _upload(self, data: bytes) -> Any:
        return await self.client.upload(await self._url(), data, "application/octet-stream")

    async def _url(self) -> str:
        """A place for one upload; several are asked for at a time."""
        async with self._lock:
            while self._urls and self._urls[-1][0] < monotonic():
                self._urls.pop()
            if not self._urls:
                until = monotonic() + _URL_SECONDS
                answer = await self.client.mutate_again(_URLS, {"count": _URLS_AT_ONCE})
                if not isinstance(answer, list) or not answer or not all(isinstance(url, str) for url in answer):
                    raise self._unusable(_URLS)
                self._urls.extend((until, url) for url in answer)
            return self._urls.pop()[1]

    def _unusable(self, path: str) -> UserError:
        return UserError(f"{self.client.deployment.url}: {path}: an answer that cannot be read")

    async def _call(self, function: str, **args: Any) -> None:
        await self.client.mutate_again(f"sessions:{function}", args)
