"""Which servers are a provider's own: the addresses that a request for it may go to.

LiteLLM builds addresses from names of models, regions and variables, so each is compared with this table right before
anything is sent (`Guard.asks`). A provider without a row is not asked: a server of its kind can be named by `base_url`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from convex_evals.config import leads_elsewhere
from convex_evals.models.keys import prefixes

_REGION = r"[a-z0-9-]+"
_AWS = rf"{_REGION}\.amazonaws\.com(\.cn)?"
# Bedrock's agents are left out: they are programs of any account, which the caller's own headers can reach.
_BEDROCK = (rf"bedrock-runtime\.{_AWS}",)
_SAGEMAKER = (rf"runtime\.sagemaker\.{_AWS}",)
_COHERE = (r"api\.cohere\.(com|ai)",)
# Patterns of hosts, over HTTPS on its own port. Where there are none, each user has a server of one's own, which a
# variable in the shell names (`AZURE_API_BASE`).
HOSTS: dict[str, tuple[str, ...]] = {
    "ai21": (r"api\.ai21\.com",),
    "anthropic": (r"api\.anthropic\.com",),
    "azure": (r"login\.microsoftonline\.com",),
    "azure_ai": (r"login\.microsoftonline\.com",),
    "baseten": (r"inference\.baseten\.co",),
    "bedrock": _BEDROCK,
    "bedrock_mantle": (rf"bedrock-mantle\.{_REGION}\.api\.aws",),
    "cerebras": (r"api\.cerebras\.ai",),
    "codestral": (r"codestral\.mistral\.ai",),
    "cohere": _COHERE,
    "cohere_chat": _COHERE,
    "dashscope": (r"dashscope(-intl|-us)?\.aliyuncs\.com",),
    "databricks": (),
    "deepinfra": (r"api\.deepinfra\.com",),
    "deepseek": (r"api\.deepseek\.com",),
    "featherless_ai": (r"api\.featherless\.ai",),
    "fireworks_ai": (r"api\.fireworks\.ai",),
    "friendliai": (r"api\.friendli\.ai",),
    "gemini": (r"generativelanguage\.googleapis\.com",),
    "groq": (r"api\.groq\.com",),
    "hosted_vllm": (),
    "huggingface": (r"router\.huggingface\.co", r"huggingface\.co"),
    "hyperbolic": (r"api\.hyperbolic\.xyz",),
    "inception": (r"api\.inceptionlabs\.ai",),
    "lambda_ai": (r"api\.lambda\.ai",),
    "lm_studio": (),
    "meta": (r"api\.meta\.ai",),
    "meta_llama": (r"api\.llama\.com",),
    "minimax": (r"api\.minimaxi?\.(io|com)",),
    "mistral": (r"api\.mistral\.ai", r"codestral\.mistral\.ai"),
    "moonshot": (r"api\.moonshot\.(ai|cn)",),
    "morph": (r"api\.morphllm\.com",),
    "nebius": (r"api\.studio\.nebius\.(ai|com)", r"api\.tokenfactory\.nebius\.com"),
    "novita": (r"api\.novita\.ai",),
    "nscale": (r"inference\.api\.nscale\.com",),
    "nvidia_nim": (r"integrate\.api\.nvidia\.com",),
    "ollama": (),
    "ollama_chat": (),
    "openai": (r"api\.openai\.com",),
    "openai_like": (),
    "openrouter": (r"openrouter\.ai",),
    "perplexity": (r"api\.perplexity\.ai",),
    "replicate": (r"api\.replicate\.com",),
    "sagemaker": _SAGEMAKER,
    "sagemaker_chat": _SAGEMAKER,
    "sambanova": (r"api\.sambanova\.ai",),
    "together_ai": (r"api\.together\.(ai|xyz)",),
    "v0": (r"api\.v0\.dev",),
    "vercel_ai_gateway": (r"ai-gateway\.vercel\.sh",),
    "vertex_ai": (rf"({_REGION}-)?aiplatform\.googleapis\.com", rf"aiplatform\.{_REGION}\.rep\.googleapis\.com"),
    "volcengine": (rf"ark\.{_REGION}\.volces\.com",),
    "wandb": (r"api\.inference\.wandb\.ai",),
    "watsonx": (rf"{_REGION}\.ml\.cloud\.ibm\.com", r"iam\.cloud\.ibm\.com"),
    "xai": (r"api\.x\.ai",),
    "zai": (r"api\.z\.ai",),
}
_OF_ACCOUNTS = frozenset({"azure", "azure_ai"})
_AZURE = r"([a-z0-9-]+\.)+azure\.(com|us|cn)"  # each account has a server of its own there
_LOCAL = {"ollama": "http://localhost:11434", "ollama_chat": "http://localhost:11434"}


def origin(url: str) -> str:
    """Scheme, host and port, and all else that stands between them."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()


def is_elsewhere(slug: str, server: str | None) -> bool:
    """Whether a model that goes by the name of a provider here was asked at a `server` that is no provider's own.

    Clouds serve the models of others; a server of one's own goes by a name of one's own.
    """
    provider = slug.partition("/")[0]
    if server is None or not HOSTS.get(provider) or provider in _OF_ACCOUNTS:
        return False
    known = [host for hosts in HOSTS.values() for host in hosts]
    return not _is_one_of([*known, _AZURE], server)


def is_server_of(provider: str, url: str) -> bool:
    """Whether `url` is on a server of this provider, or on one that the user's shell names as such.

    `.env` sets none of these variables (`load_environment`).
    """
    asked = origin(url)
    if _is_one_of(HOSTS.get(provider, ()), asked):
        return True
    named = [
        value for name, value in os.environ.items() if leads_elsewhere(name) and name.startswith(prefixes(provider))
    ]
    return provider in HOSTS and asked in {_LOCAL.get(provider), *map(origin, filter(None, named))}


def _is_one_of(hosts: Sequence[str], server: str) -> bool:
    return any(re.fullmatch(rf"https://{host}(:443)?", server) for host in hosts)
