"""Sessions on disk and the index of them."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from convex_evals.errors import UserError
from convex_evals.records.hashes import sha256_text
from convex_evals.records.session import Label, Session, SessionStatus
from convex_evals.sessions import index as index_module
from convex_evals.sessions.index import INDEX, SessionFilter, open_index
from convex_evals.sessions.labels import write_label
from convex_evals.sessions.message import Message
from convex_evals.sessions.store import MESSAGES, RECORD, SessionStore, find_home, to_lines


def write_session(store: SessionStore, id_: str, *texts: str, **fields: Any) -> Session:
    """A session in which person and assistant take turns."""
    messages = [Message(("user", "assistant")[at % 2], text) for at, text in enumerate(texts)]
    lines, raw = to_lines(each.to_data() for each in messages), "{}\n"
    facts = {"tool": "codex", "native_id": id_, "messages": len(messages), "exchanges": len(messages) // 2}
    hashes = {"messages_sha256": sha256_text(lines), "raw_sha256": sha256_text(raw), "source_sha256": sha256_text(raw)}
    session = Session.model_validate({"id": id_, **facts, **hashes, "records": {"message": 1}, **fields})
    store.write(session, lines, raw, {})
    return session


def an_id(number: int) -> str:
    return f"{number:020x}"


A, B, C = (f"{digit * 10}0000000000" for digit in "abc")


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    found = SessionStore(tmp_path)
    write_session(found, A, "Write a cron", "Done", title="Crons", models=("claude-sonnet-4-5",), ended_at=time(1))
    write_session(found, B, "Ünïcode", "ok", title="b", folder="apps/shop", tool="aider", ended_at=time(2))
    write_session(found, C, "c", "d", title="c")
    write_label(found, A, Label(evalReady=True, evalStatus=SessionStatus.GOLDEN, evalTags=("auth", "crons")))
    write_label(found, B, Label(evalTags=("auth",), evalNotes="Remember the MILK"))
    return found


def time(day: int) -> str:
    return f"2026-11-{day:02}T00:00:00.000Z"


def found(store: SessionStore, **conditions: Any) -> list[str]:
    with open_index(store) as index:
        entries, number = index.find_counted(SessionFilter(**conditions))
        assert number == len(entries)
        assert index.find_counted(SessionFilter(**conditions), limit=1) == (entries[:1], number)
        assert index.count(SessionFilter(**conditions)) == number
        outline = index.outline(SessionFilter(**conditions))
        assert outline == [(each.id, each.status) for each in entries]
        assert index.entries([session_id for session_id, _ in outline] + [an_id(99)]) == entries
        return [each.id for each in entries]


@pytest.mark.parametrize(
    ("conditions", "ids"),
    [
        ({}, [B, A, C]),
        ({"status": SessionStatus.GOLDEN}, [A]),
        ({"status": SessionStatus.NEEDS_REVIEW}, [B, C]),
        ({"ready": True}, [A]),
        ({"ready": False}, [B, C]),
        ({"tags": ("auth",)}, [B, A]),
        ({"tags": ("auth", "crons")}, [A]),
        ({"tags": ("aut",)}, []),
        ({"model": "Sonnet"}, [A]),
        ({"tool": "aider"}, [B]),
        ({"since": "2026-11-02"}, [B]),
        ({"project": "apps/*"}, [B]),
        ({"search": "ÜNÏ"}, [B]),
        ({"search": "remember the milk"}, [B]),
        ({"search": A}, [A]),
        ({"search": "%"}, []),
        ({"search": "' or 1=1 --"}, []),
    ],
)
def test_conditions(store: SessionStore, conditions: dict[str, Any], ids: list[str]) -> None:
    assert found(store, **conditions) == ids


def test_an_entry_says_what_lists_show(store: SessionStore) -> None:
    with open_index(store) as index:
        (entry,) = index.find(SessionFilter(ready=True))
        assert index.tags() == {"auth": 2, "crons": 1}
        assert [each.id for each in index.find(SessionFilter(), limit=2)] == [B, A]
    assert (entry.title, entry.tool, entry.models, entry.status) == (
        "Crons",
        "codex",
        ("claude-sonnet-4-5",),
        SessionStatus.GOLDEN,
    )
    assert (entry.tags, entry.messages, entry.exchanges) == (("auth", "crons"), 2, 1)


def test_the_index_follows_the_files(store: SessionStore) -> None:
    assert found(store, ready=True) == [A]
    write_label(store, C, Label(evalReady=True))
    assert found(store, ready=True) == [A, C]
    store.label_path(A).unlink()
    assert found(store, ready=True) == [C]
    for path in store.folder(C).iterdir():
        path.unlink()
    assert found(store) == [B, A]


def test_only_what_changed_is_read_again(store: SessionStore, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    real = index_module._row

    def row(store: SessionStore, session_id: str, stamp: str) -> Any:
        read.append(session_id)
        return real(store, session_id, stamp)

    monkeypatch.setattr(index_module, "_row", row)
    found(store)
    assert sorted(read) == [A, B, C]
    read.clear()
    write_label(store, B, Label(evalReady=True))
    found(store)
    assert read == [B]


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\x00" + bytes(100)])
def test_a_damaged_index_is_made_again(store: SessionStore, content: bytes) -> None:
    found(store)
    (store.root / INDEX).write_bytes(content)
    assert found(store) == [B, A, C]


def test_the_index_of_another_version_is_made_again(store: SessionStore) -> None:
    found(store)
    with sqlite3.connect(store.root / INDEX) as connection:
        connection.execute("drop table sessions")
        connection.execute("pragma user_version = 999")
    assert found(store) == [B, A, C]


def test_what_cannot_be_read_is_told(store: SessionStore) -> None:
    store.label_path(A).write_text("evalStatus: wonderful\n")
    (store.folder(B) / RECORD).write_text("{}")
    with open_index(store) as index:
        assert [each.id for each in index.find(SessionFilter())] == [C]
        assert len(index.problems) == 2
        assert f"{store.label_path(A)}:1" in index.problems[0] and str(store.folder(B)) in index.problems[1]


def test_no_sessions(tmp_path: Path) -> None:
    assert found(SessionStore(tmp_path)) == []


# --- The store


def test_prefixes(store: SessionStore) -> None:
    write_session(store, f"{A[:5]}{'1' * 15}", "x", "y")
    assert store.resolve(A) == A and store.resolve("bbbb") == B
    with pytest.raises(UserError, match=r"more than one session begins so: .*give more digits"):
        store.resolve("aaaa")
    with pytest.raises(UserError, match="no session dddd"):
        store.resolve("dddd")
    for bad in ("", "aaa", "../..", "AAAA", "a" * 21, "zzzz"):
        with pytest.raises(UserError, match="not the id of a session"):
            store.resolve(bad)


@pytest.mark.parametrize(
    "line",
    [
        "x",
        "[]",
        "{}",
        '{"role": 1, "content": ""}',
        '{"role": "user", "content": 5}',
        '{"role": "user", "content": [1]}',
    ],
)
def test_a_damaged_message_is_told(store: SessionStore, line: str) -> None:
    path = store.folder(A) / MESSAGES
    path.write_text('{"role": "user", "content": "a"}\n' + line + "\n")
    with pytest.raises(UserError) as error:
        list(store.messages(A))
    assert f"{path}:2: not a message" in str(error.value) and "import the session again" in str(error.value)


def test_messages_are_split_at_line_ends_alone(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    texts = ("a\u2028b", "c\u0085d\x0ce\x1cf")
    write_session(store, A, *texts)
    assert tuple(each.content for each in store.messages(A)) == texts


def test_sessions_without_messages(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    write_session(store, A)
    assert list(store.messages(A)) == []


@pytest.mark.parametrize("mark", ["sessions", "evals", ".git"])
def test_the_nearest_folder_with_sessions_is_home(tmp_path: Path, mark: str) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / mark).mkdir()
    assert find_home(tmp_path / "a" / "b") == tmp_path
