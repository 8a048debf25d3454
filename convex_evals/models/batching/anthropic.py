"""Anthropic's batch interface: https://platform.claude.com/docs/en/build-with-claude/batch-processing"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from datetime import datetime
from typing import Any
from urllib.parse import quote

from convex_evals.models.batching.http import BatchClient
from convex_evals.models.batching.interface import MIB, BatchResult, BatchState, Undecided, batch_id, natural
from convex_evals.records.batch import BatchFile

_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_COUNTS = ("processing", "succeeded", "errored", "canceled", "expired")
_PAGE = 100
_MOST_PAGES = 50
_CLOCKS = 600.0  # seconds by which the provider's clock may differ from ours


class AnthropicBatches:
    """Submits batches to the server that answers requests at `url`, like https://api.anthropic.com/v1/messages."""

    most_requests = 2_000
    most_bytes = 100 * MIB

    def __init__(self, client: BatchClient, url: str) -> None:
        self._client, self._root = client, f"{url}/batches"

    async def submit(self, token: str, requests: Sequence[tuple[str, dict[str, Any]]]) -> str:
        body = {"requests": [{"custom_id": name, "params": params} for name, params in requests]}
        return batch_id((await self._client.post(self._root, json=body)).get("id"))

    async def state(self, batch: str) -> BatchState:
        return _state(await self._client.get(f"{self._root}/{quote(batch, safe='')}"))

    async def results(self, state: BatchState) -> AsyncGenerator[tuple[str, BatchResult], None]:
        # `results_url` is an address of the provider's choice; this is the documented one.
        url = f"{self._root}/{quote(state.place, safe='')}/results"
        async with aclosing(self._client.lines(url, max(1, state.total))) as lines:
            async for line in lines:
                yield str(line.get("custom_id")), _result(line.get("result"))

    async def find(self, file: BatchFile) -> str | None:
        """The interface takes no name of ours, so a batch is told by what its requests are called by.

        Those are known once it has ended.
        """
        submitted = datetime.fromisoformat(file.submitted_at).timestamp()
        after: dict[str, str] = {}
        for _ in range(_MOST_PAGES):
            page = await self._client.get(self._root, {"limit": str(_PAGE), **after})
            batches = [each for each in page.get("data") or () if isinstance(each, dict)]
            for each in batches:
                state = _state(each)
                if _created(each) < submitted - _CLOCKS or state.total != len(file.requests):
                    continue
                if not state.ended and not (state := await self.state(str(state.place))).ended:
                    raise Undecided
                async with aclosing(self.results(state)) as results:
                    first = await anext(results, None)
                if first and first[0].startswith(f"{file.token}-"):
                    return str(state.place)
            if not page.get("has_more") or not batches or _created(batches[-1]) < submitted - _CLOCKS:
                break
            after = {"after_id": batch_id(batches[-1].get("id"))}
        return None


def _state(found: dict[str, Any]) -> BatchState:
    counts = found.get("request_counts") or {}
    processing, *done = (natural(counts.get(name)) for name in _COUNTS)
    has_ended = found.get("processing_status") == "ended"
    return BatchState(sum(done), processing + sum(done), has_ended, place=batch_id(found.get("id")))


def _result(result: Any) -> BatchResult:
    kind = result.get("type") if isinstance(result, dict) else None
    if kind == "succeeded" and isinstance(result.get("message"), dict):
        return BatchResult(200, result["message"])
    if kind == "errored" and isinstance(error := result.get("error"), dict):
        inner = error["error"] if isinstance(error.get("error"), dict) else error
        return BatchResult(_STATUS.get(str(inner.get("type")), 500), error)
    return BatchResult(0, None, f"the request was {kind if kind in ('expired', 'canceled') else 'not answered'}")


def _created(found: dict[str, Any]) -> float:
    """Seconds since 1970; for ever in the future where the provider does not say."""
    try:
        return datetime.fromisoformat(str(found.get("created_at"))).timestamp()
    except (ValueError, OverflowError):
        return float("inf")
