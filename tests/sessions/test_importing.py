"""An import: what becomes of conversations, and what of them is written."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.errors import UserError
from convex_evals.records.generation import Usage
from convex_evals.records.session import Label, Session
from convex_evals.sessions.conversation import MESSAGE, Conversation, Problems, RecordCount, session_id
from convex_evals.sessions.importing.build import cost_of, first_words, shown_folder
from convex_evals.sessions.importing.choice import FoundFile, choose
from convex_evals.sessions.importing.importer import Import, Imported, ImportOutcome
from convex_evals.sessions.labels import read_label, write_label
from convex_evals.sessions.message import Message, ToolCall
from convex_evals.sessions.readers.registry import NAMES, find_reader
from convex_evals.sessions.store import RAW, RECORD, SESSIONS, TRAJECTORY, SessionStore
from tests.sessions.chats import chat, write_chats

KEY = "sk-ant-" + "api03-" + "q7Rf2LxT9vKw4ZbN8mJc1HdS6gPy3EaU" * 2
HOME = Path("/home/ana")


class Given:
    """A source of conversations that a test makes."""

    name = "given"

    def __init__(self, *conversations: Conversation) -> None:
        self.conversations = conversations

    def places(self, home: Path) -> list[Path]:
        return []

    def files(self, place: Path) -> list[Path]:
        return [place]

    def read(self, file: Path, problems: Problems) -> Iterator[Conversation]:
        yield from self.conversations


def said(*messages: Message, native_id: str = "n", **fields: Any) -> Conversation:
    count = RecordCount()
    count.count(MESSAGE, len(messages))
    raw = [json.dumps(message.to_data()) for message in messages]
    return Conversation("given", native_id, list(messages), raw, count, **fields)


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path / "repository")


@pytest.fixture
def problems() -> list[str]:
    return []


def importing(store: SessionStore, *found: Conversation, problems: list[str] | None = None, **how: Any) -> Imported:
    """Import one conversation."""
    (imported,) = import_all(store, *found, problems=problems, **how)
    return imported


def import_all(
    store: SessionStore, *found: Conversation, problems: list[str] | None = None, **how: Any
) -> list[Imported]:
    file = store.root / "given"
    file.parent.mkdir(exist_ok=True)
    file.touch()
    work = Import(store, HOME, ([] if problems is None else problems).append, **how)
    return list(work.files([FoundFile(Given(*found), file)]))


def files_of(store: SessionStore) -> dict[str, bytes]:
    top = store.root / SESSIONS
    return {str(path.relative_to(top)): path.read_bytes() for path in sorted(top.rglob("*")) if path.is_file()}


def test_a_conversation_becomes_a_session(store: SessionStore) -> None:
    reply = Message(
        "assistant",
        "Like this.",
        model="claude-sonnet-4-5",
        time="2026-11-02T10:00:05.000Z",
        usage=Usage(input_tokens=1000, output_tokens=100),
    )
    found = said(
        Message("user", "How do I\nwrite a cron?", time="2026-11-02T10:00:00.000Z"),
        reply,
        folder=str(store.root / "apps" / "shop"),
        git_branch="main",
    )
    session = importing(store, found).session
    assert session is not None and session == store.read(session_id("given", "n"))
    assert (session.title, session.folder, session.git_branch) == ("How do I write a cron?", "apps/shop", "main")
    assert (session.messages, session.exchanges, session.models) == (2, 1, ("claude-sonnet-4-5",))
    assert (session.started_at, session.ended_at) == ("2026-11-02T10:00:00.000Z", "2026-11-02T10:00:05.000Z")
    assert session.usage == Usage(input_tokens=1000, output_tokens=100)
    assert session.cost_estimated and session.cost_usd == pytest.approx(1000 * 3e-6 + 100 * 15e-6)
    assert list(store.messages(session.id)) == found.messages
    assert store.is_complete(session)
    trajectory = json.loads((store.folder(session.id) / TRAJECTORY).read_text())
    assert trajectory["schema_version"] == "ATIF-v1.7" and len(trajectory["steps"]) == 2


def test_figures_that_cannot_be_are_cut_off(store: SessionStore) -> None:
    usage = Usage(input_tokens=10**12)
    replies = [Message("assistant", "x", usage=usage, cost_usd=10**6) for _ in range(2_000)]
    session = importing(store, said(Message("user", "x"), *replies)).session
    assert session and (session.usage.input_tokens, session.cost_usd) == (10**15, 10**9)


def test_importing_again_changes_nothing(store: SessionStore) -> None:
    found = said(Message("user", "a"), Message("assistant", "b"))
    assert importing(store, found).outcome is ImportOutcome.NEW
    before = {path: path.stat().st_mtime_ns for path in (store.root / SESSIONS).rglob("*")}
    assert importing(store, found).outcome is ImportOutcome.UNCHANGED
    assert {path: path.stat().st_mtime_ns for path in (store.root / SESSIONS).rglob("*")} == before


def test_a_session_that_went_on_is_a_new_revision_and_keeps_its_label(store: SessionStore) -> None:
    first = importing(store, said(Message("user", "a"), Message("assistant", "b"))).session
    assert first is not None
    label = Label(evalReady=True, evalNotes="good")
    write_label(store, first.id, label)
    longer = said(Message("user", "a"), Message("assistant", "b"), Message("user", "c"))
    result = importing(store, longer)
    assert result.outcome is ImportOutcome.UPDATED and result.session is not None
    assert (result.session.id, result.session.revision, result.session.messages) == (first.id, 2, 3)
    assert read_label(store, first.id) == label


@pytest.mark.parametrize("lost", [RECORD, RAW, TRAJECTORY, "messages.jsonl"])
def test_what_an_interrupted_import_left_is_made_whole(store: SessionStore, lost: str) -> None:
    found = said(Message("user", "a"), Message("assistant", "b"))
    importing(store, found)
    before = files_of(store)
    (store.folder(found.session_id) / lost).unlink()
    assert importing(store, found).outcome in (ImportOutcome.NEW, ImportOutcome.UPDATED)
    assert files_of(store) == before


def test_a_dry_run_writes_nothing(store: SessionStore) -> None:
    result = importing(store, said(Message("user", f"use {KEY}")), dry=True)
    assert result.outcome is ImportOutcome.NEW and result.session is not None and result.session.redacted
    assert not (store.root / SESSIONS).exists()


def test_no_secret_is_in_any_file(store: SessionStore) -> None:
    arguments = json.dumps({"command": f"curl -H 'x-api-key: {KEY}' https://x"})
    found = said(
        Message("system", f"key {KEY}"),
        Message("user", f"my key is {KEY}, mail ana.lopez@shop-example.org", time="2026-01-01T00:00:00.000Z"),
        Message(
            "assistant",
            [{"type": "text", "text": KEY}],
            thinking=KEY,
            tool_calls=(ToolCall("c1", "bash", arguments),),
            more={"note": KEY},
        ),
        Message("tool", f"/home/ana/.ssh {KEY}", name="bash", tool_call_id="c1", is_error=True),
        title=f"about {KEY}",
        folder=f"/home/ana/{KEY}",
        git_branch=KEY,
        tool_version=KEY,
        native_id=KEY,
    )
    found.raw += [f"no JSON {KEY}", f'{{"cut": "{KEY}', f"two\nlines {KEY}", "x" * 1000]
    found.records.count_unknown(f"kind {KEY}")
    session = importing(store, found).session
    assert session is not None and session.redacted["anthropic-key"] >= 10
    written = b"".join(files_of(store).values()).decode()
    assert KEY not in written and KEY[10:40] not in written
    assert "/home/ana" not in written and "ana.lopez" not in written
    for line in (store.folder(session.id) / RAW).read_text().splitlines():
        json.loads(line)
    messages = list(store.messages(session.id))
    assert [each.role for each in messages] == ["system", "user", "assistant", "tool"]
    assert messages[3].tool_call_id == "c1" and messages[3].is_error


def test_secrets_are_kept_on_request_and_removed_again(store: SessionStore) -> None:
    found = said(Message("user", f"my key is {KEY}"))
    kept = importing(store, found, keep_secrets=True).session
    assert kept is not None and kept.secrets_kept and kept.redacted and kept.revision == 1
    assert KEY in b"".join(files_of(store).values()).decode()
    removed = importing(store, found).session
    assert removed is not None and not removed.secrets_kept and removed.revision == 1
    assert KEY not in b"".join(files_of(store).values()).decode()


def test_a_title_that_cannot_be_scanned_is_not_written(store: SessionStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("convex_evals.sessions.secrets.scanner.find", fail)
    session = importing(store, said(Message("user", "the whole text"), title="the title")).session
    assert session is not None and session.title == "[NOT SCANNED: RuntimeError]"
    assert "the whole text" not in b"".join(files_of(store).values()).decode()


def test_nothing_that_nobody_said(store: SessionStore) -> None:
    assert importing(store, said(Message("system", "x"))).outcome is ImportOutcome.EMPTY
    assert not (store.root / SESSIONS).exists()


@pytest.mark.parametrize(
    ("how", "outcome"),
    [
        ({"since": "2026-11-02"}, ImportOutcome.NEW),
        ({"since": "2026-11-03"}, ImportOutcome.LEFT_OUT),
        ({"project": "shop"}, ImportOutcome.NEW),
        ({"project": "~/src/*"}, ImportOutcome.NEW),
        ({"project": "/home/ana/src/shop"}, ImportOutcome.NEW),
        ({"project": "bank"}, ImportOutcome.LEFT_OUT),
    ],
)
def test_conditions(store: SessionStore, how: dict[str, Any], outcome: ImportOutcome) -> None:
    found = said(Message("user", "a", time="2026-11-02T23:00:00.000Z"), folder="/home/ana/src/shop")
    assert importing(store, found, **how).outcome is outcome


def test_a_file_older_than_since_is_not_read(store: SessionStore, tmp_path: Path) -> None:
    file = tmp_path / "old"
    file.touch()
    os.utime(file, (1_600_000_000, 1_600_000_000))
    work = Import(store, HOME, list[str]().append, since="2026-11-02")
    assert list(work.files([FoundFile(Given(said(Message("user", "a"))), file)])) == []


def test_a_reader_that_fails_does_not_stop_the_others(store: SessionStore, problems: list[str]) -> None:
    class Failing(Given):
        def read(self, file: Path, problems: Problems) -> Iterator[Conversation]:
            yield from self.conversations
            raise ZeroDivisionError("division\nby zero")

    first, second = (said(Message("user", name), native_id=name) for name in ("first", "second"))
    work = Import(store, HOME, problems.append)
    file = store.root / "given"
    found = list(work.files([FoundFile(Failing(first), file), FoundFile(Given(second), file)]))
    assert [each.outcome for each in found] == [ImportOutcome.NEW, ImportOutcome.NEW]
    assert work.failed_files == [file]
    assert problems == [f"{file}: the reader of given failed (ZeroDivisionError: division); left out, please report it"]


def test_a_damaged_session_is_told_and_left(store: SessionStore, problems: list[str]) -> None:
    found = said(Message("user", "a"))
    importing(store, found)
    path = store.folder(found.session_id) / RECORD
    path.write_text("{}")
    assert importing(store, found, problems=problems).outcome is ImportOutcome.FAILED
    assert len(problems) == 1 and str(path) in problems[0] and path.read_text() == "{}"


def test_figures_that_no_session_can_have_keep_nothing_else_out(store: SessionStore, problems: list[str]) -> None:
    huge = said(Message("user", "a"), cost_usd=1e12)
    first, second = import_all(store, huge, said(Message("user", "b"), native_id="m"), problems=problems)
    assert (first.outcome, second.outcome) == (ImportOutcome.FAILED, ImportOutcome.NEW)
    assert len(problems) == 1 and "cost_usd: " in problems[0]


def test_nothing_is_written_through_a_link(store: SessionStore, problems: list[str], tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    store.root.mkdir()
    (store.root / SESSIONS).symlink_to(tmp_path / "elsewhere")
    assert importing(store, said(Message("user", "a")), problems=problems).outcome is ImportOutcome.FAILED
    assert list((tmp_path / "elsewhere").iterdir()) == [] and "link" in problems[0]


def test_a_subagent_names_its_parent(store: SessionStore) -> None:
    first, second = import_all(
        store, said(Message("user", "a")), said(Message("user", "b"), native_id="n/agent", parent="n")
    )
    assert first.session is not None and second.session is not None
    assert second.session.parent == first.session.id


@given(st.lists(st.text(st.characters(), max_size=30), min_size=1, max_size=5), st.text(st.characters(), max_size=20))
def test_any_text_is_written_and_read(tmp_path_factory: pytest.TempPathFactory, texts: list[str], title: str) -> None:
    store = SessionStore(tmp_path_factory.mktemp("any"))
    found = said(*(Message("user", text) for text in texts), title=title, folder=title, git_branch=title)
    session = importing(store, found).session
    assert session is not None and store.read(session.id) == session and store.is_complete(session)
    assert len(list(store.messages(session.id))) == len(texts)
    lines = (store.folder(session.id) / RAW).read_bytes().removesuffix(b"\n").split(b"\n")
    assert len(lines) == len(found.raw) and all(json.loads(line) is not None for line in lines)


def priced(*replies: tuple[str | None, int, float | None]) -> Conversation:
    return said(
        *(
            Message("assistant", "x", model=model, usage=Usage(input_tokens=tokens), cost_usd=cost)
            for model, tokens, cost in replies
        )
    )


def test_costs_are_recorded_or_estimated_and_marked() -> None:
    assert cost_of(said(Message("user", "a"))) == (None, False)
    assert cost_of(priced(("x", 5, 0.25), ("y", 5, 0.5))) == (0.75, False)
    assert cost_of(priced(("claude-sonnet-4-5", 1_000_000, None), ("y", 5, 0.5))) == (3.5, True)
    assert cost_of(priced(("anthropic/claude-sonnet-4-5", 1_000_000, None))) == (3.0, True)
    assert cost_of(priced(("claude-sonnet-4-5", 1000, None), ("nobody-knows", 5, None))) == (None, False)
    assert cost_of(said(Message("user", "a"), cost_usd=2.0)) == (2.0, False)


@pytest.mark.parametrize(
    ("folder", "shown"),
    [
        (None, None),
        ("/home/ana/work", "."),
        ("/home/ana/work/apps/shop", "apps/shop"),
        ("/home/ana/other", "~/other"),
        ("/home/ana", "~/."),
        ("/srv/app", "/srv/app"),
        ("C:\\src\\app", "C:\\src\\app"),
        ("", ""),
    ],
)
def test_folders_are_relative(folder: str | None, shown: str | None) -> None:
    assert shown_folder(folder, HOME / "work", HOME) == shown


def test_a_title_is_the_beginning_of_the_first_request() -> None:
    long = "write a function that " * 20
    title = first_words([Message("user", "<x>", injected=True), Message("user", long)])
    assert title is not None and long.startswith(title[:-1]) and len(title) <= 81 and title.endswith("…")
    assert first_words([Message("assistant", "hello")]) is None


# --- Which files are read.


def names(found: Iterator[FoundFile]) -> list[tuple[str, str]]:
    return [(each.reader.name, each.file.name) for each in found]


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    """Of each agent, a file of Aider's under its own name."""
    found = tmp_path / "samples"
    shutil.copytree(Path(__file__).parent / "samples", found)
    (found / "aider" / "history.md").rename(found / "aider" / ".aider.chat.history.md")
    return found


