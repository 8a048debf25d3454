"""The official push protocol: how a bundled project gets into any Convex backend."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx

from convex_evals.clock import step_timeout
from convex_evals.errors import ProcessFault
from convex_evals.grading.backends import ADMIN_KEY, Endpoints
from convex_evals.inputs.bounded_json import Limits, decode_object

_POLL_SECONDS = 0.05
_NEVER = None  # the client's own clock would not stand still with ours
# Of an analysis: every function and table of a project is a few values.
_ANSWER = Limits(8 * 1024 * 1024)
_LARGEST_BUNDLE = 64 * 1024 * 1024
_LONGEST_MESSAGE = 20_000


class DeployError(Exception):
    """The backend refused the project; the message is Convex's."""


async def push(endpoints: Endpoints, bundle: Path, *, timeout: float) -> dict[str, Any]:
    """Deploy the push request in the file `bundle`; the backend's analysis of it.

    Raises `DeployError` where the project is refused, `ProcessFault` where the backend does not answer.
    """
    request = await asyncio.to_thread(_read_request, bundle)
    try:
        async with (
            step_timeout(timeout),
            endpoints.client(_NEVER) as client,
        ):
            started = await _post(client, "start_push", request)
            await _wait_for_schema(client, started)
            await _post(client, "finish_push", {"adminKey": ADMIN_KEY, "startPush": started, "dryRun": False})
            return started
    except (TimeoutError, httpx.TimeoutException):
        raise ProcessFault(f"the backend did not answer a push within {timeout:.0f} s") from None
    except httpx.HTTPError as error:
        raise ProcessFault(f"the backend broke off a push: {error}") from None


async def system_query(endpoints: Endpoints, name: str, *, timeout: float, component: str | None = None) -> Any:
    """The value of a system query about the app, or a component by its id, as Convex encodes values in JSON.

    Raises `ProcessFault` where the backend does not answer.
    """
    body = {
        "path": name,
        "format": "convex_encoded_json",
        "args": [{} if component is None else {"componentId": component}],
    }
    try:
        async with step_timeout(timeout), endpoints.client(_NEVER) as client:
            headers = {"Authorization": f"Convex {ADMIN_KEY}"}
            _, received = await _receive(client, "/api/query", json.dumps(body).encode(), headers)
            return decode_object(received, _ANSWER)["value"]
    except (TimeoutError, httpx.HTTPError, ValueError, KeyError) as error:
        raise ProcessFault(f"the backend did not answer {name}: {error!r}") from None


async def _wait_for_schema(client: httpx.AsyncClient, started: dict[str, Any]) -> None:
    body = {
        "adminKey": ADMIN_KEY,
        "schemaChange": started.get("schemaChange"),
        "timeoutMs": 10_000,
        "dryRun": False,
    }
    while True:
        status = await _post(client, "wait_for_schema", body)
        match status.get("type"):
            case "complete":
                return
            case "failed":
                raise DeployError(f"Schema validation failed: {status.get('error')}")
            case "inProgress":
                await asyncio.sleep(_POLL_SECONDS)
            case other:
                raise ProcessFault(f"wait_for_schema: the backend answered {str(other)[:80]!r}")


async def _post(client: httpx.AsyncClient, call: str, body: bytes | dict[str, Any]) -> dict[str, Any]:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    status, received = await _receive(client, f"/api/deploy2/{call}", content, {})
    try:
        data = decode_object(received, _ANSWER)
    except ValueError as error:
        raise ProcessFault(f"{call}: HTTP {status}, and an answer that cannot be read: {error}") from None
    if status == 200:
        return data
    message = str(data.get("message") or data.get("code"))[:_LONGEST_MESSAGE]
    if status == 400:
        raise DeployError(message)
    raise ProcessFault(f"{call}: HTTP {status}: {message}")


async def _receive(client: httpx.AsyncClient, path: str, content: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
    """Status and body of an answer. Model code lives in the backend's process: nothing that comes is trusted."""
    received = bytearray()
    # Compressed answers could be a thousand times as long as what arrives.
    plain = {"content-type": "application/json", "accept-encoding": "identity", **headers}
    async with client.stream("POST", path, content=content, headers=plain) as response:
        async for chunk in response.aiter_raw(65536):
            received += chunk
            if len(received) > _ANSWER.size:
                raise ProcessFault(f"{path}: the backend's answer has more than {_ANSWER.size:,} bytes")
    return response.status_code, bytes(received)


def _read_request(bundle: Path) -> bytes:
    """The push request with our key in it; what else is in it is the checker's, and need not be read."""
    if bundle.stat().st_size > _LARGEST_BUNDLE:
        raise DeployError(f"its modules have more than {_LARGEST_BUNDLE:,} bytes when bundled")
    text = bundle.read_bytes().lstrip()
    comma = b"" if text[1:].lstrip().startswith(b"}") else b","
    return json.dumps({"adminKey": ADMIN_KEY}).encode()[:-1] + comma + text[1:]
