"""A provider on the loopback that speaks the batch interfaces of OpenAI, Anthropic and Gemini, and fails on request.

The three share `BatchProvider`: what was accepted, when a batch ends and what becomes of its requests. A handler
only reads and writes one provider's words; `_ROUTES` says which request it answers. Longer than most modules: three
protocols that are small, and of which none is of use without what they share.
"""

from __future__ import annotations

import itertools
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.message import Message
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.loopback import serving
from tests.provider import REPLY
from tests.wire import Responses

Json = dict[str, Any]
TOKEN = "convex_evals"  # the key of OpenAI's metadata that names a batch
OUTCOMES = ("ok", "length", "refusal", "empty", "error", "bad", "expired", "missing")
REFUSAL = "I cannot help with that."
_DAY = 86_400
_USAGE = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}
_FAILURES = {"error": (500, "The server had an error"), "bad": (400, "The request is invalid")}
_SENT = {"": 1.0, "reset": 0.5, "reset_before": 0.0, "reset_after": 0.0}  # the part of the answer, by fault
_ERRORS = {  # by status: OpenAI's code, Anthropic's type, Gemini's status
    400: ("invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT"),
    401: ("invalid_api_key", "authentication_error", "UNAUTHENTICATED"),
    403: ("permission_denied", "permission_error", "PERMISSION_DENIED"),
    404: ("not_found", "not_found_error", "NOT_FOUND"),
    429: ("rate_limit_exceeded", "rate_limit_error", "RESOURCE_EXHAUSTED"),
    500: ("server_error", "api_error", "INTERNAL"),
    503: ("server_error", "api_error", "UNAVAILABLE"),
}


@dataclass(frozen=True)
class Result:
    """What became of one request, decided when its batch ended."""

    number: int  # of the request among all that were processed, from 0
    custom_id: str
    body: Json
    outcome: str  # one of OUTCOMES
    text: str  # of the reply; empty if there is none


@dataclass
class Batch:
    id: str
    name: str  # the client's token for it; "" for Anthropic, which has no place for one
    requests: list[tuple[str, Json]]  # (custom_id, body)
    given: Json  # by the client for the batch as a whole
    polls_left: int
    errors: list[Json] = field(default_factory=list)  # why OpenAI rejected it
    created: float = field(default_factory=time.time)  # seconds since 1970
    ended_at: float | None = None
    results: list[Result] = field(default_factory=list)

    @property
    def ended(self) -> bool:
        return self.ended_at is not None

    @property
    def expired(self) -> bool:
        return any(result.outcome == "expired" for result in self.results)

    @property
    def lines(self) -> list[Result]:
        """The results that the provider reports."""
        return [result for result in self.results if result.outcome != "missing"]


