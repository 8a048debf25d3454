"""Answers of `cli view`: their headers, and the forms that browsers send."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from convex_evals.site.html import POLICY

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

HTML = "text/html; charset=utf-8"
HEADERS = {
    "Content-Security-Policy": f"{POLICY}; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # Not `no-referrer`: forms would come without their origin.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}
_MOST_FORM = 2_000_000  # bytes
_MOST_FIELDS = 1_000
Form = Mapping[str, list[str]]


class TooLong(Exception):
    """More was sent than any form of these pages holds."""


async def read_form(request: Request) -> Form:
    """The fields of a form, each with its values. Raises `TooLong`, and `ValueError` where it is none."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MOST_FORM:
            raise TooLong
    return parse_qs(body.decode(), keep_blank_values=True, strict_parsing=True, max_num_fields=_MOST_FIELDS)


def answer(request: Request, content: bytes, kind: str, status: int = 200, **headers: str) -> Response:
    """Answer with `content`, or with 304 and nothing where the browser has it. `headers` are given with `_` for `-`."""
    tag = f'"{hashlib.sha256(content).hexdigest()[:24]}"'
    if status == 200 and request.headers.get("if-none-match") == tag:
        return plain_answer(b"", kind, 304, ETag=tag, **headers)
    return plain_answer(content, kind, status, ETag=tag, **headers)


def plain_answer(content: bytes, kind: str, status: int = 200, **headers: str) -> Response:
    """Answer with `content`, whatever the browser has."""
    from starlette.responses import Response

    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(content, status, {**HEADERS, "Content-Type": kind, **given})


def text_answer(text: str, status: int) -> Response:
    """Answer with one line."""
    return plain_answer(f"{text}\n".encode(), "text/plain; charset=utf-8", status)
