"""New models, from OpenRouter's list of those that it offers, as entries for models.yaml."""

from __future__ import annotations

import asyncio
import difflib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from convex_evals.errors import UserError
from convex_evals.inputs.bounded_json import Limits, decode
from convex_evals.inputs.suite_files import is_there, read_inside
from convex_evals.models.catalog import MODELS_NAME, Catalog
from convex_evals.models.faults import ProviderFault
from convex_evals.records.human import parse_human
from convex_evals.records.models import ModelEntry, ModelsFile, Price
from convex_evals.store.files import write_atomic

# https://openrouter.ai/docs/api-reference/list-available-models
OPENROUTER = "https://openrouter.ai/api/v1/models"
_SECONDS = 30.0  # between two pieces of an answer
_MOST_SECONDS = 120.0
_LIMITS = Limits(size=50_000_000)
_MILLION = 1_000_000
# OpenRouter's words for providers whose own interface has another name here.
_OWN_NAMES = {
    "google": "gemini",
    "meta-llama": "meta",
    "mistralai": "mistral",
    "moonshotai": "moonshot",
    "qwen": "dashscope",
    "x-ai": "xai",
    "z-ai": "zai",
}


@dataclass(frozen=True)
class Offer:
    """A model that OpenRouter offers."""

    entry: ModelEntry
    provider: str  # as it is called here
    first_seen: date


def fetch(url: str) -> bytes:
    """Return the list at `url`. Raises `UserError`."""
    import httpx

    from convex_evals.models.guard import Guard, receive

    async def ask() -> httpx.Response:
        guard = Guard.of_bytes(_LIMITS.size, _LIMITS.values, asks=lambda _: True)
        async with httpx.AsyncClient(timeout=_SECONDS) as client:
            return await receive(client, guard, _MOST_SECONDS, "GET", url, headers={"accept": "application/json"})

    try:
        answer = asyncio.run(ask())
    except ProviderFault as fault:
        raise UserError(f"{url}: {fault}; give a file instead") from None
    except TimeoutError:
        raise UserError(f"{url}: no whole answer within {_MOST_SECONDS:.0f} s; try again, or give a file") from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise UserError(f"{url}: {error or type(error).__name__}; check the address and the network") from None
    if answer.status_code != httpx.codes.OK:
        raise UserError(f"{url}: answered with status {answer.status_code}; try again, or give a file")
    return answer.content


def read_offers(document: bytes, where: str) -> list[Offer]:
    """The models in a list that write text, the newest first. Others are left out. Raises `UserError`."""
    try:
        data = decode(document, _LIMITS)
    except ValueError as error:
        raise UserError(f"{where}: not a list of models: {error}") from None
    rows = data.get("data") if isinstance(data, dict) else None
    if not isinstance(rows, list):
        raise UserError(f"{where}: not a list of models: it has no `data`")
    found = [offer for row in rows if isinstance(row, dict) and (offer := _offer(row))]
    return sorted(found, key=lambda offer: (-offer.first_seen.toordinal(), offer.entry.slug))


def _offer(row: Mapping[str, Any]) -> Offer | None:
    """None where it is no model that could be asked for code, or is not described as one."""
    name, created = row.get("id"), row.get("created")
    kinds = _mapping(row, "architecture").get("output_modalities")
    # `:free` and the like are other ways to the same model.
    if not isinstance(name, str) or not re.fullmatch(r"[\w.-]+/[\w.-]+", name) or name.startswith("openrouter/"):
        return None
    if not isinstance(created, int) or isinstance(created, bool) or kinds != ["text"]:
        return None
    try:
        first_seen = datetime.fromtimestamp(created, UTC).date()
        entry = ModelEntry(
            slug=f"openrouter/{name}",
            name=_title(row),
            price=_price(_mapping(row, "pricing")),
            most_output_tokens=_most_tokens(_mapping(row, "top_provider")),
            first_seen=first_seen,
        )
    except (ValidationError, ValueError, OverflowError, OSError):
        return None
    provider = name.partition("/")[0]
    return Offer(entry, _OWN_NAMES.get(provider, provider), first_seen)


