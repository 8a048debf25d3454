"""Sessions of GitHub Copilot CLI, as it keeps them and as it prints them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from convex_evals.records.generation import Usage
from convex_evals.sessions.conversation import Conversation, session_id
from convex_evals.sessions.message import ASSISTANT, SYSTEM, TOOL, USER, Message
from convex_evals.sessions.readers.copilot import READER

SAMPLES = Path(__file__).parent / "samples" / "copilot"
SESSION = "0cb916db-26aa-40f2-86b5-1ba81b225fd2"
EVENTS = SAMPLES / "session-state" / SESSION / "events.jsonl"
Data = dict[str, Any]


def read(file: Path, *expected: str) -> list[Conversation]:
    """What the file holds, all of its records being accounted for, and `expected` standing in the problems."""
    problems: list[str] = []
    found = list(READER.read(file, lambda line: problems.append(line)))
    assert len(problems) == len(expected), problems
    for part, line in zip(expected, problems, strict=True):
        assert part in line and line.startswith(f"{file}:") and "\n" not in line
    for conversation in found:
        assert conversation.records.read == len(conversation.raw)
        json.dumps([message.to_data() for message in conversation.messages], ensure_ascii=False).encode()
    lines = [line for line in file.read_text().split("\n") if line.strip()]
    assert sorted(record for each in found for record in each.raw) == sorted(lines)
    return found


def event(kind: str, data: Any = None, **more: Any) -> Data:
    return {"type": kind, "data": {} if data is None else data, "timestamp": "2026-05-06T08:41:00.000Z", **more}


def one(folder: Path, *events: Any, told: tuple[str, ...] = ()) -> Conversation:
    """The only conversation of `events`."""
    file = folder / "S-1.jsonl"
    file.write_text("".join(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in events))
    (found,) = read(file, *told)
    return found


@pytest.fixture(scope="module")
def session() -> list[Conversation]:
    return read(EVENTS, ":29: ")


def test_a_session_is_read_in_order(session: list[Conversation]) -> None:
    assert [(each.role, each.injected) for each in session[0].messages] == [
        *((SYSTEM, False), (USER, False), (ASSISTANT, False), (TOOL, False), (TOOL, False)),
        *((ASSISTANT, False), (TOOL, False), (USER, True), (ASSISTANT, False), (USER, True)),
    ]
    assert session[0].messages[1].time == "2026-05-06T08:41:03.000Z"
    assert session[0].records.unknown == {"session.daydream": 1}
    assert session[0].records.fates == {"message": 11, "detail": 9, "repeated": 5, "unknown": 1, "unreadable": 1}


def test_what_is_known_of_the_session(session: list[Conversation]) -> None:
    main = session[0]
    assert (main.tool, main.native_id, main.parent) == ("copilot", SESSION, None)
    assert (main.title, main.tool_version) == ("Index the orders", "1.0.41")
    assert (main.folder, main.git_branch) == ("/home/ana/shop", "main")
    assert main.started_at == "2026-05-06T08:41:00.000Z"


def test_requests_have_what_was_attached_and_not_what_was_added(session: list[Conversation]) -> None:
    content = session[0].messages[1].content
    assert isinstance(content, list)
    assert [part["type"] for part in content] == ["text", "file", "file", "text", "image_url"]
    assert content[0]["text"] == "Add an index to orders."
    assert content[1]["file"] == {"filename": "convex/schema.ts"}


def test_a_reply_has_its_thinking_calls_and_results(session: list[Conversation]) -> None:
    reply, *results = session[0].messages[2:5]
    assert (reply.text, reply.thinking) == ("Reading the schema.", "I need the schema.")
    assert [(call.id, call.name) for call in reply.tool_calls] == [("tc1", "view"), ("tc2", "apply_patch")]
    assert json.loads(reply.tool_calls[0].arguments) == {"path": "convex/schema.ts"}
    assert reply.tool_calls[1].arguments == "*** Begin Patch"
    assert [(each.tool_call_id, each.name, each.text, each.is_error) for each in results] == [
        ("tc1", "view", "orders: defineTable", False),
        ("tc2", "apply_patch", "The patch does not apply", True),
    ]
    assert reply.usage == Usage(output_tokens=51)
    models = [each.model for each in session[0].messages if each.role == ASSISTANT]
    assert models == ["gpt-5.2", "claude-sonnet-4.5", "claude-sonnet-4.5"]


def test_a_sub_agent_is_a_conversation_after_its_session(session: list[Conversation]) -> None:
    main, agent = session
    assert (agent.native_id, agent.parent) == (f"{SESSION}/agent-7", SESSION)
    assert [(each.role, each.text, each.injected) for each in agent.messages] == [
        *((USER, "Find uses", False), (ASSISTANT, "Two uses.", False)),
    ]
    assert [each.subagent for each in main.messages if each.subagent] == [session_id("copilot", agent.native_id)]


def test_a_sub_agent_of_older_versions_is_named_by_its_call(tmp_path: Path) -> None:
    file = tmp_path / "S-1.jsonl"
    events = [
        event(
            "assistant.message",
            {"messageId": "m", "content": "", "toolRequests": [{"toolCallId": "t", "name": "task"}]},
        ),
        event("subagent.started", {"toolCallId": "t"}),
        event("assistant.message", {"messageId": "n", "content": "Done", "parentToolCallId": "t"}),
        event("tool.execution_complete", {"toolCallId": "t", "success": True, "result": "Done"}),
    ]
    file.write_text("".join(json.dumps(each) + "\n" for each in events))
    main, agent = read(file)
    assert (main.native_id, agent.native_id, agent.parent) == ("S-1", "S-1/t", "S-1")
    assert main.messages[1].subagent == agent.session_id


def test_what_copilot_prints() -> None:
    (found,) = read(SAMPLES / "stream.jsonl")
    assert (found.native_id, found.title) == ("S-2", "A greeting")
    assert [(each.role, each.text) for each in found.messages] == [
        *((USER, "Say hello"), (ASSISTANT, "Hello!"), (ASSISTANT, "And goodbye")),
    ]
    reply = found.messages[1]
    assert (reply.usage, reply.model) == (
        Usage(input_tokens=900, output_tokens=3, cached_tokens=600, reasoning_tokens=1),
        "gpt-5.2",
    )
    assert found.records.fates == {"message": 4, "repeated": 2, "detail": 3}


def test_tokens_of_the_cache_are_input(tmp_path: Path) -> None:
    usage = {"inputTokens": 10, "cacheReadTokens": 500, "cacheWriteTokens": 20, "outputTokens": 3}
    found = one(tmp_path, event("assistant.message", {"content": "a"}), *[event("assistant.usage", usage)] * 2)
    assert found.messages[0].usage == Usage(input_tokens=530, output_tokens=3, cached_tokens=500)


@pytest.mark.parametrize(
    ("more", "injected"),
    [
        ({}, False),
        ({"source": "user"}, False),
        ({"source": "skill-pdf"}, True),
        ({"source": "agent-0"}, True),
        ({"isAutopilotContinuation": True}, True),
        ({"isAutopilotContinuation": False, "source": ""}, False),
    ],
)
def test_requests_that_are_no_persons_are_injected(tmp_path: Path, more: Data, injected: bool) -> None:
    found = one(tmp_path, event("user.message", {"content": "go on", **more}))
    assert [each.injected for each in found.messages] == [injected]


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("session.compaction_complete", {"summaryContent": "x"}),
        ("session.handoff", {"summary": "x"}),
        ("system.notification", {"content": "x"}),
        ("skill.invoked", {"content": "x"}),
    ],
)
def test_texts_that_copilot_adds_are_injected(tmp_path: Path, kind: str, data: Data) -> None:
    (message,) = one(tmp_path, event(kind, data)).messages
    assert (message.role, message.text, message.injected) == (USER, "x", True)


def test_thinking_that_no_reply_repeats_is_of_the_next(tmp_path: Path) -> None:
    found = one(
        tmp_path,
        event("assistant.reasoning", {"content": "one"}),
        event("assistant.reasoning", {"content": "two"}),
        event("assistant.message", {"content": "a", "reasoningText": "three"}),
        event("assistant.reasoning", {"content": "four"}),
    )
    assert [(each.text, each.thinking) for each in found.messages] == [("a", "one\n\ntwo\n\nthree"), ("", "four")]


def test_thinking_of_another_turn_is_a_reply_of_its_own(tmp_path: Path) -> None:
    thought = event("assistant.message", {"content": "", "reasoningText": "hm", "turnId": "0"})
    found = one(tmp_path, thought, event("assistant.message", {"content": "a", "turnId": "1"}))
    assert [(each.text, each.thinking) for each in found.messages] == [("", "hm"), ("a", None)]


@pytest.mark.parametrize(
    ("data", "content", "is_error"),
    [
        ({"success": True, "result": {"content": "short", "detailedContent": "long"}}, "short", False),
        ({"success": True, "result": {"content": ""}}, "", False),
        ({"success": True, "result": "ok"}, "ok", False),
        ({"success": True, "result": [1]}, "[1]", False),
        ({"success": False, "error": {"message": "no"}, "result": {"content": "half"}}, "half\nno", True),
        ({"success": False, "error": {"message": "no"}, "result": {"content": "say no"}}, "say no", True),
        ({"error": "no"}, "no", True),
        ({}, "", False),
    ],
)
def test_results_of_tools(tmp_path: Path, data: Data, content: str, is_error: bool) -> None:
    (message,) = one(tmp_path, event("tool.execution_complete", {"toolCallId": "t", **data})).messages
    assert (message.content, message.is_error) == (content, is_error)


def test_images_that_a_tool_brought_are_parts(tmp_path: Path) -> None:
    contents = [{"type": "text", "text": "x"}, {"type": "image", "data": "AA==", "mimeType": "image/png"}]
    result = {"content": "x", "contents": contents}
    (message,) = one(tmp_path, event("tool.execution_complete", {"toolCallId": "t", "result": result})).messages
    assert message.content == [
        {"type": "text", "text": "x"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
    ]


def test_calls_that_no_reply_tells_of_are_there(tmp_path: Path) -> None:
    call = {"toolCallId": "t", "toolName": "bash", "arguments": {"command": "ls"}}
    found = one(
        tmp_path,
        event("tool.user_requested", call),
        event("tool.execution_start", call),
        event("tool.execution_complete", {"toolCallId": "t", "success": True, "result": {"content": "a"}}),
    )
    assert [(each.role, len(each.tool_calls)) for each in found.messages] == [(ASSISTANT, 1), (TOOL, 0)]
    assert found.messages[1].name == "bash"
    assert found.records.fates == {"message": 2, "repeated": 1}


@pytest.mark.parametrize(
    ("data", "left"), [({"upToEventId": "2"}, "1"), ({"eventIds": ["2"], "upToEventId": "2"}, "13")]
)
def test_what_was_taken_back_is_another_branch(tmp_path: Path, data: Data, left: str) -> None:
    said = [event("user.message", {"content": number}, id=number) for number in "123"]
    found = one(
        tmp_path, *said, event("session.snapshot_rewind", data), event("user.message", {"content": "4"}, id="4")
    )
    assert "".join(each.text for each in found.messages) == f"{left}4"
    assert (found.records.fates["other_branch"], found.branches) == (3 - len(left), 1)


def test_events_that_stand_there_twice_count_once(tmp_path: Path) -> None:
    said = event("user.message", {"content": "a"}, id="1")
    found = one(tmp_path, said, said)
    assert len(found.messages) == 1
    assert found.records.fates == {"message": 1, "repeated": 1}


@pytest.mark.parametrize(
    ("kind", "fate"),
    [
        ("session.auto_mode_resolved", "detail"),
        ("skill.invoked_ref", "detail"),
        ("subagent.configured", "detail"),
        ("assistant.tool_call_delta", "repeated"),
    ],
)
def test_events_that_say_nothing_are_known(tmp_path: Path, kind: str, fate: str) -> None:
    found = one(tmp_path, event(kind, {"content": "x"}))
    assert (found.messages, found.records.fates) == ([], {fate: 1})


def test_what_is_not_known_is_named_and_kept(tmp_path: Path) -> None:
    events = [7, {}, event("new.event"), event("user.message", {"content": 3}), event("user.message", "x"), '{"half']
    found = one(tmp_path, *events, told=(":6: ",))
    assert found.records.unknown == {"(no object)": 1, "None": 1, "new.event": 1, "user.message without content": 2}
    assert found.raw[-1] == '{"half'


@pytest.mark.parametrize("text", ["", "a: [", "- 1", "name: 7", "name: !!binary aGk=", "summary: |\n  One\n  two\n"])
def test_a_workspace_that_cannot_be_used_is_left_alone(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "S-9"
    folder.mkdir()
    (folder / "workspace.yaml").write_text(text)
    (folder / "events.jsonl").write_text(json.dumps(event("user.message", {"content": "a"})) + "\n")
    (found,) = read(folder / "events.jsonl")
    assert (found.native_id, found.title) == ("S-9", "One" if "One" in text else None)


def test_files_are_logs_of_sessions_and_never_credentials(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (place,) = READER.places(home)
    shutil.copytree(SAMPLES / "session-state", place)
    (place / "S-1.jsonl").write_text("{}")
    others = ("config.json", "mcp-config.json", "auth.json", "config.toml", "history.jsonl", "logs/process.jsonl")
    for name in (*others, f"session-state/{SESSION}/files/data.jsonl", "session-state/history.jsonl"):
        (home / ".copilot" / name).parent.mkdir(exist_ok=True)
        (home / ".copilot" / name).write_text("{}")
    (place / "S-2.jsonl").symlink_to(home / ".copilot" / "config.json")
    expected = ["session-state/S-1.jsonl", f"session-state/{SESSION}/events.jsonl"]
    for folder in (place, home / ".copilot"):
        assert [str(file.relative_to(home / ".copilot")) for file in READER.files(folder)] == expected
    for name in others[:-1]:
        assert list(READER.files(home / ".copilot" / name)) == []
    problems: list[str] = []
    assert list(READER.read(home / ".copilot" / "config.json", lambda line: problems.append(line))) == []
    assert list(READER.read(place / "gone.jsonl", lambda line: problems.append(line))) == []
    assert len(problems) == 2 and "not opened" in problems[0]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 10**16) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=5,
)
KINDS = st.sampled_from(
    [
        *("session.start", "user.message", "system.message", "assistant.message", "assistant.message_delta"),
        *("assistant.reasoning", "assistant.usage", "tool.user_requested", "tool.execution_start"),
        *("tool.execution_complete", "subagent.started", "session.snapshot_rewind", "session.title_changed"),
        *("skill.invoked", "session.compaction_complete", "session.context_changed", "result", "odd.event"),
    ]
)
NAMES = st.sampled_from(["a", "b", "c", "user", "agent-1", "skill-x", "image", ""])
KEYS = st.sampled_from(
    [
        *("content", "messageId", "toolRequests", "toolCallId", "toolName", "name", "arguments", "reasoningText"),
        *("turnId", "outputTokens", "inputTokens", "cacheReadTokens", "deltaContent", "result", "error", "success"),
        *("contents", "attachments", "source", "parentToolCallId", "upToEventId", "eventIds", "sessionId", "context"),
        *("cwd", "title", "selectedModel", "model", "summaryContent", "type", "data", "mimeType", "path", "text"),
    ]
)
VALUES = st.recursive(
    JSON | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=10,
)
RECORDS = st.lists(
    VALUES
    | st.builds(
        lambda kind, data, id, agent: event(kind, data, id=id, agentId=agent),
        KINDS,
        st.dictionaries(KEYS, VALUES, max_size=6) | VALUES,
        NAMES | JSON,
        st.sampled_from([None, None, "", "a", 3]),
    ),
    max_size=8,
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(records=RECORDS)
def test_any_records_are_read_and_accounted_for(tmp_path: Path, records: list[Any]) -> None:
    file = tmp_path / "S.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in records))
    found = list(READER.read(file, lambda line: None))
    assert sum(len(conversation.raw) for conversation in found) == len(records)
    assert len({conversation.native_id for conversation in found}) == len(found)
    for conversation in found:
        assert conversation.records.read == len(conversation.raw)
        for message in conversation.messages:
            data = json.loads(json.dumps(message.to_data(), ensure_ascii=False).encode())
            assert Message.from_data(data) == message


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=200))
def test_any_bytes_are_read(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "events.jsonl").write_bytes(data)
    for conversation in READER.read(tmp_path / "events.jsonl", lambda line: None):
        assert conversation.records.read == len(conversation.raw)
