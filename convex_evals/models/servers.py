"""Which server a key may be sent to.

models.yaml may be a file of a pull request, and so may `.env`. What they say decides which of the user's keys goes to
which of the servers that the user knows: those of the key's own provider (`hosts`), and others once they stand in
CONVEX_EVALS_SERVERS, in the user's environment.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Collection
from urllib.parse import urlsplit

from convex_evals.errors import UserError
from convex_evals.models.hosts import HOSTS, is_server_of, origin
from convex_evals.models.keys import key_owners, prefixes
from convex_evals.records.models import ModelEntry

_SHORTEST_KEY = 16  # characters
VARIABLE = "CONVEX_EVALS_SERVERS"
# What speaks OpenAI's protocol, and gets the key that it is given and no other.
_COMPATIBLE = frozenset({"openai", "hosted_vllm", "lm_studio", "ollama", "ollama_chat", "openai_like"})


def refuse_stranger(entry: ModelEntry) -> None:
    """Raise `UserError` where asking this model would send a key to who is not known to be meant."""
    provider = entry.litellm_name.partition("/")[0]
    owners = key_owners(entry.key_env or "")
    if entry.base_url is None:
        _refuse_strange_provider(entry, provider, owners)
        return
    if provider not in _COMPATIBLE:
        what = "base_url is for servers that speak OpenAI's protocol; write litellm: openai/NAME"
        raise UserError(f"models.yaml: {entry.slug}: {what}")
    if entry.key_env is None or _is_named(entry.base_url):
        return
    if owners or not is_this_machine(entry.base_url):
        raise UserError(
            f"models.yaml: {entry.slug}: would send {entry.key_env} to {origin(entry.base_url)}; if that server is "
            f"yours, say so in your shell: export {VARIABLE}={origin(entry.base_url)}"
        )


def asks_its_own(entry: ModelEntry, url: str) -> bool:
    """Whether a request for this model, which `refuse_stranger` lets pass, may go to `url`."""
    if entry.base_url is not None and origin(url) == origin(entry.base_url):
        return True
    return is_server_of(entry.litellm_name.partition("/")[0], url) or _is_named(url)


def _refuse_strange_provider(entry: ModelEntry, provider: str, owners: Collection[str]) -> None:
    if provider not in HOSTS:
        raise UserError(
            f"models.yaml: {entry.slug}: {provider} is not a provider whose servers we know; if it speaks OpenAI's "
            f"protocol, write litellm: openai/NAME with base_url, and in your shell: export {VARIABLE}=https://HOST"
        )
    if entry.key_env is None or provider in owners:
        return
    if owners:
        who = " or ".join(sorted(owners))
        raise UserError(f"models.yaml: {entry.slug}: {entry.key_env} is the key for {who}, not for {provider}")
    if not entry.key_env.startswith(prefixes(provider)):
        raise UserError(
            f"models.yaml: {entry.slug}: {entry.key_env} is not known to be a key for {provider}; "
            f"call yours like {prefixes(provider)[0]}TEAM_API_KEY"
        )


def sent_keys(entry: ModelEntry) -> list[str]:
    """The keys that asking this model may send, of those that are too long to be words."""
    provider = entry.litellm_name.partition("/")[0]
    names = [entry.key_env] if entry.key_env else [name for name in os.environ if provider in key_owners(name)]
    values = dict.fromkeys(os.environ.get(name, "") for name in names)
    return [value for value in values if len(value) >= _SHORTEST_KEY]


def is_this_machine(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_named(url: str) -> bool:
    known = os.environ.get(VARIABLE, "").replace(",", " ").split()
    return origin(url) in {origin(one) for one in known}
