"""Droid's sessions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from convex_evals.sessions import lines
from convex_evals.sessions.conversation import DETAIL, MESSAGE, OTHER_BRANCH, REPEATED, UNREADABLE, Conversation
from convex_evals.sessions.message import ASSISTANT, SYSTEM, TOOL, USER
from convex_evals.sessions.readers.droid import READER
from tests.sessions import claude_files
from tests.sessions.claude_files import (
    MESSAGES,
    SAMPLES,
    Data,
    any_records,
    call,
    check,
    names,
    shape,
    text,
    written,
)

PROJECT = SAMPLES / "droid" / "-home-ana-shop"
MAIN, WORKER = "7d3c1a90-5b6e-4f2a-8c1d-9e0f1a2b3c4d", "a2b4c6d8-0000-4111-8222-333344445555"
START = {"type": "session_start", "id": "d0", "title": "hi", "version": 2, "cwd": "/home/ana/shop"}
FORK = "e5f6a7b8-1111-4222-8333-555566667777"


def read(file: Path, *expected: str) -> Conversation:
    (found,) = claude_files.read(file, *expected, reader=READER)
    return found


def read_one(folder: Path, *records: Any) -> Conversation:
    return read(written(folder / "d0.jsonl", START, *records))


def said(id: str, role: str, content: Any, parent: str | None = None, **more: Any) -> Data:
    times = {"timestamp": "2026-05-01T08:00:00.000Z", **({"parentId": parent} if parent else {})}
    return {"type": "message", "id": id, **times, "message": {"role": role, "content": content, **more}}


def user(id: str, content: Any, parent: str | None = None, **more: Any) -> Data:
    return said(id, USER, content, parent, **more)


def reply(id: str, content: Any, parent: str | None = None, **more: Any) -> Data:
    blocks = [text(content)] if isinstance(content, str) else content
    return said(id, ASSISTANT, blocks, parent, **{"modelId": "gpt-5.1", **more})


def results(id: str, parent: str, **contents: Any) -> Data:
    blocks = [{"type": "tool_result", "tool_use_id": key, "content": value} for key, value in contents.items()]
    return user(id, blocks, parent)


@pytest.fixture(scope="module")
def main() -> Conversation:
    return read(PROJECT / f"{MAIN}.jsonl")


def test_messages_are_in_order(main: Conversation) -> None:
    assert [(each.role, each.injected) for each in main.messages] == [
        *[(USER, True)] * 2,
        (USER, False),
        (ASSISTANT, False),
        (TOOL, False),
        (TOOL, False),
        (ASSISTANT, False),
        *[(USER, True)] * 3,
        (USER, False),
        (ASSISTANT, False),
    ]
    assert main.messages[2].text == "Why does the cart lose items?"
    assert main.messages[2].time == "2026-05-01T08:00:02.500Z"
    assert main.messages[-1].text == "Stored in localStorage."


def test_what_is_known_of_the_session(main: Conversation) -> None:
    assert (main.tool, main.native_id, main.parent) == ("droid", MAIN, None)
    assert (main.title, main.folder, main.branches) == ("Cart loses items", "/home/ana/shop", 0)
    assert main.tool_version is None  # 2 is the version of the format


def test_each_record_is_counted_once(main: Conversation) -> None:
    assert dict(main.records.fates) == {"message": 10, "detail": 4, "unknown": 1}
    assert dict(main.records.unknown) == {"new_kind": 1}
    assert main.raw == (PROJECT / f"{MAIN}.jsonl").read_text().splitlines()


def test_thinking_calls_and_results(main: Conversation) -> None:
    first, second = main.messages[3], main.messages[6]
    assert (first.content, first.thinking, first.model) == (
        *("I'll look.", "Read the reducer.", "claude-sonnet-4-5-20250929"),
    )
    assert (second.content, second.thinking, second.model) == (
        *("It is never stored.", "The array is new on each load.", "gpt-5.1"),
    )
    assert [(each.id, each.name, json.loads(each.arguments)) for each in first.tool_calls] == [
        ("call_1", "Read", {"file_path": "/home/ana/shop/cart.ts"}),
        ("call_2", "Execute", {"command": "npm test"}),
    ]
    found = [(each.tool_call_id, each.name, each.content, each.is_error) for each in main.messages[4:6]]
    assert found == [("call_1", "Read", "export const cart = []", False), ("call_2", "Execute", "1 failed", True)]


def test_a_worker_names_the_session_that_started_it() -> None:
    worker = read(PROJECT / f"{WORKER}.jsonl")
    assert (worker.native_id, worker.parent) == (WORKER, MAIN)
    assert shape(worker) == ["Look at the tests", "They are green."]


def test_an_edited_request_takes_the_place_of_the_first() -> None:
    file = PROJECT / f"{FORK}.jsonl"
    found = read(file, f"{file}:10: ")
    assert shape(found) == [
        *("Add a discount", "Of how much?", "As on this flyer: 15 %", "", "1 edit", "15 % it is."),
    ]
    assert (found.branches, found.parent, found.title) == (1, None, "Discounts")
    assert found.records.fates == {DETAIL: 1, MESSAGE: 6, OTHER_BRANCH: 2, UNREADABLE: 1}
    assert found.raw == file.read_text().split("\n")


def test_a_fork_was_started_by_none(tmp_path: Path) -> None:
    fork = {**START, "parent": "another", "forkedAtMessageId": "m1"}
    assert read(written(tmp_path / "d0.jsonl", fork, user("u", "hi"))).parent is None


def test_the_model_of_older_records_is_the_one_beside_the_session(tmp_path: Path) -> None:
    older = [user("u", "hi"), reply("a", "ho", modelId=None)]
    newer = [*older, reply("b", "ho", modelId="gpt-5.1")]
    settings_file = written(tmp_path / "d0.settings.json", {"model": "glm-4.6", "apiKey": "secret"})
    assert [each.model for each in read_one(tmp_path, *older).messages] == [None, "glm-4.6"]
    assert [each.model for each in read_one(tmp_path, *newer).messages] == [None, None, "gpt-5.1"]
    assert not any("secret" in line for line in read_one(tmp_path, *older).raw)
    for unreadable in ("{", "[]", '{"model": 7}', "x" * 2_000_000):
        written(settings_file, unreadable)
        assert [each.model for each in read_one(tmp_path, *older).messages] == [None, None]
    target = written(tmp_path / "elsewhere.json", {"model": "secret"})
    settings_file.unlink()
    settings_file.symlink_to(target)
    assert [each.model for each in read_one(tmp_path, *older).messages] == [None, None]


@pytest.mark.parametrize(
    ("more", "injected"),
    [
        ({}, False),
        ({"visibility": "both"}, False),
        ({"visibility": "llm_only"}, True),
        ({"visibility": "user_only"}, True),
        ({"userMessageSource": "automation"}, True),
        ({"hookEventName": "Stop"}, True),
    ],
)
def test_what_the_agent_wrote_is_told_from_what_the_person_did(
    tmp_path: Path, more: dict[str, Any], injected: bool
) -> None:
    (message,) = read_one(tmp_path, user("u", "look", **more)).messages
    assert (message.role, message.text, message.injected) == (USER, "look", injected)


def test_reminders_stand_apart_from_the_request(tmp_path: Path) -> None:
    reminder = text("<system-reminder>\ntoday\n</system-reminder>")
    found = read_one(tmp_path, user("u", [reminder, text("hi")]), user("v", "[Request interrupted by user]", "u"))
    assert shape(found) == ["(<system-reminder>\ntoday\n</system-reminder>)", "hi", "([Request interrupted by user])"]


def test_a_compaction_is_what_the_agent_wrote(tmp_path: Path) -> None:
    state = {"type": "compaction_state", "id": "c", "summaryText": "summary", "anchorMessage": {"id": "u", "index": 0}}
    found = read_one(tmp_path, user("u", "hi"), state, reply("a", "ho", "u"))
    assert shape(found) == ["hi", "(summary)", "ho"]
    assert read_one(tmp_path, {**state, "summaryText": None}).records.unknown == {"compaction_state without content": 1}


@pytest.mark.parametrize(
    ("records", "expected", "branches", "left"),
    [
        ([user("v", "1", "a"), reply("b", "2", "v"), user("w", "3", "a")], ["3"], 1, 2),
        ([user("v", "1", "a"), reply("b", "2", "v"), reply("c", "3", "v")], ["1", "3"], 1, 1),
        ([user("v", "1", "a"), user("w", "2", "a"), user("x", "3", "a")], ["3"], 2, 2),
        ([user("v", "1", "gone")], ["1"], 0, 0),
        ([user("v", "1")], ["1"], 0, 0),
        ([user("v", "1", "a", visibility="user_only"), user("w", "2", "a")], ["(1)", "2"], 0, 0),
    ],
    ids=["edited", "again", "twice", "gone", "no parent", "notice beside"],
)
def test_paths_that_were_given_up(
    tmp_path: Path, records: list[Data], expected: list[str], branches: int, left: int
) -> None:
    found = read_one(tmp_path, user("u", "hi"), reply("a", "ho", "u"), *records)
    assert shape(found) == ["hi", "ho", *expected]
    assert (found.branches, found.records.fates[OTHER_BRANCH]) == (branches, left)


def test_records_without_ids_are_all_of_the_conversation(tmp_path: Path) -> None:
    records = [user("u", "1"), reply("a", "2"), user("v", "3")]
    found = read_one(tmp_path, *({key: value for key, value in each.items() if key != "id"} for each in records))
    assert shape(found) == ["1", "2", "3"]


def test_calls_made_at_once_and_their_results(tmp_path: Path) -> None:
    calls = reply("a", [call("c"), call("d")], "u")
    together = [results("r", "a", c="one", d="two"), reply("e", "end", "r")]
    apart = [results("r", "a", c="one"), results("s", "r", d="two"), reply("e", "end", "s")]
    forked = [results("r", "a", c="one"), results("s", "a", d="two"), reply("e", "end", "s")]
    for records in (together, apart, forked):
        found = read_one(tmp_path, user("u", "hi"), calls, *records)
        assert shape(found) == ["hi", "", "one", "two", "end"]
        assert [each.tool_call_id for each in found.messages if each.role == TOOL] == ["c", "d"]
        assert (found.branches, found.records.fates) == (0, {DETAIL: 1, MESSAGE: 2 + len(records)})


def test_a_record_that_is_there_twice_is_one(tmp_path: Path) -> None:
    found = read_one(tmp_path, user("u", "hi"), reply("a", "ho", "u"), user("u", "hi"))
    assert (shape(found), found.records.fates) == (["hi", "ho"], {DETAIL: 1, MESSAGE: 2, REPEATED: 1})


def test_each_kind_of_block(tmp_path: Path) -> None:
    document = {"type": "base64", "media_type": "application/pdf", "data": "", "parsed_data": "words", "name": "a.pdf"}
    image = {"type": "base64", "media_type": "image/png", "data": "AA=="}
    blocks = [
        text("answer"),
        {"type": "thinking", "thinking": "reasoning", "signature": "x"},
        {"type": "redacted_thinking", "data": "x"},
        call("c"),
        {"type": "tool_result", "tool_use_id": "c", "content": [text("output")]},
        {"type": "image", "source": image},
        {"type": "document", "source": document},
        {"type": "document", "source": {**document, "data": "AA=="}},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "plain"}},
    ]
    found = read_one(tmp_path, reply("a", blocks))
    message, result = found.messages
    url = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    pdf = {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AA=="}}
    assert message.content == [text("answer"), url, text("words"), pdf, text("plain")]
    assert (message.thinking, [each.id for each in message.tool_calls]) == ("reasoning", ["c"])
    assert (result.role, result.content, result.tool_call_id) == (TOOL, "output", "c")


def test_a_message_of_the_system(tmp_path: Path) -> None:
    (message,) = read_one(tmp_path, said("s", SYSTEM, "Be careful.")).messages
    assert (message.role, message.content) == (SYSTEM, "Be careful.")


def test_unknown_records_and_blocks_are_named_and_kept(tmp_path: Path) -> None:
    records = [said("m", "future", "x"), {"type": "moon"}, [], user("u", None), reply("a", [{"type": "hologram"}, 7])]
    file = written(tmp_path / "d0.jsonl", START, *records)
    kinds = ("'hologram'", "'int'")
    found = read(file, *(f"{file}:6: a block of unknown kind {kind}; kept as it is" for kind in kinds))
    unknown = {"(no object)": 1, "message of role future": 1, "moon": 1, "message without content": 1}
    assert dict(found.records.unknown) == unknown
    assert found.records.fates == {DETAIL: 1, "unknown": 4, MESSAGE: 1}
    assert found.messages[0].content == [{"type": "hologram"}, text("7")]
    assert [json.loads(each) for each in found.raw] == [START, *records]


@pytest.mark.parametrize(
    ("line", "told", "kept"),
    [
        (b'{"type":"mess', "Unterminated string", '{"type":"mess'),
        (b"broken", "Expecting value", "broken"),
        (b'{"a":"\xff"}', "utf-8", '{"a":"�"}'),
        (b'{"a":"\x00"}', "Invalid control character", '{"a":"\x00"}'),
        (b'"' + b"x" * 3000 + b'"', "longer than 3,000 bytes; left out", ""),
    ],
    ids=["torn", "text", "utf-8", "nul", "long"],
)
def test_lines_that_cannot_be_read_are_told_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: bytes, told: str, kept: str
) -> None:
    monkeypatch.setattr(lines, "LONGEST_LINE", 3000)
    file = tmp_path / "d0.jsonl"
    before, after = (json.dumps(each) for each in (user("u", "hi"), reply("a", "ho", "u")))
    file.write_bytes(b"\n".join((before.encode(), line, after.encode())))
    problems: list[str] = []
    (found,) = READER.read(file, problems.append)
    check([found])
    assert len(problems) == 1 and problems[0].startswith(f"{file}:2: ") and told in problems[0]
    assert (shape(found), found.raw) == (["hi", "ho"], [before, kept, after])
    assert found.records.fates == {MESSAGE: 2, UNREADABLE: 1}


def test_a_session_without_a_start_is_named_by_its_file(tmp_path: Path) -> None:
    found = read(written(tmp_path / "s7.jsonl", user("u", "hi")))
    assert (found.native_id, found.title, found.folder) == ("s7", None, None)


def test_a_file_without_records_holds_no_conversation(tmp_path: Path) -> None:
    file = written(tmp_path / "d0.jsonl", "", " ")
    assert claude_files.read(file, reader=READER) == []
    assert claude_files.read(tmp_path / "gone.jsonl", "cannot be read: No such file", reader=READER) == []


def test_only_conversations_are_files(tmp_path: Path) -> None:
    home = tmp_path / ".factory"
    project = home / "sessions" / "-home-ana"
    file = written(project / "d0.jsonl", START)
    older, aside = (
        written(home / "sessions" / "d1.jsonl", START),
        written(home / "sessions" / "btw" / "d2.jsonl", START),
    )
    for name in ("settings.json", "auth.json", "history.json", "logs/droid.jsonl", "config.jsonl"):
        written(home / name, {"secret": "do not read"})
    written(project / "d0.settings.json", {"model": "glm-4.6"})
    (project / "linked.jsonl").symlink_to(written(tmp_path / "away" / "secret.jsonl", START))
    (project / "folder").symlink_to(tmp_path / "away")
    assert list(READER.files(home)) == list(READER.files(home / "sessions")) == [older, file, aside]
    assert list(READER.files(file)) == [file]
    assert READER.places(tmp_path) == (home / "sessions",)


RECORDS = any_records(
    ["session_start", "message", "compaction_state", "todo_state", "new"],
    id=names(),
    parentId=names(),
    summaryText=names(),
    callingSessionId=names(),
    title=names(),
    cwd=names(),
)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(RECORDS)
@example([json.dumps(user("a", "x", "b")), json.dumps(user("b", "y", "a"))])
def test_any_records_are_all_kept_and_counted(tmp_path: Path, records: list[str]) -> None:
    file = written(tmp_path / "d0.jsonl", *records)
    problems: list[str] = []
    found = list(READER.read(file, problems.append))
    check(found)
    assert [line for each in found for line in each.raw] == records
    assert all(line.startswith(f"{file}:") and "\n" not in line for line in problems)
    assert bool(records) == bool(found)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(MESSAGES, min_size=1, max_size=6))
def test_any_messages_are_all_kept_and_counted(tmp_path: Path, messages: list[Data]) -> None:
    records = [{"type": "message", "id": str(number), "message": each} for number, each in enumerate(messages)]
    (found,) = READER.read(written(tmp_path / "d0.jsonl", *records), lambda line: None)
    check([found])
    assert len(found.raw) == len(messages)
