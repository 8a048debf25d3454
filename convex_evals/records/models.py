"""`models.yaml`: which models there are, and how each is asked."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import Field, field_validator, model_validator

from convex_evals.records.base import Record


class Price(Record):
    """Dollars per million tokens."""

    input: float = Field(ge=0, description="of the prompt")
    output: float = Field(ge=0, description="of the reply, reasoning included")
    cached: float | None = Field(default=None, ge=0, description="of prompt tokens read from a cache; default: input")


class Parameters(Record):
    """What is sent along with the prompt. Part of the generation key."""

    temperature: float | None = Field(default=None, ge=0, le=2, description="left to the provider by default")
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh"] | None = Field(
        default=None, description="left to the provider by default"
    )
    max_output_tokens: int = Field(default=16_000, ge=1, description="of the first request for a reply")


class ModelEntry(Record):
    """One model."""

    slug: str = Field(description="`provider/name`, the model's identity in results")
    name: str | None = Field(default=None, description="for people; default: the slug")
    litellm: str | None = Field(default=None, description="LiteLLM's name of the model; default: the slug")
    api: Literal["chat", "responses"] = Field(default="chat", description="which of the provider's interfaces is used")
    base_url: str | None = Field(default=None, description="of an OpenAI-compatible server")
    key_env: str | None = Field(default=None, description="variable that holds the key; default: LiteLLM's own")
    parameters: Parameters = Field(default=Parameters(), description="sent along with the prompt")
    most_output_tokens: int | None = Field(
        default=None, ge=1, description="the model's maximum, for a reply that was cut off; default: LiteLLM's figure"
    )
    price: Price | None = Field(default=None, description="default: LiteLLM's price map")
    web_search: bool | None = Field(default=None, description="can search the web; default: what LiteLLM says")
    first_seen: date | None = Field(default=None, description="day on which it was added")
    tags: tuple[str, ...] = Field(default=(), description="free words to select by")

    @field_validator("slug")
    @classmethod
    def _has_provider(cls, slug: str) -> str:
        provider, _, name = slug.partition("/")
        if not provider or not name or slug != slug.strip():
            raise ValueError(f"'{slug}' is not provider/name")
        return slug

    @property
    def provider(self) -> str:
        return self.slug.partition("/")[0]

    @property
    def litellm_name(self) -> str:
        return self.litellm or self.slug


class ModelsFile(Record):
    """`models.yaml` at the root of a repository."""

    models: tuple[ModelEntry, ...] = Field(default=(), description="in the order in which lists show them")

    @model_validator(mode="after")
    def _slugs_are_unique(self) -> ModelsFile:
        slugs = [m.slug for m in self.models]
        twice = next((s for s in slugs if slugs.count(s) > 1), None)
        if twice:
            raise ValueError(f"'{twice}' is there twice")
        return self