@dataclass
class BatchProvider:
    """`faults` is a queue of `operation:fault`; the first request of that operation consumes the word.

    Operations: create, status, results, upload, list. Faults: an HTTP status (refused, nothing is done),
    reset_before (closed, nothing is done), reset_after (done, closed without an answer), reset (done, closed in the
    middle of the answer). Gemini's status request of a batch with results is one for results as well.
    """

    reply: str = REPLY
    answer: Callable[[Json], str] | None = None  # instead of `reply`, to each request its own
    polls: int = 1  # status requests that a batch answers with "in progress" before it has ended
    outcome: Callable[[int, Json], str] = lambda n, body: "ok"  # one of OUTCOMES for the n-th request ever, from 0
    faults: list[str] = field(default_factory=list)
    batches: dict[str, Batch] = field(default_factory=dict)  # by id, oldest first, those OpenAI rejected included
    files: dict[str, bytes] = field(default_factory=dict)  # that OpenAI was sent, by id
    log: list[tuple[str, str]] = field(default_factory=list)  # (method, path with query) of all requests
    bodies: list[Json] = field(default_factory=list)  # of each request of each accepted batch: what would be paid for
    key: str | None = None  # the only one that is let in
    hold: bool = False  # no batch ends
    port: int = 0
    processed: int = 0  # requests of ended batches
    lock: threading.Lock = field(default_factory=threading.Lock)
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))  # of batches

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def take_fault(self, operation: str) -> str:
        for n, word in enumerate(self.faults):
            if word.startswith(f"{operation}:"):
                return self.faults.pop(n).partition(":")[2]
        return ""

    def accept(self, prefix: str, name: str, requests: list[tuple[str, Json]], given: Json) -> Batch:
        batch = Batch(f"{prefix}{next(self._numbers)}", name, requests, given, self.polls)
        self.batches[batch.id] = batch
        batch.errors = _line_errors(batch) if prefix == "batch_" else []
        if batch.errors:
            batch.ended_at = time.time()
        else:
            self.bodies += [body for _, body in requests]
        return batch

    def poll(self, batch_id: str) -> Batch:
        """Return the batch after one more status request."""
        if batch_id not in self.batches:
            raise _Refused(404, f"no batch {batch_id}")
        batch = self.batches[batch_id]
        if batch.polls_left > 0:
            batch.polls_left -= 1
        elif not self.hold and not batch.ended:
            batch.results = [self._process(custom_id, body) for custom_id, body in batch.requests]
            batch.ended_at = time.time()
        return batch

    def _process(self, custom_id: str, body: Json) -> Result:
        number, self.processed = self.processed, self.processed + 1
        outcome = self.outcome(number, body)
        if outcome not in OUTCOMES:
            raise ValueError(f"no such outcome: {outcome!r}; one of {', '.join(OUTCOMES)}")
        text = ""
        if outcome in ("ok", "length"):
            text = self.answer(body) if self.answer else self.reply
            text = text[: len(text) // 2] if outcome == "length" else text
        return Result(number, custom_id, body, outcome, REFUSAL if outcome == "refusal" else text)


@contextmanager
def serve_batches(provider: BatchProvider) -> Iterator[BatchProvider]:
    class Handler(_Handler):
        state = provider

    with serving(Handler) as provider.port:
        yield provider


@dataclass(frozen=True)
class _Answer:
    data: bytes
    content_type: str = "application/json"
    status: int = 200
    fault: str = ""
    with_results: bool = False  # Gemini has no request of its own for them


@dataclass(frozen=True)
class _Call:
    state: BatchProvider
    name: str  # that the path contains
    query: dict[str, str]
    body: bytes
    content_type: str

    def json(self) -> Json:
        try:
            value = json.loads(self.body)
        except ValueError:
            raise _Refused(400, "the body is not JSON") from None
        if not isinstance(value, dict):
            raise _Refused(400, "the body is not an object")
        return value

    def page(self, prefix: str, limit: str, after: str) -> tuple[list[Batch], bool]:
        """Return the batches asked for, newest first, and whether there are more."""
        batches = [b for b in reversed(self.state.batches.values()) if b.id.startswith(prefix)]
        if after in self.query:
            ids = [batch.id for batch in batches]
            if self.query[after] not in ids:
                raise _Refused(400, f"{after}: no such batch")
            batches = batches[ids.index(self.query[after]) + 1 :]
        count = int(self.query.get(limit, "20"))
        return batches[:count], len(batches) > count


class _Refused(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def _json(value: Json, status: int = 200) -> _Answer:
    return _Answer(json.dumps(value).encode(), status=status)


def _lines(values: list[Json], content_type: str) -> _Answer:
    return _Answer("".join(json.dumps(value) + "\n" for value in values).encode(), content_type)


def _rfc3339(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def _error(provider: str, status: int, message: str) -> Json:
    openai, anthropic, gemini = _ERRORS.get(status) or _ERRORS[400 if status < 500 else 500]
    if provider == "anthropic":
        return {"type": "error", "error": {"type": anthropic, "message": message}}
    if provider == "gemini":
        return {"error": {"code": status, "message": message, "status": gemini}}
    kind = "server_error" if status >= 500 else "invalid_request_error"
    return {"error": {"message": message, "type": kind, "param": None, "code": openai}}


# -- OpenAI --


def _openai_upload(call: _Call) -> _Answer:
    boundary = re.search(r'boundary="?([^";]+)', call.content_type)
    parts: dict[str, bytes] = {}
    filename = ""
    for part in call.body.split(b"--" + boundary[1].encode())[1:-1] if boundary else []:
        head, _, content = part.partition(b"\r\n\r\n")
        fields = dict(re.findall(r'[; ](name|filename)="([^"]*)"', head.decode()))
        parts[fields["name"]] = content.removesuffix(b"\r\n")
        filename = fields.get("filename", filename)
    if parts.get("purpose") != b"batch" or "file" not in parts or not filename:
        raise _Refused(400, "multipart/form-data with purpose=batch and a file is required")
    file_id = f"file-{len(call.state.files) + 1}"
    call.state.files[file_id] = parts["file"]
    described = {"id": file_id, "object": "file", "bytes": len(parts["file"]), "created_at": int(time.time())}
    return _json({**described, "filename": filename, "purpose": "batch", "status": "processed"})


def _openai_create(call: _Call) -> _Answer:
    given = call.json()
    if given.get("input_file_id") not in call.state.files:
        raise _Refused(400, "input_file_id: no such file")
    if given.get("endpoint") not in _OPENAI_BODIES or given.get("completion_window") != "24h":
        raise _Refused(400, "endpoint or completion_window is not supported")
    try:
        lines = [json.loads(line) for line in call.state.files[given["input_file_id"]].splitlines() if line.strip()]
        requests = [(line["custom_id"], line["body"]) for line in lines]
        given = {**given, "urls": [line["url"] if line["method"] == "POST" else "" for line in lines]}
    except (ValueError, KeyError, TypeError) as error:
        raise _Refused(400, f"the input file is malformed: {error}") from None
    batch = call.state.accept("batch_", (given.get("metadata") or {}).get(TOKEN, ""), requests, given)
    return _json({**_openai_batch(batch), "status": "validating", "errors": None})


def _line_errors(batch: Batch) -> list[Json]:
    """Return what OpenAI, which validates a file after it has answered, finds wrong with its lines."""
    errors: list[Json] = [] if batch.requests else [{"code": "empty_file", "message": "no requests", "line": None}]
    known: set[str] = set()
    for n, ((custom_id, _), url) in enumerate(zip(batch.requests, batch.given["urls"], strict=True), 1):
        if custom_id in known:
            errors.append({"code": "duplicate_custom_id", "message": f"{custom_id} is not unique", "line": n})
        if url != batch.given["endpoint"]:
            errors.append({"code": "invalid_url", "message": "the URL is not the batch's endpoint", "line": n})
        known.add(custom_id)
    return errors


def _openai_batch(batch: Batch) -> Json:
    good, bad = _openai_files(batch)
    failed = sum(result.outcome in ("error", "bad", "expired") for result in batch.results)
    ended = "failed" if batch.errors else "expired" if batch.expired else "completed"
    return {
        "id": batch.id,
        "object": "batch",
        "endpoint": batch.given["endpoint"],
        "errors": {"object": "list", "data": batch.errors} if batch.errors else None,
        "input_file_id": batch.given["input_file_id"],
        "completion_window": batch.given["completion_window"],
        "status": ended if batch.ended else "in_progress",
        "output_file_id": f"file-{batch.id}-output" if good else None,
        "error_file_id": f"file-{batch.id}-errors" if bad else None,
        "created_at": int(batch.created),
        "expires_at": int(batch.created) + _DAY,
        "request_counts": {
            "total": 0 if batch.errors else len(batch.requests),
            "completed": len(batch.results) - failed,
            "failed": failed,
        },
        "metadata": batch.given.get("metadata"),
    }


def _openai_status(call: _Call) -> _Answer:
    return _json(_openai_batch(call.state.poll(call.name)))


def _openai_list(call: _Call) -> _Answer:
    batches, more = call.page("batch_", "limit", "after")
    return _json({"object": "list", **_listed([_openai_batch(batch) for batch in batches], more)})


def _listed(data: list[Json], more: bool) -> Json:
    ids = [batch["id"] for batch in data] or [None]
    return {"data": data, "first_id": ids[0], "last_id": ids[-1], "has_more": more}


def _openai_content(call: _Call) -> _Answer:
    of_batch = re.fullmatch(r"file-(batch_\d+)-(output|errors)", call.name)
    if call.name in call.state.files:
        return _Answer(call.state.files[call.name], "application/octet-stream")
    if not of_batch or of_batch[1] not in call.state.batches:
        raise _Refused(404, f"no file {call.name}")
    lines = _openai_files(call.state.batches[of_batch[1]])[of_batch[2] == "errors"]
    if not lines:
        raise _Refused(404, f"no file {call.name}")
    return _lines(lines, "application/octet-stream")


def _openai_files(batch: Batch) -> tuple[list[Json], list[Json]]:
    """Return the lines of the output file and of the error file."""
    good: list[Json] = []
    bad: list[Json] = []
    for result in batch.lines:
        line: Json = {
            "id": f"batch_req_{result.number}",
            "custom_id": result.custom_id,
            "response": None,
            "error": None,
        }
        if result.outcome == "expired":
            line["error"] = {"code": "batch_expired", "message": "This request could not be executed in time."}
        else:
            status, message = _FAILURES.get(result.outcome, (200, ""))
            whole = _OPENAI_BODIES[batch.given["endpoint"]]
            body = _error("openai", status, message) if message else whole(result)
            line["response"] = {"status_code": status, "request_id": f"req_{result.number}", "body": body}
        (good if line["response"] and line["response"]["status_code"] == 200 else bad).append(line)
    return good, bad


def _chat_completion(result: Result) -> Json:
    refused = result.outcome == "refusal"
    message: Json = {"role": "assistant", "content": result.text, "refusal": None, "annotations": []}
    if refused:
        message |= {"content": None, "refusal": result.text}
    finish = "length" if result.outcome == "length" else "stop"
    return {
        "id": f"chatcmpl-{result.number}",
        "object": "chat.completion",
        "created": 1,
        "model": result.body.get("model", ""),
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
        "usage": _USAGE,
    }


def _response(result: Result) -> Json:
    """Return what the stream of the same reply ends with."""
    wire = Responses()
    (wire.refusal if result.outcome == "refusal" else wire.text)(result.text)
    last = wire.end("length" if result.outcome == "length" else "stop", _USAGE)[-1]
    return {**last["response"], "id": f"resp_{result.number}", "model": result.body.get("model", "")}


_OPENAI_BODIES = {"/v1/chat/completions": _chat_completion, "/v1/responses": _response}


# -- Anthropic --


def _anthropic_create(call: _Call) -> _Answer:
    try:
        requests = [(request["custom_id"], request["params"]) for request in call.json()["requests"]]
    except (KeyError, TypeError) as error:
        raise _Refused(400, f"requests: {error}") from None
    ids = [custom_id for custom_id, _ in requests]
    if not ids or len(set(ids)) < len(ids):
        raise _Refused(400, "requests: at least one, and each custom_id unique")
    if not all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", custom_id) for custom_id in ids):
        raise _Refused(400, "requests: custom_id should match pattern '^[a-zA-Z0-9_-]{1,64}$'")
    return _json(_anthropic_batch(call.state, call.state.accept("msgbatch_", "", requests, {})))


def _anthropic_batch(state: BatchProvider, batch: Batch) -> Json:
    counts = Counter(_ANTHROPIC_TYPES.get(result.outcome, "succeeded") for result in batch.results)
    counts["processing"] = 0 if batch.ended else len(batch.requests)
    return {
        "id": batch.id,
        "type": "message_batch",
        "processing_status": "ended" if batch.ended else "in_progress",
        "request_counts": {
            word: counts[word] for word in ("processing", "succeeded", "errored", "canceled", "expired")
        },
        "ended_at": None if batch.ended_at is None else _rfc3339(batch.ended_at),
        "created_at": _rfc3339(batch.created),
        "expires_at": _rfc3339(batch.created + _DAY),
        "archived_at": None,
        "cancel_initiated_at": None,
        "results_url": f"{state.url}/messages/batches/{batch.id}/results" if batch.ended else None,
    }


_ANTHROPIC_TYPES = {"error": "errored", "bad": "errored", "expired": "expired"}  # of a result, by outcome
_STOP_REASONS = {"length": "max_tokens", "refusal": "refusal"}


def _anthropic_status(call: _Call) -> _Answer:
    return _json(_anthropic_batch(call.state, call.state.poll(call.name)))


def _anthropic_list(call: _Call) -> _Answer:
    batches, more = call.page("msgbatch_", "limit", "after_id")
    return _json(_listed([_anthropic_batch(call.state, batch) for batch in batches], more))


def _anthropic_results(call: _Call) -> _Answer:
    batch = call.state.batches.get(call.name)
    if batch is None or not batch.ended:
        raise _Refused(404, f"no results of {call.name}")
    lines = [{"custom_id": result.custom_id, "result": _anthropic_result(result)} for result in batch.lines]
    return _lines(lines, "application/x-jsonl")


def _anthropic_result(result: Result) -> Json:
    if result.outcome == "expired":
        return {"type": "expired"}
    if result.outcome in _FAILURES:
        return {"type": "errored", "error": _error("anthropic", *_FAILURES[result.outcome])}
    message = {
        "id": f"msg_{result.number}",
        "type": "message",
        "role": "assistant",
        "model": result.body.get("model", ""),
        "content": [{"type": "text", "text": result.text}],
        "stop_reason": _STOP_REASONS.get(result.outcome, "end_turn"),
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 50},
    }
    return {"type": "succeeded", "message": message}


# -- Gemini --

_GOOGLE = "type.googleapis.com/google.ai.generativelanguage.v1main."
_FINISH_REASONS = {"length": "MAX_TOKENS", "refusal": "SAFETY"}
_GOOGLE_CODES = {"error": 13, "bad": 3}  # of gRPC


def _gemini_create(call: _Call) -> _Answer:
    try:
        given = call.json()["batch"]
        config = given.get("input_config") or given["inputConfig"]
        inlined = config["requests"]["requests"]
        requests = [((one.get("metadata") or {}).get("key", ""), one["request"]) for one in inlined]
    except (KeyError, TypeError, AttributeError) as error:
        raise _Refused(400, f"batch: {error}") from None
    if not requests:
        raise _Refused(400, "batch: no requests")
    name = given.get("display_name") or given.get("displayName") or ""
    batch = call.state.accept("batches/", name, requests, {"model": call.name})
    return _json(_gemini_operation(batch, "BATCH_STATE_PENDING"))


def _gemini_operation(batch: Batch, state: str = "BATCH_STATE_RUNNING") -> Json:
    failed = sum(result.outcome in ("error", "bad", "expired") for result in batch.results)
    counts = {"requestCount": len(batch.requests), "pendingRequestCount": len(batch.requests)}
    ending: Json = {}
    if batch.ended:
        state = "BATCH_STATE_EXPIRED" if batch.expired else "BATCH_STATE_SUCCEEDED"
        counts = {"successfulRequestCount": len(batch.results) - failed, "failedRequestCount": failed}
        counts = {"requestCount": len(batch.requests)} | {word: count for word, count in counts.items() if count}
        responses = {"inlinedResponses": [_gemini_response(batch, result) for result in batch.lines]}
        output = {"@type": f"{_GOOGLE}GenerateContentBatchOutput", "inlinedResponses": responses}
        ending = {"error": {"code": 4, "message": "expired"}} if batch.expired else {"response": output}
        ending["done"] = True
    metadata = {
        "@type": f"{_GOOGLE}GenerateContentBatch",
        "name": batch.id,
        "displayName": batch.name,
        "model": f"models/{batch.given['model']}",
        "state": state,
        "createTime": _rfc3339(batch.created),
        "batchStats": {word: str(count) for word, count in counts.items()},
    }
    return {"name": batch.id, "metadata": metadata, **ending}


def _gemini_response(batch: Batch, result: Result) -> Json:
    metadata = {"metadata": {"key": result.custom_id}}
    if result.outcome in _FAILURES:
        return {**metadata, "error": {"code": _GOOGLE_CODES[result.outcome], "message": _FAILURES[result.outcome][1]}}
    candidate = {
        "content": {"parts": [{"text": result.text}], "role": "model"},
        "finishReason": _FINISH_REASONS.get(result.outcome, "STOP"),
        "index": 0,
    }
    response = {
        "candidates": [candidate],
        "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 50, "totalTokenCount": 150},
        "modelVersion": batch.given["model"],
    }
    return {**metadata, "response": response}


def _gemini_status(call: _Call) -> _Answer:
    batch = call.state.poll(call.name)
    return replace(_json(_gemini_operation(batch)), with_results=batch.ended and not batch.expired)


def _gemini_list(call: _Call) -> _Answer:
    batches, more = call.page("batches/", "pageSize", "pageToken")
    following = {"nextPageToken": batches[-1].id} if more else {}
    return _json({"operations": [_gemini_operation(batch) for batch in batches], **following})


# -- the server --

_ROUTES: list[tuple[str, str, str, str, Callable[[_Call], _Answer]]] = [
    ("openai", "POST", r"/v1/files()", "upload", _openai_upload),
    ("openai", "POST", r"/v1/batches()", "create", _openai_create),
    ("openai", "GET", r"/v1/batches/(batch_\w+)", "status", _openai_status),
    ("openai", "GET", r"/v1/batches()", "list", _openai_list),
    ("openai", "GET", r"/v1/files/([^/]+)/content", "results", _openai_content),
    ("anthropic", "POST", r"/v1/messages/batches()", "create", _anthropic_create),
    ("anthropic", "GET", r"/v1/messages/batches/(msgbatch_\w+)", "status", _anthropic_status),
    ("anthropic", "GET", r"/v1/messages/batches()", "list", _anthropic_list),
    ("anthropic", "GET", r"/v1/messages/batches/(msgbatch_\w+)/results", "results", _anthropic_results),
    ("gemini", "POST", r".*/models/([^/]+):batchGenerateContent", "create", _gemini_create),
    ("gemini", "GET", r".*/(batches/[^/]+)", "status", _gemini_status),
    ("gemini", "GET", r".*/batches()", "list", _gemini_list),
]


def _provider_of(path: str, headers: Message) -> str:
    """Return whose words a request is in: OpenAI and Gemini both have a /batches."""
    if "/messages/batches" in path:
        return "anthropic"
    google = "x-goog-api-key" in headers or path.endswith(":batchGenerateContent") or not path.startswith("/v1/")
    return "gemini" if google else "openai"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state: BatchProvider

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the test's output is the test's."""

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        with self.state.lock:
            self.state.log.append((self.command, self.path))
            answer = self._answer(body)
        try:
            self._send(answer)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve

    def _answer(self, body: bytes) -> _Answer:
        url = urlsplit(self.path)
        provider = _provider_of(url.path, self.headers)
        for of, method, pattern, operation, handler in _ROUTES:
            if (of, method) == (provider, self.command) and (match := re.fullmatch(pattern, url.path)):
                kind = self.headers.get("content-type", "")
                call = _Call(self.state, match[1], dict(parse_qsl(url.query)), body, kind)
                try:
                    return self._carry_out(operation, handler, call)
                except _Refused as refused:
                    return _json(_error(provider, refused.status, str(refused)), refused.status)
        return _json({"error": {"message": "not found", "type": "not_found", "code": "not_found"}}, 404)

    def _carry_out(self, operation: str, handler: Callable[[_Call], _Answer], call: _Call) -> _Answer:
        if self.state.key is not None and self._key() != self.state.key:
            raise _Refused(401, "invalid API key")
        fault = self._fault(operation)
        if fault == "reset_before":
            return _Answer(b"", fault=fault)
        answer = handler(call)
        if answer.with_results:
            fault = fault or self._fault("results")
        return replace(answer, fault=fault)

    def _fault(self, operation: str) -> str:
        fault = self.state.take_fault(operation)
        if fault.isdigit():
            raise _Refused(int(fault), f"{operation} is refused")
        if fault not in _SENT:
            raise ValueError(f"no such fault: {fault!r}; an HTTP status or one of {', '.join(filter(None, _SENT))}")
        return fault

    def _key(self) -> str | None:
        for name in ("x-api-key", "x-goog-api-key"):
            if name in self.headers:
                return self.headers[name]
        return self.headers.get("authorization", "").removeprefix("Bearer ")

    def _send(self, answer: _Answer) -> None:
        self.close_connection = self.close_connection or bool(answer.fault)
        if not _SENT[answer.fault]:
            return
        self.send_response(answer.status)
        self.send_header("content-type", answer.content_type)
        self.send_header("content-length", str(len(answer.data)))
        self.end_headers()
        self.wfile.write(answer.data[: int(len(answer.data) * _SENT[answer.fault])])
