"""Sessions that are exported over HTTP, and what is asked for them: of `cli view`, and of a deployment."""

from __future__ import annotations

from pathlib import Path

import pytest

from convex_evals.records.session import Label, SessionStatus
from convex_evals.sessions.importing.choice import choose
from convex_evals.sessions.importing.importer import Import
from convex_evals.sessions.labels import write_label
from convex_evals.sessions.store import SessionStore
from tests.sessions.chats import chat, write_chats

LABELS = {
    "one": Label(evalReady=True, evalStatus=SessionStatus.GOLDEN, evalTags=("auth", "crons")),
    "two": Label(evalReady=True, evalStatus=SessionStatus.GOLDEN, expectedOutput="better"),
    "three": Label(evalReady=True, evalStatus=SessionStatus.CORRECT, evalTags=("crons",)),
    "four": Label(evalReady=False, evalStatus=SessionStatus.GOLDEN),
}


def add_sessions(root: Path) -> SessionStore:
    """The sessions of `LABELS` in the folder `root`."""
    found = SessionStore(root)
    file = write_chats(root / "chats.jsonl", [chat(f"What is {i}?", f"{i}.", id=i) for i in LABELS])
    work = Import(found, root, pytest.fail)
    for imported, label in zip(work.files(choose([file], "openai", root)), LABELS.values(), strict=True):
        assert imported.session is not None
        write_label(found, imported.session.id, label)
    return found


# Conditions of a query, and how many of the sessions meet them.
CONDITIONS = [
    ("", 3),
    ("&status=golden", 2),
    ("&status=incorrect", 0),
    ("&tag=crons", 2),
    ("&tag=crons&tag=auth", 1),
    ("&tag=cron", 0),
    ("&limit=1", 1),
    ("&limit=100", 3),
    ("&status=golden&tag=crons&limit=5", 1),
]

# Queries that are refused, and how the reason begins.
WRONG = [
    ("format=xml", "The parameter format is one of"),
    ("format=", "The parameter format is one of"),
    ("format=openai&status=good", "The parameter status is one of golden, correct, incorrect, needs_review."),
    ("format=openai&status=", "The parameter status is one of"),
    ("format=openai&status=golden%27%20or%201=1--", "The parameter status is one of"),
    ("format=openai&limit=0", "The parameter limit is a number of sessions"),
    ("format=openai&limit=-1", "The parameter limit is a number"),
    ("format=openai&limit=1e9", "The parameter limit is a number"),
    ("format=openai&limit=%D9%A3", "The parameter limit is a number"),
    (f"format=openai&limit={'9' * 400}", "The parameter limit is a number"),
    ("format=openai&limit=", "The parameter limit is a number"),
    ("format=openai&format=text", "The parameter format is given twice."),
    ("format=openai&limit=1&limit=2", "The parameter limit is given twice."),
    ("format=openai&Status=golden", "There is no parameter 'Status': format, status, tag, limit."),
    ("format=openai&key=x", "There is no parameter 'key'"),
    ("format=openai&tag=", "The parameter tag is a tag."),
    ("format=openai&tag=a%0Ab", "The parameter tag is a tag."),
    ("format=openai&tag=%ff", "The query is not well formed"),
    ("format=openai&&", "The query is not well formed"),
    ("format", "The query is not well formed"),
    ("&".join(["format=openai", *["tag=a"] * 60]), "The query is not well formed"),
    (f"format=openai&tag={'a' * 5000}", "The query is too long."),
]
