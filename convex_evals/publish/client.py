"""A deployment's HTTP API: queries, mutations and uploads, with what each kind of failure means.

A mutation whose answer was lost may have been done. It is never sent again from here: `LostAnswerError` leaves it to
the caller to ask first.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

import httpx

from convex_evals.config import is_loopback
from convex_evals.errors import UserError
from convex_evals.publish.deployments import Deployment
from convex_evals.text import one_line, printable, shortened

T = TypeVar("T")
_BUSY = (429, 503)
_FUNCTION_THREW = 560  # Convex's own status
_LONGEST_MESSAGE = 300  # characters
_LONGEST_WAIT = 300.0  # seconds, of Retry-After


@dataclass(frozen=True)
class Patience:
    """How long is waited for what. Tests have less of it."""

    connect_seconds: float = 10.0
    answer_seconds: float = 60.0
    tries: int = 7  # of what may be sent twice
    pause_seconds: float = 0.25  # before the second of them; then twice as long each time
    longest_pause_seconds: float = 8.0
    settle_seconds: float = 3.0  # after a lost answer: what is on its way arrives

    def pause(self, failures: int) -> float:
        """Seconds to wait after so many failures in a row."""
        return min(self.pause_seconds * 2.0 ** (failures - 1), self.longest_pause_seconds)


class LostAnswerError(Exception):
    """Nothing was heard of what was sent: it may have been done, or be done later."""


class FunctionFailedError(Exception):
    """The function threw, or its arguments were refused: nothing was done. The message is the deployment's."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path


class ConvexClient:
    """One deployment, over connections that are kept."""

    def __init__(self, deployment: Deployment, concurrency: int, patience: Patience) -> None:
        self.deployment = deployment
        self.patience = patience
        self.offset_seconds: float | None = None  # of its clock from ours, as of its last answer
        self._not_before = 0.0
        limits = httpx.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
        limit = httpx.Timeout(patience.answer_seconds, connect=patience.connect_seconds, pool=None)
        # A proxy would read what is not encrypted.
        own = not is_loopback(deployment.url)
        self._http = httpx.AsyncClient(timeout=limit, limits=limits, follow_redirects=False, trust_env=own)

    async def __aenter__(self) -> Self:
        await self._http.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.__aexit__(kind, error, trace)

    async def query(self, path: str, args: dict[str, Any]) -> Any:
        """Raises `FunctionFailedError`, and `UserError` where there is no answer."""
        return await self.again(path, partial(self._call, "query", path, args))

    async def mutate_again(self, path: str, args: dict[str, Any]) -> Any:
        """A mutation that may be done twice: nothing is different after the second time. Raises like `query`."""
        return await self.again(path, partial(self._call, "mutation", path, self._with_token(args)))

    async def mutate_once(self, path: str, args: dict[str, Any]) -> Any:
        """Raises `FunctionFailedError`, `LostAnswerError`, and `UserError` for what is no deployment."""
        return await self._call("mutation", path, self._with_token(args))

    async def upload(self, url: str, data: bytes, content_type: str) -> Any:
        """What an upload URL answers. Raises `LostAnswerError` and `UserError`."""
        if urlsplit(url).scheme != "https" and not is_loopback(url):
            raise UserError(f"{self.deployment.url}: its upload URL is not encrypted; nothing was sent to it")
        answer = await self._post(url, content=data, headers={"Content-Type": content_type})
        found = _json(answer)
        if answer.status_code != 200 or not isinstance(found, dict):
            raise LostAnswerError(f"an upload was answered with HTTP {answer.status_code}")
        return found

    def safe(self, text: str) -> str:
        """Text of the deployment as one line that has no token in it."""
        return shortened(printable(one_line(text.replace(self.deployment.token, "***"))), _LONGEST_MESSAGE)

    def _with_token(self, args: dict[str, Any]) -> dict[str, Any]:
        return {"token": self.deployment.token, **args}

    async def again(self, what: str, ask: Callable[[], Awaitable[T]]) -> T:
        """Do what may be done twice until it is answered. Raises `UserError` where it never is."""
        failures = 0
        while True:
            try:
                return await ask()
            except LostAnswerError as lost:
                failures += 1
                if failures >= self.patience.tries:
                    raise UserError(
                        f"{self.deployment.url}: {what}: no answer after {failures} tries ({lost}); the same command "
                        "resumes"
                    ) from None
                await asyncio.sleep(self.patience.pause(failures))

    async def _call(self, kind: str, path: str, args: dict[str, Any]) -> Any:
        body = {"path": path, "args": args, "format": "json"}
        answer = await self._post(f"{self.deployment.url}/api/{kind}", json=body)
        found = _json(answer)
        if isinstance(found, dict) and answer.status_code in (200, _FUNCTION_THREW):
            if found.get("status") == "success" and "value" in found:
                return found["value"]
            if found.get("status") == "error":
                raise FunctionFailedError(path, self.safe(str(found.get("errorMessage") or "no message")))
        raise self._no_answer(path, answer, found)

    def _no_answer(self, path: str, answer: httpx.Response, found: Any) -> Exception:
        """What an answer means that is not one of a function."""
        status = answer.status_code
        is_cut = status == 200 and found is None and "json" in answer.headers.get("content-type", "json")
        if status >= 500 or status in (408, 429) or is_cut:
            return LostAnswerError(f"HTTP {status}")
        if 300 <= status < 400:
            return UserError(f"{self.deployment.url}: HTTP {status}, a redirect, which is not followed; check the URL")
        said = f": {self.safe(str(found['message']))}" if isinstance(found, dict) and found.get("message") else ""
        return UserError(
            f"{self.deployment.url}: {path}: HTTP {status}{said}; check that the URL is a Convex deployment's, like "
            "https://happy-otter-123.convex.cloud"
        )

    async def _post(self, url: str, **what: Any) -> httpx.Response:
        await asyncio.sleep(max(0.0, self._not_before - time.monotonic()))
        try:
            answer = await self._http.post(url, **what)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise LostAnswerError(self.safe(f"{type(error).__name__} {error}".strip())) from None
        if "date" in answer.headers:
            self._note_clock(answer.headers["date"])
        if answer.status_code in _BUSY:
            self._wait_as_told(answer.headers.get("retry-after", ""))
        return answer

    def _note_clock(self, date: str) -> None:
        try:
            self.offset_seconds = parsedate_to_datetime(date).timestamp() - time.time()
        except ValueError:
            self.offset_seconds = None

    def _wait_as_told(self, retry_after: str) -> None:
        seconds = _seconds(retry_after)
        if seconds > _LONGEST_WAIT:
            raise UserError(
                f"{self.deployment.url}: asks to wait for {seconds:,.0f} s; the same command resumes after that"
            )
        self._not_before = max(self._not_before, time.monotonic() + seconds)


def _seconds(retry_after: str) -> float:
    """What a header Retry-After asks for: seconds, or a date."""
    if retry_after.isdecimal():
        return float(retry_after)
    try:
        return parsedate_to_datetime(retry_after).timestamp() - time.time()
    except ValueError:
        return 0.0


def _json(answer: httpx.Response) -> Any:
    try:
        return answer.json()
    except ValueError:
        return None
