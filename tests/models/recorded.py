"""Recorded answers of providers: faults, from provider_answers.yaml, and a reply in each of their protocols."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from convex_evals.models.faults import BY_WORD, Fault


@dataclass(frozen=True)
class Recorded:
    """One answer."""

    provider: str
    happened: str
    fault: Fault  # what it is
    status: int
    body: dict[str, Any]

    @property
    def name(self) -> str:
        return f"{self.provider}, {self.happened}"


@dataclass(frozen=True)
class Asked:
    """A model of a provider, and the variable that its key is in."""

    model: str
    key: str


_FILE = yaml.safe_load((Path(__file__).parent / "provider_answers.yaml").read_text(encoding="utf-8"))
ASKED = {provider: Asked(told["model"], told["key"]) for provider, told in _FILE.items()}
RECORDED = [
    Recorded(provider, answer["happened"], BY_WORD[answer["fault"]], answer["status"], answer["body"])
    for provider, told in _FILE.items()
    for answer in told["answers"]
]


def _events(*events: dict[str, Any], last: str | None = None) -> str:
    named = (
        (f"event: {event['type']}\n" if "type" in event else "") + f"data: {json.dumps(event)}" for event in events
    )
    return "\n\n".join([*named, *([f"data: {last}"] if last else []), ""])


_CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
# "Hello there" in each protocol, with 100 tokens in and 50 out.
_CHAT = _events(
    *({**_CHUNK, "choices": [{"index": 0, "delta": {"content": word}}]} for word in ("Hello", " there")),
    {**_CHUNK, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    {**_CHUNK, "choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}},
    last="[DONE]",
)
# https://docs.anthropic.com/en/docs/build-with-claude/streaming
_MESSAGES = _events(
    {
        "type": "message_start",
        "message": {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "content": [],
            "model": "m",
            "stop_reason": None,
            "usage": {"input_tokens": 100, "output_tokens": 1},
        },
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    *(
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}}
        for word in ("Hello", " there")
    ),
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 50}},
    {"type": "message_stop"},
)
# https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent
_GENERATE = _events(
    *(
        {
            "candidates": [{"content": {"parts": [{"text": word}], "role": "model"}, "index": 0, **end}],
            "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 50, "totalTokenCount": 150},
        }
        for word, end in (("Hello", {}), (" there", {"finishReason": "STOP"}))
    ),
)
REPLIES = dict.fromkeys(ASKED, _CHAT) | {"anthropic": _MESSAGES, "gemini": _GENERATE}
# Errors that come where a reply should, with HTTP 200: https://openrouter.ai/docs/api-reference/errors,
# https://docs.anthropic.com/en/docs/build-with-claude/streaming
AMID = [
    (
        "openrouter",
        Fault.SERVER,
        _events(
            {**_CHUNK, "choices": [{"index": 0, "delta": {"content": "Hel"}}]},
            {
                **_CHUNK,
                "error": {"code": 502, "message": "Provider disconnected"},
                "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}],
            },
            last="[DONE]",
        ),
    ),
    (
        "openrouter",
        Fault.RATE_LIMIT,
        _events({"error": {"code": 429, "message": "Rate limit exceeded"}}, last="[DONE]"),
    ),
    ("openrouter", Fault.QUOTA, _events({"error": {"code": 402, "message": "This request requires more credits"}})),
    (
        "anthropic",
        Fault.SERVER,
        _events({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
    ),
    (
        "gemini",
        Fault.SERVER,
        _events({"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}),
    ),
    ("openai", Fault.SERVER, _events({"error": {"message": "The server had an error", "type": "server_error"}})),
]
