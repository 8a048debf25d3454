"""OpenCode's sessions in the three forms that it keeps them in."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from convex_evals.sessions.conversation import Conversation, session_id
from convex_evals.sessions.message import ASSISTANT, SYSTEM, TOOL, USER
from convex_evals.sessions.readers import cursor_sqlite
from convex_evals.sessions.readers.opencode import READER

SAMPLE = Path(__file__).parent / "samples" / "opencode" / "export.json"
SESSION = "ses_4f2a1c0d9ffeQwErTyUiOpAsDf"
Data = dict[str, Any]


def sample() -> Data:
    data: Data = json.loads(SAMPLE.read_text())
    return data


def read(file: Path, *expected: str) -> list[Conversation]:
    """What the file holds, all of its records being accounted for, and `expected` standing in the problems."""
    problems: list[str] = []
    found = list(READER.read(file, lambda line: problems.append(line)))
    assert len(problems) == len(expected), problems
    for part, line in zip(expected, problems, strict=True):
        assert part in line and "\n" not in line and str(file.parent.parent.parent) in line
    for conversation in found:
        assert conversation.records.read == len(conversation.raw)
        assert all(conversation.records.fates.values())
        json.dumps([message.to_data() for message in conversation.messages], ensure_ascii=False).encode()
        "".join(conversation.raw).encode()
    return found


def exported(folder: Path, messages: list[Any], **info: Any) -> Conversation:
    file = folder / "x.json"
    file.write_text(json.dumps({"info": {"id": "ses_x", **info}, "messages": messages}))
    (found,) = read(file)
    return found


def message(role: str, *parts: Data, id: str = "msg_1", **info: Any) -> Data:
    numbered = [{"id": f"{id}-{number}", **part} for number, part in enumerate(parts)]
    return {"info": {"id": id, "role": role, "time": {"created": 1_760_000_000_000}, **info}, "parts": numbered}


def in_storage(folder: Path, data: Data) -> Path:
    """`data` as OpenCode's folder of files."""

    def write(path: Path, value: Any) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value, indent=2))
        return path

    storage = folder / "storage"
    for entry in data["messages"]:
        write(storage / "message" / SESSION / f"{entry['info']['id']}.json", entry["info"])
        for part in entry["parts"]:
            write(storage / "part" / entry["info"]["id"] / f"{part['id']}.json", part)
    return write(storage / "session" / "5b1e" / f"{SESSION}.json", data["info"])


SCHEMA = """
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL,
    directory text NOT NULL, title text NOT NULL, version text NOT NULL, share_url text, revert text,
    cost real DEFAULT 0 NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
    time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
    time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE account (token text);
INSERT INTO account VALUES ('SECRET-OF-THE-ACCOUNT');
"""


def in_database(file: Path, *sessions: Data, schema: str = SCHEMA, cost: float = 0) -> Path:
    """`sessions` as OpenCode's database."""
    connection = sqlite3.connect(file)
    connection.executescript(schema)
    for data in sessions:
        info = data["info"]
        row = (info["id"], info.get("projectID", ""), info.get("parentID"), "s", info.get("directory", ""))
        more = (info.get("title", ""), info.get("version", ""), None, json.dumps(info.get("revert")), cost)
        times = (info.get("time") or {}).get("created", 0)
        connection.execute(f"INSERT INTO session VALUES ({', '.join('?' * 12)})", (*row, *more, times, times))
        for entry in data["messages"]:
            body = {key: value for key, value in entry["info"].items() if key not in ("id", "sessionID")}
            key, created = entry["info"]["id"], entry["info"]["time"]["created"]
            values = (key, info["id"], created, created, json.dumps(body))
            connection.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", values)
            for part in entry["parts"]:
                body = {name: value for name, value in part.items() if name not in ("id", "sessionID", "messageID")}
                values = (part["id"], key, info["id"], created, json.dumps(body))
                connection.execute("INSERT INTO part VALUES (?, ?, ?, ?, 0, ?)", values)
    connection.commit()
    connection.close()
    return file


