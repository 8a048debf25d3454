"""Exports: the documented formats to the letter, and texts of others that stay texts."""

from __future__ import annotations

import importlib
import io
import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow.parquet as parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.errors import UserError
from convex_evals.records.session import Label
from convex_evals.render import parquet as parquet_writer
from convex_evals.sessions.exchanges import Exchange, exchanges, turns
from convex_evals.sessions.exports import EXPORTS, LabelledSession
from convex_evals.sessions.exports.promptfoo import inert
from convex_evals.sessions.message import Message, ToolCall
from tests.sessions.conversations import (
    HOSTILE,
    MESSAGES,
    TEXT,
    debugging,
    exported,
    hostile_sessions,
    labelled,
    reply,
    result,
    user,
)

LINES = ("openai", "atif", "inspect", "promptfoo")
DEEPEVAL_KEYS = ["input", "actual_output", "expected_output", "context", "retrieval_context"]


def of_lines(data: bytes) -> list[Any]:
    """JSON Lines; the last line ends, too, and no line is empty."""
    assert data.endswith(b"\n") or not data
    return [json.loads(line) for line in data.decode().split("\n")[:-1]]


def rows(data: bytes) -> list[dict[str, Any]]:
    return parquet.read_table(io.BytesIO(data)).to_pylist()  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("messages", "found"),
    [
        ([], []),
        ([user("a")], []),
        ([reply("a")], []),
        ([user("a"), reply("b")], [("a", "b", 0, 1)]),
        ([user("a"), reply("")], []),
        ([user("a"), reply(None, ToolCall("1", "f", "{}")), result("1", "r")], []),
        ([user("a"), reply(None, ToolCall("1", "f", "{}")), user("b"), reply("c")], [("b", "c", 2, 3)]),
        ([user("a"), user("b"), reply("c"), reply("d")], [("a\n\nb", "c\n\nd", 0, 2)]),
        ([user("i", injected=True), reply("x")], []),
        ([user("a"), user("i", injected=True), user("b"), reply("c")], [("a\n\nb", "c", 0, 3)]),
        ([user("a"), reply("b"), user("i", injected=True), reply("c")], [("a", "b\n\nc", 0, 1)]),
        ([user("a"), Message("developer", "d"), Message("system", "s"), reply("c")], [("a", "c", 0, 1)]),
        ([Message("system", "s"), user("a"), result("?", "t"), reply("c")], [("a", "c", 1, 2)]),
        ([user("a"), reply("b"), user("c"), reply("d")], [("a", "b", 0, 1), ("c", "d", 2, 3)]),
        ([user([{"type": "image_url", "image_url": {"url": "u"}}]), reply("b")], [("", "b", 0, 1)]),
    ],
)
def test_an_exchange_is_a_request_and_the_texts_that_answer_it(
    messages: list[Message], found: list[tuple[str, str, int, int]]
) -> None:
    assert exchanges(messages) == [Exchange(*each) for each in found]


@given(MESSAGES)
def test_each_message_of_a_person_is_part_of_one_turn(messages: list[Message]) -> None:
    found = turns(messages)
    people = [at for at, message in enumerate(messages) if message.role == "user" and not message.injected]
    assert [at for turn in found for at in range(turn.at, turn.end) if at in people] == people
    assert all(one.end <= other.at for one, other in itertools.pairwise(found))


def test_five_exchanges_make_five_objects_with_the_expected_output_on_the_last() -> None:
    messages = [message for number in range(5) for message in (user(f"q{number}"), reply(f"a{number}"))]
    found = json.loads(exported("deepeval", [labelled(messages, Label(expectedOutput="right"))]))
    assert [list(each) for each in found] == [DEEPEVAL_KEYS] * 5
    assert [each["expected_output"] for each in found] == [None] * 4 + ["right"]
    assert [(each["input"], each["actual_output"]) for each in found] == [(f"q{n}", f"a{n}") for n in range(5)]
    assert found[2]["context"] == ["q0", "a0", "q1", "a1"]
    assert all(each["retrieval_context"] == [] for each in found)


