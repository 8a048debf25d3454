"""Codex's rollouts, those of older versions, and what `codex exec` prints."""

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
from convex_evals.sessions.readers.codex import READER

SAMPLES = Path(__file__).parent / "samples" / "codex"
PARENT, CHILD = "019a1b2c-3d4e-7f50-8a61-0123456789ab", "019a1b2c-9999-7f50-8a61-0123456789cd"
Data = dict[str, Any]


def sample(name: str) -> Path:
    (found,) = SAMPLES.rglob(f"*{name}*")
    return found


def read(file: Path, *expected: str) -> Conversation:
    """What the file holds, all of its records being accounted for, and `expected` standing in the problems."""
    problems: list[str] = []
    (found,) = READER.read(file, lambda line: problems.append(line))
    assert len(problems) == len(expected), problems
    for part, line in zip(expected, problems, strict=True):
        assert part in line and line.startswith(f"{file}:") and "\n" not in line
    assert found.records.read == len(found.raw)
    assert sum(found.records.unknown.values()) == found.records.fates["unknown"]
    json.dumps([message.to_data() for message in found.messages], ensure_ascii=False).encode()
    "\n".join(found.raw).encode()
    return found


def written(folder: Path, *records: Any) -> Path:
    file = folder / "rollout-x.jsonl"
    file.write_text("".join(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in records))
    return file


def line(kind: str, payload: Any, **more: Any) -> Data:
    return {"timestamp": "2026-03-02T09:15:00.000Z", "type": kind, "payload": payload, **more}


def item(kind: str, **payload: Any) -> Data:
    return line("response_item", {"type": kind, **payload})


def event(kind: str, **payload: Any) -> Data:
    return line("event_msg", {"type": kind, **payload})


def said(role: str, *texts: str) -> Data:
    kind = "output_text" if role == ASSISTANT else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": text} for text in texts])


def tokens(number: int, total: int | None = None) -> Data:
    def of(count: int) -> Data:
        return {"input_tokens": count, "cached_input_tokens": 0, "output_tokens": count, "reasoning_output_tokens": 0}

    return event("token_count", info={"total_token_usage": of(total or number), "last_token_usage": of(number)})


def shape(messages: list[Message]) -> list[tuple[str, str]]:
    return [(each.role, each.text) for each in messages]


@pytest.fixture(scope="module")
def rollout() -> Conversation:
    return read(sample(f"00-{PARENT}"), ":45: ")


def test_a_rollout_is_read_in_order(rollout: Conversation) -> None:
    assert [(each.role, each.injected) for each in rollout.messages] == [
        *((SYSTEM, False), (SYSTEM, False), (USER, True), (USER, False)),
        *((ASSISTANT, False), (TOOL, False), (TOOL, False), (ASSISTANT, False), (TOOL, False), (ASSISTANT, False)),
        *((USER, False), (ASSISTANT, False), (TOOL, False), (USER, True), (ASSISTANT, False), (USER, True)),
    ]
    assert rollout.messages[0].text == "You are a coding agent."
    assert rollout.messages[3].time == "2026-03-02T09:15:05.000Z"
    assert dict(rollout.records.fates) == {
        "message": 20,
        "detail": 14,
        "repeated": 7,
        "other_branch": 2,
        "unknown": 2,
        "unreadable": 1,
    }
    assert rollout.records.unknown == {"response_item:hologram": 1, "turn_aborted_v9": 1}


def test_what_is_known_of_the_session(rollout: Conversation) -> None:
    assert (rollout.native_id, rollout.title, rollout.parent) == (PARENT, "Fix the cart total", None)
    assert (rollout.tool, rollout.tool_version) == ("codex", "0.98.0")
    assert (rollout.folder, rollout.git_branch) == ("/home/ana/shop", "fix-cart")
    assert rollout.started_at == "2026-03-02T09:15:00.500Z"