def test_files_say_whose_they_are(samples: Path, tmp_path: Path) -> None:
    found = names(choose([samples], None, tmp_path))
    assert {name for name, _ in found} == set(NAMES)
    for agent in NAMES:
        by_name = {file for _, file in names(choose([samples / agent], agent, tmp_path))}
        assert by_name and by_name <= {file for name, file in found if name == agent}, agent
        for file in (samples / agent).rglob("*"):
            if file.name in by_name and file.is_file():
                assert names(choose([file], None, tmp_path)) == [(agent, file.name)]


def test_a_file_of_nobody_needs_a_name(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text('{"hello": 1}')
    with pytest.raises(UserError, match="name the agent with --from"):
        list(choose([file], None, tmp_path))
    assert names(choose([file], "openai", tmp_path)) == [("openai", "x.json")]
    with pytest.raises(UserError, match="no such file or folder"):
        list(choose([tmp_path / "none"], None, tmp_path))


def test_what_agents_keep_at_home_is_found(tmp_path: Path) -> None:
    assert names(choose([], None, tmp_path)) == []
    place = tmp_path / ".claude" / "projects" / "-home-ana" / "3f1d2c4b-8a6e-4c1f-9b7d-5e2a1c0d4f6b.jsonl"
    write_chats(place, [chat("a")])
    assert names(choose([], None, tmp_path)) == [("claude-code", place.name)]
    assert names(choose([], "codex", tmp_path)) == []
    with pytest.raises(UserError, match="name a file or a folder"):
        list(choose([], "openai", tmp_path))


@pytest.mark.parametrize("name", ["auth.json", ".credentials.json", "oauth_creds.json", "settings.json", "my-key.json"])
def test_credentials_are_not_opened(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write_chats(tmp_path / "chats.jsonl", [chat("a")])
    write_chats(tmp_path / name, [chat("a")])
    opened: list[str] = []
    real = Path.open

    def open_(path: Path, *arguments: Any, **options: Any) -> Any:
        opened.append(path.name)
        return real(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", open_)
    found = list(choose([tmp_path], None, tmp_path))
    assert [each.file.name for each in found] == ["chats.jsonl"]
    assert name not in opened


def test_all_sources_bear_their_names() -> None:
    assert [find_reader(name).name for name in NAMES] == list(NAMES)


def test_sessions_of_all_samples_are_imported(store: SessionStore, samples: Path) -> None:
    """Each agent's samples, from file to session: records are counted in and out."""
    work = Import(store, HOME, list[str]().append)
    found = list(work.files(list(choose([samples], None, HOME))))
    sessions: list[Session] = [each.session for each in found if each.session is not None]
    assert {each.tool for each in sessions} == set(NAMES)
    for session in sessions:
        lines = (store.folder(session.id) / RAW).read_bytes().count(b"\n")
        assert sum(session.records.values()) == lines, session.native_id
        assert sum(session.unknown.values()) == session.records.get("unknown", 0)
    assert work.failed_files == []
    again = list(work.files(list(choose([samples], None, HOME))))
    assert {each.outcome for each in again} <= {ImportOutcome.UNCHANGED, ImportOutcome.EMPTY}
