"""Gemini CLI's chats: logs, which are replayed, and the documents of older versions."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from convex_evals.records.generation import Usage
from convex_evals.sessions.conversation import (
    DETAIL,
    FATES,
    MESSAGE,
    OTHER_BRANCH,
    REPEATED,
    UNKNOWN,
    UNREADABLE,
    Conversation,
    session_id,
)
from convex_evals.sessions.message import ASSISTANT, SYSTEM, TOOL, USER, Message
from convex_evals.sessions.readers.gemini import READER

SAMPLES = Path(__file__).parent / "samples" / "gemini"
SESSION = "8d3c0d5e-6f1a-4b8e-9a51-2f6f0e2c1a11"
LOG = SAMPLES / "shop" / "chats" / "session-2026-10-02T08-00-8d3c0d5e.jsonl"
DOCUMENT = SAMPLES / "shop" / "chats" / "session-2025-10-18T14-57-f86f5318.json"
AGENT = SAMPLES / "shop" / "chats" / SESSION / "codebase_investigator-5b1c.jsonl"
Data = dict[str, Any]


def read(file: Path, *expected: str) -> Conversation:
    """What the file holds, all of its records being accounted for, and `expected` standing in the problems."""
    problems: list[str] = []
    (found,) = READER.read(file, problems.append)
    assert len(problems) == len(expected), problems
    for part, line in zip(expected, problems, strict=True):
        assert part in line and "\n" not in line and line.startswith(str(file))
    check(found)
    return found


def check(found: Conversation) -> None:
    assert found.records.read == len(found.raw)
    assert set(found.records.fates) <= set(FATES) and all(found.records.fates.values())
    assert sum(found.records.unknown.values()) == found.records.fates[UNKNOWN]
    for message in found.messages:
        data = message.to_data()
        json.dumps(data, ensure_ascii=False).encode()
        assert Message.from_data(data) == message
    "".join(found.raw).encode()


def log(folder: Path, *records: Any, name: str = "session-x.jsonl") -> Path:
    file = folder / name
    lines = [each if isinstance(each, str) else json.dumps(each) for each in ({"sessionId": "s"}, *records)]
    file.write_text("".join(f"{line}\n" for line in lines))
    return file


def said(id: str, kind: str, content: Any, **more: Any) -> Data:
    return {"id": id, "type": kind, "content": content, "timestamp": "2026-10-02T08:00:00.000Z", **more}


def shown(found: Conversation) -> list[str]:
    return [f"{'+' if each.injected else ''}{each.role}: {each.text}" for each in found.messages]


def response(id: str | None, **said: Any) -> Data:
    return {"functionResponse": {"name": "f", "response": said, **({"id": id} if id else {})}}


def test_a_session() -> None:
    found = read(LOG)
    context, request, files, reply, listing, missing, answer, who, asked, nobody, info, summary, error = found.messages
    assert found.session_id == session_id("gemini", SESSION)
    assert (found.title, found.folder, found.parent) == ("Look at a constant", "/home/ana/shop", None)
    assert (found.started_at, found.branches) == ("2026-10-02T08:00:00.000Z", 1)
    assert context.injected and context.text.startswith("<session_context>")
    assert (request.role, request.content, request.injected) == (USER, "What is in @src/a.ts?", False)
    assert files.injected and files.text == (
        "\n--- Content from referenced files ---\nContent from @src/a.ts:\nexport const a = 1;\n--- End of content ---"
    )
    assert reply.thinking == "**Looking around** First the folder.\n\n**Second** Then the file."
    assert reply.content is None and reply.model == "gemini-3-flash-preview"
    assert reply.usage == Usage(input_tokens=12319, output_tokens=697, cached_tokens=3809, reasoning_tokens=525)
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [
        ("run_shell_command", '{"command":"ls src"}'),
        ("read_file", '{"file_path":"src/b.ts"}'),
    ]
    assert (listing.role, listing.tool_call_id, listing.is_error) == (TOOL, reply.tool_calls[0].id, False)
    assert (listing.content, listing.time) == ("Output: a.ts\nExit Code: 0", "2026-10-02T08:00:14.000Z")
    assert (missing.content, missing.is_error, missing.name) == ("File not found: b.ts", True, "read_file")
    assert (answer.content, answer.thinking) == ("One constant — `a`.", None)
    assert who.content == [
        {"type": "text", "text": "Who uses it?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
    ]
    assert asked.tool_calls[0].name == "codebase_investigator" and nobody.content == "Nobody."
    assert (info.role, info.content) == (SYSTEM, "Chat history compressed from 9000 to 1200 tokens.")
    assert summary.injected and (error.role, error.content) == (SYSTEM, "Quota exceeded")


def test_what_became_of_its_records() -> None:
    found = read(LOG)
    assert found.records.fates == {MESSAGE: 9, REPEATED: 4, OTHER_BRANCH: 2, UNKNOWN: 1, DETAIL: 10}
    assert found.records.unknown == {"message:hologram": 1}
    assert found.raw == LOG.read_text().split("\n")[:-1]


def test_a_subagent_is_named_where_it_was_called() -> None:
    found = read(AGENT)
    assert found.parent == SESSION
    assert [(each.role, each.content, each.thinking) for each in found.messages] == [
        (USER, "users of a", None),
        (ASSISTANT, "Nobody.", "**Searching** with grep."),
    ]
    (result,) = [each for each in read(LOG).messages if each.subagent]
    assert result.subagent == found.session_id


def test_a_document_of_an_older_version() -> None:
    found = read(DOCUMENT)
    assert shown(found) == [
        "user: List the files",
        "assistant: I will look.",
        "tool: a.ts",
        "assistant: There is a.ts.",
    ]
    assert found.messages[1].usage == Usage(input_tokens=6000, output_tokens=50, reasoning_tokens=30)
    assert (found.title, found.native_id) == ("List files", "f86f5318-f47b-4433-85f8-ec9d9a417f8e")
    assert found.records.fates == {DETAIL: 1, MESSAGE: 3}
    assert json.loads(found.raw[1])["content"] == "List the files" and "messages" not in json.loads(found.raw[0])


def test_the_same_in_a_log_and_in_a_document(tmp_path: Path) -> None:
    data = json.loads(DOCUMENT.read_text())
    messages = data.pop("messages")
    assert read(log(tmp_path, data, *messages)).messages == read(DOCUMENT).messages


def test_a_document_with_the_name_of_a_log(tmp_path: Path) -> None:
    file = Path(shutil.copy(DOCUMENT, tmp_path / "session-x.jsonl"))
    assert read(file).messages == read(DOCUMENT).messages


def test_a_message_that_was_written_again_keeps_its_place(tmp_path: Path) -> None:
    tokens = {"input": 5, "output": 2}
    reply = said("g", "gemini", "", tokens=None)
    found = read(
        log(
            tmp_path,
            said("u", "user", "a"),
            reply,
            said("v", "user", "b"),
            {**reply, "content": "c", "tokens": tokens},
            {**reply, "content": "c"},
        )
    )
    assert shown(found) == ["user: a", "assistant: c", "user: b"]
    assert found.messages[1].usage == Usage(input_tokens=5, output_tokens=2)
    assert found.records.fates == {DETAIL: 1, MESSAGE: 3, REPEATED: 2}


def test_what_the_model_is_shown_later_takes_nothing_back(tmp_path: Path) -> None:
    result = {"id": "c", "name": "f", "args": {}, "status": "success", "result": [response("c", output="long")]}
    masked = {**result, "result": [response("c", output="…")]}
    found = read(
        log(
            tmp_path,
            said("u", "user", [{"text": "a"}]),
            said("g", "gemini", "", toolCalls=[result]),
            {
                "$set": {
                    "messages": [
                        said("n", "user", "<state_snapshot>s</state_snapshot>"),
                        said("o", "user", "a"),
                        said(
                            "g", "gemini", [{"functionCall": {"id": "c", "name": "f", "args": {}}}], toolCalls=[masked]
                        ),
                    ]
                }
            },
            {"$patch": {"updates": [{"id": "g", "toolCalls": [{"id": "c", "result": []}]}]}},
            said("v", "user", "b"),
        )
    )
    assert shown(found) == [
        "user: a",
        "assistant: ",
        "tool: long",
        "+user: <state_snapshot>s</state_snapshot>",
        "user: b",
    ]
    assert found.records.fates == {DETAIL: 2, MESSAGE: 4}


def test_going_back_to_a_copy_goes_back_to_what_it_is_a_copy_of(tmp_path: Path) -> None:
    copies = {"$set": {"messages": [said("x", "user", "a"), said("y", "user", "b")]}}
    records = (said("u", "user", "a"), said("v", "user", "b"), copies, {"$rewindTo": "y"}, said("w", "user", "c"))
    found = read(log(tmp_path, *records))
    assert shown(found) == ["user: a", "user: c"]
    assert (found.branches, found.records.fates[OTHER_BRANCH], found.records.fates[REPEATED]) == (1, 1, 1)


def test_going_back_to_nothing_that_is_there_takes_nothing_back(tmp_path: Path) -> None:
    found = read(log(tmp_path, said("u", "user", "a"), {"$rewindTo": "?"}), ":3: goes back to a message that is not")
    assert shown(found) == ["user: a"]


def test_a_request_that_says_the_same_is_no_copy(tmp_path: Path) -> None:
    seen = {"$set": {"lastUpdated": "2026-10-02T08:00:00.000Z"}}
    patch = {"$patch": {"removeIds": ["u"], "orderIds": ["v"]}}
    found = read(log(tmp_path, said("u", "user", "go on"), seen, said("v", "user", "go on"), seen, patch))
    assert shown(found) == ["user: go on", "user: go on"]


def test_updates_of_a_message(tmp_path: Path) -> None:
    update = {"type": "message_update", "id": "g", "tokens": {"output": 3}}
    early = {"type": "message_update", "id": "g", "tokens": {"input": 2}}
    lost = {"type": "message_update", "id": "h", "tokens": {}}
    found = read(log(tmp_path, early, said("g", "gemini", "a"), update, lost))
    assert found.messages[0].usage == Usage(input_tokens=2, output_tokens=3)
    assert found.records.fates == {DETAIL: 1, MESSAGE: 3, UNKNOWN: 1}
    assert found.records.unknown == {"message_update of no message": 1}


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("a", "a"),
        ({"text": "a"}, "a"),
        (["a", {"text": "b"}, "\n", "c"], "a\nb\nc"),
        ([{"text": ""}, {"thoughtSignature": "x"}, {}, None], None),
        (
            [{"fileData": {"mimeType": "application/pdf", "fileUri": "gs://x/a.pdf"}}],
            [{"type": "file", "file": {"filename": "gs://x/a.pdf"}}],
        ),
        (
            [{"inlineData": {"mimeType": "audio/wav", "data": "AA=="}}],
            [{"type": "file", "file": {"filename": "audio/wav", "file_data": "data:audio/wav;base64,AA=="}}],
        ),
        ([{"executableCode": {"language": "PYTHON", "code": "1 + 1"}}], "```python\n1 + 1\n```"),
        ([{"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}}], "```\n2\n```"),
    ],
)
def test_content(tmp_path: Path, content: Any, parts: Any) -> None:
    found = read(log(tmp_path, said("u", "user", content)))
    assert [message.content for message in found.messages] == ([] if parts is None else [parts])


def test_a_part_of_unknown_kind_is_kept_and_told_once(tmp_path: Path) -> None:
    records = [said(name, "user", [{"smell": {"of": "roses"}}]) for name in "uv"]
    found = read(log(tmp_path, *records), ":2: a block of unknown kind 'smell'")
    assert [message.content for message in found.messages] == [[{"type": "smell", "smell": {"of": "roses"}}]] * 2


@pytest.mark.parametrize(
    "text",
    [
        "<hook_context>x</hook_context>",
        "  <session_context>\nx",
        "This is the Gemini CLI. We are setting up the context for our chat.",
        "I ran the following shell command:\n```sh\nls\n```",
        "Here is the user's editor context as a JSON object. This is for your information only.\n```json\n{}\n```",
        "Here is a summary of changes in the user's editor context, in JSON format.",
    ],
)
def test_what_the_agent_writes_under_the_role_of_the_user(tmp_path: Path, text: str) -> None:
    found = read(log(tmp_path, said("u", "user", [{"text": text}, {"text": "my request"}])))
    assert shown(found) == ["user: my request", f"+user: {text}"]


def test_files_in_the_text_of_a_request(tmp_path: Path) -> None:
    found = read(log(tmp_path, said("u", "user", "see @a\n--- Content from referenced files ---\nContent from @a:\nx")))
    assert shown(found) == ["user: see @a", "+user: --- Content from referenced files ---\nContent from @a:\nx"]


def test_a_command_and_what_it_was_expanded_to(tmp_path: Path) -> None:
    found = read(log(tmp_path, said("u", "user", [{"text": "Review the diff."}], displayContent="/review")))
    assert shown(found) == ["user: /review", "+user: Review the diff."]


def test_calls_that_only_the_content_has(tmp_path: Path) -> None:
    call = {"functionCall": {"id": "c", "name": "f", "args": {"a": 1}}}
    found = read(
        log(
            tmp_path,
            said("g", "gemini", [{"text": "look"}, call], toolCalls=[{"id": "d", "name": "h", "args": {}}]),
            said("r", "user", [response("c", output="x"), response("d", error="no")]),
        )
    )
    reply, first, second = found.messages
    assert [(call.id, call.name, call.arguments) for call in reply.tool_calls] == [
        ("d", "h", "{}"),
        ("c", "f", '{"a":1}'),
    ]
    assert (first.content, first.name, first.is_error) == ("x", "f", False)
    assert (second.content, second.name, second.is_error) == ("no", "h", True)


@pytest.mark.parametrize(
    ("call", "content"),
    [
        ({"status": "success", "result": "plain"}, "plain"),
        ({"status": "success", "result": [response("c", output="a"), {"text": "beside"}]}, "a\nbeside"),
        ({"status": "success", "result": [response("other", output="a"), response("c", output="b"), "x"]}, "b"),
        ({"status": "success", "result": [response(None, rows=[1])]}, '{"rows":[1]}'),
        ({"status": "success", "result": None, "resultDisplay": "shown"}, "shown"),
        ({"status": "success", "result": None, "resultDisplay": {"fileDiff": "+"}}, None),
        ({"status": "success", "result": []}, None),
        ({"status": "cancelled", "result": None}, ""),
        ({"status": "executing"}, None),
        (
            {
                "status": "success",
                "result": [
                    {
                        "functionResponse": {
                            "id": "c",
                            "response": {"output": "read"},
                            "parts": [{"inlineData": {"mimeType": "image/png", "data": "AA=="}}],
                        }
                    }
                ],
            },
            [
                {"type": "text", "text": "read"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
            ],
        ),
    ],
)
def test_results_of_tools(tmp_path: Path, call: Data, content: Any) -> None:
    found = read(log(tmp_path, said("g", "gemini", "", toolCalls=[{"id": "c", "name": "f", "args": {}, **call}])))
    results = [message for message in found.messages if message.role == TOOL]
    assert [message.content for message in results] == ([] if content is None else [content])
    assert all(message.is_error == (call["status"] == "cancelled") for message in results)


def test_lines_that_cannot_be_read(tmp_path: Path) -> None:
    file = log(tmp_path, "{cut", "[1]", {"no": 1, "id": 7}, said("u", "user", "a"), "")
    found = read(file, ":2: ")
    assert found.records.fates == {DETAIL: 1, UNREADABLE: 1, UNKNOWN: 2, MESSAGE: 1}
    assert found.records.unknown == {"(no object)": 1, "record with id, no": 1}
    assert found.raw[1] == "{cut"


@pytest.mark.parametrize(("text", "fate"), [('{"sessionId": "s", "messages": [', UNREADABLE), ("[1]", UNKNOWN)])
def test_a_document_that_cannot_be_read(tmp_path: Path, text: str, fate: str) -> None:
    file = tmp_path / "session-x.json"
    file.write_text(text)
    found = read(file, f"{file}:1: ")
    assert (found.raw, found.records.fates, found.messages) == ([text], {fate: 1}, [])


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    problems: list[str] = []
    assert list(READER.read(tmp_path / "session-x.json", problems.append)) == []
    assert list(READER.read(tmp_path / "session-x.jsonl", problems.append)) == []
    assert len(problems) == 2 and all("cannot be read" in problem for problem in problems)


def test_the_folder_that_the_model_was_told_of(tmp_path: Path) -> None:
    assert read(Path(shutil.copy(LOG, tmp_path))).folder == "/home/ana/elsewhere"


@pytest.mark.parametrize(
    ("text", "folder"),
    [
        ("- **Workspace Directories:**\n  - /a/b c\n  - /d", "/a/b c"),
        ("My operating system is: linux\nI'm currently working in the directory: /a\nHere is its structure", "/a"),
        ("I'm currently working in the following directories:\n  - /a\n  - /d\nHere", "/a"),
        ("My operating system is: linux", "/first"),
    ],
)
def test_the_folder_in_forms_of_several_versions(tmp_path: Path, text: str, folder: str) -> None:
    context = said("u", "user", [{"text": f"<session_context>\n{text}\n</session_context>"}])
    found = read(log(tmp_path, {"$set": {"directories": ["/first", "/second"]}}, context))
    assert found.folder == folder


@pytest.mark.parametrize("before", ["", "see @a\n--- Content from referenced files ---\n"])
def test_a_folder_that_another_text_speaks_of(tmp_path: Path, before: str) -> None:
    text = f"{before}I'm currently working in the directory: /a"
    assert read(log(tmp_path, said("u", "user", text))).folder is None


def test_a_text_of_many_empty_lines_is_read_in_time_that_grows_with_its_length(tmp_path: Path) -> None:
    lines = "\n" * 1_000_000
    context = f"<session_context>**Workspace Directories:**{lines}x"
    found = read(log(tmp_path, said("u", "user", [{"text": f"a{lines}b"}]), said("v", "user", context)))
    assert [len(each.text) for each in found.messages] == [1_000_002, len(context)]


@pytest.mark.parametrize("note", [b"\xff", b"/a\n/b", b"", b"/" + b"a" * 5000])
def test_a_note_that_is_no_folder(tmp_path: Path, note: bytes) -> None:
    chats = tmp_path / "chats"
    chats.mkdir()
    (tmp_path / ".project_root").write_bytes(note)
    assert read(log(chats, said("u", "user", "a"))).folder is None


def test_files(tmp_path: Path) -> None:
    home = tmp_path / ".gemini"
    shutil.copytree(SAMPLES, home / "tmp")
    for name in ("oauth_creds.json", "google_accounts.json", "settings.json", "projects.json"):
        (home / name).write_text("{}")
    shop = home / "tmp" / "shop"
    for name in ("logs/session-1.jsonl", "tool-outputs/session-1/x.txt", "chats/notes.json", "logs.json"):
        (shop / name).parent.mkdir(parents=True, exist_ok=True)
        (shop / name).write_text("{}")
    (shop / "chats" / "session-9.json").write_text("{}")
    (shop / "chats" / "session-9.jsonl").write_text("{}")
    (shop / "chats" / "session-link.jsonl").symlink_to(home / "oauth_creds.json")
    expected = [
        shop / "chats" / DOCUMENT.name,
        shop / "chats" / LOG.name,
        shop / "chats" / "session-9.jsonl",
        shop / "chats" / SESSION / AGENT.name,
    ]
    assert list(READER.files(home)) == list(READER.files(*READER.places(tmp_path))) == expected
    assert list(READER.files(expected[0])) == expected[:1]


@pytest.mark.parametrize(
    "name",
    [
        "oauth_creds.json",
        "google_accounts.json",
        "settings.json",
        "Settings.json",
        "trustedFolders.json",
        "mcp-oauth-tokens.json",
        "mcp-oauth-tokens-v2.json",
        "gemini-credentials.json",
    ],
)
def test_credentials_are_neither_listed_nor_opened(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_text('{"sessionId": "s", "messages": []}')
    problems: list[str] = []
    assert not list(READER.files(file)) and not list(READER.read(file, problems.append))
    assert problems == [f"{file}: holds credentials or settings; not opened"]


TEXT = st.text(max_size=8) | st.sampled_from(["\ud83d", "<session_context>", "u", "g", "c"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
PART = st.dictionaries(
    st.sampled_from(
        ["text", "thought", "functionCall", "functionResponse", "inlineData", "fileData", "executableCode"]
    ),
    JSON | st.dictionaries(st.sampled_from(["id", "name", "args", "response", "parts", "data", "fileUri"]), JSON),
    max_size=2,
)
CONTENT = JSON | st.lists(PART | JSON, max_size=3)
CALL = st.dictionaries(st.sampled_from(["id", "name", "args", "result", "status", "agentId"]), JSON | st.lists(PART))
RECORD = st.fixed_dictionaries(
    {},
    optional={
        "id": TEXT | JSON,
        "type": st.sampled_from(["user", "gemini", "info", "error", "message_update", "x"]) | JSON,
        "content": CONTENT,
        "displayContent": CONTENT,
        "toolCalls": JSON | st.lists(CALL | JSON, max_size=3),
        "thoughts": JSON,
        "tokens": st.dictionaries(st.sampled_from(["input", "output", "cached", "tool", "thoughts"]), JSON) | JSON,
        "timestamp": JSON,
        "model": JSON,
        "sessionId": JSON,
        "directories": JSON,
    },
)
CHANGE = st.sampled_from(["$set", "$patch", "$rewindTo"]).flatmap(
    lambda key: st.dictionaries(
        st.just(key),
        TEXT
        | JSON
        | st.fixed_dictionaries(
            {}, optional={"messages": st.lists(RECORD | JSON, max_size=3), "removeIds": st.lists(TEXT), "kind": JSON}
        ),
    )
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(RECORD | CHANGE | JSON, max_size=6))
@example([{"id": "g", "type": "gemini", "tokens": {"input": 10**15, "tool": 10**15}}])
def test_any_records_are_accounted_for(tmp_path: Path, records: list[Any]) -> None:
    problems: list[str] = []
    file = tmp_path / "session-x.jsonl"
    file.write_text("".join(f"{json.dumps(each)}\n" for each in records))
    found = list(READER.read(file, problems.append))
    assert sum(len(each.raw) for each in found) == len(records)
    document = tmp_path / "session-x.json"
    document.write_text(json.dumps({"sessionId": "s", "messages": records}))
    (whole,) = READER.read(document, problems.append)
    assert len(whole.raw) == len(records) + 1
    for each in (*found, whole):
        check(each)
    assert all("\n" not in problem for problem in problems)
