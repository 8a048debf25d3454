"""Chats in OpenAI's format: what is read and exported again is the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from convex_evals.records.generation import Usage
from convex_evals.sessions.conversation import DETAIL, MESSAGE, UNKNOWN, UNREADABLE, Conversation
from convex_evals.sessions.message import Message, ToolCall
from convex_evals.sessions.readers.openai_chat import READER
from tests.sessions.conversations import MESSAGES, exported, hostile_sessions, labelled

SAMPLE = Path(__file__).parent / "samples" / "openai" / "chats.jsonl"


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
        assert conversation.records.read == len(conversation.raw) == 1
        assert sum(conversation.records.unknown.values()) == conversation.records.fates[UNKNOWN]
        conversation.raw[0].encode()
        for message in conversation.messages:
            data = message.to_data()
            json.dumps(data, ensure_ascii=False).encode()
            assert Message.from_data(data) == message


def written(folder: Path, *lines: Any, name: str = "chats.jsonl") -> Path:
    file = folder / name
    file.write_text("".join(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in lines))
    return file


def again(conversations: list[Conversation]) -> list[Any]:
    """The messages of each conversation, as an export has them."""
    lines = exported("openai", [labelled(each.messages) for each in conversations]).decode().split("\n")[:-1]
    return [json.loads(line)["messages"] for line in lines]


def test_the_sample() -> None:
    weather, picture, old, other, cut = read(SAMPLE, ":5: no messages ('keys completion, prompt')", ":6: Unterminated")
    raw = [line for line in SAMPLE.read_text().split("\n") if line]
    assert [each.raw for each in (weather, picture, old, other, cut)] == [[line] for line in raw]
    assert [each.role for each in weather.messages] == ["developer", "user", "assistant", "tool", "assistant"]
    assert weather.messages[1].name == "ana" and len(weather.native_id) == 64
    assert weather.messages[2].tool_calls == (ToolCall("call_1", "weather", '{"city":"Graz"}'),)
    assert weather.messages[2].content is None and weather.messages[2].more == {"refusal": None}
    assert (weather.messages[3].tool_call_id, weather.messages[3].content) == ("call_1", "12 °C")
    assert (picture.native_id, picture.title, picture.started_at) == ("chat-7", "A picture", "2026-09-21T14:13:20.000Z")
    assert picture.messages[0].content == json.loads(raw[1])["messages"][0]["content"]
    reply = picture.messages[1]
    assert (reply.model, reply.thinking, picture.messages[0].model) == ("gpt-5.1", "Whiskers.", None)
    assert reply.usage == Usage(input_tokens=90, output_tokens=12, cached_tokens=64, reasoning_tokens=8)
    assert (old.native_id, old.messages[1].more) == ("8", {"function_call": {"name": "f", "arguments": "{}"}})
    assert (other.records.unknown, other.messages) == ({"keys completion, prompt": 1}, [])
    assert (cut.records.fates, cut.messages) == ({UNREADABLE: 1}, [])


def test_the_sample_is_written_as_it_was_read() -> None:
    found = [each for each in read(SAMPLE, ":5:", ":6:") if each.messages]
    assert again(found) == [json.loads(each.raw[0])["messages"] for each in found]


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(MESSAGES)
def test_what_was_exported_is_read_the_same(tmp_path: Path, messages: list[Message]) -> None:
    file = tmp_path / "chats.jsonl"
    file.write_bytes(exported("openai", [labelled(messages)]))
    (found,) = read(file)
    assert [each.to_chat() for each in found.messages] == [each.to_chat() for each in messages]
    assert [each.tool_calls for each in found.messages] == [each.tool_calls for each in messages]
    assert found.records.fates == {MESSAGE if messages else DETAIL: 1}


def test_hostile_texts_are_read_as_they_were(tmp_path: Path) -> None:
    sessions = hostile_sessions()
    file = tmp_path / "chats.jsonl"
    file.write_bytes(exported("openai", sessions))
    found = read(file)
    assert [[each.to_chat() for each in one.messages] for one in found] == [
        [each.to_chat() for each in one.read_messages()] for one in sessions
    ]


TEXT = st.text(max_size=10)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
KEYS = ("name", "tool_calls", "tool_call_id", "function_call", "refusal", "more", "thinking", "usage", "model", "time")
CALLS = st.lists(
    st.fixed_dictionaries(
        {
            "id": TEXT,
            "type": st.sampled_from(["function", "custom"]),
            "function": st.fixed_dictionaries({"name": TEXT, "arguments": TEXT}, optional={"strict": JSON}),
        },
        optional={"custom": JSON},
    ),
    max_size=2,
)
FREE = st.fixed_dictionaries(
    {"role": TEXT, "content": st.none() | TEXT | st.lists(st.dictionaries(TEXT, JSON, max_size=2), max_size=2)},
    optional=dict.fromkeys(KEYS, JSON | CALLS),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(FREE, min_size=1, max_size=4))
def test_unknown_keys_are_written_again(tmp_path: Path, messages: list[Any]) -> None:
    found = read(written(tmp_path, {"messages": messages}))
    if "\\u" not in found[0].raw[0]:  # no halves of characters, which no file can hold
        assert again(found) == [messages]


def test_calls_are_read_where_they_can_be(tmp_path: Path) -> None:
    plain = {"id": "1", "function": {"name": "f", "arguments": {"a": 1}}, "index": 0}
    special = {"id": "2", "type": "custom", "custom": {"name": "g", "input": "x"}}
    marked = {"id": "3", "type": "function", "function": {"name": "f", "arguments": "{}"}, "marked": True}
    messages = [{"role": "assistant", "content": None, "tool_calls": [each]} for each in (plain, special, marked)]
    (found,) = read(written(tmp_path, {"messages": messages}))
    assert found.messages[0].tool_calls == (ToolCall("1", "f", '{"a": 1}'),)
    for message, call in zip(found.messages[1:], (special, marked), strict=True):
        assert message.tool_calls == () and message.more == {"tool_calls": [call]}


HELLO = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(
    ("value", "count"),
    [({"id": "a", "messages": HELLO}, 1), (HELLO, 1), ([{"messages": HELLO}, {"messages": HELLO, "id": "b"}], 2)],
)
def test_documents(tmp_path: Path, value: Any, count: int, indent: int | None) -> None:
    file = tmp_path / "chats.json"
    file.write_text(json.dumps(value, indent=indent))
    found = read(file)
    assert [[each.to_chat() for each in one.messages] for one in found] == [HELLO] * count
    raw = [json.loads(one.raw[0]) for one in found]
    assert raw == (value if count == 2 else [value]) and not any("\n" in one.raw[0] for one in found)


def test_lines_in_a_file_with_another_ending(tmp_path: Path) -> None:
    found = read(written(tmp_path, {"messages": HELLO}, "", HELLO, name="chats.json"))
    assert [len(each.messages) for each in found] == [2, 2]


def test_a_document_that_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "chats.json"
    file.write_text('{\n "messages": [\n  {"role"')
    (found,) = read(file, ":1: ")
    assert (found.records.fates, found.raw) == ({UNREADABLE: 1}, [file.read_text()])


def test_the_id_stays_when_other_things_change(tmp_path: Path) -> None:
    first = {"messages": HELLO}
    keys_turned = {"title": "x", "messages": [dict(reversed(each.items())) for each in HELLO]}
    longer = {"messages": [*HELLO, HELLO[0]]}
    ids = [each.native_id for each in read(written(tmp_path, first, keys_turned, longer))]
    assert ids[0] == ids[1] != ids[2]


def test_an_id_of_two_conversations(tmp_path: Path) -> None:
    chats = [{"id": "a", "messages": HELLO[:count]} for count in (1, 2, 1)]
    ids = [each.native_id for each in read(written(tmp_path, *chats), ":2: has the id of an earlier conversation")]
    assert ids[0] == ids[2] == "a" and len(ids[1]) == 64


@pytest.mark.parametrize(
    ("messages", "problem", "kept"),
    [
        ([{"content": "a"}, *HELLO], ":1: message 1 has no role", HELLO),
        (["a", *HELLO], ":1: message 1 has no role", HELLO),
        ([{"role": "user", "content": 7}], "content of message 1", [{"role": "user", "content": "7"}]),
        (
            [{"role": "user", "content": ["a"]}],
            "content of message 1",
            [{"role": "user", "content": [{"type": "text", "text": "a"}]}],
        ),
    ],
)
def test_messages_that_are_none(tmp_path: Path, messages: Any, problem: str, kept: Any) -> None:
    (found,) = read(written(tmp_path, {"messages": messages}), problem)
    assert [each.to_chat() for each in found.messages] == kept


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ({"title": "x", "model": "m"}, "keys model, title"),
        ("7", "(no object)"),
        ([], "(no object)"),
        ({"messages": 1}, "keys messages"),
    ],
)
def test_lines_without_messages_are_named(tmp_path: Path, line: Any, kind: str) -> None:
    (found,) = read(written(tmp_path, line), f"{kind!r}")
    assert (found.records.unknown, found.messages) == ({kind: 1}, [])


def test_no_message_with_a_role(tmp_path: Path) -> None:
    (found,) = read(written(tmp_path, {"messages": [1]}), "message 1")
    assert found.records.unknown == {"messages without roles": 1}


def test_files(tmp_path: Path) -> None:
    names = ["a.json", "b.jsonl", "monkey.ndjson", "sub/c.json"]
    private = [
        "auth.json",
        "oauth_creds.json",
        "google_accounts.json",
        "settings.json",
        ".claude.json",
        "api_token.json",
    ]
    for name in (*names, *private, "notes.txt", ".git/x.json", "node_modules/y.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    (tmp_path / "link.json").symlink_to(tmp_path / "auth.json")
    assert list(READER.files(tmp_path)) == [tmp_path / name for name in names]
    assert READER.places(tmp_path) == ()
    assert list(READER.files(tmp_path / "notes.txt")) == [tmp_path / "notes.txt"]


@pytest.mark.parametrize("name", ["oauth_creds.json", "auth.json", "google_accounts.json", "settings.json"])
def test_credentials_are_neither_listed_nor_opened(tmp_path: Path, name: str) -> None:
    file = written(tmp_path, {"messages": HELLO}, name=name)
    problems: list[str] = []
    assert not list(READER.files(file)) and not list(READER.read(file, problems.append))
    assert problems == [f"{file}: holds credentials or settings; not opened"]


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    problems: list[str] = []
    assert list(READER.read(tmp_path / "a.json", problems.append)) == []
    assert "cannot be read" in problems[0]


LINE = st.fixed_dictionaries(
    {}, optional={"messages": JSON | st.lists(JSON | FREE, max_size=3), "id": JSON, "model": JSON, "usage": JSON}
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(LINE | JSON | st.lists(LINE | FREE | JSON, max_size=2), max_size=4))
def test_any_lines_are_accounted_for(tmp_path: Path, lines: list[Any]) -> None:
    problems: list[str] = []
    found = list(READER.read(written(tmp_path, *map(json.dumps, lines)), problems.append))
    check(found)
    several = [each for each in lines if isinstance(each, list) and _has_chats(each)]
    assert len(found) == len(lines) - len(several) + sum(map(len, several))
    document = tmp_path / "chats.json"
    document.write_text(json.dumps(lines, indent=1))
    check(list(READER.read(document, problems.append)))


def _has_chats(values: list[Any]) -> bool:
    return any(isinstance(each, dict) and isinstance(each.get("messages"), list) for each in values)
