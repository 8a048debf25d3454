"""Which key a provider wants, in which variable it is looked for, and whether it is there. Never what it is."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from convex_evals.errors import UserError
from convex_evals.records.models import ModelEntry

# Providers that want one key and nothing else, under names that LiteLLM reads. The first is the one to tell people;
# those without a row of their own go by PROVIDER_API_KEY.
_NAMES: dict[str, tuple[str, ...]] = {
    "cohere": ("COHERE_API_KEY", "CO_API_KEY"),
    "cohere_chat": ("COHERE_API_KEY", "CO_API_KEY"),
    "fireworks_ai": ("FIREWORKS_API_KEY", "FIREWORKS_AI_API_KEY", "FIREWORKSAI_API_KEY"),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "huggingface": ("HUGGINGFACE_API_KEY", "HF_API_KEY"),
    "meta_llama": ("LLAMA_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY", "OR_API_KEY"),
    "perplexity": ("PERPLEXITYAI_API_KEY", "PERPLEXITY_API_KEY"),
    "together_ai": ("TOGETHERAI_API_KEY", "TOGETHER_API_KEY", "TOGETHER_AI_API_KEY"),
}
_PLAIN = (
    *("ai21", "anthropic", "cerebras", "dashscope", "deepinfra", "deepseek", "groq", "hyperbolic", "meta", "minimax"),
    *("mistral", "moonshot", "nebius", "novita", "nvidia_nim", "openai", "sambanova", "volcengine", "xai", "zai"),
)
KEYS = {**{provider: (f"{provider.upper()}_API_KEY",) for provider in _PLAIN}, **_NAMES}
# Other credentials that LiteLLM reads itself where there is no such key.
_INSTEAD = {"anthropic": ("ANTHROPIC_AUTH_TOKEN",), "huggingface": ("HF_TOKEN",), "together_ai": ("TOGETHER_AI_TOKEN",)}
# Clouds want more than a key, or another kind of it: LiteLLM looks for it, and says what it misses.
_CLOUDS = ("azure", "azure_ai", "databricks", "replicate", "vertex_ai", "watsonx")
# What their variables begin with besides their own names.
_PREFIXES = {
    **dict.fromkeys(("bedrock", "bedrock_mantle", "sagemaker", "sagemaker_chat"), ("AWS",)),
    "ollama_chat": ("OLLAMA",),
    "vertex_ai": ("VERTEXAI", "VERTEX"),
    "watsonx": ("WATSONX", "WX"),
}
_CALLED = {
    "openai": "OpenAI",
    "anthropic": "Anthropic",
    "gemini": "Google",
    "xai": "xAI",
    "mistral": "Mistral",
    "deepseek": "DeepSeek",
    "dashscope": "Alibaba Cloud (Qwen)",
    "moonshot": "Moonshot",
    "zai": "Z.ai",
    "meta": "Meta",
    "openrouter": "OpenRouter",
}
_WHAT_TO_DO = "in your shell or in .env, or choose another model (`cli models list`)"


@dataclass(frozen=True)
class Key:
    """What a model is asked with."""

    variable: str | None  # None: none is needed, or LiteLLM looks for it
    is_set: bool  # also where none is needed

    @property
    def state(self) -> str | None:
        """For people."""
        return None if self.variable is None else "set" if self.is_set else "missing"


def key_of(entry: ModelEntry) -> Key:
    """The key for this model, and whether it is there: the variable that has it, else the one to set."""
    if entry.key_env:
        return Key(entry.key_env, _has(entry.key_env))
    provider = entry.litellm_name.partition("/")[0]
    if entry.base_url or provider not in KEYS:
        return Key(None, True)
    names = (*KEYS[provider], *_INSTEAD.get(provider, ()))
    found = next(filter(_has, names), None)
    return Key(found or names[0], found is not None)


def key_value(entry: ModelEntry) -> str | None:
    """What is sent; None where LiteLLM looks for it itself. Raises `UserError` where it is missing."""
    key = key_of(entry)
    if not key.is_set:
        raise UserError(f"{key.variable} is not set")
    if key.variable is None or key.variable in _INSTEAD.get(entry.litellm_name.partition("/")[0], ()):
        return None
    return os.environ[key.variable].strip()


def missing_keys(entries: Sequence[ModelEntry]) -> str | None:
    """Say on one line which of these models cannot be asked for want of a key; None where all can."""
    missing: dict[str, list[ModelEntry]] = {}
    for entry in entries:
        key = key_of(entry)
        if key.variable and not key.is_set:
            missing.setdefault(key.variable, []).append(entry)
    if not missing:
        return None
    first, *others = missing
    if not others:
        slugs = ", ".join(dict.fromkeys(e.slug for e in missing[first]))
        verb = "ask" if "," in slugs else "asks"
        return f"{first} is not set: {slugs} {verb} {called(missing[first][0])}; set it {_WHAT_TO_DO}"
    listed = ", ".join(f"{name} ({', '.join(dict.fromkeys(e.slug for e in of))})" for name, of in missing.items())
    return f"{len(missing)} keys are not set: {listed}; set them {_WHAT_TO_DO}"


def refuse_missing_keys(entries: Sequence[ModelEntry]) -> None:
    """Raise `UserError`, on one line, where one of these models cannot be asked for want of a key."""
    if line := missing_keys(entries):
        raise UserError(line)


def key_owners(variable: str) -> frozenset[str]:
    """The providers that a variable is the usual key of; none for a name of the user's own."""
    clouds = {f"{provider.upper()}_API_KEY": provider for provider in _CLOUDS}
    return frozenset(
        {provider for provider, names in KEYS.items() if variable in (*names, *_INSTEAD.get(provider, ()))}
        | ({clouds[variable]} if variable in clouds else set())
    )


def prefixes(provider: str) -> tuple[str, ...]:
    """What variables of a provider begin with: `OPENAI_`."""
    stems = {name.removesuffix("_API_KEY") for name in KEYS.get(provider, ())} | {provider.upper()}
    return tuple(f"{stem}_" for stem in sorted({*stems, *_PREFIXES.get(provider, ())}) if len(stem) > 2)


def called(entry: ModelEntry) -> str:
    """Who is asked, for people."""
    provider = entry.litellm_name.partition("/")[0]
    return entry.base_url or _CALLED.get(provider, provider)


def _has(variable: str) -> bool:
    return bool(os.environ.get(variable, "").strip())
