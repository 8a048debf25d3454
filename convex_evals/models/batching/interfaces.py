"""The batch interfaces that are known here, by provider."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from convex_evals.models.batching.anthropic import AnthropicBatches
from convex_evals.models.batching.exchange import SingleRequest
from convex_evals.models.batching.gemini import GeminiBatches
from convex_evals.models.batching.http import BatchClient
from convex_evals.models.batching.interface import BatchInterface
from convex_evals.models.batching.openai import OpenAIBatches
from convex_evals.models.batching.providers import provider_of
from convex_evals.models.servers import asks_its_own
from convex_evals.records.models import ModelEntry

# Those of `providers.BATCHED`.
BATCHES: Mapping[str, Callable[[BatchClient, str], BatchInterface]] = {
    "openai": OpenAIBatches,
    "anthropic": AnthropicBatches,
    "gemini": GeminiBatches,
}


def interface_for(entry: ModelEntry, request: SingleRequest) -> BatchInterface:
    """Batches of the server that `request` would go to."""
    most = entry.most_output_tokens or entry.parameters.max_output_tokens
    client = BatchClient(entry, request.headers, partial(asks_its_own, entry), most)
    return BATCHES[provider_of(entry)](client, request.url)
