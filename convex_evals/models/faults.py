"""What can happen to a request, and what it means: one table, here and in docs/running.md."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum


class Meaning(StrEnum):
    """Whose business a fault is."""

    RETRY = "tried again; in the end unscored"
    WAIT = "left for the next command"
    STOP = "stops the model"
    MODEL_IN_THE_END = "tried again; in the end the model failed"
    MODEL = "the model failed"


@dataclass(frozen=True)
class _Row:
    word: str  # what results call it
    happened: str
    meaning: Meaning
    remedy: str = ""


class Fault(Enum):
    """A row of the table."""

    TIMEOUT = _Row("timeout", "no reply, or no end of it, in time", Meaning.RETRY)
    RATE_LIMIT = _Row(
        "rate_limit", "HTTP 429; the provider is asked less at a time, and not before Retry-After", Meaning.RETRY
    )
    SERVER = _Row("server_error", "HTTP 5xx", Meaning.RETRY)
    CONNECTION = _Row("connection", "no connection, or it was reset", Meaning.RETRY)
    CUT = _Row("cut_off", "the stream ended before the reply did", Meaning.RETRY)
    MALFORMED = _Row("malformed", "something that is not the protocol: broken JSON, no choices", Meaning.RETRY)
    OVER_LIMIT = _Row(
        "over_limit", "more than a reply can be: bytes, events, one event, headers, depth, time in all", Meaning.RETRY
    )
    CONTEXT = _Row("context_overflow", "the prompt is longer than the model takes", Meaning.RETRY)
    REQUEST = _Row("bad_request", "the provider refuses the request as it is", Meaning.RETRY)
    UNPROCESSED = _Row(
        "unprocessed", "a batch ended, expired or was cancelled before the request's turn came", Meaning.RETRY
    )
    INTERRUPTED = _Row("interrupted", "we were stopped while it streamed", Meaning.RETRY)
    BUDGET = _Row("budget", "not sent: its worst price does not fit into what is left", Meaning.WAIT, "raise --budget")
    AUTH = _Row("auth", "no key, or one that the provider does not take", Meaning.STOP, "check the key")
    QUOTA = _Row("quota", "the account has no credit left", Meaning.STOP, "top up the account, or choose another key")
    UNKNOWN_MODEL = _Row(
        "unknown_model",
        "the provider has no such model",
        Meaning.STOP,
        "check the name (`cli models list`; `litellm` in models.yaml)",
    )
    REDIRECT = _Row(
        "redirect",
        "HTTP 3xx; it is not followed: the key would go along",
        Meaning.STOP,
        "check `base_url` in models.yaml",
    )
    WRONG_SERVER = _Row(
        "wrong_server",
        "not sent: LiteLLM would ask a server that is not known to be the provider's",
        Meaning.STOP,
        "check the name of the model and its region; a server of your own is named in your shell, "
        "by CONVEX_EVALS_SERVERS",
    )
    FILTERED = _Row("content_filter", "the provider's filter held the reply back", Meaning.MODEL_IN_THE_END)
    EMPTY = _Row("empty", "the provider finished a reply without text: a tool call, say, or white space", Meaning.MODEL)
    TRUNCATED = _Row("truncated", "cut at our token limit, and again at the model's own maximum", Meaning.MODEL)
    REFUSED = _Row("refused", "the model declines, by the provider's mark", Meaning.MODEL)

    @property
    def word(self) -> str:
        return self.value.word

    @property
    def meaning(self) -> Meaning:
        return self.value.meaning

    @property
    def is_the_models(self) -> bool:
        """Whether a trial that ends with it is failed, rather than unscored."""
        return self.meaning in (Meaning.MODEL, Meaning.MODEL_IN_THE_END)

    @property
    def happened(self) -> str:
        return self.value.happened

    @property
    def remedy(self) -> str:
        return self.value.remedy


# Trying again at once changes nothing: one attempt in a command is enough.
HOPELESS = frozenset({Fault.CONTEXT, Fault.REQUEST, Fault.BUDGET, Fault.OVER_LIMIT})
BY_WORD = {fault.word: fault for fault in Fault}


class ProviderFault(Exception):
    """A request that brought no reply."""

    def __init__(self, fault: Fault, message: str, retry_after: float | None = None, batch: str | None = None) -> None:
        super().__init__(message)
        self.fault = fault
        self.retry_after = retry_after  # seconds, where the provider said so
        self.batch = batch  # token of the batch that the request was in


class ModelStopped(Exception):
    """No further request to this model makes sense; the message says why and what to do."""


class NothingSent(ModelStopped):
    """The same, and the request was not even sent."""


class OverBudget(Exception):
    """The budget is too small for the request; the message says by how much."""


class ReplyPending(Exception):
    """The request is in a batch that goes on without us; a later command takes its reply up."""