def test_a_reply_is_one_however_many_items_it_has(rollout: Conversation) -> None:
    reply, *results = rollout.messages[4:7]
    assert reply.text == "I will look at the cart."
    assert reply.thinking == "**Finding the total**"
    assert [(call.id, call.name) for call in reply.tool_calls] == [
        ("call_1", "exec_command"),
        ("call_2", "exec_command"),
    ]
    assert json.loads(reply.tool_calls[0].arguments) == {"cmd": "rg total src"}
    assert [(each.tool_call_id, each.name, each.is_error) for each in results] == [
        ("call_1", "exec_command", False),
        ("call_2", "exec_command", True),
    ]
    assert {each.model for each in rollout.messages if each.role == ASSISTANT} == {"gpt-5.3-codex"}
    assert "opaque" not in json.dumps([each.to_data() for each in rollout.messages])


def test_tokens_are_counted_once_with_those_that_were_cached(rollout: Conversation) -> None:
    usage = [each.usage for each in rollout.messages if each.usage]
    assert usage == [
        Usage(input_tokens=9000, output_tokens=120, cached_tokens=2000, reasoning_tokens=40),
        Usage(input_tokens=9400, output_tokens=80, cached_tokens=9000),
        Usage(input_tokens=9600, output_tokens=30, cached_tokens=9400),
        Usage(input_tokens=9900, output_tokens=25, cached_tokens=9700, reasoning_tokens=5),
        Usage(input_tokens=10100, output_tokens=8, cached_tokens=9900),
    ]


def test_what_was_rolled_back_is_another_branch(rollout: Conversation) -> None:
    assert rollout.branches == 1
    assert not any("Rust" in each.text for each in rollout.messages)


def test_an_image_is_a_part_without_the_tags_around_it(rollout: Conversation) -> None:
    content = rollout.messages[10].content
    assert isinstance(content, list)
    assert [part["type"] for part in content] == ["image_url", "text"]


def test_calls_that_start_agents_name_their_sessions(rollout: Conversation) -> None:
    assert [each.subagent for each in rollout.messages if each.subagent] == [session_id("codex", CHILD)]
    child = read(sample(CHILD))
    assert (child.native_id, child.parent) == (CHILD, PARENT)
    assert shape(child.messages) == [
        (USER, "The cart total is wrong. Fix it."),
        (ASSISTANT, "The total now includes the discount."),
        (USER, "Check the rounding"),
        (ASSISTANT, "Half up."),
    ]
    assert not any(each.injected for each in child.messages)
    # The copied reply's tokens are the parent's.
    assert [each.usage.output_tokens for each in child.messages if each.usage] == [4]


def test_a_rollout_of_the_first_versions(tmp_path: Path) -> None:
    found = read(sample("2025-06-10"))
    assert found.native_id == "5973b6c0-94b8-487b-a530-2aeb6098ae0e"
    assert [(each.role, each.injected) for each in found.messages] == [
        *((USER, True), (USER, False), (ASSISTANT, False), (TOOL, False), (ASSISTANT, False)),
    ]
    assert found.messages[3].is_error
    assert found.messages[2].tool_calls[0].name == "local_shell"
    records = [json.loads(text) for text in found.raw]
    document = tmp_path / "rollout-2025-05-01-x.json"
    document.write_text(json.dumps({"session": records[0], "items": records[2:4] + records[5:]}, indent=1))
    older = read(document)
    assert (older.native_id, shape(older.messages)) == (found.native_id, shape(found.messages))


def test_what_codex_exec_prints() -> None:
    found = read(SAMPLES / "exec.jsonl")
    assert found.native_id == "019a1b2c-7777-7f50-8a61-0123456789ef"
    calls = [(call.name, call.id) for each in found.messages for call in each.tool_calls]
    assert calls == [
        *(("shell", "item_1"), ("apply_patch", "item_2"), ("mcp__docs__search", "item_3")),
        *(("update_plan", "item_4"), ("shell", "item_5")),
    ]
    results = [(each.text, each.is_error) for each in found.messages if each.role == TOOL]
    assert results == [("docs\n", False), ("completed", False), ("no such page", True)]
    assert found.messages[0].thinking == "**Listing**"
    assert found.messages[-1].text == "One folder: docs."
    assert found.messages[-1].usage == Usage(input_tokens=24763, output_tokens=122, cached_tokens=24448)
    assert found.records.unknown == {"item.completed:daydream": 1}


