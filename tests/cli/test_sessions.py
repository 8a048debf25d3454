"""`cli sessions`"""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from convex_evals.cli import invocation, options
from convex_evals.cli.commands.sessions import exporting, importing
from convex_evals.records import ComparisonMethod
from convex_evals.records.session import SessionStatus
from convex_evals.sessions.exports import EXPORTS
from convex_evals.sessions.readers.registry import NAMES
from tests.conftest import Invoke, Result
from tests.sessions.chats import chat, write_chats

KEY = "sk-ant-" + "api03-" + "q7Rf2LxT9vKw4ZbN8mJc1HdS6gPy3EaU" * 2


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = tmp_path / "home"
    found.mkdir()
    monkeypatch.setenv("HOME", str(found))
    return found


@pytest.fixture
def repository(tmp_path: Path, home: Path, invoke: Invoke) -> Path:
    """Three sessions, of which one is golden and one ready."""
    found = tmp_path / "repository"
    (found / ".git").mkdir(parents=True)
    chats = [
        chat("How do I write a cron?", "With cronJobs.", id="cron", title="Crons", model="gpt-5"),
        chat("Store a file", "storage.store(bytes)", "As a Blob!", "storage.store(blob)", id="store"),
        chat(f"My key is {KEY}", "Keep it.", id="key"),
    ]
    write_chats(tmp_path / "chats.jsonl", chats)
    assert invoke("sessions", "import", tmp_path / "chats.jsonl", cwd=found).status == 0
    ids = session_ids(found)
    invoke("sessions", "label", ids["Crons"], "--status", "golden", "--ready", "--tag", "crons", cwd=found)
    invoke("sessions", "mark", ids["Store a file"], cwd=found)
    return found


def session_ids(repository: Path) -> dict[str, str]:
    """By title."""
    records = map(json.loads, (path.read_text() for path in repository.glob("sessions/*/*/session.json")))
    return {each["title"]: each["id"] for each in records}


def label_of(repository: Path, session_id: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((repository / "labels" / session_id[:2] / f"{session_id}.yaml").read_text())
    return found


def listed(invoke: Invoke, repository: Path, *options: str) -> list[dict[str, Any]]:
    result = invoke("sessions", "list", "--json", *options, cwd=repository)
    assert result.status == 0, result.err
    found: list[dict[str, Any]] = json.loads(result.out)
    return found


def refused(result: Result, *words: str) -> None:
    assert result.status in (1, 2) and result.out == "", result
    assert all(word in result.err for word in words) and "Traceback" not in result.err, result.err


def test_words_of_options_are_those_of_the_code() -> None:
    """They are written twice so that help is fast."""
    assert importing.AGENTS == NAMES
    assert tuple(EXPORTS) == exporting.FORMATS
    assert tuple(SessionStatus) == options.STATUSES
    assert tuple(ComparisonMethod) == invocation.METHODS


# --- import


def test_an_import_says_what_it_did(tmp_path: Path, home: Path, invoke: Invoke) -> None:
    file = write_chats(tmp_path / "chats.jsonl", [chat(f"Use {KEY}", "ok"), {"hello": 1}])
    result = invoke("sessions", "import", file)
    assert result.status == 0, result.err
    assert "Sessions: 1 new, 1 without a message." in result.out
    assert "Removed: " in result.out and "anthropic-key" in result.out
    assert f"Written to {tmp_path / 'sessions'}" in result.out
    assert KEY not in result.out + result.err
    assert "Sessions: 1 unchanged, 1 without a message." in invoke("sessions", "import", file).out


def test_a_dry_import_says_so(tmp_path: Path, home: Path, invoke: Invoke) -> None:
    result = invoke("sessions", "import", "--dry-run", write_chats(tmp_path / "c.jsonl", [chat("a", "b")]))
    assert "Sessions: 1 would be new." in result.out and "Written" not in result.out
    assert not (tmp_path / "sessions").exists()


def test_an_import_for_machines(tmp_path: Path, home: Path, invoke: Invoke) -> None:
    file = write_chats(tmp_path / "chats.jsonl", [chat("a", "b")])
    with file.open("a") as stream:
        stream.write("{broken\n")
    found = json.loads(invoke("sessions", "import", file, "--json").out)
    assert [each["outcome"] for each in found["sessions"]] == ["new", "empty"]
    assert found["sessions"][0]["file"] == str(file) and found["sessions"][0]["session"]["messages"] == 2
    assert len(found["problems"]) == 1 and found["problems"][0].startswith(f"{file}:2: ")


def test_conversations_of_this_machine_are_found(tmp_path: Path, home: Path, invoke: Invoke) -> None:
    assert "No conversations of coding agents on this machine." in invoke("sessions", "import").out
    sample = Path(__file__).parents[1] / "sessions" / "samples" / "claude-code"
    place = home / ".claude" / "projects" / "-home-ana-shop"
    place.mkdir(parents=True)
    for file in sample.glob("*/*.jsonl"):
        (place / file.name).write_bytes(file.read_bytes())
    result = invoke("sessions", "import")
    assert result.status == 0 and "claude-code" in result.out, result.err
    assert {each["tool"] for each in listed(invoke, tmp_path)} == {"claude-code"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none.jsonl"], ["none.jsonl: no such file or folder"]),
        (["--from", "chatgpt"], ["'chatgpt' is not one of", "claude-code"]),
        (["--from", "openai"], ["name a file or a folder"]),
        (["--since", "yesterday"], ["not a day like 2026-11-01"]),
        (["--keep-secrets"], ["needs a terminal"]),
        (["strange.txt"], ["strange.txt", "name the agent with --from"]),
    ],
)
def test_mistakes_of_an_import(
    tmp_path: Path, home: Path, invoke: Invoke, arguments: list[str], words: list[str]
) -> None:
    (tmp_path / "strange.txt").write_text("hello")
    refused(invoke("sessions", "import", *arguments), *words)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_told(tmp_path: Path, home: Path, invoke: Invoke) -> None:
    file = write_chats(tmp_path / "chats.jsonl", [chat("a")])
    file.chmod(0)
    result = invoke("sessions", "import", "--from", "openai", file)
    assert result.status == 1 and "Permission denied" in result.err


