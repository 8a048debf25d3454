"""Which providers have a batch interface that is known here; without loading what speaks to them."""

from __future__ import annotations

from convex_evals.errors import UserError
from convex_evals.records.models import ModelEntry

# LiteLLM's words for them; a server of one's own goes by `openai`.
BATCHED = ("anthropic", "gemini", "openai")


def refuse_unbatched(entry: ModelEntry) -> None:
    """Raise `UserError` where models.yaml wants batches of a provider without them."""
    if entry.batch and provider_of(entry) not in BATCHED:
        raise UserError(
            f"models.yaml: {entry.slug}: batch: true works with {', '.join(BATCHED)}, and not with "
            f"{provider_of(entry)}; remove it"
        )


def provider_of(entry: ModelEntry) -> str:
    """Return who is asked, as LiteLLM calls it."""
    return entry.litellm_name.partition("/")[0]