@pytest.mark.parametrize(
    "text",
    [
        "<environment_context>\n<cwd>/</cwd>\n</environment_context>",
        "<user_instructions>\nx\n</user_instructions>",
        "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>",
        "<turn_aborted>\nThe user interrupted.\n</turn_aborted>",
        "<skill>\n<name>x</name>\n</skill>",
        "<user_shell_command>\n<command>ls</command>\n</user_shell_command>",
        '<codex_internal_context source="goal">\nx\n</codex_internal_context>',
        '<hook_prompt hook_run_id="1">x</hook_prompt>',
        "<external_notes>x</external_notes>",
        "Warning: The maximum number of unified exec processes you can keep open is 60",
    ],
)
def test_context_is_injected(tmp_path: Path, text: str) -> None:
    found = read(written(tmp_path, said(USER, text), said(USER, f"Why {text}?"), said(USER, text, "And now?")))
    assert [(each.text, each.injected) for each in found.messages] == [
        *((text, True), (f"Why {text}?", False), (text, True), ("And now?", False)),
    ]


def test_what_an_editor_adds_is_injected(tmp_path: Path) -> None:
    text = "# Context from my IDE setup:\n\n## Active file: a.ts\n\n## My request for Codex:\nRename it\n"
    found = read(written(tmp_path, said(USER, text), event("user_message", message=text)))
    assert [each.injected for each in found.messages] == [True, False]
    assert found.messages[1].text == "Rename it\n"


def test_events_count_where_no_item_has_what_they_say(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        event("user_message", message="Hi"),
        event("agent_reasoning", text="Hm"),
        event("agent_message", message="Hello"),
        said(USER, "Next", "please"),
        event("item_completed", item={"type": "UserMessage", "content": [{"type": "text", "text": "Next please"}]}),
        said(ASSISTANT, "So:\n<proposed_plan>\n1. Look\n</proposed_plan>"),
        event("item_completed", item={"type": "Plan", "text": "1. Look"}),
        event("agent_message", message="So:"),
    )
    found = read(file)
    assert shape(found.messages)[:3] == [(USER, "Hi"), (ASSISTANT, "Hello"), (USER, "Next\n\nplease")]
    assert found.messages[1].thinking == "Hm"
    assert len(found.messages) == 4
    assert found.records.fates["repeated"] == 3


@pytest.mark.parametrize(
    ("turns", "left", "lost"), [(0, 6, 0), (1, 4, 2), (2, 1, 5), (9, 1, 5), (-1, 6, 0), (None, 6, 0)]
)
def test_rolling_back(tmp_path: Path, turns: Any, left: int, lost: int) -> None:
    context = said(USER, "<environment_context>b</environment_context>")
    first = [said("developer", "Rules"), said(USER, "a"), said(ASSISTANT, "A"), tokens(5)]
    file = written(
        tmp_path, *first, context, said(USER, "b"), said(ASSISTANT, "B"), event("thread_rolled_back", num_turns=turns)
    )
    if turns == 1:
        left, lost = 3, 3  # the context of the turn is lost with it
    found = read(file)
    assert (len(found.messages), found.records.fates["other_branch"], found.branches) == (left, lost, int(lost > 0))


def test_rolling_back_twice_counts_each_record_once(tmp_path: Path) -> None:
    undo = event("thread_rolled_back", num_turns=1)
    file = written(tmp_path, *(said(USER, each) for each in "abc"), undo, undo, said(USER, "d"), undo, said(USER, "e"))
    found = read(file)
    assert shape(found.messages) == [(USER, "a"), (USER, "e")]
    assert (found.records.fates["other_branch"], found.branches) == (3, 3)


def test_tokens_without_those_of_the_last_request_are_what_was_added(tmp_path: Path) -> None:
    totals = [{"input_tokens": number, "output_tokens": number} for number in (10, 25)]
    replies = [said(ASSISTANT, "a"), said(ASSISTANT, "b")]
    counts = [event("token_count", info={"total_token_usage": each}) for each in totals]
    found = read(written(tmp_path, replies[0], counts[0], replies[1], counts[1], event("token_count", info=None)))
    assert [each.usage and each.usage.input_tokens for each in found.messages] == [10, 15]


def test_tokens_that_come_after_results_are_of_the_reply_before(tmp_path: Path) -> None:
    call = item("function_call", name="f", arguments="{}", call_id="c")
    output = item("function_call_output", call_id="c", output="x")
    found = read(written(tmp_path, call, output, tokens(7), said(ASSISTANT, "b"), tokens(8, 15), tokens(9, 24)))
    assert [each.usage.input_tokens if each.usage else None for each in found.messages] == [7, None, 8]


