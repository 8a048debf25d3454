"""`models.yaml`: which models there are, and how each is asked."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from convex_evals.records.base import Record

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+@:/-]{0,199}")
# Its region becomes part of an address.
_ARN = re.compile(r"(?:[A-Za-z0-9_.-]+/)*arn:aws[a-z-]*:[a-z0-9-]+:[a-z0-9-]+:[0-9]*:[A-Za-z0-9._/:-]+")
# Any variable could be sent to a server under the name of a key.
_KEY = re.compile(r"[A-Z][A-Z0-9_]*_KEY")
_OTHER_SECRETS = re.compile(
    r"SECRET|PRIVATE|ACCESS_KEY|SIGNING|ENCRYPTION|SSH|DEPLOY|LICENSE|MASTER|GITHUB|GITLAB|GH_|AWS_|STRIPE"
)


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
    base_url: str | None = Field(
        default=None,
        description="of an OpenAI-compatible server; on another machine it gets a key if CONVEX_EVALS_SERVERS names it",
    )
    key_env: str | None = Field(
        default=None,
        description="variable of the key: `OPENAI_TEAM_KEY`; with base_url any `NAME_KEY`; default: the usual one",
    )
    parameters: Parameters = Field(default=Parameters(), description="sent along with the prompt")
    most_output_tokens: int | None = Field(
        default=None, ge=1, description="the model's maximum, for a reply that was cut off; default: LiteLLM's figure"
    )
    price: Price | None = Field(default=None, description="default: LiteLLM's price map")
    batch: bool = Field(
        default=False, description="ask by the provider's batch interface: half the price, within 24 hours"
    )
    web_search: bool | None = Field(default=None, description="can search the web; default: what LiteLLM says")
    first_seen: date | None = Field(default=None, description="day on which it was added")
    tags: tuple[str, ...] = Field(default=(), description="free words to select by")

    @field_validator("litellm", "slug")
    @classmethod
    def _is_a_name(cls, name: str | None) -> str | None:
        if name is not None and (not _NAME.fullmatch(name) or name.startswith("os.environ/") or "//" in name):
            raise ValueError("a name is letters, digits and . _ - + @ : /, without '//', 200 at most")
        if name is not None and "arn:" in name and not _ARN.fullmatch(name):
            raise ValueError(f"'{name}' is not an ARN like arn:aws:bedrock:us-east-1:123456789012:inference-profile/x")
        return name

    @field_validator("base_url")
    @classmethod
    def _is_a_server(cls, url: str | None) -> str | None:
        if url is None:
            return None
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or not url.isprintable():
            raise ValueError("is not an address like https://host/v1, without a password")
        return url

    @field_validator("key_env")
    @classmethod
    def _is_a_key(cls, name: str | None) -> str | None:
        if name is not None and (not _KEY.fullmatch(name) or _OTHER_SECRETS.search(name)):
            raise ValueError(f"'{name}' is not a variable for a model's key; call it like ACME_API_KEY")
        return name

    @field_validator("slug")
    @classmethod
    def _has_provider(cls, slug: str) -> str:
        provider, _, name = slug.partition("/")
        if not provider or not name or slug != slug.strip():
            raise ValueError(f"'{slug}' is not of the form provider/name")
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
        twice = next((slug for slug, count in Counter(m.slug for m in self.models).items() if count > 1), None)
        if twice:
            raise ValueError(f"'{twice}' is listed twice")
        return self
