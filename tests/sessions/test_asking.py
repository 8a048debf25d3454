"""Sessions as they are asked again: what is sent, and what replies are compared with."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given

from convex_evals.errors import UserError
from convex_evals.records.session import Label
from convex_evals.sessions.asking import AskedSession, asked_session
from convex_evals.sessions.message import Message, ToolCall
from tests.sessions.conversations import MESSAGES, labelled

PERSON, MODEL = "user", "assistant"
PICTURE = {"type": "image_url", "image_url": {"url": "https://x"}}
CALL = ToolCall("1", "Read", "{}")


def asked(*messages: Message, expected: str | None = None) -> AskedSession:
    return asked_session(labelled(messages, Label(expectedOutput=expected)))


def test_the_conversation_up_to_the_last_request() -> None:
    found = asked(
        Message("system", "Be brief."),
        Message(PERSON, "What is Convex?"),
        Message(MODEL, "A database."),
        Message("developer", "Speak of crons alone."),
        Message(PERSON, "And crons?"),
        Message(MODEL, "In convex/crons.ts."),
        Message(MODEL, "With cronJobs()."),
    )
    assert found.prompt.messages() == [
        {"role": "system", "content": "Be brief.\n\nSpeak of crons alone."},
        {"role": PERSON, "content": "What is Convex?"},
        {"role": MODEL, "content": "A database."},
        {"role": PERSON, "content": "And crons?"},
    ]
    assert found.expected == "In convex/crons.ts.\n\nWith cronJobs()."
    assert found.given("# Guidelines").messages()[0]["content"].endswith("crons alone.\n\n# Guidelines")
    assert (
        found.given(None) == found.prompt and asked(Message(PERSON, "a"), Message(MODEL, "b")).given("G").system == "G"
    )


def test_what_tools_did_is_told_as_text() -> None:
    found = asked(
        Message(PERSON, "Fix it."),
        Message(MODEL, "I look.", tool_calls=(ToolCall("1", "Read", '{"path": "a.ts"}'),)),
        Message("tool", "export {}", tool_call_id="1"),
        Message(MODEL, None, tool_calls=(ToolCall("2", "Bash", "{}"),)),
        Message("tool", "denied", tool_call_id="2", is_error=True),
        Message("tool", "x", name="Glob", tool_call_id="gone"),
        Message(MODEL, "Done."),
        Message(PERSON, "<note>", injected=True),
        Message(PERSON, "Test it."),
        Message(MODEL, "It passes."),
    )
    assert found.prompt.messages() == [
        {"role": PERSON, "content": "Fix it."},
        {"role": MODEL, "content": 'I look.\n\nRead({"path": "a.ts"})'},
        {"role": PERSON, "content": "Result of Read:\nexport {}"},
        {"role": MODEL, "content": "Bash({})"},
        {"role": PERSON, "content": "Error of Bash:\ndenied\n\nResult of Glob:\nx"},
        {"role": MODEL, "content": "Done."},
        {"role": PERSON, "content": "<note>\n\nTest it."},
    ]


def test_what_a_person_expects_goes_before_what_was_replied() -> None:
    talk = (Message(PERSON, "a"), Message(MODEL, "b"), Message(PERSON, "c"))
    assert asked(*talk).prompt.user == "a", "the last request that was answered"
    assert asked(*talk, expected="B").expected == "B"
    assert asked(*talk[:1], expected="B").prompt.user == "a"


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ([], "no person asked anything"),
        ([Message(MODEL, "Hello.")], "no person asked anything"),
        (
            [Message(PERSON, [{"type": "image_url", "image_url": {"url": "https://x"}}]), Message(MODEL, "A cat.")],
            "asked",
        ),
        (
            [Message(PERSON, "Hi"), Message(MODEL, None, tool_calls=(ToolCall("1", "a", "{}"),))],
            "label 00000000 --expected",
        ),
    ],
)
def test_what_cannot_be_asked_again(messages: list[Message], said: str) -> None:
    with pytest.raises(UserError, match=said):
        asked(*messages)


def test_images_are_counted_as_left_out() -> None:
    found = asked(Message(PERSON, [{"type": "text", "text": "Look:"}, PICTURE]), Message(MODEL, "A cat."))
    assert found.left_out == 1 and found.prompt.user == "Look:"


@given(MESSAGES)
def test_the_sides_take_turns_and_a_person_has_the_last_word(messages: list[Message]) -> None:
    try:
        found = asked(*messages)
    except UserError:
        return
    sent = [each["role"] for each in found.prompt.messages() if each["role"] != "system"]
    assert all(one != other for one, other in pairwise(sent)) and sent[-1] == PERSON
    assert found.expected.strip() and all(each["content"].strip() for each in found.prompt.messages())
