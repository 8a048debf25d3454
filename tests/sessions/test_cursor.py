"""Cursor's database, the transcripts of its agent, and the chats that it exports."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from convex_evals.sessions.conversation import Conversation
from convex_evals.sessions.message import ASSISTANT, TOOL, USER
from convex_evals.sessions.readers import aider, cursor_database, cursor_sqlite
from convex_evals.sessions.readers import cursor as cursor_source
from convex_evals.sessions.readers.cursor import READER

SAMPLES = Path(__file__).parent / "samples" / "cursor"
TRANSCRIPT = SAMPLES / "0f4c2d9e-6a51-4a53-9f4e-1d2a3b4c5d6e.jsonl"
TEXT = SAMPLES / "5a0c7f11-2b3c-4d5e-8f90-a1b2c3d4e5f6.txt"
EXPORT = SAMPLES / "cursor_add_an_index.md"
ID = "7d1f0c52-90aa-4b7e-8f3c-0a1b2c3d4e5f"
SECRET = "SECRET-ACCESS-TOKEN"
Data = dict[str, Any]


def read(file: Path, *expected: str) -> list[Conversation]:
    """What the file holds, all of its records being accounted for, and `expected` standing in the problems."""
    problems: list[str] = []
    found = list(READER.read(file, lambda line: problems.append(line)))
    assert len(problems) == len(expected), problems
    for part, line in zip(expected, problems, strict=True):
        assert part in line and "\n" not in line and line.startswith(str(file))
    for conversation in found:
        assert conversation.records.read == len(conversation.raw)
        assert all(conversation.records.fates.values())
        assert not any(SECRET in record for record in conversation.raw)
        json.dumps([message.to_data() for message in conversation.messages], ensure_ascii=False).encode()
        "".join(conversation.raw).encode()
    return found


def said(conversation: Conversation) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in conversation.messages]


def database(folder: Path, rows: dict[str, Any], more: str = "") -> Path:
    """`state.vscdb` with rows of which objects become JSON."""
    file = folder / "state.vscdb"
    file.unlink(missing_ok=True)
    connection = sqlite3.connect(file)
    connection.executescript(
        "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY;"
        "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);"
        "CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);"
    )
    credentials = [("cursorAuth/accessToken", SECRET), (f"composerData:{ID}x", json.dumps({"name": SECRET}))]
    connection.executemany("INSERT INTO ItemTable VALUES (?, ?)", credentials)
    connection.execute("INSERT INTO cursorDiskKV VALUES ('agentKv:blob:1', ?)", (SECRET,))
    for key, value in rows.items():
        stored = json.dumps(value) if isinstance(value, dict) else value
        connection.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (key, stored))
    connection.executescript(more)
    connection.commit()
    connection.close()
    return file


def chat(*bubbles: Data, id: str = ID, **composer: Any) -> dict[str, Any]:
    """The rows of a conversation whose bubbles are b0, b1, ..."""
    headers = [{"bubbleId": f"b{number}", "type": each.get("type")} for number, each in enumerate(bubbles)]
    data = {"_v": 3, "composerId": id, "fullConversationHeadersOnly": headers, **composer}
    rows = {f"bubbleId:{id}:b{number}": {"bubbleId": f"b{number}", **each} for number, each in enumerate(bubbles)}
    return {f"composerData:{id}": data, **rows}


def tool(name: str, status: str = "completed", **more: Any) -> Data:
    former = {"tool": 38, "name": name, "toolCallId": "toolu_1", "status": status, "rawArgs": '{"path":"a"}', **more}
    return {"type": 2, "text": "", "toolFormerData": former}


USUAL = chat(
    {"type": 1, "text": "Fix the login", "createdAt": "2026-05-02T08:32:32.293Z"},
    {"type": 2, "text": "", "thinking": {"text": "The null check is missing"}, "createdAt": "2026-05-02T08:32:40Z"},
    {"type": 2, "text": "I'll read it.", "tokenCount": {"inputTokens": 1200, "outputTokens": 80}},
    {**tool("read_file_v2", result='{"contents":"x"}'), "modelInfo": {"modelName": "gpt-5.2"}},
    {"type": 2, "text": ""},
    {"type": 2, "text": "Fixed.", "tokenCount": {"inputTokens": 0, "outputTokens": 0}},
    name="Login bug",
    createdAt=1_777_710_752_000,
    unifiedMode="agent",
    modelConfig={"modelName": "claude-4.5-sonnet"},
    workspaceIdentifier={"id": "w", "uri": {"fsPath": "/home/ana/shop", "scheme": "file"}},
    trackedGitRepos=[{"branches": [{"branchName": "main"}]}],
    usageData={"default": {"costInCents": 12, "amount": 3}, "x": {"costInCents": "y"}},
    blobEncryptionKey=SECRET,
)


def test_a_conversation_of_the_database_is_read(tmp_path: Path) -> None:
    (found,) = read(database(tmp_path, USUAL))
    assert said(found) == [
        (USER, "Fix the login"),
        (ASSISTANT, "I'll read it."),
        (ASSISTANT, ""),
        (TOOL, '{"contents":"x"}'),
        (ASSISTANT, "Fixed."),
    ]
    assert (found.native_id, found.title, found.folder, found.git_branch) == (ID, "Login bug", "/home/ana/shop", "main")
    assert (found.started_at, found.cost_usd) == ("2026-05-02T08:32:32.000Z", 0.12)
    assert dict(found.records.fates) == {"detail": 2, "message": 5}
    assert found.branches == 0


def test_a_reply_has_its_reasoning_model_tokens_and_time(tmp_path: Path) -> None:
    _, reply, call, result, last = read(database(tmp_path, USUAL))[0].messages
    assert reply.thinking == "The null check is missing"
    assert reply.usage and (reply.usage.input_tokens, reply.usage.output_tokens) == (1200, 80)
    assert [each.model for each in (reply, call, last)] == ["claude-4.5-sonnet", "gpt-5.2", "claude-4.5-sonnet"]
    assert call.content is None
    assert call.tool_calls[0].to_data()["function"] == {"name": "read_file_v2", "arguments": '{"path":"a"}'}
    assert (result.tool_call_id, result.name, result.is_error) == ("toolu_1", "read_file_v2", False)
    assert last.usage is None


@pytest.mark.parametrize(
    ("former", "result"),
    [
        (tool("run", "error", result='{"output":"not found"}'), ('{"output":"not found"}', True)),
        (tool("run", "error"), ("", True)),
        (tool("run", "completed", error={"message": "no"}), ('{"message": "no"}', True)),
        (tool("run", "cancelled"), None),
        (tool("run", "loading", result=""), None),
        (tool("run", ["completed"], result={"a": 1}), ('{"a": 1}', False)),  # type: ignore[arg-type]
    ],
)
def test_results_of_tools(tmp_path: Path, former: Data, result: tuple[str, bool] | None) -> None:
    (found,) = read(database(tmp_path, chat(former)))
    results = [(each.content, each.is_error) for each in found.messages[1:]]
    assert results == ([] if result is None else [result])


@pytest.mark.parametrize(
    ("given", "arguments"),
    [({"rawArgs": "", "params": '{"a":1}'}, '{"a":1}'), ({"rawArgs": None, "params": {"a": 1}}, '{"a": 1}')],
)
def test_arguments_stand_in_either_place(tmp_path: Path, given: Data, arguments: str) -> None:
    (found,) = read(database(tmp_path, chat(tool("x", **given))))
    assert found.messages[0].tool_calls[0].arguments == arguments


def test_a_tool_without_name_has_its_number(tmp_path: Path) -> None:
    former = {"type": 2, "toolFormerData": {"tool": 15, "params": "{}"}}
    (found,) = read(database(tmp_path, chat(former, former)))
    assert [(call.name, call.id) for each in found.messages for call in each.tool_calls] == [
        ("tool-15", "call-1"),
        ("tool-15", "call-2"),
    ]


def test_messages_are_in_the_order_of_the_conversation_and_others_left(tmp_path: Path) -> None:
    rows = chat({"type": 1, "text": "one"}, {"type": 2, "text": "two"}, {"type": 1, "text": "edited"})
    headers = rows[f"composerData:{ID}"]["fullConversationHeadersOnly"]
    headers[:] = [headers[1], headers[0], {"bubbleId": "gone"}, 7]
    (found,) = read(database(tmp_path, rows), "names 2 messages that are not there")
    assert said(found) == [(ASSISTANT, "two"), (USER, "one")]
    assert (found.branches, found.records.fates["other_branch"]) == (1, 1)


def test_older_conversations_hold_their_messages(tmp_path: Path) -> None:
    inline = [{"type": 1, "text": "hi"}, {"type": 2, "bubbleId": "b", "text": "Hello"}, "x"]
    rows = {f"composerData:{ID}": {"conversation": inline, "name": "Old"}}
    (found,) = read(database(tmp_path, rows))
    assert said(found) == [(USER, "hi"), (ASSISTANT, "Hello")]
    assert dict(found.records.fates) == {"detail": 1, "message": 2, "unreadable": 1}
    assert json.loads(found.raw[0]) == {"name": "Old"}


def test_a_message_that_is_there_twice_counts_once(tmp_path: Path) -> None:
    rows = chat({"type": 1, "text": "new"})
    rows[f"composerData:{ID}"]["conversationMap"] = {"b0": {"type": 1, "text": "old"}}
    (found,) = read(database(tmp_path, rows))
    assert said(found) == [(USER, "new")]
    assert found.records.fates["repeated"] == 1


def test_without_an_order_times_decide(tmp_path: Path) -> None:
    rows = chat({"type": 1, "text": "b", "createdAt": "2026-02"}, {"type": 1, "text": "a", "createdAt": "2026-01"})
    del rows[f"composerData:{ID}"]["fullConversationHeadersOnly"]
    (found,) = read(database(tmp_path, rows))
    assert said(found) == [(USER, "a"), (USER, "b")]


def test_text_of_the_editor_stands_in_for_plain_text(tmp_path: Path) -> None:
    lines = [{"type": "paragraph", "children": [{"type": "text", "text": word}]} for word in ("one", "two")]
    rich = {"root": {"type": "root", "children": lines}}
    bubbles = [{"type": 1, "text": "", "richText": each} for each in (json.dumps(rich), rich, "{", "[" * 9999, 7)]
    (found,) = read(database(tmp_path, chat(*bubbles)))
    assert said(found) == [(USER, "one\ntwo"), (USER, "one\ntwo")]


def test_reasoning_that_nothing_follows_is_kept(tmp_path: Path) -> None:
    bubbles = [
        {"type": 2, "allThinkingBlocks": [{"text": "hm"}]},
        {"type": 1, "text": "stop"},
        {"type": 2, "thinking": "?"},
    ]
    (found,) = read(database(tmp_path, chat(*bubbles)))
    assert [(each.role, each.content, each.thinking) for each in found.messages] == [
        (ASSISTANT, "", "hm"),
        (USER, "stop", None),
        (ASSISTANT, "", "?"),
    ]


def test_kinds_that_are_not_known_are_named(tmp_path: Path) -> None:
    (found,) = read(database(tmp_path, chat({"type": 3, "text": "x"}, {"text": "y"})))
    assert found.records.unknown == {"bubble:3": 1, "bubble:None": 1}
    assert found.messages == []


def test_sub_agents_are_behind_their_parents(tmp_path: Path) -> None:
    def row(id: str, created: int, parent: str | None = None) -> Data:
        info = {"parentComposerId": parent} if parent else None
        return chat({"type": 1, "text": id}, id=id, createdAt=created, subagentInfo=info)

    rows = {**row("c", 1, "a"), **row("a", 5, "z"), **row("z", 9), **row("b", 2), **row("loop", 3, "loop")}
    found = read(database(tmp_path, {**rows, **row("lost", 4, "nowhere")}))
    assert [each.native_id for each in found] == ["z", "a", "c", "b", "loop", "lost"]
    assert [each.parent for each in found] == [None, "z", "a", None, "loop", "nowhere"]


def test_ids_are_no_patterns(tmp_path: Path) -> None:
    found = read(
        database(tmp_path, {**chat({"type": 1, "text": "a"}, id="a_c"), **chat({"type": 1, "text": "b"}, id="abc")})
    )
    assert sorted(said(each)[0][1] for each in found) == ["a", "b"]
    assert all(len(each.raw) == 2 for each in found)


def test_drafts_and_remains_are_no_conversations(tmp_path: Path) -> None:
    rows: dict[str, Any] = {
        "composerData:removed": None,
        "composerData:draft": {"name": "x"},
        "bubbleId:removed:1": None,
    }
    assert read(database(tmp_path, rows)) == []
    orphans: dict[str, Any] = {"bubbleId:lost:1": {"type": 1}, "bubbleId:lost:2": {"type": 2}, "bubbleId:also:1": {}}
    assert read(database(tmp_path, orphans), "3 messages of 2 conversations that Cursor removed") == []


def test_values_that_cannot_be_read_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cursor_sqlite, "LONGEST_LINE", 500)
    monkeypatch.setattr(cursor_database, "LONGEST_LINE", 500)
    rows = chat(*({"type": 1} for _ in range(6)), {"type": 1, "text": "good"}, name="n")
    for number, value in enumerate(["{", 7, "x" * 501, b"\xff" * 600, b"\xff", "[]"]):
        rows[f"bubbleId:{ID}:b{number}"] = value
    told = ("b0: no JSON object", "b1: integer instead", "b2: longer than", "b3: longer than", "b4: no", "b5: no JSON")
    (found,) = read(database(tmp_path, rows), *told)
    assert said(found) == [(USER, "good")]
    assert found.records.fates["unreadable"] == 6


def test_a_conversation_whose_record_is_broken_keeps_its_messages(tmp_path: Path) -> None:
    rows = {**chat({"type": 1, "text": "hi"}), f"composerData:{ID}": "{"}
    (found,) = read(database(tmp_path, rows), "no JSON object")
    assert said(found) == [(USER, "hi")]


def test_credentials_are_neither_read_nor_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = database(tmp_path, USUAL)
    queries: list[str] = []
    plain = cursor_sqlite.Database.rows

    def rows(self: cursor_sqlite.Database, sql: str, *values: Any) -> Any:
        queries.append(sql)
        return plain(self, sql, *values)

    monkeypatch.setattr(cursor_sqlite.Database, "rows", rows)
    (found,) = read(file)
    assert json.loads(found.raw[0])["blobEncryptionKey"] is None
    assert queries and not any("ItemTable" in query for query in queries)
    assert all("key >= ?" in query or "key = ?" in query for query in queries if "FROM cursorDiskKV" in query)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("DROP TABLE cursorDiskKV", "lacks key, value"),
        ("DROP TABLE cursorDiskKV; CREATE VIEW cursorDiskKV AS SELECT * FROM ItemTable", "no plain table"),
        ("DROP TABLE cursorDiskKV; CREATE TABLE cursorDiskKV (key, value AS (zeroblob(999999999)))", "are computed"),
        ("DROP TABLE cursorDiskKV; CREATE VIRTUAL TABLE cursorDiskKV USING fts5(key, value)", "no plain table"),
        ("ALTER TABLE cursorDiskKV RENAME COLUMN value TO data", "lacks value"),
    ],
)
def test_hostile_databases_are_told(tmp_path: Path, more: str, told: str) -> None:
    assert read(database(tmp_path, USUAL, more), told) == []


def test_triggers_and_indexes_of_others_change_nothing(tmp_path: Path) -> None:
    more = (
        "CREATE TRIGGER cursorDiskKV AFTER INSERT ON cursorDiskKV BEGIN DELETE FROM cursorDiskKV; END;"
        "CREATE INDEX i ON cursorDiskKV (hex(value));"
    )
    assert len(read(database(tmp_path, USUAL, more))) == 1


def test_a_database_that_takes_too_long_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cursor_sqlite, "MOST_STEPS", 100)
    monkeypatch.setattr(cursor_sqlite, "_STEPS_AT_ONCE", 10)
    assert read(database(tmp_path, USUAL), "takes too long to query") == []


@pytest.mark.parametrize("data", [b"", b"SQLite format 3\0", b"SQLite format 3\0" + b"\xff" * 9000, b"text"])
def test_files_that_are_no_databases_are_told(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "state.vscdb"
    file.write_bytes(data)
    assert read(file, "skipped") == []
    assert read(tmp_path / "none.vscdb", "cannot be read") == []


def test_a_database_that_is_cut_off_tells_and_gives_what_is_there(tmp_path: Path) -> None:
    many = {
        key: value
        for number in range(40)
        for key, value in chat({"type": 1, "text": "x" * 3000}, id=f"{number:02}").items()
    }
    file = database(tmp_path, many)
    file.write_bytes(file.read_bytes()[: 30 * 4096])
    problems: list[str] = []
    found = list(READER.read(file, lambda line: problems.append(line)))
    assert len(found) < 40 and any("skipped" in line for line in problems)


def test_a_database_in_use_is_read_with_its_log(tmp_path: Path) -> None:
    file = database(tmp_path, USUAL)
    writer = sqlite3.connect(file, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("UPDATE cursorDiskKV SET value = replace(value, 'Fixed.', 'Logged.')")
    writer.execute("COMMIT")
    writer.execute("BEGIN EXCLUSIVE")
    names = sorted(path.name for path in tmp_path.iterdir())
    (found,) = read(file)
    assert said(found)[-1] == (ASSISTANT, "Logged.")
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    writer.close()


def test_a_database_that_keeps_changing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = database(tmp_path, USUAL)
    (tmp_path / "state.vscdb-wal").write_bytes(b"x" * 100)
    sizes = iter(range(100))
    monkeypatch.setattr(cursor_sqlite, "_state", lambda parts: [(next(sizes), 0)])
    assert read(file, "changes while it is read") == []


def test_a_transcript_is_read() -> None:
    (found,) = read(TRANSCRIPT)
    assert [(each.role, each.injected) for each in found.messages] == [
        *((USER, True), (USER, False), (ASSISTANT, False), (ASSISTANT, False), (USER, True), (ASSISTANT, False)),
    ]
    assert found.messages[1].text == "Why does `count` time out?"
    assert [call.name for call in found.messages[2].tool_calls] == ["Read", "Grep"]
    assert (found.native_id, found.parent) == (TRANSCRIPT.stem, None)
    assert dict(found.records.fates) == {"message": 5, "detail": 1, "unknown": 1}
    assert found.records.unknown == {"checkpoint": 1}
    assert found.raw == TRANSCRIPT.read_text().splitlines()


def transcript(folder: Path, *records: Any) -> Path:
    file = folder / "agent-transcripts" / "t1" / "t1.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in records))
    return file


def entry(role: Any, *content: Any) -> Data:
    return {"role": role, "message": {"content": list(content)}}


def test_results_in_a_transcript_answer_calls(tmp_path: Path) -> None:
    calls = [{"type": "tool_use", "name": "Read", "input": {"a": 1}}, {"type": "tool_use", "id": "c2", "name": "Grep"}]
    results = [
        {"type": "tool_result", "tool_use_id": "c2", "content": "two", "is_error": True},
        {"type": "tool_result", "content": [{"type": "text", "text": "one"}]},
    ]
    (found,) = read(transcript(tmp_path, entry("assistant", *calls), entry("user", *results)))
    assert [(each.tool_call_id, each.name, each.text, each.is_error) for each in found.messages[1:]] == [
        ("c2", "Grep", "two", True),
        ("call-1", "Read", "one", False),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", [("plain", False)]),
        ("<div>mine</div>", [("<div>mine</div>", False)]),
        ("<user_info>\nx\n</user_info>\n<rules>y</rules>", [("<user_info>\nx\n</user_info>\n<rules>y</rules>", True)]),
        ("<user_info>x</user_info> mine", [("<user_info>x</user_info> mine", False)]),
        ("<user_info>x", [("<user_info>x", False)]),
        (
            "<timestamp>t</timestamp>\n<user_query>\na </user_query> b\n</user_query>\n<rules>r</rules>",
            [("<timestamp>t</timestamp>\n\n<rules>r</rules>", True), ("a </user_query> b", False)],
        ),
        ("<user_query>\n</user_query>", []),
        ("<user_info></user_info>" * 5000 + "x", [("<user_info></user_info>" * 5000 + "x", False)]),
    ],
)
def test_what_cursor_adds_is_told_from_what_is_said(
    tmp_path: Path, text: str, expected: list[tuple[str, bool]]
) -> None:
    (found,) = read(transcript(tmp_path, entry("user", {"type": "text", "text": text})))
    assert [(each.text, each.injected) for each in found.messages] == expected


def test_records_of_a_transcript_that_are_not_known_are_named(tmp_path: Path) -> None:
    records = [entry("oracle"), entry("assistant", {"type": "hologram"}), {"type": "x"}, "{", "[]", entry(["user"])]
    file = transcript(tmp_path, *records)
    (found,) = read(file, f"{file}:4: ")
    assert found.records.unknown == {"role:oracle": 1, "block:hologram": 1, "x": 1, "role:['user']": 1}
    assert found.records.fates["unreadable"] == 2


def test_a_sub_agents_transcript_names_its_parent(tmp_path: Path) -> None:
    file = transcript(tmp_path, entry("user", {"type": "text", "text": "a"}))
    child = file.parent / "subagents" / "t2.jsonl"
    child.parent.mkdir()
    child.write_bytes(file.read_bytes())
    export = tmp_path / "exported-id" / "transcript.jsonl"
    export.parent.mkdir()
    export.write_bytes(file.read_bytes())
    found = [read(each)[0] for each in READER.files(tmp_path)]
    assert [(each.native_id, each.parent) for each in found] == [("t1", None), ("t2", "t1"), ("exported-id", None)]


def test_empty_transcripts_are_no_conversations(tmp_path: Path) -> None:
    assert read(transcript(tmp_path)) == []
    (tmp_path / "x.txt").write_text("\n")
    assert read(tmp_path / "x.txt") == []


def test_a_transcript_as_text_is_read() -> None:
    (found,) = read(TEXT)
    assert said(found) == [
        (USER, "Rename the table"),
        (ASSISTANT, "I'll edit the schema."),
        (TOOL, ""),
        (TOOL, "export default defineSchema({\n\n})"),
        (ASSISTANT, "Renamed."),
    ]
    reply, first, second = found.messages[1:4]
    assert reply.thinking == "The schema has it twice."
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [
        ("StrReplace", "path: convex/schema.ts\nold_string: messages"),
        ("Read", "path: convex/schema.ts"),
    ]
    assert [each.tool_call_id for each in (first, second)] == [call.id for call in reply.tool_calls]
    assert found.raw == TEXT.read_text().split("\n")[:-1]


def test_an_exported_chat_is_read() -> None:
    (found,) = read(EXPORT)
    assert said(found) == [
        (USER, "Add an index on `author`\n\n---\n\nstill the request, with a rule"),
        (ASSISTANT, "Here it is:\n\n```ts\n---\n**User** is no heading here\n```"),
        (USER, "Thanks"),
    ]
    assert (found.title, found.tool_version) == ("Add an index", "2.2.44")


def test_an_exported_chat_keeps_its_id_when_it_goes_on(tmp_path: Path) -> None:
    again = tmp_path / "cursor_other_name.md"
    again.write_text(EXPORT.read_text() + "You're welcome\n\n---\n\n**User**\n\nBye\n")
    assert read(again)[0].native_id == read(EXPORT)[0].native_id
    assert len(read(again)[0].messages) == 5


def test_other_markdown_is_told(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Title\n\n---\n\n**User**\n\nhi\n")
    assert read(tmp_path / "README.md", "no chat that Cursor exported") == []


@pytest.mark.parametrize("sample", [TEXT, EXPORT])
def test_lines_that_are_too_long_are_told(tmp_path: Path, sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aider, "LONGEST_LINE", 200)
    file = tmp_path / sample.name
    file.write_text(sample.read_text() + "z" * 300 + "\n")
    (found,) = read(file, "longer than")
    assert found.records.fates["unreadable"] == 1


@pytest.mark.parametrize("sample", [TRANSCRIPT, TEXT, EXPORT])
def test_files_that_are_too_large_are_told(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cursor_source, "LARGEST_FILE", 10)
    assert read(sample, "larger than 10 bytes") == []


def test_files_are_those_that_hold_conversations(tmp_path: Path) -> None:
    names = [
        *("p/agent-transcripts/a/a.jsonl", "p/agent-transcripts/a/subagents/b.jsonl", "p/agent-transcripts/c.txt"),
        *(
            "p/terminals/1.txt",
            "p/mcps/x.jsonl",
            "p/rules.md",
            "q/cursor_chat.md",
            "q/state.vscdb",
            "q/state.vscdb.backup",
        ),
    ]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "p" / "agent-transcripts" / "link.jsonl").symlink_to(tmp_path / names[0])
    found = [str(file.relative_to(tmp_path)) for file in READER.files(tmp_path)]
    assert found == [names[2], names[0], names[1], names[6], names[7]]
    assert list(READER.files(tmp_path / names[5])) == [tmp_path / names[5]]
    assert list(READER.files(tmp_path / "none")) == []


def test_places_are_those_of_each_system(tmp_path: Path) -> None:
    places = [str(place.relative_to(tmp_path)) for place in READER.places(tmp_path)]
    assert places[0] == ".config/Cursor/User/globalStorage/state.vscdb"
    assert "Library/Application Support/Cursor/User/globalStorage/state.vscdb" in places
    assert places[-1] == ".cursor/projects"


_KEYS = (
    "type",
    "text",
    "thinking",
    "toolFormerData",
    "name",
    "result",
    "rawArgs",
    "createdAt",
    "tokenCount",
    "richText",
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_KEYS), inner, max_size=5),
    max_leaves=10,
)
_BUBBLES = st.fixed_dictionaries({"type": st.sampled_from([1, 2, 3])}, optional=dict.fromkeys(_KEYS[1:], _JSON))
_COMPOSERS = st.fixed_dictionaries(
    {},
    optional={
        "fullConversationHeadersOnly": _JSON
        | st.lists(st.fixed_dictionaries({"bubbleId": st.sampled_from("abc") | _JSON}) | _JSON, max_size=4),
        "conversation": _JSON | st.lists(_BUBBLES | _JSON, max_size=3),
        "conversationMap": _JSON | st.dictionaries(st.sampled_from("abc"), _BUBBLES | _JSON, max_size=2),
        "subagentInfo": _JSON | st.fixed_dictionaries({"parentComposerId": st.sampled_from("xyz")}),
        **dict.fromkeys(
            ("createdAt", "usageData", "workspaceIdentifier", "trackedGitRepos", "modelConfig", "name"), _JSON
        ),
    },
)
_VALUES = st.none() | st.integers(-9, 9) | st.floats() | st.text(max_size=4) | st.binary(max_size=4)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(st.sampled_from("xyz"), _COMPOSERS.map(json.dumps) | _VALUES, max_size=3),
    st.dictionaries(
        st.tuples(st.sampled_from("xyz"), st.sampled_from("abcd")), _BUBBLES.map(json.dumps) | _VALUES, max_size=5
    ),
)
def test_any_rows_are_read_and_counted(tmp_path: Path, composers: Any, bubbles: Any) -> None:
    rows = {f"composerData:{id}": value for id, value in composers.items()}
    rows |= {f"bubbleId:{id}:{name}": value for (id, name), value in bubbles.items()}
    file = database(tmp_path, rows)
    found = {each.native_id: each for each in READER.read(file, lambda line: None)}
    for id, value in composers.items():
        stored = [each for (owner, _), each in bubbles.items() if owner == id and each is not None]
        # SQLite has no NaN: it is stored as NULL.
        stored = [each for each in stored if each == each]
        if id in found:
            assert found[id].records.read == len(found[id].raw) >= 1 + len(stored)
        else:
            assert not stored or value is None or value != value


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.builds(entry, st.sampled_from([USER, ASSISTANT, TOOL]) | _JSON, _BUBBLES | _JSON)
        | st.builds(
            entry,
            st.sampled_from([USER, ASSISTANT, TOOL]),
            st.fixed_dictionaries(
                {"type": st.sampled_from(["text", "thinking", "tool_use", "tool_result"])},
                optional=dict.fromkeys(("text", "id", "name", "input", "tool_use_id", "content", "is_error"), _JSON),
            ),
        )
        | _JSON,
        max_size=6,
    )
)
def test_any_records_are_read_and_counted(tmp_path: Path, records: list[Any]) -> None:
    file = transcript(tmp_path, *(json.dumps(each) for each in records))
    assert [len(each.raw) for each in read(file)] == ([len(records)] if records else [])


_LINES = st.sampled_from(
    [
        *(
            "",
            "user:",
            "assistant:",
            "[Thinking] a",
            "[Thinking]",
            "[Tool call] A",
            "[Tool result] A",
            "  a: b",
            "text",
        ),
        *("<user_query>", "</user_query>", "---", "**User**", "**Cursor**", "_Exported on x from Cursor (1)_", "# t"),
    ]
) | st.text(st.characters(codec="utf-8"), max_size=10)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_LINES, max_size=25), st.sampled_from([".txt", ".md"]))
def test_any_text_is_read_and_counted(tmp_path: Path, lines: list[str], suffix: str) -> None:
    file = tmp_path / f"x{suffix}"
    header = ["# t", "_Exported on x from Cursor (1)_"] if suffix == ".md" else []
    file.write_bytes("\n".join([*header, *lines, ""]).encode())
    for found in read(file):
        assert "\n".join(found.raw) == "\n".join([*header, *lines]).replace("\r\n", "\n").removesuffix("\r")
        for message in found.messages:
            assert message.role in (USER, ASSISTANT, TOOL)
