"""The models that can be asked, found by name: a repository's `models.yaml`, those that ship, and LiteLLM's."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NoReturn

from pydantic import ValidationError

from convex_evals.errors import UserError
from convex_evals.inputs.suite_files import is_there, read_inside
from convex_evals.models.price import price_map
from convex_evals.records.human import parse_human
from convex_evals.records.models import ModelEntry, ModelsFile
from convex_evals.text import read_text

MODELS_NAME = "models.yaml"
_SHIPPED = Path(__file__).with_name(MODELS_NAME)
_MODES = frozenset({"chat", "responses"})  # LiteLLM's words for models that write text, and ours for `api`


@dataclass(frozen=True)
class Catalog:
    """The models that have an entry."""

    own: tuple[ModelEntry, ...]
    shipped: tuple[ModelEntry, ...]  # those that none of `own` replaces

    @property
    def entries(self) -> tuple[ModelEntry, ...]:
        """In the order in which lists show them."""
        return (*self.own, *self.shipped)


def load_catalog(home: Path) -> Catalog:
    """With models.yaml of `home`, the user's own folder: a suite that is named by -C brings no models."""
    path = home / MODELS_NAME
    own = parse_human(read_inside(home, path), path, ModelsFile).models if is_there(home, path) else ()
    replaced = {entry.slug for entry in own}
    return Catalog(own, tuple(entry for entry in shipped_models() if entry.slug not in replaced))


@cache
def shipped_models() -> tuple[ModelEntry, ...]:
    return parse_human(read_text(_SHIPPED), _SHIPPED, ModelsFile).models


def find_model(name: str, catalog: Catalog) -> ModelEntry:
    """The model of this slug, or whose slug ends in `/name`, one's own before those that ship.

    `provider/name` also finds what LiteLLM knows. Raises `UserError` where there is none, or several.
    """
    by_slug = {entry.slug: entry for entry in catalog.entries}
    if name in by_slug:
        return by_slug[name]
    for entries in (catalog.own, catalog.shipped):
        found = _ending_in(name, [entry.slug for entry in entries])
        if found:
            return by_slug[_only(name, found)]
    known = _known_to_litellm(name)
    if known is None:
        new = f" A new model needs an entry in {MODELS_NAME}" if "/" in name else ""
        _refuse(name, _like(name, by_slug), _NO_ENTRY, new)
    return known


_NO_ENTRY = f"LiteLLM does not know it either; add it to {MODELS_NAME}; `cli models list` shows what is there"


def _known_to_litellm(name: str) -> ModelEntry | None:
    """An entry for a model that has none, and that LiteLLM can ask. OpenRouter's models are not in its map."""
    provider, _, model = name.partition("/")
    if not model or "//" in name:
        return None
    costs = price_map()
    facts = costs.get(name) or costs.get(model) or {}
    if provider == "openrouter" and "/" in model:
        facts = {"litellm_provider": provider, "mode": "chat"}
    if facts.get("litellm_provider") != provider or facts.get("mode") not in _MODES:
        return None
    with suppress(ValidationError):  # of a name that is none
        return ModelEntry.model_validate({"slug": name, "api": facts["mode"]})
    return None


def _like(name: str, slugs: Iterable[str]) -> list[str]:
    """What may be meant: `slugs`, whole or by their end, and what LiteLLM has of this provider or by this name."""
    provider, _, model = name.partition("/")
    facts = price_map().items()
    asked = [(known, told["litellm_provider"]) for known, told in facts if told.get("mode") in _MODES]
    if model:
        known = [f"{provider}/{k.removeprefix(provider + '/')}" for k, of in asked if of == provider]
    else:
        known = [f"{of}/{k}" for k, of in asked if k == name]
    return [*(word for slug in slugs for word in (slug, slug.partition("/")[2])), *known]


def find_slug(name: str, slugs: Iterable[str], advice: str) -> str:
    """The one of `slugs` that is `name` or ends in `/name`. Raises `UserError`, with `advice` where nothing is near."""
    known = list(dict.fromkeys(slugs))
    found = [s for s in known if s == name] or _ending_in(name, known)
    if found:
        return _only(name, found)
    return _refuse(name, [word for s in known for word in (s, s.partition("/")[2])], advice)


def _ending_in(name: str, slugs: Sequence[str]) -> list[str]:
    return [s for s in slugs if s.partition("/")[2] == name] or [s for s in slugs if s.rpartition("/")[2] == name]


def _only(name: str, found: Sequence[str]) -> str:
    if len(found) == 1:
        return found[0]
    raise UserError(f"{name}: {len(found)} models are called that: {', '.join(found)}; give the whole slug")


def _refuse(name: str, words: Sequence[str], advice: str, besides: str = "") -> NoReturn:
    """Raise `UserError`, with the nearest of `words` (and `besides`) or else `advice`."""
    exact = next((word for word in words if word.rpartition("/")[2] == name), None)
    near = [exact] if exact else difflib.get_close_matches(name, words, n=1)
    hint = f"did you mean '{near[0]}'?{besides}" if near else advice
    raise UserError(f"{name}: no such model; {hint}")


def find_ran_or_known(name: str, catalog: Catalog, ran: Sequence[str]) -> str:
    """The slug that `name` means: of a model that has runs, else of one that can be asked. Raises `UserError`."""
    found = [name] if name in ran else _ending_in(name, ran)
    return _only(name, found) if found else find_model(name, catalog).slug


def find_ran(name: str, listed: Sequence[str], ran: Sequence[str]) -> str:
    """The slug that `name` means among models of models.yaml (`listed`) and those that have runs. Raises `UserError`.

    A stand-in is called by the first part of its slug, as in `cli run -m reference`.
    """
    stand_ins = [slug for slug in ran if slug.partition("/")[0] == name and slug not in listed]
    if len(stand_ins) == 1:
        return stand_ins[0]
    return find_slug(name, [*listed, *ran], "`cli list` shows what has run")
