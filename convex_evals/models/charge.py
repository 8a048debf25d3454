"""What a reply is charged with: what its provider says, where that can be.

A budget holds whatever a provider reports. One that counts too little would let a command spend on, and one that counts
too much would keep other models from being asked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from convex_evals.models.price import Tariff
from convex_evals.models.tokens import usual_tokens
from convex_evals.records import Usage

# No text has so many bytes for each of its tokens, but a run of blanks.
_MOST_BYTES_PER_TOKEN = 16
# Reasoning that a provider does not count as output, and a limit that it rounds up.
_MOST_OVER_LIMIT = 4
# Prices change, and searches are charged on top.
_MOST_OVER_WORST = 10
_MOST_WITHOUT_PRICE = 1_000.0  # dollars


@dataclass(frozen=True)
class Charge:
    """Of one reply."""

    usage: Usage
    dollars: float
    estimated: bool  # not the provider's own figure


def charge(
    text: str, reported: Usage, dollars: float | None, *, tariff: Tariff, prompt: str, max_output_tokens: int
) -> Charge:
    """What a reply of `text` to `prompt` costs. `reported` and `dollars` are the provider's figures."""
    usage = _believed(text, reported, prompt, max_output_tokens)
    if dollars is not None and _can_be(dollars, text, tariff, prompt, max_output_tokens):
        return Charge(usage, dollars, estimated=False)
    return Charge(usage, tariff.cost(usage), estimated=True)


def estimated_usage(text: str, prompt: str, max_output_tokens: int) -> Usage:
    """Of a reply whose provider did not count, or does not count right."""
    return Usage(input_tokens=usual_tokens(prompt), output_tokens=min(usual_tokens(text), max_output_tokens))


def _believed(text: str, reported: Usage, prompt: str, max_output_tokens: int) -> Usage:
    estimate = estimated_usage(text, prompt, max_output_tokens)
    least = _least(text, prompt)
    most_output = _MOST_OVER_LIMIT * max_output_tokens + 1_000
    output = reported.output_tokens if least.output_tokens <= reported.output_tokens <= most_output else None
    used = max(reported.input_tokens, estimate.input_tokens if reported.input_tokens < least.input_tokens else 0)
    written = estimate.output_tokens if output is None else output
    return Usage(
        input_tokens=used,
        output_tokens=written,
        cached_tokens=min(reported.cached_tokens, used),
        reasoning_tokens=min(reported.reasoning_tokens, written),
    )


def _least(text: str, prompt: str) -> Usage:
    return Usage(input_tokens=_fewest(prompt), output_tokens=_fewest(text), cached_tokens=_fewest(prompt))


def _fewest(text: str) -> int:
    return math.ceil(len(text.encode("utf-8", "replace")) / _MOST_BYTES_PER_TOKEN)


def _can_be(dollars: float, text: str, tariff: Tariff, prompt: str, max_output_tokens: int) -> bool:
    if tariff.price is None:
        return 0 <= dollars <= _MOST_WITHOUT_PRICE
    return tariff.cost(_least(text, prompt)) <= dollars <= _MOST_OVER_WORST * tariff.worst(prompt, max_output_tokens)
