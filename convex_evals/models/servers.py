"""Which server a key may be sent to.

models.yaml may be a file of a pull request, and so may `.env`. What they say decides which of the user's keys goes to
which of the servers that the user knows; a server of the internet is known once it stands in CONVEX_EVALS_SERVERS,
in the user's environment.
"""

from __future__ import annotations

import ipaddress
import os
from urllib.parse import urlsplit

from convex_evals.errors import UserError
from convex_evals.models.keys import key_owners
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
        if owners and provider not in owners:
            who = " or ".join(sorted(owners))
            raise UserError(f"models.yaml: {entry.slug}: {entry.key_env} is the key for {who}, not for {provider}")
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


def sent_keys(entry: ModelEntry) -> list[str]:
    """The keys that asking this model may send, of those that are too long to be words."""
    provider = entry.litellm_name.partition("/")[0]
    names = [entry.key_env] if entry.key_env else [name for name in os.environ if provider in key_owners(name)]
    values = dict.fromkeys(os.environ.get(name, "") for name in names)
    return [value for value in values if len(value) >= _SHORTEST_KEY]


def origin(url: str) -> str:
    """Scheme, host and port."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()


def is_this_machine(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_named(url: str) -> bool:
    known = os.environ.get(VARIABLE, "").replace(",", " ").split()
    return origin(url) in {origin(one) for one in known}
