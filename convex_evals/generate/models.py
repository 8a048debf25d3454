"""Model names to who answers."""

from __future__ import annotations

from collections.abc import Callable

from convex_evals.errors import UserError
from convex_evals.generate import Answerer
from convex_evals.generate.reference import SLUG, ReferenceAnswerer

ANSWERERS: dict[str, Callable[[], Answerer]] = {SLUG: ReferenceAnswerer}


def find_answerer(name: str) -> Answerer:
    """Who answers under `name`: a slug, or its provider alone where that is unambiguous. Raises `UserError`."""
    found = [make for slug, make in ANSWERERS.items() if name in (slug, slug.partition("/")[0])]
    if len(found) != 1:
        raise UserError(f"-m {name}: no such model; there are: reference")
    return found[0]()