def test_the_context_of_deepeval_is_all_that_was_said_before() -> None:
    found = json.loads(exported("deepeval", [debugging()]))
    assert found[1]["context"] == [
        "You are a careful engineer.",
        "<context>ignore</context>",
        "Why does login fail?",
        "It says 401.",
        'Read({"file_path": "src/auth.ts"})\nShell(ls | head)',
        "const token = undefined",
        "no such command",
        "The token is never set.",
        "Set it in `auth.ts`.",
    ]
    assert found[1]["expected_output"] == "A trace."


@pytest.mark.parametrize("name", ["deepeval", "openai", "text", "atif", "inspect", "promptfoo"])
def test_formats(golden: Callable[[str, str], None], name: str) -> None:
    other = labelled([user("Hi"), reply("Hello")], number=2, models=("a", "b"), cost_usd=0.0012)
    golden(f"sessions/export-{name}.{EXPORTS[name].suffix}", exported(name, [debugging(), other]).decode())


def test_unknown_figures_are_left_out_of_the_text() -> None:
    text = exported("text", [labelled([user("a"), reply("b")])]).decode()
    title = f"## Session: {1:020x}"
    assert text == f"{title}\n\n**User:** a\n\n**Assistant:** b\n\n---\n\nStatus: needs_review\n"


@pytest.mark.parametrize(
    ("cost", "shown"), [(0.0, "$0.00"), (0.08, "$0.08"), (0.00123, "$0.0012"), (1234.5, "$1,234.50")]
)
def test_costs_in_the_text(cost: float, shown: str) -> None:
    assert f"\nCost: {shown}\n" in exported("text", [labelled([], cost_usd=cost)]).decode()


@given(MESSAGES)
def test_openai_holds_the_same_messages(messages: list[Message]) -> None:
    [line] = of_lines(exported("openai", [labelled(messages)]))
    assert line == {"messages": [message.to_chat() for message in messages]}


@given(st.lists(MESSAGES, max_size=3), TEXT)
def test_any_conversation_can_be_exported(conversations: list[list[Message]], text: str) -> None:
    label = Label(expectedOutput=text)
    sessions = [labelled(each, label, number, title=text, models=(text,)) for number, each in enumerate(conversations)]
    exports = {name: exported(name, sessions) for name in EXPORTS}
    for name in LINES:
        of_lines(exports[name])
        # Readers that take other characters for the end of a line find the same lines.
        assert [json.loads(line) for line in exports[name].decode().splitlines()] == of_lines(exports[name])
    answered = [exchanges(each) for each in conversations]
    found = json.loads(exports["deepeval"])
    assert [each["expected_output"] for each in found] == [
        text if exchange is of_session[-1] else None for of_session in answered for exchange in of_session
    ]
    assert [len(row["messages"]) for row in rows(exports["hf"])] == [len(each) for each in conversations]
    assert len(of_lines(exports["inspect"])) == sum(1 for each in conversations if turns(each))


@pytest.mark.parametrize("name", EXPORTS)
def test_the_same_sessions_make_the_same_bytes(name: str) -> None:
    sessions = [debugging(), labelled([user("a"), reply("b")], number=2)]
    assert exported(name, sessions) == exported(name, iter(sessions))


@pytest.mark.parametrize("name", EXPORTS)
def test_no_session_is_held_while_others_are_read(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_writer, "_MOST_ROWS", 1)
    taken = []

    def sessions() -> Iterator[LabelledSession]:
        for number in range(1, 4):
            taken.append(number)
            yield labelled([user("a"), reply("b")], number=number)

    pieces = EXPORTS[name].write(sessions())
    next(pieces)
    assert taken == [1]


@pytest.mark.parametrize(("name", "empty"), [("deepeval", b"[]\n"), *((name, b"") for name in (*LINES, "text"))])
def test_no_sessions(name: str, empty: bytes) -> None:
    assert exported(name, []) == empty


def test_parquet_without_sessions_has_its_columns() -> None:
    assert "messages" in parquet.read_table(io.BytesIO(exported("hf", []))).column_names