FORMS: dict[str, Callable[[Path], Path]] = {
    "export": lambda folder: Path(shutil.copy(SAMPLE, folder)),
    "storage": lambda folder: in_storage(folder, sample()),
    "database": lambda folder: in_database(folder / "opencode.db", sample()),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_session_is_the_same_in_each_form(tmp_path: Path, form: str) -> None:
    (found,) = read(FORMS[form](tmp_path))
    (exported,) = read(SAMPLE)
    assert found.messages == exported.messages
    assert found.native_id == SESSION
    assert (found.title, found.folder, found.tool_version) == ("Paginate orders", "/home/ana/shop", "1.1.3")
    assert found.started_at == "2025-10-09T08:53:20.000Z"
    assert dict(found.records.fates) == {"message": 16, "detail": 10, "other_branch": 4}
    assert [json.loads(record)["id"] for record in found.raw] == [json.loads(record)["id"] for record in exported.raw]


def test_roles_and_what_the_agent_added() -> None:
    (found,) = read(SAMPLE)
    shape = [(each.role, each.injected) for each in found.messages]
    assert shape == [
        *((USER, False), (USER, True), (ASSISTANT, False)),
        *((TOOL, False), (TOOL, False), (TOOL, False), (ASSISTANT, False), (ASSISTANT, False)),
    ]
    content = found.messages[0].content
    assert isinstance(content, list)
    assert [part["type"] for part in content] == ["text", "file", "image_url"]
    assert content[1]["file"] == {"filename": "convex/orders.ts"}
    assert found.messages[1].text.startswith("Called the Read tool")


def test_calls_of_tools_and_their_results() -> None:
    (found,) = read(SAMPLE)
    reply, *results = found.messages[2:6]
    assert [call.id for call in reply.tool_calls] == [result.tool_call_id for result in results]
    assert json.loads(reply.tool_calls[0].arguments) == {"pattern": "orders.list"}
    assert reply.thinking == "The query collects everything."
    assert [result.is_error for result in results] == [False, False, True]
    assert results[2].content == "File not found"
    assert results[1].subagent == session_id("opencode", "ses_4f2a1bffffffChildChildChil")
    assert results[0].time == "2025-10-09T08:53:21.500Z"


def test_tokens_are_whole_and_counted_once() -> None:
    (found,) = read(SAMPLE)
    usage = [each.usage for each in found.messages if each.usage]
    assert [(each.input_tokens, each.output_tokens, each.cached_tokens, each.reasoning_tokens) for each in usage] == [
        *((9112, 220, 0, 40), (9580, 95, 9100, 0), (9825, 60, 9600, 0)),
    ]
    assert [each.cost_usd for each in found.messages if each.cost_usd] == [0.0412, 0.0071, 0.0062]
    assert {each.model for each in found.messages if each.role == ASSISTANT} == {"claude-sonnet-4-5"}


def test_what_was_taken_back_is_another_branch() -> None:
    (found,) = read(SAMPLE)
    assert found.branches == 1
    assert not any("delete" in each.text.lower() for each in found.messages)


def test_taking_back_from_a_part_on_keeps_what_is_before_it(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": word} for word in ("one", "two", "three")]
    messages = [message(USER, parts[0]), message(ASSISTANT, *parts, id="msg_2"), message(USER, parts[2], id="msg_3")]
    found = exported(tmp_path, messages, revert={"messageID": "msg_2", "partID": "msg_2-1"})
    assert [each.text for each in found.messages] == ["one", "one"]
    assert found.records.fates["other_branch"] == 4


@pytest.mark.parametrize("revert", [None, [], {"messageID": "msg_9"}, {"messageID": 3}, {"messageID": []}, "x"])
def test_nothing_is_taken_back_without_a_known_message(tmp_path: Path, revert: Any) -> None:
    found = exported(tmp_path, [message(USER, {"type": "text", "text": "hi"})], revert=revert)
    assert (len(found.messages), found.branches) == (1, 0)


def test_a_message_of_several_steps_is_several_replies(tmp_path: Path) -> None:
    def tokens(number: int) -> Data:
        return {"input": number, "output": 1, "reasoning": 0, "cache": {"read": 0, "write": 0}}

    def finish(number: int) -> Data:
        return {"type": "step-finish", "tokens": tokens(number), "cost": number / 100}

    tool: Data = {
        "type": "tool",
        "callID": "c",
        "tool": "read",
        "state": {"status": "completed", "input": {}, "output": "x"},
    }
    start = {"type": "step-start"}
    parts: list[Data] = [
        start,
        {"type": "text", "text": "a"},
        tool,
        finish(10),
        start,
        {"type": "text", "text": "b"},
        finish(20),
    ]
    found = exported(tmp_path, [message(ASSISTANT, *parts, tokens=tokens(20), cost=0.3)])
    assert [(each.role, each.text) for each in found.messages] == [(ASSISTANT, "a"), (TOOL, "x"), (ASSISTANT, "b")]
    assert [each.usage.input_tokens for each in found.messages if each.usage] == [10, 20]
    assert [each.cost_usd for each in found.messages if each.cost_usd] == [0.1, 0.2]


def test_a_message_without_steps_has_its_own_tokens(tmp_path: Path) -> None:
    tokens = {"input": 5, "output": 2, "reasoning": 1, "cache": {"read": 3, "write": 4}}
    found = exported(tmp_path, [message(ASSISTANT, {"type": "text", "text": "a"}, tokens=tokens, cost=0.5)])
    usage = found.messages[0].usage
    assert usage and (usage.input_tokens, usage.output_tokens) == (12, 3)
    assert found.messages[0].cost_usd == 0.5


@pytest.mark.parametrize(
    ("state", "arguments", "results"),
    [
        ({"status": "pending", "input": {}, "raw": '{"pa'}, '{"pa', []),
        ({"status": "running", "input": {"a": 1}}, '{"a": 1}', []),
        ({"status": "completed", "input": {"a": "é"}, "output": "x"}, '{"a": "é"}', ["x"]),
        ({"status": "error", "input": None, "error": "no", "output": "x"}, "{}", ["no"]),
        ({"status": "error", "input": {}, "metadata": {"output": "half"}}, "{}", ["half"]),
        ("nonsense", "{}", []),
    ],
)
def test_states_of_tools(tmp_path: Path, state: Any, arguments: str, results: list[str]) -> None:
    part = {"type": "tool", "callID": "c", "tool": "bash", "state": state}
    found = exported(tmp_path, [message(ASSISTANT, part)])
    assert found.messages[0].tool_calls[0].arguments == arguments
    assert found.messages[0].content is None
    assert [each.text for each in found.messages[1:]] == results


def test_images_that_a_tool_brought_are_parts(tmp_path: Path) -> None:
    image = {"type": "file", "mime": "image/png", "url": "data:image/png;base64,AA=="}
    state = {"status": "completed", "input": {}, "output": "read", "attachments": [image, "x"]}
    found = exported(tmp_path, [message(ASSISTANT, {"type": "tool", "callID": "c", "tool": "read", "state": state})])
    content = found.messages[1].content
    assert isinstance(content, list) and [part["type"] for part in content] == ["text", "image_url"]


def test_other_parts_of_a_request(tmp_path: Path) -> None:
    parts: list[Data] = [
        {"type": "subtask", "prompt": "Review it", "description": "review", "agent": "general"},
        {"type": "text", "text": "for the screen", "ignored": True},
        {"type": "agent", "name": "general"},
        {"type": "hologram"},
        {"type": ["list"]},
    ]
    found = exported(tmp_path, [message(USER, *parts, system="Be brief"), message("oracle", parts[0], id="msg_2")])
    assert [(each.role, each.text) for each in found.messages] == [(SYSTEM, "Be brief"), (USER, "Review it")]
    assert found.records.unknown == {
        "part:hologram": 1,
        "part:['list']": 1,
        "part:subtask of a message without a known role": 1,
        "message:oracle": 1,
    }


@pytest.mark.parametrize(
    "title", ["New session - 2025-10-09T08:53:20.000Z", "Child session - 2025-10-09T08:53:20.000Z"]
)
def test_a_title_that_says_nothing_is_none(tmp_path: Path, title: str) -> None:
    found = exported(tmp_path, [], title=title, parentID="ses_parent")
    assert (found.title, found.parent) == (None, "ses_parent")


def test_other_members_of_an_export_are_records(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text(json.dumps({"info": None, "messages": [1, {"info": 2, "parts": "x"}], "todos": [], "new": 1}))
    (found,) = read(file)
    assert found.native_id == "x"
    assert found.records.unknown == {"new": 1}
    assert found.records.fates["unreadable"] == 3


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"messages": 1}', "\ufffd" * 9, "[" * 100_000])
def test_a_file_that_is_no_session_is_told(tmp_path: Path, text: str) -> None:
    file = tmp_path / "x.json"
    file.write_text(text)
    assert read(file, "skipped") == []


def test_halves_of_characters_become_writable(tmp_path: Path) -> None:
    found = exported(tmp_path, [message(USER, {"type": "text", "text": "a\ud83d"})])
    assert found.messages[0].text == "a\ufffd"


def test_files_of_a_session_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    file = in_storage(tmp_path, sample())
    storage = tmp_path / "storage"
    first = sorted((storage / "message" / SESSION).iterdir())[0]
    first.write_text("{")
    sorted((storage / "part" / first.stem).iterdir())[0].write_text("[]")
    (found,) = read(file, f"{first}:1", "no object; kept as text")
    assert found.records.fates["unreadable"] == 2
    assert "{" in found.raw and "[]" in found.raw


def test_ids_inside_of_files_lead_nowhere(tmp_path: Path) -> None:
    data = sample()
    data["info"]["id"] = "../../secret"
    data["messages"] = data["messages"][:1]
    file = in_storage(tmp_path, data)
    secret = tmp_path / "storage" / "secret"
    secret.mkdir()
    (secret / "msg_1.json").write_text('{"role": "user"}')
    (found,) = read(file)
    assert found.native_id == SESSION
    assert len(found.raw) == 7


def test_files_are_the_sessions_and_never_credentials(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (place,) = READER.places(home)
    in_storage(place, sample())
    in_database(place / "opencode.db", sample())
    in_database(place / "opencode-local.db")
    for name in ("auth.json", "storage/migration.json", f"storage/session_diff/{SESSION}.json", "snapshot/a/b.json"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text('{"messages": []}')
    older = place / "storage" / "session" / "5b1e" / "ses_4f2a1fffffff.json"
    older.write_text("{}")
    (older.parent / "ses_link.json").symlink_to(place / "auth.json")
    found = [str(file.relative_to(place)) for file in READER.files(place)]
    session = f"storage/session/5b1e/{SESSION}.json"
    assert found == ["opencode-local.db", "opencode.db", "storage/session/5b1e/ses_4f2a1fffffff.json", session]
    assert [file.name for file in READER.files(place / "storage")] == [older.name, f"{SESSION}.json"]
    assert list(READER.files(place / "auth.json")) == []
    assert read(place / "auth.json", "not opened") == []


def test_exports_are_found_in_any_folder(tmp_path: Path) -> None:
    for name in ("b.json", "a/ses_1.json", "auth.json", "x.txt", "node_modules/c.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    (tmp_path / "auth.json").unlink()
    assert [str(file.relative_to(tmp_path)) for file in READER.files(tmp_path)] == ["b.json", "a/ses_1.json"]


def child() -> Data:
    parts = [{"id": "prt_c1", "type": "text", "text": "Look it up"}]
    info = {"id": "msg_c1", "role": "user", "time": {"created": 1_760_000_002_000}}
    return {
        "info": {"id": "ses_1child", "parentID": SESSION, "time": {"created": 1_760_000_001_400}},
        "messages": [{"info": info, "parts": parts}],
    }


def test_a_database_has_parents_before_children_and_costs(tmp_path: Path) -> None:
    found = read(in_database(tmp_path / "opencode.db", child(), sample(), cost=0.06))
    assert [(each.native_id, each.parent) for each in found] == [(SESSION, None), ("ses_1child", SESSION)]
    assert found[0].cost_usd == 0.06
    assert "SECRET" not in "".join(record for each in found for record in each.raw)


def test_what_stands_in_the_log_alone_is_read_and_nothing_written(tmp_path: Path) -> None:
    file = in_database(tmp_path / "opencode.db", child())
    writer = sqlite3.connect(file)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("PRAGMA wal_autocheckpoint = 0")
    writer.execute("UPDATE session SET title = 'from the log'")
    writer.commit()
    (tmp_path / "opencode.db-shm").rename(tmp_path / "elsewhere")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    (found,) = read(file)
    assert found.title == "from the log"
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    writer.close()


def test_a_database_of_another_program_in_use_is_not_written_next_to(tmp_path: Path) -> None:
    file = in_database(tmp_path / "opencode.db", child())
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    assert [path.name for path in tmp_path.iterdir()] == ["opencode.db"]
    assert len(read(file)) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["opencode.db"]


def test_a_database_in_the_midst_of_a_change_is_told(tmp_path: Path) -> None:
    file = in_database(tmp_path / "opencode.db", child())
    writer = sqlite3.connect(file, isolation_level=None)
    writer.execute("PRAGMA cache_size = 1")
    writer.execute("BEGIN EXCLUSIVE")
    writer.execute("UPDATE session SET title = 'half'")
    assert read(file, "in the midst of a change") == []
    writer.execute("ROLLBACK")
    assert len(read(file)) == 1
    writer.close()


def test_rows_that_cannot_be_read_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = in_database(tmp_path / "opencode.db", child())
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE loose (id, message_id, session_id, time_created, time_updated, data)")
        connection.execute("INSERT INTO loose SELECT * FROM part")
        for number, data in enumerate(["{", "[]", 7, None, b"\xff", '{"text": "' + "x" * 3000 + '"}']):
            values = (f"prt_c{number + 2}", "msg_c1", "ses_1child", 0, 0, data)
            connection.execute("INSERT INTO loose VALUES (?, ?, ?, ?, ?, ?)", values)
        connection.execute("DROP TABLE part")
        connection.execute("ALTER TABLE loose RENAME TO part")
    connection.close()
    monkeypatch.setattr(cursor_sqlite, "LONGEST_LINE", 1000)
    (found,) = read(file, "prt_c2: ", "no object", "integer instead", "null instead", "prt_c6", "prt_c7: longer than")
    assert found.records.fates["unreadable"] == 6
    assert [each.text for each in found.messages] == ["Look it up"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("DROP TABLE part", "table part lacks"),
        ("ALTER TABLE message RENAME COLUMN data TO body", "table message lacks data"),
        ("ALTER TABLE part RENAME TO p; CREATE VIEW part AS SELECT * FROM p", "part is no plain table"),
        ("ALTER TABLE part ADD COLUMN x AS (zeroblob(1000000000))", "columns that are computed"),
        ("DROP TABLE part; CREATE VIRTUAL TABLE part USING fts5(id, message_id, data)", "part is no plain table"),
    ],
)
def test_databases_of_another_form_are_told(tmp_path: Path, change: str, told: str) -> None:
    file = in_database(tmp_path / "opencode.db", child())
    with sqlite3.connect(file) as connection:
        connection.executescript(change)
    connection.close()
    assert read(file, told) == []


def test_a_database_that_takes_too_long_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = in_database(tmp_path / "opencode.db", sample(), child())
    monkeypatch.setattr(cursor_sqlite, "MOST_STEPS", 100)
    monkeypatch.setattr(cursor_sqlite, "_STEPS_AT_ONCE", 10)
    assert read(file, "takes too long to query") == []


def test_broken_databases_are_told(tmp_path: Path) -> None:
    file = in_database(tmp_path / "opencode.db", sample())
    data = file.read_bytes()
    for number, broken in enumerate([b"", b"no database", data[:600], data[:100] + b"\xff" * 8000, data[:-4096]]):
        path = tmp_path / f"opencode-{number}.db"
        path.write_bytes(broken)
        read(path, "skipped")


def test_sessions_in_a_newer_form_are_told(tmp_path: Path) -> None:
    data = child()
    data["messages"] = []
    file = in_database(tmp_path / "opencode.db", data)
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE session_message (id text, session_id text, type text, data text)")
        connection.execute("INSERT INTO session_message VALUES ('m', 'ses_1child', 'user', '{}')")
    connection.close()
    (found,) = read(file, "1 records in a newer form")
    assert found.messages == []


_KEYS = (
    "id",
    "role",
    "type",
    "text",
    "time",
    "created",
    "tokens",
    "cache",
    "state",
    "status",
    "input",
    "parts",
    "info",
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_KEYS), inner, max_size=5),
    max_leaves=12,
)
_KINDS = ("text", "tool", "file", "reasoning", "step-start", "step-finish", "subtask", "x")
_PARTS = st.fixed_dictionaries(
    {"type": st.sampled_from(_KINDS)},
    optional={
        **dict.fromkeys(
            ("text", "id", "callID", "tool", "url", "mime", "synthetic", "tokens", "cost", "prompt"), _JSON
        ),
        "state": _JSON
        | st.fixed_dictionaries(
            {"status": st.sampled_from(["completed", "error", "pending"])},
            optional=dict.fromkeys(("input", "output", "metadata", "attachments", "time", "raw", "error"), _JSON),
        ),
    },
)
_MESSAGES = st.fixed_dictionaries(
    {
        "info": _JSON
        | st.fixed_dictionaries(
            {"role": st.sampled_from([USER, ASSISTANT, "x"])},
            optional=dict.fromkeys(("id", "time", "modelID"), _JSON),
        ),
        "parts": _JSON | st.lists(_PARTS | _JSON, max_size=4),
    }
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.fixed_dictionaries(
        {"info": _JSON, "messages": st.lists(_MESSAGES | _JSON, max_size=4)}, optional={"todos": _JSON, "new": _JSON}
    )
)
def test_any_export_is_read_and_counted(tmp_path: Path, document: Data) -> None:
    file = tmp_path / "x.json"
    file.write_text(json.dumps(document))
    (found,) = read(file)
    parts = [each.get("parts") for each in document["messages"] if isinstance(each, dict)]
    expected = 1 + len(document["messages"]) + sum(len(each) for each in parts if isinstance(each, list))
    assert len(found.raw) == expected + len(document.keys() - {"info", "messages"})


_VALUES = st.none() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text(max_size=5) | st.binary(max_size=5)
_TEXTS = _VALUES | _JSON.map(json.dumps) | _PARTS.map(json.dumps)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(_VALUES, _VALUES, _VALUES), max_size=3),
    st.lists(st.tuples(st.sampled_from(["m", "n"]), _VALUES, _TEXTS), max_size=3),
    st.lists(st.tuples(_VALUES, st.sampled_from(["m", "n"]), _TEXTS), max_size=4),
)
def test_any_rows_are_read_and_counted(tmp_path: Path, sessions: Any, messages: Any, parts: Any) -> None:
    file = tmp_path / "opencode.db"
    file.unlink(missing_ok=True)
    connection = sqlite3.connect(file)
    connection.executescript(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; CREATE TABLE session (id, time_created, revert);"
        "CREATE TABLE message (id, time_created, data, session_id); CREATE TABLE part (id, message_id, data)"
    )
    connection.executemany("INSERT INTO session VALUES (?, ?, ?)", [("s", 1, None), *sessions])
    connection.executemany("INSERT INTO message VALUES (?, ?, ?, 's')", messages)
    connection.executemany("INSERT INTO part VALUES (?, ?, ?)", parts)
    connection.commit()
    connection.close()
    problems: list[str] = []
    found = list(READER.read(file, lambda line: problems.append(line)))
    assert len(found) == 1 + len(sessions), problems
    assert all(each.records.read == len(each.raw) for each in found)
    if len({id for id, *_ in messages}) == len(messages):
        kept = [part for part in parts if part[1] in {id for id, *_ in messages}]
        first = next(each for each in found if each.native_id == "s")
        assert len(first.raw) == 1 + len(messages) + len(kept)
