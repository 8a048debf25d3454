"""Records in the form of Claude Code's transcripts, in files as it keeps them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from convex_evals.sessions.conversation import Conversation, Reader
from convex_evals.sessions.message import Message
from convex_evals.sessions.readers.claude_code import READER

Data = dict[str, Any]
SAMPLES = Path(__file__).parent / "samples"
ID = "5c1d7e90-0a1b-4c2d-8e3f-405162738495"
MODEL = "claude-sonnet-4-20250514"
USAGE = {"input_tokens": 3, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 100, "output_tokens": 7}


def record(kind: str, uuid: str, parent: str | None = None, **more: Any) -> Data:
    common = {"isSidechain": False, "sessionId": ID, "timestamp": "2026-03-04T09:00:00.000Z"}
    return {"type": kind, "uuid": uuid, "parentUuid": parent, **common, **more}


def user(uuid: str, content: Any, parent: str | None = None, **more: Any) -> Data:
    return record("user", uuid, parent, message={"role": "user", "content": content}, **more)


def reply(uuid: str, content: Any, parent: str | None = None, id: str | None = None, **more: Any) -> Data:
    """A reply of its own, or with `id` a piece of the one of this id."""
    blocks = [text(content)] if isinstance(content, str) else content
    of_message = {"id": id or f"msg-{uuid}", "role": "assistant", "model": MODEL, "content": blocks, "usage": USAGE}
    return record("assistant", uuid, parent, message={**of_message, **more.pop("message", {})}, **more)


def text(words: str) -> Data:
    return {"type": "text", "text": words}


def call(id: str, name: str = "Read", **arguments: Any) -> Data:
    return {"type": "tool_use", "id": id, "name": name, "input": arguments}


def answer(uuid: str, id: str, content: Any, parent: str | None, **more: Any) -> Data:
    return user(uuid, [{"type": "tool_result", "tool_use_id": id, "content": content}], parent, **more)


def attachment(uuid: str, parent: str | None, **what: Any) -> Data:
    return record("attachment", uuid, parent, attachment=what)


def written(file: Path, *records: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in records))
    return file


def read(file: Path, *expected: str, reader: Reader = READER) -> list[Conversation]:
    """What the file holds, all of its records being accounted for, and `expected` standing in the problems."""
    problems: list[str] = []
    found = list(reader.read(file, problems.append))
    assert len(problems) == len(expected), problems
    for part, line in zip(expected, problems, strict=True):
        assert part in line and line.startswith(f"{file.parent}") and "\n" not in line
    check(found)
    return found


def check(found: list[Conversation]) -> None:
    for conversation in found:
        records = conversation.records
        assert records.read == len(conversation.raw)
        assert sum(records.unknown.values()) == records.fates["unknown"]
        assert all(Message.from_data(message.to_data()) == message for message in conversation.messages)
        json.dumps([message.to_data() for message in conversation.messages], ensure_ascii=False).encode()
        "\n".join(conversation.raw).encode()
    assert len({conversation.native_id for conversation in found}) == len(found)


def read_one(folder: Path, *records: Any) -> Conversation:
    (found,) = read(written(folder / f"{ID}.jsonl", *records))
    return found


def shape(conversation: Conversation) -> list[str]:
    """Each message as a word; what the agent wrote under the role of the user in parentheses."""
    return [f"({each.text})" if each.injected else each.text for each in conversation.messages]


# Records that have anything where something is expected, and each other's ids.
_NAMES = st.sampled_from(["a", "b", "c", "d", "\ud800", ""])
_ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(10**15)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "text", "id"]), inner),
    max_leaves=3,
)


def objects(**keys: st.SearchStrategy[Any]) -> st.SearchStrategy[Data]:
    """Objects with some of these keys, of the kind that is expected or of any."""
    return st.fixed_dictionaries({}, optional={key: values | _ANYTHING for key, values in keys.items()})


_KINDS = ["text", "thinking", "tool_use", "tool_result", "server_tool_use", "image", "document", "new"]
_BLOCKS = objects(
    type=st.sampled_from(_KINDS),
    text=_NAMES,
    thinking=_NAMES,
    id=_NAMES,
    tool_use_id=_NAMES,
    name=_NAMES,
    content=_NAMES,
    source=objects(type=st.sampled_from(["base64", "url", "text"]), data=_NAMES, url=_NAMES, media_type=_NAMES),
)
_TOKENS = objects(**dict.fromkeys(USAGE, st.integers(0, 10**16)))
MESSAGES = objects(
    id=_NAMES,
    role=st.sampled_from(["user", "assistant", "system", "critic"]),
    model=_NAMES | st.just("<synthetic>"),
    content=_NAMES | st.lists(_BLOCKS | _ANYTHING, max_size=4),
    usage=_TOKENS,
)


def any_records(kinds: list[str], **keys: st.SearchStrategy[Any]) -> st.SearchStrategy[list[str]]:
    """Lines of JSON."""
    of_kinds = objects(type=st.sampled_from(kinds), message=MESSAGES, timestamp=_NAMES, **keys)
    return st.lists((of_kinds | _ANYTHING).map(json.dumps), max_size=8)


def names() -> st.SearchStrategy[str]:
    return _NAMES
