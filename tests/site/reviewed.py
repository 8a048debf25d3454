"""Sessions with labels, as people review them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from convex_evals.records.session import Label
from convex_evals.sessions.importing.choice import choose
from convex_evals.sessions.importing.importer import Import
from convex_evals.sessions.labels import write_label
from convex_evals.sessions.store import SessionStore
from tests.sessions.chats import Chat, write_chats

Ids = Mapping[str, str]


def store_chats(root: Path, chats: Sequence[Chat], labels: Mapping[str, Label]) -> tuple[SessionStore, Ids]:
    """Import `chats` below `root`, and label them. `labels` and the ids that are returned are by the ids of chats."""
    store, ids = SessionStore(root), dict[str, str]()
    file = write_chats(root / "chats.jsonl", chats)
    for each in Import(store, root, pytest.fail).files(choose([file], "openai", root)):
        assert each.session is not None
        ids[str(each.session.native_id)] = each.session.id
    for name, label in labels.items():
        write_label(store, ids[name], label)
    file.unlink()
    return store, ids
