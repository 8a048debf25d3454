"""`GET /api/export?format=&status=&tag=&limit=`: sessions that are marked as evals, for those who have a key.

Every answer but an export is JSON, `{"error": {"code": ..., "message": ...}}`. Who has no key learns nothing but that;
what a key may not do, and what a request says wrong, is told to those who have one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from convex_evals.errors import UserError, bug_line
from convex_evals.records.api_key import ApiKey, KeyState
from convex_evals.records.session import STATUSES
from convex_evals.render.output import complain
from convex_evals.sessions.exports import EXPORTS, ExportFormat
from convex_evals.sessions.index import SessionFilter, open_index
from convex_evals.sessions.store import SessionStore
from convex_evals.site.downloads import begin, download, file_name
from convex_evals.site.rate import TokenBucket
from convex_evals.store.api_keys import ApiKeyStore, today

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

FOLDER = "api"
PLACE = f"{FOLDER}/export"
_PER_MINUTE = 60  # exports with one key
_FAILURES_PER_MINUTE = 60  # requests without a key, of all together
_LONGEST_QUERY = 4_000  # characters
_MOST_SESSIONS = 1_000_000_000
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


class Refused(Exception):
    """A request that is not answered with an export."""

    def __init__(self, status: int, code: str, message: str, **headers: str) -> None:
        super().__init__(message)
        self.status, self.code, self.headers = status, code, headers


@dataclass(frozen=True)
class ExportRequest:
    """What is asked for."""

    form: ExportFormat
    wanted: SessionFilter
    limit: int | None

    @property
    def file_name(self) -> str:
        return file_name(self.form, self.wanted.status)


@dataclass(frozen=True)
class ExportApi:
    """The API of one folder's sessions and keys."""

    home: Path
    log_bug: Callable[[BaseException], str]  # the name of the file that has the details
    _rates: dict[str, TokenBucket] = field(default_factory=dict)  # by the name of a key
    _failures: TokenBucket = field(default_factory=lambda: TokenBucket(_FAILURES_PER_MINUTE))

    async def answer(self, request: Request, place: str) -> Response:
        """To one request below `/api`."""
        from starlette.concurrency import run_in_threadpool

        try:
            if place != PLACE:
                raise Refused(404, "not_found", f"There is no /{place[:100]}; exports are at /{PLACE}.")
            if request.method != "GET":
                raise Refused(405, "method_not_allowed", "Only GET is answered here.", Allow="GET")
            key = await self._authorized(request)
            asked = parse(request.scope["query_string"].decode("latin-1"))
            _refuse_outside(key, asked)
            first, rest = await run_in_threadpool(self._begun, asked)
        except Refused as refused:
            return refusal(refused)
        except UserError as error:
            complain(f"/{PLACE}: {error}")
            return refusal(Refused(500, "unreadable", "A file is broken; `cli view` said which one."))
        except Exception as error:
            complain(f"/{PLACE}: {bug_line(error, self.log_bug(error))}")
            return refusal(Refused(500, "bug", "This is a bug in convex-evals; `cli view` said where its details are."))
        return download(asked.form, asked.file_name, first, rest, _HEADERS)

    async def _authorized(self, request: Request) -> ApiKey:
        from starlette.concurrency import run_in_threadpool

        given = request.headers.getlist("authorization")
        scheme, _, key = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        is_bearer = scheme.lower() == "bearer"
        found = await run_in_threadpool(ApiKeyStore(self.home).find, key.strip()) if is_bearer else None
        if found is None or found.state(today()) is not KeyState.ACTIVE:
            _limit(self._failures, "Too many requests without a key that is known.")
            if found is None:
                said = "This key is not known." if is_bearer else "Send a key: `Authorization: Bearer osk_...`."
                raise _unauthorized(said)
            raise _unauthorized(f"The key '{found.name}' is {found.state(today()).value}.")
        _limit(self._rates.setdefault(found.key_sha256, TokenBucket(_PER_MINUTE)), "Too many requests with this key.")
        return found

    def _begun(self, asked: ExportRequest) -> tuple[bytes, Iterator[bytes]]:
        """The first piece, so that what cannot be read is told by the status, and the others. Raises `UserError`."""
        store = SessionStore(self.home)
        with open_index(store) as index:
            index.refuse_problems()
            ids = [entry.id for entry in index.find(asked.wanted, asked.limit)]
        return begin(store, ids, asked.form)


def _limit(bucket: TokenBucket, message: str) -> None:
    wait = bucket.wait()
    if wait:
        raise Refused(429, "too_many_requests", message, **{"Retry-After": str(math.ceil(wait))})


def _unauthorized(message: str) -> Refused:
    return Refused(401, "unauthorized", message, **{"WWW-Authenticate": 'Bearer realm="convex-evals"'})


def _refuse_outside(key: ApiKey, asked: ExportRequest) -> None:
    """Unless a scope of the key covers what is asked for."""
    if key.allows(asked.wanted.status):
        return
    may = [scope.partition(":")[2] for scope in key.scopes]
    raise Refused(403, "forbidden", f"The key '{key.name}' exports only: {', '.join(f'status={s}' for s in may)}.")


def parse(query: str) -> ExportRequest:
    """What a query asks for. Raises `Refused`."""
    if len(query) > _LONGEST_QUERY:
        raise _bad("The query is too long.")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query), errors="strict", max_num_fields=50)
    except ValueError:  # a UnicodeDecodeError is one
        raise _bad("The query is not well formed: NAME=VALUE&NAME=VALUE, percent-encoded UTF-8.") from None
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        if name not in ("format", "status", "tag", "limit"):
            raise _bad(f"There is no parameter '{name[:60]}': format, status, tag, limit.")
        values.setdefault(name, []).append(value)
    for name, several in values.items():
        if name != "tag" and len(several) > 1:
            raise _bad(f"The parameter {name} is given twice.")
    form, status, limit = (values.get(name, [None])[0] for name in ("format", "status", "limit"))
    if form not in EXPORTS:
        raise _bad(f"The parameter format is one of {', '.join(EXPORTS)}.")
    if status is not None and status not in STATUSES:
        raise _bad(f"The parameter status is one of {', '.join(STATUSES)}.")
    if any(not tag or "\n" in tag for tag in values.get("tag", ())):
        raise _bad("The parameter tag is a tag.")
    wanted = SessionFilter(
        status=None if status is None else STATUSES[status], tags=tuple(values.get("tag", ())), ready=True
    )
    return ExportRequest(EXPORTS[form], wanted, None if limit is None else _number(limit))


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 12 and 1 <= int(text) <= _MOST_SESSIONS):
        raise _bad(f"The parameter limit is a number of sessions, from 1 to {_MOST_SESSIONS}.")
    return int(text)


def _bad(message: str) -> Refused:
    return Refused(400, "bad_request", message)


def refusal(refused: Refused) -> Response:
    """As an answer."""
    from starlette.responses import Response

    body = json.dumps({"error": {"code": refused.code, "message": str(refused)}}) + "\n"
    return Response(body, refused.status, {**_HEADERS, "Content-Type": "application/json", **refused.headers})
