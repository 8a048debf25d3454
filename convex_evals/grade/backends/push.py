"""The official push protocol: how a bundled project gets into any Convex backend."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx

from convex_evals.errors import ProcessFault
from convex_evals.grade.backends import ADMIN_KEY, Endpoints

_POLL_SECONDS = 0.05
_LARGEST_ANSWER = 64 * 1024 * 1024
_LONGEST_MESSAGE = 20_000


class DeployError(Exception):
    """The backend refused the project; the message is Convex's."""


async def push(endpoints: Endpoints, bundle: Path, *, timeout: float) -> dict[str, Any]:
    """Deploy the push request in the file `bundle`; the backend's analysis of it.

    Raises `DeployError` where the project is refused, `ProcessFault` where the backend does not answer.
    """
    request = json.loads(bundle.read_text(encoding="utf-8"))
    request["adminKey"] = ADMIN_KEY
    try:
        async with (
            asyncio.timeout(timeout),
            endpoints.client(timeout) as client,
        ):
            started = await _post(client, "start_push", request)
            await _wait_for_schema(client, started)
            await _post(client, "finish_push", {"adminKey": ADMIN_KEY, "startPush": started, "dryRun": False})
            return started
    except (TimeoutError, httpx.TimeoutException):
        raise ProcessFault(f"the backend did not answer a push within {timeout:.0f} s") from None
    except httpx.HTTPError as error:
        raise ProcessFault(f"the backend broke off a push: {error}") from None


async def system_query(endpoints: Endpoints, name: str, *, timeout: float) -> Any:
    """The value of a system query without arguments, as Convex encodes values in JSON.

    Raises `ProcessFault` where the backend does not answer.
    """
    body = {"path": name, "format": "convex_encoded_json", "args": [{}]}
    try:
        async with endpoints.client(timeout) as client:
            answered = await client.post("/api/query", json=body, headers={"Authorization": f"Convex {ADMIN_KEY}"})
            return answered.json()["value"]
    except (httpx.HTTPError, ValueError, KeyError) as error:
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


async def _post(client: httpx.AsyncClient, call: str, body: dict[str, Any]) -> dict[str, Any]:
    # Model code lives in the backend's process: whatever comes from there is checked.
    received = bytearray()
    async with client.stream("POST", f"/api/deploy2/{call}", json=body) as response:
        async for chunk in response.aiter_bytes():
            received += chunk
            if len(received) > _LARGEST_ANSWER:
                raise ProcessFault(f"{call}: the backend's answer is too large")
    try:
        data = json.loads(received)
    except (ValueError, RecursionError):
        raise ProcessFault(f"{call}: HTTP {response.status_code} without JSON") from None
    if not isinstance(data, dict):
        raise ProcessFault(f"{call}: the backend's answer is no object")
    if response.status_code == 200:
        return data
    message = str(data.get("message") or data.get("code"))[:_LONGEST_MESSAGE]
    if response.status_code == 400:
        raise DeployError(message)
    raise ProcessFault(f"{call}: HTTP {response.status_code}: {message}")
