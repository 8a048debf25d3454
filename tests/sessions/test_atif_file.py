"""Trajectories: what an export writes is read the same, and any other is accounted for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from convex_evals.records.generation import Usage
from convex_evals.sessions.arguments import arguments_of
from convex_evals.sessions.conversation import DETAIL, MESSAGE, UNKNOWN, UNREADABLE, Conversation, session_id
from convex_evals.sessions.exports.atif import trajectory
from convex_evals.sessions.message import ASSISTANT, SYSTEM, TOOL, USER, Message, ToolCall
from convex_evals.sessions.readers.atif_file import READER
from tests.sessions.conversations import MESSAGES, debugging, exported, labelled, reply, result, session, user

SAMPLE = Path(__file__).parent / "samples" / "atif" / "trajectory.json"


def read(file: Path, *expected: str) -> list[Conversation]:
    """The conversations of a file, all of its records being accounted for, and `expected` standing in the problems."""
    problems: list[str] = []
    found = list(READER.read(file, problems.append))
    assert len(problems) == len(expected), problems
    for part, line in zip(expected, problems, strict=True):
        assert part in line and "\n" not in line and line.startswith(f"{file}:")
    check(found)
    return found


def check(found: list[Conversation]) -> None:
    for conversation in found:
        assert conversation.records.read == len(conversation.raw)
        assert sum(conversation.records.unknown.values()) == conversation.records.fates[UNKNOWN]
        "".join(conversation.raw).encode()
        for message in conversation.messages:
            data = message.to_data()
            json.dumps(data, ensure_ascii=False).encode()
            assert Message.from_data(data) == message


def written(folder: Path, value: Any, name: str = "trajectory.json") -> Path:
    file = folder / name
    file.write_text(json.dumps(value))
    return file


def of_steps(*steps: Any, **more: Any) -> dict[str, Any]:
    return {"schema_version": "ATIF-v1.7", "agent": {"name": "a", "version": "1"}, "steps": list(steps), **more}


def test_the_sample() -> None:
    main, helper = read(SAMPLE)
    system, request, first, listing, delegated, fixed, tests, copied = main.messages
    assert (main.native_id, main.tool_version, main.cost_usd) == ("main-1", "terminus-2 2.0.0", 0.02)
    assert (system.role, system.content) == (SYSTEM, "You are an agent.")
    assert request.content == [
        {"type": "text", "text": "Fix this:"},
        {"type": "image_url", "image_url": {"url": "images/a.png"}},
    ]
    assert first.tool_calls == (ToolCall("c1", "shell", '{"cmd": "ls"}'), ToolCall("c2", "delegate", "{}"))
    assert (first.content, first.thinking, first.model) == (None, "Look first.", "gpt-5.1")
    assert first.usage == Usage(input_tokens=1000, output_tokens=50, cached_tokens=800, reasoning_tokens=20)
    assert (first.cost_usd, first.time) == (0.01, "2026-11-01T10:00:02.000Z")
    assert (listing.role, listing.tool_call_id, listing.content, listing.is_error) == (TOOL, "c1", "a.py", True)
    assert (delegated.subagent, delegated.content) == (helper.session_id, "")
    assert (fixed.model, fixed.content) == ("gpt-5.1-mini", "Fixed — one line.")
    assert (tests.role, tests.tool_call_id, tests.content) == (TOOL, None, "Tests pass.")
    assert (copied.content, copied.usage) == ("Before.", None)
    assert main.records.fates == {DETAIL: 1, MESSAGE: 6} and len(main.raw) == 7
    assert "tool_definitions" in main.raw[0] and "steps" not in json.loads(main.raw[0])
    assert (helper.native_id, helper.parent) == ("main-1/sub-1", "main-1")
    assert [(each.role, each.content) for each in helper.messages] == [(USER, "Look."), (ASSISTANT, "Seen.")]


Told = tuple[str, str, list[tuple[str, str, Any]]]


def told(message: Message, text: str | None = None) -> Told:
    role = TOOL if message.role == "function" else message.role
    calls = [(call.id, call.name, arguments_of(call.arguments)[0]) for call in message.tool_calls]
    return role, message.text if text is None else text, calls if role != TOOL else []


def expected(messages: list[Message]) -> list[Told]:
    """Messages in the order that a trajectory has them in: results behind the last call that they answer."""
    order: list[list[Told]] = []
    called: dict[str, list[Told]] = {}
    for message in messages:
        is_result = message.role in (TOOL, "function")
        at = called.get(message.tool_call_id or "") if is_result else None
        if at is None:
            at = []
            order.append(at)
        at.append(told(message, shown(message)))
        if message.role == ASSISTANT:
            called |= {call.id: at for call in message.tool_calls}
    return [each for group in order for each in group]


def shown(message: Message) -> str:
    """The text of a content after an export, which puts what the format does not know in words."""
    (step,) = trajectory(session(), [Message(USER, message.content)])["steps"]
    said = step["message"]
    return said if isinstance(said, str) else "\n\n".join(part["text"] for part in said if "text" in part)


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(MESSAGES.filter(bool))
def test_what_was_exported_is_read_the_same(tmp_path: Path, messages: list[Message]) -> None:
    file = tmp_path / "sessions.jsonl"
    file.write_bytes(exported("atif", [labelled(messages)]))
    (found,) = read(file)
    assert [told(each) for each in found.messages] == expected(messages)


def test_all_that_was_exported(tmp_path: Path) -> None:
    item = debugging()
    file = tmp_path / "sessions.jsonl"
    file.write_bytes(exported("atif", [item, labelled([user("a"), reply("b")], number=2)]))
    found, other = read(file)
    messages = [each for each in item.read_messages() if not isinstance(each.content, list)]
    again = [each for each in found.messages if not each.text.startswith("And this?")]
    for before, after in zip(messages, again, strict=True):
        for name in ("role", "injected", "thinking", "usage", "cost_usd", "tool_call_id", "is_error"):
            assert getattr(after, name) == getattr(before, name), name
        assert after.content == before.content
        if before.role != TOOL:
            assert after.time == before.time
    assert found.messages[4].tool_calls[1].arguments == "ls | head"
    assert (found.title, found.started_at, found.cost_usd) == ("Debug\nlogin", "2026-01-02T03:04:05.000Z", 0.08)
    assert found.messages[5].name == "Read" and found.tool_version == "claude-code 2.0.1"
    assert next(each for each in again if each.subagent).subagent == session_id("atif", "ab" + "0" * 18)
    assert other.native_id == f"{2:020x}" and len(found.raw) == len(read(file)[0].raw)


def test_an_embedded_trajectory_of_an_export(tmp_path: Path) -> None:
    name = "ab" + "0" * 18
    messages = [reply("", ToolCall("1", "Task", "{}")), result("1", "a", subagent=name)]
    inner = {**trajectory(session(), [user("look"), reply("seen")]), "trajectory_id": name}
    outer, embedded = read(written(tmp_path, trajectory(session(), messages, {name: inner}.get)))
    assert outer.messages[1].subagent == embedded.session_id and embedded.parent == outer.native_id
    assert [each.text for each in embedded.messages] == ["look", "seen"]


@pytest.mark.parametrize(
    ("step", "kind"), [({"source": "ghost", "message": "x"}, "step:ghost"), ({}, "step:None"), (7, "(no object)")]
)
def test_steps_of_unknown_kinds_are_counted_by_name(tmp_path: Path, step: Any, kind: str) -> None:
    (found,) = read(written(tmp_path, of_steps(step, {"source": "user", "message": "a"})))
    assert found.records.unknown == {kind: 1} and found.records.fates == {DETAIL: 1, UNKNOWN: 1, MESSAGE: 1}
    assert [each.text for each in found.messages] == ["a"]


@pytest.mark.parametrize(
    ("message", "content", "problem"),
    [
        ([{"type": "smell", "of": "roses"}], [{"type": "smell", "of": "roses"}], "a part of unknown kind 'smell'"),
        ([{"type": "image"}], [{"type": "image"}], "a part of unknown kind 'image'"),
        (["a"], [{"type": "text", "text": '"a"'}], "a part of unknown kind 'None'"),
        ({"a": 1}, '{"a": 1}', "content that is a dict"),
    ],
)
def test_content_of_unknown_kinds_is_kept_and_told(tmp_path: Path, message: Any, content: Any, problem: str) -> None:
    steps = [{"source": "user", "message": message}] * 2
    (found,) = read(written(tmp_path, of_steps(*steps)), f":1: {problem}")
    assert [each.content for each in found.messages] == [content] * 2


def test_sound_is_named(tmp_path: Path) -> None:
    source = {"media_type": "audio/wav", "path": "a.wav", "duration_sec": 2}
    (found,) = read(written(tmp_path, of_steps({"source": "user", "message": [{"type": "audio", "source": source}]})))
    assert found.messages[0].content == [{"type": "file", "file": {"filename": "a.wav"}}]


def test_arguments(tmp_path: Path) -> None:
    text = {"extra": {"arguments": "not a JSON object; the text is in `input`"}}
    given: list[dict[str, Any]] = [
        {"arguments": {"input": "ls"}},
        {"arguments": {"input": "ls"}, **text},
        {"arguments": {"input": "ls", "a": 1}, **text},
        {"arguments": "{}"},
        {},
    ]
    calls = [{"tool_call_id": "c", "function_name": "f", **each} for each in given]
    (found,) = read(written(tmp_path, of_steps({"source": "agent", "message": "", "tool_calls": calls})))
    assert [call.arguments for call in found.messages[0].tool_calls] == [
        '{"input": "ls"}',
        "ls",
        '{"input": "ls", "a": 1}',
        "{}",
        "{}",
    ]


@pytest.mark.parametrize(
    ("ids", "native"),
    [
        ({"trajectory_id": "t", "session_id": "s"}, "t"),
        ({"session_id": "s"}, "s"),
    ],
)
def test_ids(tmp_path: Path, ids: dict[str, str], native: str) -> None:
    (found,) = read(written(tmp_path, of_steps({"source": "user", "message": "a"}, **ids)))
    assert found.native_id == native


def test_trajectories_without_ids_and_with_the_same(tmp_path: Path) -> None:
    one, two = ({"source": "user", "message": text} for text in "ab")
    value = [of_steps(one), of_steps(two), of_steps(one, session_id="s"), of_steps(two, session_id="s")]
    found = read(written(tmp_path, value), ":1: trajectory 4: has the id of an earlier trajectory")
    assert len({each.native_id for each in found}) == 4 and found[2].native_id == "s"


@pytest.mark.parametrize("version", ["ATIF-v2.0", None, 7])
def test_another_version_is_told(tmp_path: Path, version: Any) -> None:
    value = of_steps({"source": "user", "message": "a"}) | {"schema_version": version}
    (found,) = read(written(tmp_path, value), f":1: its version is {str(version)!r}")
    assert [each.text for each in found.messages] == ["a"]


def test_what_is_no_trajectory(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text('{"a": 1}\n[]\n{"schema_version": "ATIF-v1.7", "st')
    found = read(file, ":1: no steps ('keys a')", ":3: Unterminated")
    assert [each.records.fates for each in found] == [{UNKNOWN: 1}, {UNREADABLE: 1}]


@pytest.mark.parametrize("name", ["oauth_creds.json", "settings.json", "google_accounts.json"])
def test_credentials_are_neither_listed_nor_opened(tmp_path: Path, name: str) -> None:
    file = written(tmp_path, of_steps(), name)
    problems: list[str] = []
    assert not [*READER.files(tmp_path), *READER.files(file)]
    assert not list(READER.read(file, problems.append)) and len(problems) == 1


TEXT = st.text(max_size=8) | st.sampled_from(["\ud83d", "c", "t"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


def loose(**values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return JSON | st.fixed_dictionaries({}, optional={key: value | JSON for key, value in values.items()})


PARTS = st.lists(
    loose(type=st.sampled_from(["text", "image", "audio"]), text=TEXT, source=loose(path=TEXT)), max_size=2
)
EXTRA = loose(role=TEXT, name=TEXT, injected=JSON, tool_calls=JSON, arguments=JSON, refusal=JSON, timestamp=JSON)
REFERENCES = loose(trajectory_id=TEXT, session_id=TEXT)
RESULT = loose(
    source_call_id=TEXT,
    content=PARTS,
    subagent_trajectory_ref=st.lists(REFERENCES, max_size=2) | REFERENCES,
    extra=EXTRA,
)
CALL = loose(tool_call_id=TEXT, function_name=TEXT, arguments=JSON, extra=EXTRA)
STEP = loose(
    source=st.sampled_from(["user", "agent", "system", "x"]),
    message=PARTS,
    tool_calls=st.lists(CALL, max_size=2),
    observation=loose(results=st.lists(RESULT, max_size=2)),
    metrics=loose(prompt_tokens=JSON, completion_tokens=JSON, cached_tokens=JSON, cost_usd=JSON, extra=JSON),
    extra=EXTRA,
    timestamp=JSON,
)
TRAJECTORY = loose(
    schema_version=JSON, steps=st.lists(STEP, max_size=3), trajectory_id=TEXT, agent=JSON, subagent_trajectories=JSON
)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(TRAJECTORY | st.builds(of_steps, STEP, STEP), max_size=3))
def test_anything_is_accounted_for(tmp_path: Path, values: list[Any]) -> None:
    problems: list[str] = []
    file = tmp_path / "x.jsonl"
    file.write_text("".join(f"{json.dumps(each)}\n" for each in values))
    lines = list(READER.read(file, problems.append))
    check(lines)
    document = list(READER.read(written(tmp_path, values), problems.append))
    check(document)
    assert len(document) >= len(values) and all("\n" not in problem for problem in problems)
    steps = [len(each["steps"]) for each in values if isinstance(each, dict) and isinstance(each.get("steps"), list)]
    assert sum(len(each.raw) for each in document) >= len(values) + sum(steps)