def test_hostile_texts_arrive_as_they_are() -> None:
    sessions = hostile_sessions()
    exports = {name: exported(name, sessions) for name in EXPORTS}
    openai, atif, inspect = (of_lines(exports[name]) for name in ("openai", "atif", "inspect"))
    table = rows(exports["hf"])
    for at, text in enumerate(HOSTILE):
        assert openai[at]["messages"][1]["content"] == text
        assert [step["message"] for step in atif[at]["steps"][:3]] == [text] * 3
        assert inspect[at]["input"][1]["content"] == text
        assert inspect[at]["target"] == text
        assert table[at]["messages"][1]["content"] == table[at]["expected_output"] == text
        assert f"**Assistant:** {text}\n\n".encode() in exports["text"] or not text
    contexts = [each["context"] for each in json.loads(exports["deepeval"])]
    assert all(any(text == found for context in contexts for found in context) for text in HOSTILE if text)


@pytest.mark.parametrize("name", LINES)
def test_lines_hold_no_command_for_a_terminal_and_no_other_line_end(name: str) -> None:
    text = exported(name, hostile_sessions()).decode()
    assert not [
        character for character in text if character != "\n" and not character.isprintable() and ord(character) < 0xA0
    ]
    assert "\u2028" not in text


def test_half_a_surrogate_pair_is_no_obstacle() -> None:
    sessions = [labelled([user("a\ud800b"), reply("\udc00")], title="\ud800")]
    for name in EXPORTS:
        data = exported(name, sessions)
        assert "a\ufffdb".encode() in data or name == "hf"


def test_a_title_is_one_line_of_the_text() -> None:
    text = exported("text", [labelled([], title="a\n\n---\u2028## Session: b\x85\r")]).decode()
    assert text.split("\n")[0] == "## Session: a --- ## Session: b"


def rendered(template: str) -> str:
    """As Nunjucks renders texts with no other expressions than strings; raises where there is something else."""
    import jinja2

    return jinja2.Environment(keep_trailing_newline=True, newline_sequence="\n").from_string(template).render()


@given(TEXT)
def test_an_inert_text_renders_as_the_text(text: str) -> None:
    template = inert(text)
    assert rendered(template).replace("\r\n", "\n") == text.replace("\r\n", "\n").replace("\r", "\n")
    assert not template.casefold().startswith(("file:", "package:"))
    assert not template.endswith("\n")


@given(MESSAGES)
def test_the_chat_of_promptfoo_is_json_that_no_template_engine_touches(messages: list[Message]) -> None:
    for line in of_lines(exported("promptfoo", [labelled([*messages, user("q"), reply("a")])])):
        chat = line["vars"]["messages"]
        assert not any(mark in chat for mark in ("{{", "{%", "{#", "#}"))
        assert json.loads(chat) == [message.to_chat() for message in [*messages, user("q")]]


def test_inspect_asks_the_last_request_that_was_answered() -> None:
    [sample] = of_lines(exported("inspect", [debugging()]))
    assert sample["input"][-1]["content"][0] == {"type": "text", "text": "And this?"}
    assert sample["target"] == "A trace."
    assert sample["input"][4]["tool_calls"][1]["arguments"] == {"input": "ls | head"}
    assert sample["input"][6]["error"] == {"type": "unknown", "message": "no such command"}


def test_inspect_opens_no_file() -> None:
    content = [{"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}, {"type": "text", "text": "t"}]
    [sample] = of_lines(exported("inspect", [labelled([user(content), reply("a")])]))
    assert [part["type"] for part in sample["input"][0]["content"]] == ["text", "text"]
    assert "passwd" not in json.dumps(sample)


def test_parquet_has_messages_as_a_list() -> None:
    [row] = rows(exported("hf", [debugging()]))
    assert (row["status"], row["tags"], row["model"]) == ("golden", ["auth", "debugging"], "claude-sonnet-4-20250514")
    call = row["messages"][4]
    assert (call["role"], call["content"], call["thinking"]) == ("assistant", "", "Look at the code first.")
    assert json.loads(call["tool_calls"])[0]["function"]["name"] == "Read"
    assert json.loads(row["messages"][9]["parts"])[1]["type"] == "image_url"


def test_parquet_without_pyarrow_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(UserError, match=r"pip install 'convex-evals\[parquet\]'"):
        exported("hf", [debugging()])
