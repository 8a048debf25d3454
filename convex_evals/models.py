"""`models.yaml`: the models of a repository, found by name."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.records.human import parse_human
from convex_evals.records.models import ModelEntry, ModelsFile
from convex_evals.store.files import read_text

MODELS_NAME = "models.yaml"


def load_models(folders: Sequence[Path]) -> tuple[ModelEntry, ...]:
    """From the first of `folders` that has a models.yaml; none where nobody has."""
    for folder in folders:
        path = folder / MODELS_NAME
        if path.is_file():
            return parse_human(read_text(path), path, ModelsFile).models
    return ()


def find_model(name: str, models: Sequence[ModelEntry]) -> ModelEntry:
    """The model of this slug, or whose slug ends in `/name`. Raises `UserError` where that is nobody, or several."""
    found = [m for m in models if m.slug == name] or [m for m in models if m.slug.partition("/")[2] == name]
    found = found or [m for m in models if m.slug.rpartition("/")[2] == name]
    if len(found) == 1:
        return found[0]
    if found:
        raise UserError(f"-m {name}: {len(found)} models are called that: {', '.join(m.slug for m in found)}")
    near = difflib.get_close_matches(name, [word for m in models for word in (m.slug, m.slug.partition("/")[2])], n=1)
    hint = f"did you mean '{near[0]}'?" if near else f"add it to {MODELS_NAME}; `cli models list` shows what is there"
    raise UserError(f"-m {name}: no such model; {hint}")