# --- list and show


def test_sessions_are_listed(repository: Path, invoke: Invoke) -> None:
    result = invoke("sessions", "list", cwd=repository)
    assert result.status == 0 and "golden" in result.out and "Crons" in result.out
    assert [each["title"] for each in listed(invoke, repository, "--status", "golden")] == ["Crons"]
    assert [each["title"] for each in listed(invoke, repository, "--search", "BLOB")] == ["Store a file"]
    assert len(listed(invoke, repository, "--eval-ready")) == 2
    assert len(listed(invoke, repository, "--not-ready")) == 1
    assert len(listed(invoke, repository, "--limit", "2")) == 2
    assert "1 more session; --limit 3 lists all." in invoke("sessions", "list", "--limit", "2", cwd=repository).out
    assert "No such session" in invoke("sessions", "list", "--tag", "none", cwd=repository).out


def test_no_sessions_yet(tmp_path: Path, invoke: Invoke) -> None:
    assert "`cli sessions import`" in invoke("sessions", "list").out
    assert listed(invoke, tmp_path) == []


def test_a_session_is_shown(repository: Path, invoke: Invoke) -> None:
    session_id = session_ids(repository)["Crons"]
    result = invoke("sessions", "show", session_id[:6], cwd=repository)
    assert result.status == 0, result.err
    for words in ("Crons", "gpt-5", "golden", "User:\n  How do I write a cron?", "Assistant:\n  With cronJobs."):
        assert words in result.out
    data = json.loads(invoke("sessions", "show", session_id, "--json", cwd=repository).out)
    assert data["id"] == session_id and data["label"]["evalStatus"] == "golden"
    assert [each["role"] for each in data["conversation"]] == ["user", "assistant"]


def test_a_session_is_a_table_of_messages_elsewhere(repository: Path, invoke: Invoke) -> None:
    session_id = session_ids(repository)["Crons"]
    head, *rows = csv.reader(io.StringIO(invoke("sessions", "show", session_id, "--format", "csv", cwd=repository).out))
    assert head == ["number", "role", "time", "tools", "text"]
    assert [(row[0], row[1], row[4]) for row in rows] == [
        ("1", "user", "How do I write a cron?"),
        ("2", "assistant", "With cronJobs."),
    ]
    markdown = invoke("sessions", "show", session_id, "--format", "markdown", cwd=repository).out
    assert "| --- |" in markdown and "With cronJobs." in markdown


