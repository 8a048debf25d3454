"""The interfaces that models are asked through, by the word for them in models.yaml (`api`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from convex_evals.models.provider import Call, stream
from convex_evals.records.models import ModelEntry
from convex_evals.records.reply import Reply


class Interface(Protocol):
    """Sends one request. It is the caller who tries again."""

    async def __call__(self, entry: ModelEntry, call: Call, on_text: Callable[[str], None]) -> Reply:
        """`on_text` hears of every piece of the reply as it arrives. Raises `ProviderFault` where there is none."""


INTERFACES: Mapping[str, Interface] = {"chat": stream, "responses": stream}


async def send(entry: ModelEntry, call: Call, on_text: Callable[[str], None]) -> Reply:
    """Ask once, through the interface that the model's entry names. Raises `ProviderFault`."""
    return await INTERFACES[entry.api](entry, call, on_text)
