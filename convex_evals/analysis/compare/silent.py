"""Models of which a side has no scored trial: one line for all of them, where others have rows and notes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from convex_evals.analysis.compare.comparison import Comparison

# As `sides.match` says why an eval is in no pair; records of validations have the same words.
_LACKING = re.compile(r"(not done|no scored trial) in (A and B|A|B)(?: \((.+)\))?")


@dataclass(frozen=True)
class Silence:
    sides: str  # A, B or AB
    why: str

    def words(self, a: str, b: str) -> str:
        """What is the matter, and with which side where it is one alone; `a` and `b` are what they are called."""
        names = {"A": f"{a}: ", "B": f"{b}: "}
        return f"{names.get(self.sides, '')}{self.why}"


def silence(reasons: Iterable[str]) -> Silence | None:
    """Why nothing of a side was scored; None where something was. `reasons` are those of all evals, none in a pair."""
    sides, lacking = {"A", "B"}, False
    whys: set[str] = set()
    for reason in reasons:
        if reason in ("only in A", "only in B"):
            sides.discard(reason[-1])
        elif match := _LACKING.fullmatch(reason):
            lacking = True
            sides.intersection_update(match[2])
            whys.update(re.sub(r"^\d+ x ", "", why) for why in (match[3] or match[1]).split(", "))
        else:
            return None
    return Silence("".join(sorted(sides)), ", ".join(sorted(whys))) if sides and lacking else None


def silences(comparisons: Mapping[str, Comparison]) -> dict[str, Silence]:
    """By model, of those that there is nothing to say of."""
    found = {m: silence(x.reason for x in one.left_out) for m, one in comparisons.items() if not one.pairs}
    return {model: one for model, one in found.items() if one}


def silent_line(found: Mapping[str, Silence], a: str, b: str) -> str | None:
    """All of `found`, those with the same reason together; None where there are none."""
    models: dict[str, list[str]] = {}
    for model, one in found.items():
        models.setdefault(one.words(a, b), []).append(model)
    groups = "; ".join(f"{', '.join(names)} ({why})" for why, names in models.items())
    return f"No scored trial of: {groups}" if groups else None
