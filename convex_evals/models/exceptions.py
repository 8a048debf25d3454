"""Which fault an exception of LiteLLM is, and what may be told of it."""

from __future__ import annotations

import math
import os
import re
import time
from urllib.parse import quote

from convex_evals.config import is_secret
from convex_evals.models.faults import Fault, ProviderFault
from convex_evals.models.provider_words import fault_in_words
from convex_evals.records.models import ModelEntry
from convex_evals.text import http_date

LONGEST_RETRY_AFTER = 600.0  # seconds; a provider that wants more is left for the next command
_MOST_ERROR = 256 * 1024  # characters of an exception, which quotes what came
_MOST_TEXT = 4_000  # characters of it that are looked at
_DELAY = re.compile(r'"retryDelay": ?"(\d{1,6}(?:\.\d{1,9})?)s"')
# Where a provider's own words stand in its answer.
_TOLD = [
    *(re.compile(rf'"{key}": ?"((?:[^"\\]|\\.)+)') for key in ("message", "error", "detail")),
    re.compile(r"Message: (.+?), Metadata: "),  # LiteLLM, of OpenRouter's
]


def fault_of(error: Exception, entry: ModelEntry) -> ProviderFault:
    """The row of the table in `faults` for an exception of LiteLLM, httpx or the stream's reader."""
    import httpx
    import litellm.exceptions as lite

    if isinstance(error, ProviderFault):
        return error
    whole = str(error)[:_MOST_ERROR]
    # Before anything is cut: a key that is cut in two is not found, and most of it is left.
    said = _redacted(whole, entry)[:_MOST_TEXT]
    message = _message(said, error)
    status = getattr(error, "status_code", None)
    wait = _retry_after(error, whole)
    if isinstance(error, lite.MidStreamFallbackError):
        inner = error.original_exception
        return fault_of(inner, entry) if isinstance(inner, Exception) else ProviderFault(Fault.CUT, message)
    told = fault_in_words(whole[:_MOST_TEXT], status, entry.litellm_name.partition("/")[0])
    if told:
        return ProviderFault(told, message, wait)
    table: list[tuple[bool, Fault]] = [
        (status == 402, Fault.QUOTA),
        (isinstance(error, lite.RateLimitError) or status == 429, Fault.RATE_LIMIT),
        (isinstance(error, TimeoutError | lite.Timeout | httpx.TimeoutException), Fault.TIMEOUT),
        (isinstance(error, lite.ContextWindowExceededError), Fault.CONTEXT),
        (isinstance(error, lite.ContentPolicyViolationError), Fault.FILTERED),
        (isinstance(error, lite.AuthenticationError | lite.PermissionDeniedError) or status in (401, 403), Fault.AUTH),
        (isinstance(error, lite.NotFoundError) or status == 404, Fault.UNKNOWN_MODEL),
        (isinstance(error, httpx.RemoteProtocolError | httpx.ReadError), Fault.CUT),
        (isinstance(error, httpx.NetworkError), Fault.CONNECTION),
        (_is_cut(said), Fault.CUT),
        (_is_connection(said), Fault.CONNECTION),
        (isinstance(error, ValueError | KeyError | TypeError | AttributeError | IndexError), Fault.MALFORMED),
        ("JSON" in said or "json" in said or "Expecting" in said, Fault.MALFORMED),
        (isinstance(error, lite.BadRequestError | lite.UnprocessableEntityError), Fault.REQUEST),
        (isinstance(error, lite.APIConnectionError) and not isinstance(status, int), Fault.CONNECTION),
    ]
    fault = next((fault for holds, fault in table if holds), Fault.SERVER)
    return ProviderFault(fault, message, wait)


def _is_cut(said: str) -> bool:
    words = (
        "peer closed connection",
        "incomplete chunked read",
        "payload is not completed",
        "TransferEncodingError",
        "stream before any terminal event",
    )
    return any(word in said for word in words)


def _is_connection(said: str) -> bool:
    words = ("Connection error", "Connection refused", "Connection reset", "Cannot connect", "Server disconnected")
    return any(word in said for word in words)


def _message(said: str, error: Exception) -> str:
    """The provider's own words where its answer has some, on one line."""
    found = next((match for words in _TOLD if (match := words.search(said))), None)
    text = found[1].replace('\\"', '"').replace("\\n", "\n") if found else said
    line = (text.strip().splitlines() or [""])[0]
    line = re.sub(r"^(?:(?:litellm\.)?\w+(?:Error|Exception)(?: -|:) ?)+", "", line)
    return line[:300] or type(error).__name__


def _redacted(text: str, entry: ModelEntry) -> str:
    """Without anything that looks like a key: providers like to quote them."""
    keys = [os.environ.get(entry.key_env or "", "")]
    keys += [v for k, v in os.environ.items() if is_secret(k)]
    for key in keys:
        if len(key) >= 8:
            for spelled in {key, quote(key, safe="")}:
                text = re.sub(re.escape(spelled), "[key]", text, flags=re.IGNORECASE)
    # "Incorrect API key provided" quotes none.
    return re.sub(r"\b(sk|pk|key|Bearer)[-_ ](?!provided\b)[\w*.-]{8,}", "[key]", text)


def _retry_after(error: Exception, whole: str) -> float | None:
    """Seconds, from the header in either of its forms, or from Google's answer, as far as anybody waits."""
    headers = getattr(error, "litellm_response_headers", None)
    headers = headers or getattr(getattr(error, "response", None), "headers", None) or {}
    told = _DELAY.search(whole)
    milliseconds, value = headers.get("retry-after-ms"), headers.get("retry-after") or (told and told[1])
    try:
        seconds = float(milliseconds) / 1000 if milliseconds else float(value) if value else None
    except (ValueError, OverflowError):
        moment = http_date(str(value or ""))
        seconds = None if moment is None else moment - time.time()
    if seconds is None or math.isnan(seconds):
        return None
    return min(max(0.0, seconds), LONGEST_RETRY_AFTER)
