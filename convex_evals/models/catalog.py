"""`models.yaml`: the models of a repository, found by name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.inputs.suite_files import is_there, read_inside
from convex_evals.records.human import parse_human
from convex_evals.records.models import ModelEntry, ModelsFile

MODELS_NAME = "models.yaml"


def load_models(home: Path) -> tuple[ModelEntry, ...]:
    """Those of models.yaml in `home`, the user's own folder: a suite that is named by -C brings no models."""
    path = home / MODELS_NAME
    return parse_human(read_inside(home, path), path, ModelsFile).models if is_there(home, path) else ()


def find_model(name: str, models: Sequence[ModelEntry]) -> ModelEntry:
    """The model of this slug, or whose slug ends in `/name`. Raises `UserError` where there is none, or several."""
    by_slug = {m.slug: m for m in models}
    return by_slug[find_slug(name, by_slug, f"add it to {MODELS_NAME}; `cli models list` shows what is there")]


def find_slug(name: str, slugs: Iterable[str], advice: str) -> str:
    """The one of `slugs` that is `name` or ends in `/name`. Raises `UserError`, with `advice` where nothing is near."""
    known = list(dict.fromkeys(slugs))
    found = [s for s in known if s == name] or [s for s in known if s.partition("/")[2] == name]
    found = found or [s for s in known if s.rpartition("/")[2] == name]
    if len(found) == 1:
        return found[0]
    if found:
        raise UserError(f"{name}: {len(found)} models are called that: {', '.join(found)}; give the whole slug")
    near = difflib.get_close_matches(name, [word for s in known for word in (s, s.partition("/")[2])], n=1)
    hint = f"did you mean '{near[0]}'?" if near else advice
    raise UserError(f"{name}: no such model; {hint}")


def find_ran(name: str, listed: Sequence[str], ran: Sequence[str]) -> str:
    """The slug that `name` means among models of models.yaml (`listed`) and those that have runs. Raises `UserError`.

    A stand-in is called by the first part of its slug, as in `cli run -m reference`.
    """
    stand_ins = [slug for slug in ran if slug.partition("/")[0] == name and slug not in listed]
    if len(stand_ins) == 1:
        return stand_ins[0]
    return find_slug(name, [*listed, *ran], "`cli list` shows what has run")
