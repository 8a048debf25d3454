"""Gemini's batch interface, with the requests in line: https://ai.google.dev/gemini-api/docs/batch-api"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any

from convex_evals.models.batching.http import BatchClient
from convex_evals.models.batching.interface import MIB, BatchResult, BatchState, batch_id
from convex_evals.models.faults import Fault, ProviderFault
from convex_evals.records.batch import BatchFile

# https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto
_STATUS = {3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 9: 400, 11: 400, 13: 500, 14: 503, 16: 401}
_ENDED = ("SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED")
_PAGE = 5  # with all results
_MOST_PAGES = 200


class GeminiBatches:
    """Submits batches to the server that answers requests at `url`, like https://.../v1beta/models/NAME:generateContent."""

    most_requests = 500
    most_bytes = 15 * MIB  # 20 MB is Gemini's limit for requests in line

    def __init__(self, client: BatchClient, url: str) -> None:
        self._client = client
        self._model = url.removesuffix(":generateContent")
        self._root = self._model.rpartition("/models/")[0]

    async def submit(self, token: str, requests: Sequence[tuple[str, dict[str, Any]]]) -> str:
        inline = [{"request": body, "metadata": {"key": name}} for name, body in requests]
        batch = {"display_name": token, "input_config": {"requests": {"requests": inline}}}
        return _name(await self._client.post(f"{self._model}:batchGenerateContent", json={"batch": batch}))

    async def state(self, batch: str) -> BatchState:
        found = await self._client.get(f"{self._root}/{batch}", requests=self.most_requests)
        told = found.get("metadata") or {}
        stats = told.get("batchStats") or {}
        total, pending = _count(stats.get("requestCount")), _count(stats.get("pendingRequestCount"))
        state = str(told.get("state") or "")
        ended = bool(found.get("done")) or state.endswith(_ENDED)
        error = found.get("error")
        # An expired batch has no results, and its requests may be sent again; that is no failure of the batch.
        failure = error.get("message") or "the provider failed" if isinstance(error, dict) else None
        return BatchState(
            done=max(0, total - pending),
            total=total,
            ended=ended,
            failure=str(failure) if failure and state.endswith("FAILED") else None,
            place=_responses(found) if ended else None,
        )

    async def results(self, state: BatchState) -> AsyncGenerator[tuple[str, BatchResult], None]:
        for each in state.place or ():
            if not isinstance(each, dict):
                continue
            key = str((each.get("metadata") or {}).get("key"))
            error = each.get("error")
            if isinstance(error, dict):
                status = _STATUS.get(error.get("code", 13), 500)
                yield key, BatchResult(status, {"error": {**error, "code": status}})
            elif isinstance(each.get("response"), dict):
                yield key, BatchResult(200, each["response"])

    async def find(self, file: BatchFile) -> str | None:
        token: dict[str, str] = {}
        for _ in range(_MOST_PAGES):
            # The list has the results of batches that ended, too.
            page = await self._client.get(
                f"{self._root}/batches", {"pageSize": str(_PAGE), **token}, _PAGE * self.most_requests
            )
            for each in page.get("operations") or ():
                if isinstance(each, dict) and (each.get("metadata") or {}).get("displayName") == file.token:
                    return _name(each)
            if not page.get("nextPageToken"):
                break
            token = {"pageToken": str(page["nextPageToken"])}
        return None


def _responses(found: dict[str, Any]) -> list[Any]:
    """Where they are has changed: in the operation's response, or in the batch's output."""
    response = found.get("response") or {}
    output = (found.get("metadata") or {}).get("output") or response.get("output") or response
    inline = output.get("inlinedResponses") or response.get("inlinedResponses") or {}
    inner = inline.get("inlinedResponses") if isinstance(inline, dict) else inline
    return inner if isinstance(inner, list) else []


def _name(found: dict[str, Any]) -> str:
    name = batch_id(found.get("name"))
    if not name.startswith("batches/"):
        raise ProviderFault(Fault.MALFORMED, f"a name of a batch that is none: {name[:60]!r}")
    return name


def _count(value: object) -> int:
    """JSON of Google has 64-bit integers as texts."""
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
