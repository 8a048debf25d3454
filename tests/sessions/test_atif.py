"""Trajectories: the rules of ATIF 1.7 hold for any conversation, and nothing of one is lost."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given

from convex_evals.sessions.exports.atif import trajectory
from convex_evals.sessions.message import Message, ToolCall
from tests.sessions.conversations import MESSAGES, debugging, exported, hostile_sessions, reply, result, session, user

STEP = {
    *("step_id", "timestamp", "source", "message", "observation", "extra"),
    *("model_name", "reasoning_content", "tool_calls", "metrics"),
}
OF_AGENTS = {"model_name", "reasoning_content", "tool_calls", "metrics"}
ROOT = {
    *("schema_version", "session_id", "trajectory_id", "agent", "steps", "final_metrics", "extra"),
    "subagent_trajectories",
}


def check(data: dict[str, Any]) -> None:
    """The rules of the format, as its publisher's models state them."""
    assert set(data) <= ROOT
    assert data["schema_version"] == "ATIF-v1.7"
    assert data["agent"]["name"] and data["agent"]["version"]
    assert [step["step_id"] for step in data["steps"]] == list(range(1, len(data["steps"]) + 1)) != []
    assert data["final_metrics"]["total_steps"] == len(data["steps"])
    for step in data["steps"]:
        check_step(step)
    for embedded in data.get("subagent_trajectories", ()):
        assert embedded["trajectory_id"]
        check(embedded)


def check_step(step: dict[str, Any]) -> None:
    assert set(step) <= STEP
    assert step["source"] in ("system", "user", "agent")
    assert step["source"] == "agent" or not OF_AGENTS & set(step)
    if "timestamp" in step:
        datetime.fromisoformat(step["timestamp"])
    check_content(step["message"])
    calls = step.get("tool_calls", [])
    assert all(isinstance(call["arguments"], dict) for call in calls)
    for found in step.get("observation", {"results": []})["results"]:
        assert set(found) <= {"source_call_id", "content", "subagent_trajectory_ref", "extra"}
        assert found.get("source_call_id") in {None, *(call["tool_call_id"] for call in calls)}
        check_content(found["content"])
        for reference in found.get("subagent_trajectory_ref", ()):
            assert reference.get("trajectory_id") or reference.get("trajectory_path")


def check_content(content: Any) -> None:
    for part in [] if isinstance(content, str) else content:
        if part["type"] == "text":
            assert set(part) == {"type", "text"}
        else:
            assert part["type"] == "image" and set(part) == {"type", "source"}
            assert part["source"]["media_type"] in ("image/jpeg", "image/png", "image/gif", "image/webp")
            assert not part["source"]["path"].startswith("data:")


@given(MESSAGES)
def test_any_conversation_makes_a_trajectory(messages: list[Message]) -> None:
    data = trajectory(session(), messages)
    check(data)
    json.dumps(data, allow_nan=False)
    kept = sum(not (step.get("observation") and step["source"] == "system") for step in data["steps"])
    results = sum(len(step["observation"]["results"]) for step in data["steps"] if "observation" in step)
    assert kept + results == (len(messages) or 1)


def test_hostile_texts_make_trajectories() -> None:
    for line in exported("atif", hostile_sessions()).decode().split("\n")[:-1]:
        check(json.loads(line))


def test_an_empty_session_has_a_step_that_says_so() -> None:
    [step] = trajectory(session(), [])["steps"]
    assert step == {"step_id": 1, "source": "system", "message": "This session has no messages."}


def test_what_a_tool_answered_stands_in_the_step_that_called_it() -> None:
    item = debugging()
    steps = trajectory(item.session, item.read_messages())["steps"]
    first = steps[4]
    assert first["tool_calls"] == [
        {"tool_call_id": "call_1", "function_name": "Read", "arguments": {"file_path": "src/auth.ts"}},
        {
            "tool_call_id": "call_2",
            "function_name": "Shell",
            "arguments": {"input": "ls | head"},
            "extra": {"arguments": "not a JSON object; the text is in `input`"},
        },
    ]
    assert first["observation"]["results"] == [
        {"source_call_id": "call_1", "content": "const token = undefined", "extra": {"name": "Read"}},
        {"source_call_id": "call_2", "content": "no such command", "extra": {"is_error": True}},
    ]
    assert first["reasoning_content"] == "Look at the code first."
    assert first["metrics"] == {
        "prompt_tokens": 4000,
        "completion_tokens": 100,
        "cached_tokens": 3000,
        "cost_usd": 0.05,
        "extra": {"reasoning_tokens": 40},
    }


