"""A deployment's HTTP API: queries, mutations and uploads, with what each kind of failure means.

Nothing that a deployment answers is trusted: it is read within limits of size, depth and time, and what is sent goes to
its own origin alone. A mutation whose answer was lost may have been done. It is never sent again from here:
`LostAnswerError` leaves it to the caller to ask first.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

import httpx

from convex_evals.config import is_loopback
from convex_evals.errors import UserError
from convex_evals.inputs.bounded_json import Limits, decode
from convex_evals.models.faults import Fault, ProviderFault
from convex_evals.models.guard import Guard, receive
from convex_evals.publish.deployments import Deployment
from convex_evals.text import http_date, one_line, printable, shortened

T = TypeVar("T")
_BUSY = (429, 503)
_FUNCTION_THREW = 560  # Convex's own status
_LONGEST_MESSAGE = 300  # characters
_LONGEST_WAIT = 300.0  # seconds, of Retry-After
# What a function of Convex returns has 16 MiB at most. A run of 1,000 evals has 100,000 values.
_ANSWER = Limits(size=20 << 20, values=500_000)
_SLOWEST_UPLOAD = 50_000  # bytes a second
# Of an error in Convex's words, what is not about it: who was asked, and where in the code it was thrown.
_REQUEST_ID = re.compile(r"\[Request ID: \w+\] Server Error")
_STACK = re.compile(r"\s+at |\s*Called by client")


@dataclass(frozen=True)
class Patience:
    """How long is waited for what. Tests have less of it."""

    connect_seconds: float = 10.0
    answer_seconds: float = 60.0
    first_answer_seconds: float = 20.0
    tries: int = 7  # of what may be sent twice
    first_tries: int = 3  # before the first answer: most likely, nothing is listening there
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
        self.message = message

    @property
    def is_unknown(self) -> bool:
        """Whether the deployment has no such function."""
        return "Could not find public function" in self.message


class ConvexClient:
    """One deployment, over connections that are kept."""

    def __init__(self, deployment: Deployment, concurrency: int, patience: Patience) -> None:
        self.deployment = deployment
        self.patience = patience
        self.offset_seconds: float | None = None  # of its clock from ours, as of its last answer
        self._not_before = 0.0
        self._has_answered = False
        self._turns = asyncio.Semaphore(concurrency)
        limits = httpx.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
        limit = httpx.Timeout(patience.answer_seconds, connect=patience.connect_seconds)
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
        if _origin(url) != _origin(self.deployment.url):
            raise UserError(
                f"{self.deployment.url}: its upload URL is of another server, {self.safe(_origin(url))}; nothing was "
                "sent there; if the deployment is known by that address, name it so"
            )
        seconds = len(data) / _SLOWEST_UPLOAD
        answer = await self._post(url, seconds, content=data, headers={"Content-Type": content_type})
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
                if not self._has_answered and failures >= self.patience.first_tries:
                    raise UserError(
                        f"{self.deployment.url}: nobody answers there ({lost}); check the URL, and that the deployment "
                        "is running; nothing was sent"
                    ) from None
                if failures >= self.patience.tries:
                    raise UserError(
                        f"{self.deployment.url}: {what}: no answer after {failures} tries ({lost}); the same command "
                        "resumes"
                    ) from None
                await asyncio.sleep(self.patience.pause(failures))

    async def _call(self, kind: str, path: str, args: dict[str, Any]) -> Any:
        body = {"path": path, "args": args, "format": "json"}
        answer = await self._post(f"{self.deployment.url}/api/{kind}", 0.0, json=body)
        found = _json(answer)
        if isinstance(found, dict) and answer.status_code in (200, _FUNCTION_THREW):
            if found.get("status") == "success" and "value" in found:
                return found["value"]
            if found.get("status") == "error":
                raise FunctionFailedError(path, self.safe(_thrown(found)))
        raise self._no_answer(path, answer, found)

    def _no_answer(self, path: str, answer: httpx.Response, found: Any) -> Exception:
        """What an answer means that is not one of a function."""
        status = answer.status_code
        is_cut = status == 200 and found is None and "json" in answer.headers.get("content-type", "json")
        if status >= 500 or status in (408, 429) or is_cut:
            return LostAnswerError(f"HTTP {status}")
        said = f": {self.safe(str(found['message']))}" if isinstance(found, dict) and found.get("message") else ""
        return UserError(
            f"{self.deployment.url}: {path}: HTTP {status}{said}; check that the URL is a Convex deployment's, like "
            "https://happy-otter-123.convex.cloud"
        )

    async def _post(self, url: str, more_seconds: float, **what: Any) -> httpx.Response:
        """Send a request and read its whole answer, for which it has `more_seconds` than others."""
        guard = Guard.of_bytes(_ANSWER.size, _ANSWER.values, self._is_own)
        async with self._turns:
            await asyncio.sleep(max(0.0, self._not_before - time.monotonic()))
            patience = self.patience
            seconds = patience.answer_seconds if self._has_answered else patience.first_answer_seconds
            try:
                answer = await receive(self._http, guard, seconds + more_seconds, "POST", url, **what)
            except TimeoutError:
                raise LostAnswerError(f"no whole answer within {seconds + more_seconds:.0f} s") from None
            except ProviderFault as fault:
                raise self._unreadable(fault) from None
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                raise LostAnswerError(self.safe(str(error) or type(error).__name__)) from None
        self._has_answered = True
        moment = http_date(answer.headers.get("date", ""))
        self.offset_seconds = self.offset_seconds if moment is None else moment - time.time()
        if answer.status_code in _BUSY:
            self._wait_as_told(answer.headers.get("retry-after", ""))
        return answer

    def _is_own(self, url: str) -> bool:
        return _origin(url) == _origin(self.deployment.url)

    def _unreadable(self, fault: ProviderFault) -> UserError:
        """What is over a limit, which no answer of a leaderboard is."""
        if fault.fault is Fault.REDIRECT:
            return UserError(f"{self.deployment.url}: redirects, which is not followed; check the URL")
        return UserError(f"{self.deployment.url}: an answer that no leaderboard gives: {fault}; check the URL")

    def _wait_as_told(self, retry_after: str) -> None:
        seconds = _seconds(retry_after)
        if seconds > _LONGEST_WAIT:
            raise UserError(
                f"{self.deployment.url}: asks to wait for {seconds:,.0f} s; the same command resumes after that"
            )
        self._not_before = max(self._not_before, time.monotonic() + seconds)


async def together(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Do all of it side by side, and return what each returns, in order. Raises the first of its exceptions."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(each) for each in work]
    except* (UserError, FunctionFailedError, LostAnswerError) as errors:
        raise errors.exceptions[0] from None
    return [task.result() for task in tasks]


def _seconds(retry_after: str) -> float:
    """What a header Retry-After asks for: seconds, or a date."""
    if retry_after.isdecimal():
        return float(retry_after)
    moment = http_date(retry_after)
    return 0.0 if moment is None else moment - time.time()


def _json(answer: httpx.Response) -> Any:
    """None for what is not JSON."""
    try:
        return decode(answer.content, _ANSWER)
    except ValueError:
        return None


def _origin(url: str) -> str:
    """Scheme, host and port; empty for what is no URL."""
    try:
        place = urlsplit(url)
        port = place.port or {"https": 443, "http": 80}.get(place.scheme)
        return f"{place.scheme}://{place.hostname}:{port}"
    except ValueError:
        return ""


def _thrown(found: dict[str, Any]) -> str:
    """What a function threw, without the stack behind it.

    In production, Convex tells nothing of an error but the data of a `ConvexError`.
    """
    if isinstance(found.get("errorData"), str):
        return str(found["errorData"])
    message = str(found.get("errorMessage") or "no message")
    lines = [line for line in _REQUEST_ID.sub("", message).splitlines() if line.strip()]
    said = " ".join(takewhile(lambda line: not _STACK.match(line), lines)).strip()
    return said.removeprefix("Uncaught ").removeprefix("Error: ") or message