def called(name: str) -> tuple[Data, Data]:
    call = item("function_call", name="f", arguments="{}", call_id=name)
    return call, item("function_call_output", call_id=name, output=name)


def used(found: Conversation) -> list[tuple[str, int | None]]:
    """Each reply's text or calls, with the tokens of its input."""
    replies = [each for each in found.messages if each.role == ASSISTANT]
    shown = [each.text or "".join(call.id for call in each.tool_calls) for each in replies]
    counted = [each.usage.input_tokens if each.usage else None for each in replies]
    return list(zip(shown, counted, strict=True))


def test_tokens_that_come_before_a_reply_are_of_it(tmp_path: Path) -> None:
    """As Codex 0.60 has them: a limit, what is shown, the tokens, and then all items of the reply."""
    limits = event("token_count", info=None)
    file = written(
        tmp_path,
        *(said(USER, "Go"), limits, event("agent_message", message="Both"), tokens(7)),
        *(said(ASSISTANT, "Both"), *called("a"), *called("b")),
        *(limits, tokens(8, 15), *called("c")),
        *(tokens(8, 15), tokens(9, 24), said(ASSISTANT, "Done")),
        *(said(USER, "More"), limits, tokens(10, 34), said(ASSISTANT, "Yes"), limits, said(ASSISTANT, "Uncounted")),
    )
    found = read(file)
    assert used(found) == [("Both", 7), ("c", 8), ("Done", 9), ("Yes", 10), ("Uncounted", None)]
    assert [call.id for call in found.messages[1].tool_calls] == ["a", "b"]
    assert [each.tool_call_id for each in found.messages if each.role == TOOL] == ["a", "b", "c"]


def test_each_turn_shows_where_its_tokens_are(tmp_path: Path) -> None:
    """A conversation may be continued by a newer version."""
    older = [said(USER, "1"), tokens(1), said(ASSISTANT, "A")]
    newer = [said(USER, "2"), said(ASSISTANT, "B"), tokens(2, 3), said(ASSISTANT, "C"), tokens(3, 6)]
    assert used(read(written(tmp_path, *older, *newer))) == [("A", 1), ("B", 2), ("C", 3)]


@pytest.mark.parametrize("is_early", [True, False])
def test_tokens_of_a_summary_are_of_no_reply(tmp_path: Path, is_early: bool) -> None:
    summary = [tokens(100, 100), line("compacted", {"message": "So far"})]
    reply = [said(ASSISTANT, "A"), tokens(1, 101)]
    found = read(written(tmp_path, said(USER, "1"), *summary, *(reversed(reply) if is_early else reply)))
    assert used(found) == [("A", 1)]


@pytest.mark.parametrize(
    ("output", "content", "is_error"),
    [
        ("plain", "plain", False),
        ("Exit code: 2\nWall time: 0 seconds\nOutput:\nx", None, True),
        ("Exit code: 0\nOutput:\nExit code: 1", None, False),
        ('{"output": "x", "metadata": {"exit_code": 1}}', None, True),
        ({"content": "x", "success": False}, "x", True),
        ([{"type": "input_text", "text": "x"}], "x", False),
        ([{"type": "input_image", "image_url": "u"}], [{"type": "image_url", "image_url": {"url": "u"}}], False),
        (None, "", False),
        (7, "7", False),
        ('{"metadata": [', None, False),
    ],
)
def test_results_of_tools(tmp_path: Path, output: Any, content: Any, is_error: bool) -> None:
    found = read(written(tmp_path, item("function_call_output", call_id="c", output=output)))
    assert found.messages[0].content == (output if content is None else content)
    assert found.messages[0].is_error is is_error


@pytest.mark.parametrize(
    "failure",
    [
        event("exec_command_end", call_id="c", exit_code=1),
        event("patch_apply_end", call_id="c", success=False),
        event("mcp_tool_call_end", call_id="c", result={"Err": "no"}),
        event("mcp_tool_call_end", call_id="c", result={"Ok": {"content": [], "isError": True}}),
    ],
)
def test_events_tell_of_failures(tmp_path: Path, failure: Data) -> None:
    found = read(written(tmp_path, failure, item("custom_tool_call_output", call_id="c", output="x")))
    assert found.messages[0].is_error


