"""Claude Code's transcripts: what becomes of each kind of record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from convex_evals.records.generation import Usage
from convex_evals.sessions import lines
from convex_evals.sessions.conversation import DETAIL, MESSAGE, OTHER_BRANCH, REPEATED, UNREADABLE, Conversation
from convex_evals.sessions.message import ASSISTANT, SYSTEM, TOOL, USER
from convex_evals.sessions.readers import log_records
from convex_evals.sessions.readers.claude_code import READER
from tests.sessions.claude_files import (
    ID,
    MODEL,
    SAMPLES,
    USAGE,
    answer,
    any_records,
    attachment,
    call,
    check,
    names,
    objects,
    read,
    read_one,
    record,
    reply,
    shape,
    text,
    user,
    written,
)

PROJECT = SAMPLES / "claude-code" / "-home-ana-shop"
MAIN = PROJECT / "3f1d2c4b-8a6e-4c1f-9b7d-5e2a1c0d4f6b.jsonl"
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}


@pytest.fixture(scope="module")
def main() -> Conversation:
    return read(MAIN, ":34: ")[0]


def test_messages_are_in_order(main: Conversation) -> None:
    assert [(each.role, each.injected) for each in main.messages] == [
        *[(USER, True)] * 4,
        (USER, False),
        (ASSISTANT, False),
        (TOOL, False),
        (TOOL, False),
        (USER, False),
        *[(ASSISTANT, False), (TOOL, False)] * 2,
        (USER, True),
        (USER, False),
        (ASSISTANT, False),
        (USER, True),
        (USER, False),
        (ASSISTANT, False),
        (SYSTEM, False),
        (ASSISTANT, False),
    ]
    assert main.messages[4].text == "Why does login fail? Tests say 401 – see `auth.test.ts`."
    assert main.messages[-1].text == "Committed."
    assert main.messages[-1].time == "2026-03-04T09:00:27.120Z"


def test_what_is_known_of_the_session(main: Conversation) -> None:
    assert (main.tool, main.native_id, main.parent) == ("claude-code", MAIN.stem, None)
    assert (main.title, main.tool_version) == ("Debug login in the shop", "2.1.96")
    assert (main.folder, main.git_branch) == ("/home/ana/shop", "fix-login")


def test_each_record_is_counted_once(main: Conversation) -> None:
    fates = {"message": 22, "detail": 8, "other_branch": 2, "unknown": 1, "unreadable": 1}
    assert dict(main.records.fates) == fates
    assert dict(main.records.unknown) == {"moon-phase": 1}
    assert main.raw == MAIN.read_text().removesuffix("\n").split("\n")


def test_a_reply_in_pieces_is_one_message_with_its_usage_once(main: Conversation) -> None:
    found = main.messages[5]
    assert (found.content, found.thinking) == ("I'll read both files.", "Look at the middleware first.")
    assert [(each.id, each.name) for each in found.tool_calls] == [("toolu_01A", "Read"), ("toolu_01B", "Bash")]
    assert json.loads(found.tool_calls[1].arguments)["command"] == "grep -n 'öffnen' src/*.ts"
    assert found.model == "claude-opus-4-5-20251101"
    assert found.usage == Usage(input_tokens=21_004, output_tokens=310, cached_tokens=12_000)
    assert sum(each.usage is not None for each in main.messages) == 5


@pytest.mark.parametrize(
    ("given_usage", "expected"),
    [
        (USAGE, Usage(input_tokens=123, output_tokens=7, cached_tokens=100)),
        (
            {"output_tokens": 5, "output_tokens_details": {"thinking_tokens": 3}},
            Usage(output_tokens=5, reasoning_tokens=3),
        ),
        (
            {"output_tokens": 5, "output_tokens_details": {"thinking_tokens": 9}},
            Usage(output_tokens=5, reasoning_tokens=5),
        ),
        (dict.fromkeys(USAGE, 10**15), None),
        ({"input_tokens": "many", "output_tokens": -1}, None),
        ({"input_tokens": True, "output_tokens": None}, None),
        ("none", None),
        (None, None),
    ],
)
def test_tokens(tmp_path: Path, given_usage: Any, expected: Usage | None) -> None:
    found = read_one(tmp_path, user("u", "hi"), reply("a", "ho", "u", message={"usage": given_usage}))
    assert found.messages[1].usage == expected


def test_two_replies_without_ids_are_two(tmp_path: Path) -> None:
    pieces = [reply("a", "one", "u", message={"id": None}), reply("b", "two", "a", message={"id": None})]
    assert shape(read_one(tmp_path, user("u", "hi"), *pieces)) == ["hi", "one", "two"]


def test_an_id_that_comes_again_after_a_request_is_of_another_reply(tmp_path: Path) -> None:
    found = read_one(
        tmp_path, user("u", "1"), reply("a", "2", "u", "m"), user("v", "3", "a"), reply("b", "4", "v", "m")
    )
    assert shape(found) == ["1", "2", "3", "4"]


def test_a_piece_that_is_there_twice_says_nothing_new(tmp_path: Path) -> None:
    pieces = [reply("a", [call("c")], "u", "m"), reply("b", [call("c")], "a", "m")]
    found = read_one(tmp_path, user("u", "hi"), *pieces)
    assert [each.id for each in found.messages[1].tool_calls] == ["c"]
    assert found.records.fates == {MESSAGE: 2, REPEATED: 1}


def test_a_cost_is_that_of_the_last_piece(tmp_path: Path) -> None:
    pieces = [reply("a", "one", "u", "m", costUSD=0.5), reply("b", [call("c")], "a", "m", costUSD=0.75)]
    found = read_one(tmp_path, user("u", "hi"), *pieces)
    assert [(each.role, each.cost_usd) for each in found.messages] == [(USER, None), (ASSISTANT, 0.75)]


def test_hidden_thinking_is_no_message_of_its_own(tmp_path: Path) -> None:
    blocks = [{"type": "thinking", "thinking": "", "signature": "x"}, {"type": "redacted_thinking", "data": "x"}]
    found = read_one(tmp_path, user("u", "hi"), reply("a", [*blocks, text("ho")], "u"))
    assert (found.messages[1].content, found.messages[1].thinking) == ("ho", None)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("hello", ["hello"]),
        ([text("hello")], ["hello"]),
        ("<command-name>/clear</command-name>", ["(<command-name>/clear</command-name>)"]),
        ("<local-command-stdout>ok</local-command-stdout>", ["(<local-command-stdout>ok</local-command-stdout>)"]),
        ("<bash-input>ls</bash-input>", ["(<bash-input>ls</bash-input>)"]),
        ("<task-notification>done</task-notification>", ["(<task-notification>done</task-notification>)"]),
        ("[Request interrupted by user]", ["([Request interrupted by user])"]),
        ("<system-reminder>a\nb</system-reminder>\nhello", ["(<system-reminder>a\nb</system-reminder>)", "hello"]),
        ("hello <system-reminder>is a tag</system-reminder>", ["hello <system-reminder>is a tag</system-reminder>"]),
        ([text("<ide_selection>x</ide_selection>"), text("hello")], ["(<ide_selection>x</ide_selection>)", "hello"]),
        ("<b>hello</b>", ["<b>hello</b>"]),
        ("", []),
        ([], []),
    ],
)
def test_what_the_agent_wrote_is_told_from_what_the_person_did(
    tmp_path: Path, content: Any, expected: list[str]
) -> None:
    found = read_one(tmp_path, user("u", content))
    assert shape(found) == expected
    assert {each.role for each in found.messages} <= {USER}
    assert dict(found.records.fates) == {MESSAGE if expected else DETAIL: 1}


@pytest.mark.parametrize(
    "mark",
    [
        {"isMeta": True},
        {"isCompactSummary": True},
        {"isVisibleInTranscriptOnly": True},
        {"promptSource": "system"},
        {"origin": {"kind": "task-notification"}},
    ],
)
def test_a_record_that_is_marked_is_the_agents(tmp_path: Path, mark: dict[str, Any]) -> None:
    assert shape(read_one(tmp_path, user("u", "look", **mark))) == ["(look)"]
    typed: dict[str, Any] = {"isMeta": False, "promptSource": "typed", "origin": {"kind": "human"}}
    assert shape(read_one(tmp_path, user("u", "look", **typed))) == ["look"]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"subtype": "informational", "content": "Retrying"}, (SYSTEM, False, "Retrying")),
        (
            {"subtype": "local_command", "content": "<command-name>/cost</command-name>"},
            (USER, True, "<command-name>/cost</command-name>"),
        ),
        ({"subtype": "compact_boundary", "content": "Conversation compacted"}, None),
        ({"subtype": "turn_duration", "durationMs": 3}, None),
        ({"subtype": "api_error", "error": {"status": 529}}, None),
    ],
)
def test_records_of_the_system(tmp_path: Path, more: dict[str, Any], expected: tuple[str, bool, str] | None) -> None:
    found = read_one(tmp_path, user("u", "hi"), record("system", "s", "u", **more))
    assert [(each.role, each.injected, each.text) for each in found.messages[1:]] == ([expected] if expected else [])
    assert found.records.fates == ({MESSAGE: 2} if expected else {MESSAGE: 1, DETAIL: 1})


def test_an_error_that_the_agent_made_a_reply_of_has_neither_model_nor_usage(tmp_path: Path) -> None:
    made = {"model": "<synthetic>", "usage": USAGE}
    found = read_one(tmp_path, user("u", "hi"), reply("a", "API Error", "u", isApiErrorMessage=True, message=made))
    assert (found.messages[1].role, found.messages[1].text) == (ASSISTANT, "API Error")
    assert (found.messages[1].model, found.messages[1].usage) == (None, None)


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (IMAGE, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}),
        (
            {"type": "image", "source": {"type": "url", "url": "https://x.example/a.png"}},
            {"type": "image_url", "image_url": {"url": "https://x.example/a.png"}},
        ),
        (
            {"type": "document", "title": "a.pdf", "source": {**IMAGE["source"], "media_type": "application/pdf"}},  # type: ignore[dict-item]
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AA=="}},
        ),
        ({"type": "document", "source": {"type": "text", "data": "abc"}}, text("abc")),
    ],
)
def test_images_and_documents(tmp_path: Path, block: Any, expected: Any) -> None:
    found = read_one(
        tmp_path,
        user("u", [text("see"), block]),
        reply("a", [call("c")], "u"),
        answer("r", "c", [block, text("x")], "a"),
    )
    assert found.messages[0].content == [text("see"), expected]
    assert found.messages[2].content == [expected, text("x")]


def test_results_of_tools(main: Conversation) -> None:
    found = [(each.name, each.tool_call_id, each.is_error) for each in main.messages if each.role == TOOL]
    assert found == [
        ("Read", "toolu_01A", False),
        ("Bash", "toolu_01B", True),
        ("Task", "toolu_01C", False),
        ("Edit", "toolu_01D", True),
    ]


def test_text_next_to_a_result_is_the_agents(tmp_path: Path) -> None:
    blocks = [{"type": "tool_result", "tool_use_id": "c", "content": "text"}, text("Use the skill.")]
    found = read_one(tmp_path, user("u", "hi"), reply("a", [call("c")], "u"), user("r", blocks, "a"))
    assert shape(found) == ["hi", "", "text", "(Use the skill.)"]


def test_a_result_that_is_there_twice_is_one(tmp_path: Path) -> None:
    results = [answer("r", "c", "text", "a"), answer("s", "c", "text", "r"), answer("t", "c", "another", "s")]
    found = read_one(tmp_path, user("u", "hi"), reply("a", [call("c")], "u"), *results)
    assert shape(found) == ["hi", "", "text", "another"]
    assert found.records.fates == {MESSAGE: 4, REPEATED: 1}


def test_a_record_that_is_there_twice_is_one(tmp_path: Path) -> None:
    found = read_one(tmp_path, user("u", "hi"), reply("a", "ho", "u"), user("u", "hi"))
    assert shape(found) == ["hi", "ho"]
    assert found.records.fates == {MESSAGE: 2, REPEATED: 1}


def test_a_request_made_while_the_agent_worked(tmp_path: Path) -> None:
    """Once, whether the version has an attachment for it or only its way through the queue."""

    def queue(operation: str, **more: Any) -> dict[str, Any]:
        return {"type": "queue-operation", "operation": operation, "sessionId": ID, **more}

    older = [queue("enqueue", content="and that"), queue("remove", content="and that")]
    newer = [*older, attachment("q", "a", type="queued_command", prompt="and that", commandMode="prompt")]
    start, end = [user("u", "hi"), reply("a", "one", "u")], reply("b", "two", "a")
    for waiting, fates in ((older, {MESSAGE: 4, DETAIL: 1}), (newer, {MESSAGE: 4, DETAIL: 1, REPEATED: 1})):
        found = read_one(tmp_path, *start, *waiting, {**end, "parentUuid": "q"})
        assert shape(found) == ["hi", "one", "and that", "two"]
        assert found.records.fates == fates
    later = [queue("enqueue", content="x"), queue("dequeue"), user("x", "x", "q"), reply("b", "two", "x")]
    assert shape(read_one(tmp_path, *start, *newer, *later)) == ["hi", "one", "and that", "x", "two"]
    again = [*newer, queue("remove", content="and that"), {**end, "parentUuid": "q"}]
    assert shape(read_one(tmp_path, *start, *again)) == ["hi", "one", "and that", "and that", "two"]
    left = read_one(tmp_path, *start, *older, user("v", "no", "u"), reply("c", "two", "v"))
    assert shape(left) == ["hi", "no", "two"]
    assert left.records.fates == {MESSAGE: 3, DETAIL: 1, OTHER_BRANCH: 2}
    edited = [*start, queue("enqueue", content="x"), queue("popAll", content="x"), end]
    assert shape(read_one(tmp_path, *edited)) == ["hi", "one", "two"]
    noticed = [*start, queue("remove", content="<task-notification>x</task-notification>"), end]
    assert shape(read_one(tmp_path, *noticed)) == ["hi", "one", "(<task-notification>x</task-notification>)", "two"]


def test_a_system_prompt_stands_first(tmp_path: Path) -> None:
    prompt = {"type": "prompt_snapshot", "systemPrompt": [text("Be careful.")]}
    found = read_one(
        tmp_path, user("u", "hi"), attachment("p", "u", **prompt), attachment("q", "p", **prompt), reply("a", "ho", "q")
    )
    assert [(each.role, each.text) for each in found.messages] == [
        (SYSTEM, "Be careful."),
        (USER, "hi"),
        (ASSISTANT, "ho"),
    ]
    assert found.records.fates == {MESSAGE: 3, REPEATED: 1}


@pytest.mark.parametrize(
    ("records", "title"),
    [
        ([{"type": "summary", "summary": "Of this", "leafUuid": "a"}], "Of this"),
        ([{"type": "summary", "summary": "Of another", "leafUuid": "z"}], None),
        (
            [
                {"type": "summary", "summary": "One", "leafUuid": "a"},
                {"type": "summary", "summary": "Two", "leafUuid": "a"},
            ],
            "Two",
        ),
        ([{"type": "ai-title", "aiTitle": "One"}, {"type": "ai-title", "aiTitle": "Two"}], "Two"),
        ([{"type": "custom-title", "customTitle": "Mine"}, {"type": "ai-title", "aiTitle": "Two"}], "Mine"),
        ([{"type": "ai-title", "aiTitle": ["no", "text"]}, {"type": "summary"}], None),
    ],
)
def test_titles(tmp_path: Path, records: list[Any], title: str | None) -> None:
    found = read_one(tmp_path, *records, user("u", "hi"), reply("a", "ho", "u"))
    assert found.title == title
    assert found.records.fates == {DETAIL: len(records), MESSAGE: 2}


def test_unknown_records_and_blocks_are_named_and_kept(tmp_path: Path) -> None:
    block = {"type": "hologram", "data": "x"}
    records = [
        {"type": "moon-phase", "phase": "full"},
        {"type": "moon-phase"},
        ["no", "object"],
        {"no": "type"},
        user("u", 7),
        user("v", [block, block, text("hi")]),
    ]
    file = written(tmp_path / f"{ID}.jsonl", *records)
    (found,) = read(file, f"{file}:6: a block of unknown kind 'hologram'; kept as it is")
    unknown = {"moon-phase": 2, "(no object)": 1, "None": 1, "user without content": 1}
    assert dict(found.records.unknown) == unknown
    assert found.records.fates == {"unknown": 5, MESSAGE: 1}
    assert found.messages[0].content == [block, block, text("hi")]
    assert [json.loads(each) for each in found.raw] == records


@pytest.mark.parametrize(
    ("line", "told", "kept"),
    [
        (b'{"type":"us', "Unterminated string", '{"type":"us'),
        (b"no JSON", "Expecting value", "no JSON"),
        (b'{"type":"user","text":"\xff\xfe"}', "utf-8", '{"type":"user","text":"��"}'),
        (b'{"type":"user","text":"a\x00b"}', "Invalid control character", '{"type":"user","text":"a\x00b"}'),
        (b"\x00\x00\x00", "Expecting value", "\x00\x00\x00"),
        (b"[" * 300 + b"]" * 300, "nested deeper", "[" * 300 + "]" * 300),
        (b'{"type":"user","n":NaN}', "NaN", '{"type":"user","n":NaN}'),
        (b'"' + b"x" * 3000 + b'"', "longer than 3,000 bytes; left out", ""),
    ],
    ids=["torn", "text", "utf-8", "nul", "nuls", "deep", "nan", "long"],
)
def test_lines_that_cannot_be_read_are_told_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: bytes, told: str, kept: str
) -> None:
    monkeypatch.setattr(lines, "LONGEST_LINE", 3000)
    file = tmp_path / f"{ID}.jsonl"
    before, after = (json.dumps(each).encode() for each in (user("u", "hi"), reply("a", "ho", "u")))
    file.write_bytes(b"\n".join((before, line, after)))
    problems: list[str] = []
    (found,) = READER.read(file, problems.append)
    check([found])
    assert len(problems) == 1 and problems[0].startswith(f"{file}:2: ") and told in problems[0]
    assert problems[0].endswith("; left out" if not kept else "; kept as text")
    assert shape(found) == ["hi", "ho"]
    assert found.raw == [before.decode(), kept, after.decode()]
    assert found.records.fates == {MESSAGE: 2, UNREADABLE: 1}


def test_a_record_behind_zero_bytes_is_read(tmp_path: Path) -> None:
    found = read_one(tmp_path, "\0\0" + json.dumps(user("u", "hi")), reply("a", "ho", "u"))
    assert shape(found) == ["hi", "ho"]
    assert found.raw[0].startswith("\0\0{")


def test_separators_of_lines_in_text_end_no_record(tmp_path: Path) -> None:
    words = "a\u2028b\u2029c\x85d"
    file = tmp_path / f"{ID}.jsonl"
    file.write_bytes(json.dumps(user("u", words), ensure_ascii=False).encode() + b"\r\n")
    assert shape(read(file)[0]) == [words]


@pytest.mark.parametrize("content", [b"", b"\n \n\r\n"])
def test_a_file_without_records_holds_no_conversation(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / f"{ID}.jsonl"
    file.write_bytes(content)
    assert read(file) == []


def test_files_that_are_not_read_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / f"{ID}.jsonl"
    assert read(file, f"{file}: cannot be read: No such file or directory; skipped") == []
    monkeypatch.setattr(log_records, "LARGEST_FILE", 10)
    assert read(written(file, user("u", "hi")), f"{file}:1: larger than 10 bytes; skipped") == []


def test_the_session_is_named_by_its_file_where_its_records_have_that_name(tmp_path: Path) -> None:
    other = user("u", "hi", sessionId="another")
    assert read_one(tmp_path, other, reply("a", "ho", "u")).native_id == ID
    assert read(written(tmp_path / "copy.jsonl", other, reply("a", "ho", "u")))[0].native_id == ID
    assert read(written(tmp_path / "bare.jsonl", {**other, "sessionId": None}))[0].native_id == "bare"


RECORDS = any_records(
    ["user", "assistant", "system", "attachment", "summary", "ai-title", "queue-operation", "new"],
    uuid=names(),
    parentUuid=names(),
    logicalParentUuid=names(),
    sessionId=names(),
    requestId=names(),
    agentId=names(),
    isSidechain=st.booleans(),
    isMeta=st.booleans(),
    subtype=st.sampled_from(["compact_boundary", "local_command", "informational"]),
    operation=st.just("remove"),
    content=names(),
    summary=names(),
    leafUuid=names(),
    costUSD=st.floats(0, 2),
    attachment=objects(
        type=st.sampled_from(["queued_command", "prompt_snapshot"]), prompt=names(), systemPrompt=names()
    ),
    toolUseResult=objects(agentId=names()),
)


@settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(RECORDS)
@example([json.dumps(reply("a", "x", message={"usage": dict.fromkeys(USAGE, 10**12)}))])
@example([json.dumps(each) for each in (user("a", "x", "b"), user("b", "y", "a"))])
def test_any_records_are_all_kept_and_counted(tmp_path: Path, records: list[str]) -> None:
    file = written(tmp_path / f"{ID}.jsonl", *records)
    problems: list[str] = []
    found = list(READER.read(file, problems.append))
    check(found)
    assert sorted(line for each in found for line in each.raw) == sorted(records)
    assert all(line.startswith(f"{file}:") and "\n" not in line for line in problems)
    assert found == list(READER.read(file, problems.append))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary(max_size=200) | st.lists(st.sampled_from([b'{"type":"user"}', b"\n", b"\0", b"{", b"\xff"])).map(b"".join)
)
def test_any_bytes_are_all_kept_and_counted(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / f"{ID}.jsonl"
    file.write_bytes(data)
    problems: list[str] = []
    found = list(READER.read(file, problems.append))
    check(found)
    unreadable = sum(each.records.fates[UNREADABLE] for each in found)
    assert unreadable == len(problems)
    assert sum(len(each.raw) for each in found) == sum(1 for _ in lines.json_lines(file))


def test_places(tmp_path: Path) -> None:
    assert READER.places(tmp_path) == (tmp_path / ".claude" / "projects", tmp_path / ".config" / "claude" / "projects")
    assert MODEL in {each.model for each in read_one(tmp_path, reply("a", "x")).messages}