def test_a_hostile_session_steers_no_terminal(tmp_path: Path, home: Path, invoke: Invoke) -> None:
    text = "\x1b[2J::error::x\n::set-output name=a::b\n\u202egnp.exe"
    write_chats(tmp_path / "c.jsonl", [chat(text, text, title=text)])
    outputs = [invoke("sessions", "import", tmp_path / "c.jsonl")]
    session_id = listed(invoke, tmp_path)[0]["id"]
    outputs += [
        invoke("sessions", "list"),
        invoke("sessions", "show", session_id),
        invoke("sessions", "show", session_id, "--full"),
        invoke("sessions", "mark", session_id),
    ]
    for result in outputs:
        assert result.status == 0
        for line in (result.out + result.err).split("\n"):
            assert "\x1b" not in line and "\u202e" not in line and not line.lstrip().startswith("::")


# --- mark and label


def test_labels_are_files(repository: Path, invoke: Invoke) -> None:
    session_id = session_ids(repository)["Crons"]
    label = label_of(repository, session_id)
    assert label.pop("reviewedAt") > 1_700_000_000_000
    assert label == {"evalReady": True, "evalStatus": "golden", "evalTags": ["crons"]}


def test_all_fields_of_a_label(repository: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    session_id = session_ids(repository)["Store a file"]
    reply = repository / "reply.md"
    reply.write_text("Use a Blob.\nLike this.\n")
    options = ["--status", "incorrect", "--tag", "b", "--tag", "a", "--notes", "Bytes.", "--expected", str(reply)]
    result = invoke("sessions", "label", session_id, *options, cwd=repository)
    assert "1 label changed." in result.out and "evalStatus: needs_review -> incorrect" in result.out
    label = label_of(repository, session_id)
    assert label["evalTags"] == ["a", "b"] and label["evalNotes"] == "Bytes."
    assert label["expectedOutput"] == "Use a Blob.\nLike this.\n"
    reviewed = label["reviewedAt"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"Anders.")))
    invoke("sessions", "label", session_id, "--untag", "a", "--notes", "", "--expected", "-", cwd=repository)
    label = label_of(repository, session_id)
    assert label["evalTags"] == ["b"] and "evalNotes" not in label and label["expectedOutput"] == "Anders."
    assert label["reviewedAt"] == reviewed
    invoke("sessions", "label", session_id, "--no-expected", "--not-ready", cwd=repository)
    assert "expectedOutput" not in label_of(repository, session_id)
    assert label_of(repository, session_id)["evalReady"] is False


def test_many_labels_are_shown_before_they_are_changed(repository: Path, invoke: Invoke) -> None:
    command = ["sessions", "label", "--of-status", "needs_review", "--status", "correct"]
    preview = invoke(*command, cwd=repository)
    assert "2 labels would be changed; --yes changes them." in preview.out and "Store a file" in preview.out
    assert len(listed(invoke, repository, "--status", "correct")) == 0
    assert "2 labels changed." in invoke(*command, "--yes", cwd=repository).out
    assert len(listed(invoke, repository, "--status", "correct")) == 2
    again = invoke("sessions", "label", "--of-status", "correct", "--status", "correct", "--yes", cwd=repository)
    assert "0 labels changed; 2 are like this already." in again.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["label", "--status", "golden"], ["choose sessions by ID, or by conditions"]),
        (["label", "ID", "--of-tag", "x", "--status", "golden"], ["choose sessions by ID, or by conditions"]),
        (["label", "ID"], ["say what to change"]),
        (["label", "ID", "--status", "good"], ["'good' is not one of", "golden"]),
        (["label", "ID", "--tag", "a\nb"], ["is not a tag"]),
        (["label", "ID", "--expected", "none.md"], ["none.md: no such file"]),
        (["label", "ID", "--expected", "."], ["is a folder"]),
        (["label", "ID", "--expected", "x", "--no-expected"], ["give only one of them"]),
        (["label", "ID", "--notes", "x" * 300_000], ["make its texts shorter"]),
        (["label", "../../etc", "--notes", "x"], ["not the id of a session"]),
        (["mark", "0123"], ["no session 0123"]),
        (["mark"], ["Missing argument"]),
        (["show", "0123"], ["no session 0123"]),
        (["export"], ["Missing option '--format'"]),
        (["export", "--format", "xml"], ["'xml' is not one of"]),
        (["export", "--format", "hf"], ["-o sessions.parquet"]),
        (["export", "ID", "--format", "text", "--all"], ["give only one of them"]),
        (["export", "--format", "text", "--all", "--eval-ready"], ["give only one of them"]),
        (["export", "--format", "text", "-o", "none/x/y.txt"], ["cannot write"]),
    ],
)
def test_mistakes(repository: Path, invoke: Invoke, arguments: list[str], words: list[str]) -> None:
    (repository / "none").write_text("a file in the way")
    session_id = session_ids(repository)["Crons"]
    before = label_of(repository, session_id)
    given = [session_id if each == "ID" else each for each in arguments]
    refused(invoke("sessions", *given, cwd=repository), *words)
    assert label_of(repository, session_id) == before


