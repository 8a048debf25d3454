"""What an interrupted process left of a reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from convex_evals.records import Attempt
from convex_evals.text import well_formed


@dataclass(frozen=True)
class Earlier:
    """Attempts in order; the last one's reply where its end arrived; and what there is of one that has no end."""

    attempts: tuple[Attempt, ...] = ()
    reply: Mapping[str, Any] | None = None
    text: str = ""
    unfinished: Mapping[str, Any] | None = None


def read_earlier(lines: Sequence[Mapping[str, Any]]) -> Earlier:
    """From the lines of a reply's log."""
    attempts: list[Attempt] = []
    unfinished: Mapping[str, Any] | None = None
    reply: Mapping[str, Any] | None = None
    text: list[str] = []
    for line in lines:
        if "begin" in line:
            unfinished, reply, text = line["begin"], None, []
        elif "text" in line:
            text.append(line["text"])
        elif "end" in line:
            attempts.append(Attempt.model_validate(line["end"]["attempt"]))
            unfinished, reply = None, line["end"]["reply"]
    return Earlier(tuple(attempts), reply, well_formed("".join(text)), unfinished)
