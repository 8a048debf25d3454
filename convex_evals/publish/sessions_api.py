"""The functions of the leaderboard's app that take sessions. All of them may be called again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from convex_evals.errors import UserError
from convex_evals.publish.client import ConvexClient, FunctionFailedError
from convex_evals.publish.leaderboard import LeaderboardApi
from convex_evals.publish.session_content import SessionContent

_LIST = "sessions:list"


@dataclass(frozen=True)
class FoundSessions:
    """What a deployment has, by the digests it was sent with."""

    digests: dict[str, str]  # by session
    keys: str | None  # None: it never had any


@dataclass(frozen=True)
class SessionsApi:
    client: ConvexClient

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
                    "deployment is the app in leaderboard/, of this version; nothing was sent"
                ) from None
            try:
                digests |= {str(each["sessionId"]): str(each["digest"]) for each in page["sessions"]}
                after, keys = page["next"], page["keys"]
            except (KeyError, TypeError):
                raise UserError(f"{self.client.deployment.url}: {_LIST}: an answer that cannot be read") from None
            if after is None:
                return FoundSessions(digests, keys)

    async def put(self, content: SessionContent, replaces: str | None) -> None:
        """Raises `FunctionFailedError` where another state is there than `replaces` says, and `UserError`."""
        upload = LeaderboardApi(self.client).upload
        files = {
            form: await self.client.again("upload", partial(upload, data, "application/octet-stream"))
            for form, data in content.parts.items()
        }
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

    async def _call(self, function: str, **args: Any) -> None:
        await self.client.mutate_again(f"sessions:{function}", args)
