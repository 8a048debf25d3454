"""OpenAI's batch interface, as those of its protocol have it: a file of requests, a batch, a file of results.

https://platform.openai.com/docs/guides/batch
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any
from urllib.parse import quote

from convex_evals.models.batching.http import BatchClient
from convex_evals.models.batching.interface import MIB, BatchResult, BatchState, batch_id, natural
from convex_evals.records.batch import BatchFile

_OURS = "convex_evals"  # the key of our token in the batch's metadata
_ENDED = frozenset({"completed", "expired", "cancelled", "failed"})
_PAGE = 100
_MOST_PAGES = 50


class OpenAIBatches:
    """Submits batches to the server that answers requests at `url`, like https://api.openai.com/v1/chat/completions."""

    most_requests = 2_000
    most_bytes = 100 * MIB

    def __init__(self, client: BatchClient, url: str) -> None:
        self._client = client
        ending = "/responses" if url.endswith("/responses") else "/chat/completions"
        self._root = url.removesuffix(ending)
        # OpenAI wants the endpoint as its own path, wherever a compatible server has it.
        self._endpoint = f"/v1{ending}"

    async def submit(self, token: str, requests: Sequence[tuple[str, dict[str, Any]]]) -> str:
        lines = [
            json.dumps({"custom_id": name, "method": "POST", "url": self._endpoint, "body": body})
            for name, body in requests
        ]
        file = {"file": (f"{token}.jsonl", "\n".join(lines).encode() + b"\n", "application/jsonl")}
        uploaded = await self._client.post(f"{self._root}/files", data={"purpose": "batch"}, files=file)
        made = await self._client.post(
            f"{self._root}/batches",
            json={
                "input_file_id": batch_id(uploaded.get("id")),
                "endpoint": self._endpoint,
                "completion_window": "24h",
                "metadata": {_OURS: token},
            },
        )
        return batch_id(made.get("id"))

    async def state(self, batch: str) -> BatchState:
        found = await self._client.get(f"{self._root}/batches/{quote(batch, safe='')}")
        counts = found.get("request_counts") or {}
        total, done, failed = (natural(counts.get(name)) for name in ("total", "completed", "failed"))
        status = found.get("status")
        files = [name for key in ("output_file_id", "error_file_id") if (name := found.get(key))]
        return BatchState(
            done=done + failed,
            total=total,
            ended=status in _ENDED,
            failure=_failure(found) if status == "failed" else None,
            place=[batch_id(name) for name in files],
        )

    async def results(self, state: BatchState) -> AsyncGenerator[tuple[str, BatchResult], None]:
        for name in state.place:
            url = f"{self._root}/files/{quote(name, safe='')}/content"
            async with aclosing(self._client.lines(url, max(1, state.total))) as lines:
                async for line in lines:
                    response, error = line.get("response"), line.get("error")
                    if isinstance(response, dict) and isinstance(response.get("body"), dict):
                        result = BatchResult(natural(response.get("status_code")) or 500, response["body"])
                    else:
                        said = error.get("message") if isinstance(error, dict) else None
                        result = BatchResult(0, None, str(said or "the batch ended before its turn came"))
                    yield str(line.get("custom_id")), result

    async def find(self, file: BatchFile) -> str | None:
        after: dict[str, str] = {}
        for _ in range(_MOST_PAGES):
            page = await self._client.get(f"{self._root}/batches", {"limit": str(_PAGE), **after})
            batches = [each for each in page.get("data") or () if isinstance(each, dict)]
            for each in batches:
                if (each.get("metadata") or {}).get(_OURS) == file.token:
                    return batch_id(each.get("id"))
            if not page.get("has_more") or not batches:
                break
            after = {"after": batch_id(batches[-1].get("id"))}
        return None


def _failure(found: dict[str, Any]) -> str:
    errors = (found.get("errors") or {}).get("data") or ()
    said = [str(each.get("message")) for each in errors if isinstance(each, dict) and each.get("message")]
    return said[0] if said else "the provider refused the batch without saying why"
