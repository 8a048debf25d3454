"""What providers say of a fault that their status does not tell: each has its own status for a wrong key.

Each phrase of a provider's stands in a recorded answer, `tests/models/provider_answers.yaml`, which says where it is
from.
"""

from __future__ import annotations

import re

from convex_evals.models.faults import Fault


class _Words:
    """Any of some phrases."""

    def __init__(self, *phrases: str) -> None:
        self.phrases = [re.compile(phrase, re.IGNORECASE) for phrase in phrases]

    def are_in(self, said: str) -> bool:
        return any(phrase.search(said) for phrase in self.phrases)


# LiteLLM and the SDKs below it, before anything is sent.
_NO_KEY = _Words(
    *("api_key client option must be set", "Missing credentials", r"Missing [\w ]*API[ -]key", "API key is required"),
    *("Unable to locate credentials", "default credentials were not found"),  # of AWS and Google Cloud
)
_WRONG_KEY = _Words("API key not (valid|found)", "API_KEY_INVALID", "Incorrect API key", "Invalid API[ -]key")
_NO_QUOTA = _Words(
    *("insufficient_quota", "exceeded_current_quota", "exceeded (your )?current quota", "insufficient credits"),
    *("requires more credits", "credits are depleted", "available credits", "any credits", "purchase (more )?credits"),
    *("credit balance", "insufficient balance", "余额不足", "Arrearage", "account is in good standing"),
    *("FreeTierOnly", "free tier of the model has been exhausted", "Key limit exceeded", "billing_error"),
)
_UNKNOWN_MODEL = _Words(
    *("Invalid model", "invalid_model", "Model Not Exist", "is not a valid model", "Unknown Model", "model_not_found"),
    *("模型不存在", "does not have access to model"),
)
_TOO_LONG = _Words(
    *("context_length_exceeded", "maximum context length", "exceed context limit", "prompt is too long"),
    *("maximum prompt length", "exceeds the maximum number of tokens", "exceeds max length", "Prompt 超长"),
    *("exceeded model token limit", "model max length exceeded", "Range of input length", "too large for model"),
)
_STATUSES: list[tuple[frozenset[int], _Words, Fault]] = [
    (frozenset({400, 413, 422}), _TOO_LONG, Fault.CONTEXT),
    (frozenset({400, 402, 403, 429}), _NO_QUOTA, Fault.QUOTA),
    (frozenset({400, 403, 422}), _UNKNOWN_MODEL, Fault.UNKNOWN_MODEL),
    (frozenset({400}), _WRONG_KEY, Fault.AUTH),
]
# Google says "current quota" of every limit. A limit per minute resets itself, unless it is zero.
_BY_THE_MINUTE = _Words("PerMinute", "retryDelay", "Please retry in")
_FOR_GOOD = _Words("PerDay", r"limit: 0\b")
# Alibaba Cloud says it of tokens per minute: an account without money gets another status.
_ONLY_THROTTLES = frozenset({"dashscope", "qwencloud", "qwen_ai_platform"})


def fault_in_words(said: str, status: int | None, provider: str) -> Fault | None:
    """What `said`, an error in full, is; None where its status tells."""
    if _NO_KEY.are_in(said):
        return Fault.AUTH
    if status == 429 and _is_throttle(said, provider):
        return Fault.RATE_LIMIT
    return next((fault for statuses, words, fault in _STATUSES if status in statuses and words.are_in(said)), None)


def _is_throttle(said: str, provider: str) -> bool:
    if provider in _ONLY_THROTTLES:
        return True
    return _BY_THE_MINUTE.are_in(said) and not _FOR_GOOD.are_in(said)