def test_an_answer_to_an_unknown_call_is_a_step_of_its_own() -> None:
    data = trajectory(session(), [result("lost", "found"), reply("", ToolCall("lost", "f", "{}"))])
    assert data["steps"][0] == {
        "step_id": 1,
        "source": "system",
        "message": "",
        "observation": {"results": [{"content": "found", "extra": {"tool_call_id": "lost"}}]},
    }


def test_an_id_that_is_used_again_is_answered_where_it_was_used_last() -> None:
    call = ToolCall("1", "f", "{}")
    steps = trajectory(session(), [reply("a", call), result("1", "x"), reply("b", call), result("1", "y")])["steps"]
    assert [step["observation"]["results"][0]["content"] for step in steps] == ["x", "y"]


@pytest.mark.parametrize(
    ("message", "source", "extra"),
    [
        (user("a"), "user", None),
        (user("a", injected=True), "system", {"role": "user", "injected": True}),
        (Message("developer", "a"), "system", {"role": "developer"}),
        (Message("system", "a"), "system", None),
        (Message("critic", "a", name="n"), "system", {"role": "critic", "name": "n"}),
    ],
)
def test_who_began_a_step(message: Message, source: str, extra: dict[str, Any] | None) -> None:
    [step] = trajectory(session(), [message])["steps"]
    assert (step["source"], step.get("extra")) == (source, extra)


@pytest.mark.parametrize("text", ["", "{}"])
def test_no_arguments(text: str) -> None:
    [step] = trajectory(session(), [reply("", ToolCall("1", "f", text))])["steps"]
    assert step["tool_calls"] == [{"tool_call_id": "1", "function_name": "f", "arguments": {}}]


@pytest.mark.parametrize(
    "text", ["[1]", "null", "NaN", '{"a": NaN}', '{"a": 1e999}', "{" * 100_000, '{"a":' * 300, "rm"]
)
def test_arguments_that_are_no_object_are_kept_as_text(text: str) -> None:
    [step] = trajectory(session(), [reply("", ToolCall("1", "f", text))])["steps"]
    assert step["tool_calls"][0]["arguments"] == {"input": text}


@pytest.mark.parametrize(
    ("url", "part"),
    [
        (
            "https://x.test/a.png?b=1",
            {"type": "image", "source": {"media_type": "image/png", "path": "https://x.test/a.png?b=1"}},
        ),
        ("shots/b.jpg", {"type": "image", "source": {"media_type": "image/jpeg", "path": "shots/b.jpg"}}),
    ],
)
def test_images_are_referred_to(url: str, part: dict[str, Any]) -> None:
    content = [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": url}}]
    [step] = trajectory(session(), [user(content)])["steps"]
    assert step["message"] == [{"type": "text", "text": "see"}, part]


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
            "[image/png of 26 characters left out]",
        ),
        ({"type": "image_url", "image_url": {"url": "https://x.test/a.tiff"}}, "[image https://x.test/a.tiff]"),
        ({"type": "input_audio", "input_audio": {"data": "AA"}}, "[input_audio left out]"),
        ({}, "[part left out]"),
    ],
)
def test_what_is_no_image_of_the_format_is_named_in_words(part: dict[str, Any], text: str) -> None:
    [step] = trajectory(session(), [user([{"type": "text", "text": "see"}, part])])["steps"]
    assert step["message"] == f"see\n\n{text}"


SUBAGENT = "ab" + "0" * 18


def with_subagent() -> list[Message]:
    call = ToolCall("1", "Task", "{}")
    return [reply("", call), result("1", "a", subagent=SUBAGENT), reply("", call), result("1", "b", subagent=SUBAGENT)]


def test_a_subagent_is_referred_to_by_its_path() -> None:
    data = trajectory(session(), with_subagent())
    check(data)
    [found] = data["steps"][0]["observation"]["results"]
    path = f"../../ab/{SUBAGENT}/trajectory.json"
    assert found["subagent_trajectory_ref"] == [{"session_id": SUBAGENT, "trajectory_path": path}]
    assert "subagent_trajectories" not in data


def test_a_subagent_that_can_be_read_is_embedded_once() -> None:
    inner = trajectory(session(7), [reply("inner")])
    data = trajectory(session(), with_subagent(), {SUBAGENT: inner}.get)
    check(data)
    assert data["subagent_trajectories"] == [inner]
    for step in data["steps"]:
        [reference] = step["observation"]["results"][0]["subagent_trajectory_ref"]
        assert reference["trajectory_id"] == inner["trajectory_id"]


def test_the_export_says_what_people_found() -> None:
    data = json.loads(exported("atif", [debugging()]))
    assert data["extra"]["label"]["evalStatus"] == "golden"
    assert data["final_metrics"] == {
        "total_prompt_tokens": 4000,
        "total_completion_tokens": 521,
        "total_cached_tokens": 3000,
        "total_cost_usd": 0.08,
        "total_steps": 11,
    }