def test_other_calls_of_tools(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        item("function_call", name="search", namespace="mcp__docs__", arguments="{}", call_id="a"),
        item("tool_search_call", call_id="b", arguments={"query": "q"}),
        item("tool_search_output", call_id="b", tools=[{"name": "x"}]),
        item("image_generation_call", id="ig", status="completed", revised_prompt="a cat", result="AA=="),
        item("function_call", name="no_id", arguments=None),
        item("function_call", name="no_id", arguments=None),
    )
    found = read(file)
    calls = [call for each in found.messages for call in each.tool_calls]
    assert [call.name for call in calls] == ["mcp__docs__search", "tool_search", "image_generation", "no_id", "no_id"]
    assert len({call.id for call in calls}) == 5
    results = [each for each in found.messages if each.role == TOOL]
    assert [each.name for each in results] == ["tool_search", "image_generation"]
    assert results[0].content == '[{"name":"x"}]'


def test_what_the_model_calls_twice_is_there_once(tmp_path: Path) -> None:
    call = item("function_call", name="f", arguments="{}", call_id="c")
    output = item("function_call_output", call_id="c", output="x")
    found = read(written(tmp_path, call, call, output, output))
    assert len(found.messages) == 2
    assert found.records.fates["repeated"] == 2


@pytest.mark.parametrize(
    ("meta", "parent"),
    [
        ({"source": "cli"}, None),
        ({"source": "cli", "forked_from_id": "p"}, None),  # a person's
        ({"source": {"subagent": "review"}, "forked_from_id": "p"}, "p"),
        ({"source": {"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}}, "p"),
        ({"source": {"subagent": {"other": "guardian"}}, "parent_thread_id": "p"}, "p"),
        ({"thread_source": "subagent", "forked_from_id": "p"}, "p"),
        ({"source": 7}, None),
    ],
)
def test_parents(tmp_path: Path, meta: Data, parent: str | None) -> None:
    assert read(written(tmp_path, line("session_meta", {"id": "x", **meta}))).parent == parent


def test_instructions_that_are_said_again_are_there_once(tmp_path: Path) -> None:
    meta = line("session_meta", {"id": "x", "instructions": "Use pnpm."})
    again = said(USER, "<user_instructions>\nUse pnpm.\n</user_instructions>")
    assert [each.role for each in read(written(tmp_path, meta, again)).messages] == [USER]
    assert [each.role for each in read(written(tmp_path, meta)).messages] == [SYSTEM]


def test_what_is_not_known_is_named_and_kept(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        7,
        {},
        line("new_kind", {}),
        line("response_item", "text"),
        event("new_event"),
        item("message", role="oracle", content=[]),
        item("message", role=USER, content=[{"type": "smell", "of": "roses"}, {"type": "smell"}]),
        '{"half',
    )
    found = read(file, ":8: ", ":7: a block of unknown kind 'smell'")
    assert found.records.unknown == {
        "(no object)": 1,
        "None": 1,
        "new_kind": 1,
        "response_item without content": 1,
        "event_msg:new_event": 1,
        "response_item:message:oracle": 1,
    }
    assert found.messages[0].content == [{"type": "smell", "of": "roses"}, {"type": "smell"}]
    assert found.raw[-1] == '{"half'


def test_files_are_rollouts_and_never_credentials(tmp_path: Path) -> None:
    home = tmp_path / "home"
    sessions, archived = READER.places(home)
    shutil.copytree(SAMPLES, home / ".codex")
    for name in ("auth.json", "config.toml", "history.jsonl", "session_index.jsonl", "log/codex-tui.log"):
        (home / ".codex" / name).parent.mkdir(exist_ok=True)
        (home / ".codex" / name).write_text("{}")
    (sessions / "rollout-link.jsonl").symlink_to(home / ".codex" / "auth.json")
    (sessions / "auth.json").write_text("{}")
    expected = [PARENT, CHILD]
    assert [file.stem[-36:] for file in READER.files(sessions)] == expected
    assert [file.stem[-36:] for file in READER.files(home / ".codex")] == [
        *expected,
        next(archived.iterdir()).stem[-36:],
    ]
    for name in ("auth.json", "config.toml", "history.jsonl", "session_index.jsonl"):
        assert list(READER.files(home / ".codex" / name)) == []
    (tmp_path / "loose").mkdir()
    for name in ("a.jsonl", "history.jsonl", "auth.json"):
        (tmp_path / "loose" / name).write_text("{}")
    assert [file.name for file in READER.files(tmp_path / "loose")] == ["a.jsonl"]


def test_files_that_are_not_read_are_told(tmp_path: Path) -> None:
    problems: list[str] = []
    packed, gone = tmp_path / "rollout-a.jsonl.zst", tmp_path / "rollout-b.jsonl"
    packed.write_bytes(b"\x28\xb5\x2f\xfd")
    assert list(READER.files(tmp_path)) == [packed]
    for file in (packed, gone, gone.with_suffix(".json"), tmp_path / "auth.json"):
        assert list(READER.read(file, lambda line: problems.append(line))) == []
    assert len(problems) == 4
    assert "compressed" in problems[0] and "not opened" in problems[3]
    gone.write_text("{}\n")
    (tmp_path / "rollout-a.jsonl").write_text("{}\n")
    assert [file.name for file in READER.files(tmp_path)] == ["rollout-a.jsonl", "rollout-b.jsonl"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
WORDS = st.sampled_from(
    [
        *("session_meta", "response_item", "event_msg", "compacted", "turn_context", "inter_agent_communication"),
        *("message", "reasoning", "function_call", "function_call_output", "local_shell_call", "web_search_call"),
        *("agent_message", "image_generation_call", "tool_search_output", "token_count", "thread_rolled_back"),
        *("user_message", "item_completed", "mcp_tool_call_end", "sub_agent_activity", "UserMessage", "Plan"),
        *("thread.started", "item.started", "item.completed", "turn.completed", "command_execution", "mcp_tool_call"),
        *("collab_tool_call", "user", "assistant", "developer", "input_text", "input_image", "a", "b", "spawn_agent"),
    ]
)
KEYS = st.sampled_from(
    [
        *("timestamp", "payload", "id", "role", "content", "text", "arguments", "call_id", "name", "output", "summary"),
        *("info", "last_token_usage", "total_token_usage", "input_tokens", "output_tokens", "num_turns", "message"),
        *("item", "usage", "source", "subagent", "git", "metadata", "base_instructions", "instructions", "model"),
        *("result", "image_url", "status", "error", "exit_code", "receiver_thread_ids", "tool", "ordinal"),
        *("subagent_history_start_ordinal", "record_type", "item_type", "namespace", "action", "agent_thread_id"),
    ]
)
VALUES = st.recursive(
    JSON | WORDS | st.integers(-2, 3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(KEYS, inner, max_size=4)
        | st.builds(lambda kind, more: {**more, "type": kind}, WORDS, st.dictionaries(KEYS, inner, max_size=4))
    ),
    max_leaves=12,
)
RECORDS = st.lists(
    VALUES
    | st.builds(lambda kind, payload: line(kind, payload), WORDS, VALUES)
    | st.builds(
        lambda kind, inner: line(kind, inner), WORDS, st.dictionaries(KEYS | st.just("type"), VALUES, max_size=6)
    )
    | st.builds(lambda kind, inner: item(kind, **{**inner, "type": kind}), WORDS, st.dictionaries(KEYS, VALUES)),
    max_size=8,
)


@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(records=RECORDS)
def test_any_records_are_read_and_accounted_for(tmp_path: Path, records: list[Any]) -> None:
    file = tmp_path / "rollout-x.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in records))
    found = list(READER.read(file, lambda line: None))
    assert len(found) == (1 if records else 0)
    for conversation in found:
        assert conversation.records.read == len(conversation.raw) == len(records)
        for message in conversation.messages:
            data = json.loads(json.dumps(message.to_data(), ensure_ascii=False).encode())
            assert Message.from_data(data) == message


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=200))
def test_any_bytes_are_read(tmp_path: Path, data: bytes) -> None:
    for name in ("rollout-x.jsonl", "rollout-x.json"):
        (tmp_path / name).write_bytes(data)
        for conversation in READER.read(tmp_path / name, lambda line: None):
            assert conversation.records.read == len(conversation.raw)