# --- check


def test_sessions_in_order(repository: Path, invoke: Invoke) -> None:
    result = invoke("sessions", "check", cwd=repository)
    assert (result.status, result.out) == (0, "3 sessions and their labels are in order.\n")


def test_what_is_not_in_order(repository: Path, invoke: Invoke) -> None:
    crons, store = (session_ids(repository)[title] for title in ("Crons", "Store a file"))
    path = repository / "labels" / crons[:2] / f"{crons}.yaml"
    path.write_text("evalReady: true\nevalReady: false\n")
    other = repository / "labels" / store[:2] / f"{store}.yaml"
    other.write_text("evalStatus: splendid\n")
    stray = repository / "labels" / "00" / f"{'0' * 20}.yaml"
    stray.parent.mkdir()
    stray.write_text("evalReady: true\n")
    (stray.parent / "notes.txt").write_text("")
    messages = repository / "sessions" / store[:2] / store / "messages.jsonl"
    messages.write_text(messages.read_text().replace("Blob", "blob"))
    result = invoke("sessions", "check", "--json", cwd=repository)
    assert result.status == 1
    found = [each["problem"] for each in json.loads(result.out)]
    expected = {
        f"{path}:2:1: ": "'evalReady' is there twice",
        f"{other}:1: ": "evalStatus: input should be 'golden'",
        f"{stray}: ": "label of a session that is not there",
        f"{stray.parent / 'notes.txt'}: ": "not the name of a label",
        f"{messages.parent}: ": "import the session again",
    }
    assert len(found) == len(expected), found
    for where, what in expected.items():
        assert any(each.startswith(where) and what in each for each in found), (where, found)


def test_a_session_that_is_there_twice(repository: Path, tmp_path: Path, invoke: Invoke) -> None:
    write_chats(tmp_path / "again.jsonl", [chat("How do I write a cron?", "With cronJobs.", id="x", model="gpt-5")])
    invoke("sessions", "import", tmp_path / "again.jsonl", cwd=repository)
    result = invoke("sessions", "check", cwd=repository)
    assert result.status == 1 and "have the same messages" in result.out


# --- export


def test_ready_sessions_are_exported(repository: Path, invoke: Invoke) -> None:
    result = invoke("sessions", "export", "--format", "deepeval", cwd=repository)
    assert result.status == 0 and len(json.loads(result.out)) == 3
    one = json.loads(invoke("sessions", "export", "--format", "deepeval", "--status", "golden", cwd=repository).out)
    assert [each["input"] for each in one] == ["How do I write a cron?"]
    every = invoke("sessions", "export", "--format", "openai", "--all", cwd=repository).out
    assert every.count("\n") == 3 and KEY not in every
    named = invoke("sessions", "export", session_ids(repository)["Crons"][:6], "--format", "text", cwd=repository)
    assert named.out.startswith("## Session: Crons\n")


def test_an_export_into_a_file(repository: Path, invoke: Invoke) -> None:
    file = repository / "new" / "golden.jsonl"
    result = invoke("sessions", "export", "--format", "openai", "--limit", "1", "-o", file, cwd=repository)
    assert (result.status, result.out) == (0, "") and "1 session written to" in result.err
    assert len(file.read_text().splitlines()) == 1
    before = file.read_bytes()
    messages = next(repository.glob("sessions/*/*/messages.jsonl")).parents[2]
    for each in messages.glob("*/*/messages.jsonl"):
        each.write_text("broken\n")
    refused(invoke("sessions", "export", "--format", "openai", "-o", file, cwd=repository), "not a message")
    assert file.read_bytes() == before and [each.name for each in file.parent.iterdir()] == [file.name]


def test_an_empty_export_says_why(repository: Path, invoke: Invoke) -> None:
    result = invoke("sessions", "export", "--format", "deepeval", "--tag", "none", cwd=repository)
    assert (result.status, result.out) == (0, "[]\n") and "--all exports all" in result.err