def _mapping(row: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = row.get(key)
    return found if isinstance(found, dict) else {}


def _title(row: Mapping[str, Any]) -> str | None:
    """Without the provider, which stands before a colon."""
    name = row.get("name")
    return name.partition(": ")[2] or name if isinstance(name, str) and name.isprintable() else None


def _price(pricing: Mapping[str, Any]) -> Price | None:
    """Of a million tokens; the list has that of one, as text."""
    amounts = {ours: pricing.get(theirs) for ours, theirs in _PRICES.items()}
    found = {ours: round(float(amount) * _MILLION, 6) for ours, amount in amounts.items() if amount not in (None, "")}
    return Price(**found) if {"input", "output"} <= found.keys() else None


_PRICES = {"input": "prompt", "output": "completion", "cached": "input_cache_read"}


def _most_tokens(provider: Mapping[str, Any]) -> int | None:
    most = provider.get("max_completion_tokens")
    return most if isinstance(most, int) and not isinstance(most, bool) and most > 0 else None


def new_offers(offers: Iterable[Offer], catalog: Catalog, since: date, providers: Collection[str] = ()) -> list[Offer]:
    """Those first seen on the day `since` or later that have no entry, neither of their own provider nor OpenRouter's.

    Only of `providers`; where none are given, of those whose models have entries.
    """
    known = {_plain(slug) for entry in catalog.entries for slug in (entry.slug, entry.litellm or entry.slug)}
    wanted = set(providers) or {slug.partition("/")[0] for slug in known}
    return [
        offer
        for offer in offers
        if offer.first_seen >= since and offer.provider in wanted and _plain(offer.entry.slug) not in known
    ]


def _plain(slug: str) -> str:
    """A name that is the same however the model is reached."""
    provider, _, name = slug.removeprefix("openrouter/").partition("/")
    return f"{_OWN_NAMES.get(provider, provider)}/{re.sub('[._]', '-', name.lower())}"


def with_entries(text: str | None, offers: Iterable[Offer]) -> str:
    """models.yaml with entries behind the ones that it has; `text` is None where there is no such file."""
    before = "models:\n" if not (text or "").strip() else str(text)
    before = re.sub(r"^models: *\[\] *$", "models:", before, flags=re.MULTILINE)
    first = re.search(r"^( *)- ", before, re.MULTILINE)
    indent = first[1] if first else "  "
    added = "".join(f"{indent}{line}\n" for offer in offers for line in _lines(offer.entry))
    return f"{before}{'' if before.endswith(chr(10)) else chr(10)}{added}"


def _lines(entry: ModelEntry) -> Iterator[str]:
    import yaml

    data = entry.model_dump(mode="json", exclude_defaults=True)
    price = data.pop("price", None)
    data["first_seen"] = entry.first_seen
    text = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=1_000)
    if price:
        text += f"price: {yaml.safe_dump(price, default_flow_style=True, sort_keys=False, width=1_000)}"
    for n, line in enumerate(text.splitlines()):
        yield f"{'  ' if n else '- '}{line}"


def patch_models(home: Path, offers: Iterable[Offer], *, write: bool) -> str:
    """What adds the offers to models.yaml of `home`, which `write` does. Raises `UserError`."""
    path = home / MODELS_NAME
    before = read_inside(home, path) if is_there(home, path) else None
    after = with_entries(before, offers)
    parse_human(after, path, ModelsFile)  # refused where entries cannot stand at its end
    if write:
        write_atomic(path, after, home)
    return as_patch(before, after)


def as_patch(before: str | None, after: str) -> str:
    """What `git apply` takes."""
    lines = difflib.unified_diff(
        (before or "").splitlines(keepends=True),
        after.splitlines(keepends=True),
        "/dev/null" if before is None else f"a/{MODELS_NAME}",
        f"b/{MODELS_NAME}",
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
