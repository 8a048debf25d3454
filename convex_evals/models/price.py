"""What a request costs, at most and as it turned out, in dollars."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from typing import Any

from convex_evals.models.litellm_loader import takes_search_options
from convex_evals.models.tokens import litellm_file
from convex_evals.records import Usage
from convex_evals.records.models import ModelEntry, Price

# No tokenizer of a current model makes more than a token of two bytes of English, Markdown or code.
_FEWEST_BYTES_PER_TOKEN = 2
_PER_MESSAGE = 16


@dataclass(frozen=True)
class Tariff:
    """The price of one model, None where it is not known."""

    price: Price | None

    def cost(self, usage: Usage) -> float:
        """Of a request that used so many tokens; 0 without a price."""
        if self.price is None:
            return 0.0
        cached = self.price.input if self.price.cached is None else self.price.cached
        fresh = max(0, usage.input_tokens - usage.cached_tokens)
        dollars = fresh * self.price.input + usage.cached_tokens * cached + usage.output_tokens * self.price.output
        return dollars / 1_000_000

    def worst(self, prompt: str, max_output_tokens: int) -> float:
        """The most that a request can cost."""
        return self.cost(Usage(input_tokens=most_tokens(prompt), output_tokens=max_output_tokens))


def most_tokens(text: str) -> int:
    return math.ceil(len(text.encode()) / _FEWEST_BYTES_PER_TOKEN) + 2 * _PER_MESSAGE


def tariff_of(entry: ModelEntry) -> Tariff:
    """From models.yaml, else from LiteLLM's price map."""
    if entry.price:
        return Tariff(entry.price)
    return _tariff(_known(entry))


def batch_tariff_of(entry: ModelEntry) -> Tariff:
    """Of requests in batches: what LiteLLM's price map says of them, else half of what single requests cost."""
    single = tariff_of(entry).price
    if single is None:
        return Tariff(None)
    known = {} if entry.price else _known(entry)
    per_input, per_output = known.get("input_cost_per_token_batches"), known.get("output_cost_per_token_batches")
    half = Price(
        input=single.input / 2, output=single.output / 2, cached=None if single.cached is None else single.cached / 2
    )
    if per_input and per_output:
        half = half.model_copy(update={"input": per_input * 1e6, "output": per_output * 1e6})
    return Tariff(half)


def tariff_named(name: str) -> Tariff:
    """From LiteLLM's price map, of a model as others name it: with its provider, or without."""
    costs = price_map()
    return _tariff(costs.get(name) or costs.get(name.partition("/")[2]) or {})


def _tariff(known: dict[str, Any]) -> Tariff:
    per_input, per_output = known.get("input_cost_per_token"), known.get("output_cost_per_token")
    if per_input is None or per_output is None:
        return Tariff(None)
    cached = known.get("cache_read_input_token_cost")
    return Tariff(
        Price(
            input=per_input * 1e6,
            output=per_output * 1e6,
            cached=None if cached is None else cached * 1e6,
        )
    )


def most_output_tokens(entry: ModelEntry) -> int:
    """The model's own maximum, at least what models.yaml asks for."""
    known = entry.most_output_tokens or _known(entry).get("max_output_tokens") or 0
    return max(int(known), entry.parameters.max_output_tokens)


def can_search(entry: ModelEntry) -> bool:
    """Whether the model has its provider's web search, in the interface that is used."""
    if entry.web_search is not None:
        return entry.web_search
    if not _known(entry).get("supports_web_search"):
        return False
    return entry.api == "responses" or takes_search_options(entry.litellm_name)


@cache
def price_map() -> dict[str, dict[str, Any]]:
    """What LiteLLM knows of models, by their names: dollars per token, limits, abilities."""
    path = litellm_file("model_prices_and_context_window_backup.json")
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path else {}


def _known(entry: ModelEntry) -> dict[str, Any]:
    costs = price_map()
    name = entry.litellm_name
    return dict(costs.get(name) or costs.get(name.partition("/")[2]) or {})
