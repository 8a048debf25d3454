"""Conversations in Cursor's `state.vscdb`, of which nothing but the keys of conversations is read.

The same file holds tokens and other credentials: in another table, `ItemTable`, and below other keys of this one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from convex_evals.inputs.bounded_json import decode
from convex_evals.sessions.conversation import Problems
from convex_evals.sessions.lines import LIMITS, LONGEST_LINE
from convex_evals.sessions.readers.cursor_sqlite import Database, DatabaseProblem, bounded, text
from convex_evals.sessions.readers.values import Data, Piece, as_list, as_object, as_text, piece

_TABLE = "cursorDiskKV"
_COMPOSER, _BUBBLE = "composerData:", "bubbleId:"
_KEY = "EncryptionKey"  # ends the names of members that hold one


@dataclass
class Composer:
    """A conversation with its messages, that Cursor calls bubbles."""

    id: str
    record: Piece
    bubbles: list[Piece] = field(default_factory=list)  # in order
    left: list[Piece] = field(default_factory=list)  # that the conversation does not name, or not any more
    repeated: list[Piece] = field(default_factory=list)  # inside of the record, and in rows of their own


def composers(database: Database, where: str, problems: Problems) -> Iterator[Composer]:
    """The conversations, a sub-agent's after the one that started it. Raises `DatabaseProblem` or `sqlite3.Error`."""
    if missing := {"key", "value"} - database.columns(_TABLE):
        raise DatabaseProblem(f"table {_TABLE} lacks {', '.join(sorted(missing))}")
    # Of a conversation that was removed, Cursor may leave the key.
    query = f"SELECT key FROM {_TABLE} WHERE key >= ? AND key < ? AND value IS NOT NULL"
    ids = [text(key).removeprefix(_COMPOSER) for (key,) in database.rows(query, _COMPOSER, _behind(_COMPOSER))]
    _tell_orphans(database, frozenset(ids), where, problems)
    for id in _parents_first(database, ids):
        composer = _composer(database, id, where, problems)
        if composer is not None:
            yield composer


def _behind(prefix: str) -> str:
    """The first text behind all that begin with `prefix`; `LIKE` takes no index, and takes ids for patterns."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)


def _tell_orphans(database: Database, ids: frozenset[str], where: str, problems: Problems) -> None:
    query = f"SELECT key FROM {_TABLE} WHERE key >= ? AND key < ? AND value IS NOT NULL"
    keys = (text(key).removeprefix(_BUBBLE) for (key,) in database.rows(query, _BUBBLE, _behind(_BUBBLE)))
    orphans = [id for id in (key.partition(":")[0] for key in keys) if id not in ids]
    if orphans:
        problems(f"{where}: {len(orphans)} messages of {len(set(orphans))} conversations that Cursor removed; not read")


def _parents_first(database: Database, ids: list[str]) -> list[str]:
    """By the times at which they began, and each behind its parent."""
    order: dict[str, tuple[float, str]] = {}
    parents: dict[str, str] = {}
    for id in ids:
        composer = as_object(_decoded(_value(database, _COMPOSER + id)[2]))
        created = composer.get("createdAt")
        order[id] = (created if isinstance(created, int | float) else 0, id)
        if parent := parent_of(composer):
            parents[id] = parent
    placed: dict[str, None] = {}
    for id in sorted(ids, key=order.__getitem__):
        line = {id: None}
        above = parents.get(id)
        while above is not None and above in order and above not in placed and above not in line:
            line[above] = None
            above = parents.get(above)
        placed.update(dict.fromkeys(reversed(list(line))))
    return list(placed)


def parent_of(composer: Data) -> str | None:
    """The id of the conversation whose agent started this one."""
    return as_text(as_object(composer.get("subagentInfo")).get("parentComposerId"))


def _composer(database: Database, id: str, where: str, problems: Problems) -> Composer | None:
    kind, length, value = _value(database, _COMPOSER + id)
    record = _record(f"{where}: {_COMPOSER}{id}", kind, length, value, problems)
    composer = Composer(id, record)
    data = record.value or {}
    stored = _bubbles(database, id, where, problems)
    inline = _inline(data)
    if inline:
        # The messages are records of their own; what holds them is kept if it is of another type than is known.
        known = {"conversation": list, "conversationMap": dict}
        composer.record = piece({key: each for key, each in data.items() if not isinstance(each, known.get(key, ()))})
    _arrange(composer, data, stored, inline, f"{where}: {_COMPOSER}{id}", problems)
    return composer if composer.bubbles or composer.left or record.value is None else None


def _arrange(
    composer: Composer, data: Data, stored: dict[str, Piece], inline: dict[str, Piece], where: str, problems: Problems
) -> None:
    """Put the bubbles in the order that the conversation gives; of two with one id, the one of its own row counts."""
    available = {**inline, **stored}
    composer.repeated = [inline[id] for id in inline if id in stored]
    headers = data.get("fullConversationHeadersOnly") or data.get("conversation")
    if isinstance(headers, list):
        named = [as_text(as_object(header).get("bubbleId")) or f"#{number}" for number, header in enumerate(headers)]
    else:
        named = sorted(available, key=lambda id: (str((available[id].value or {}).get("createdAt") or ""), id))
    missing = 0
    for id in named:
        found = available.pop(id, None)
        if found is None:
            missing += 1
        else:
            composer.bubbles.append(found)
    composer.left = list(available.values())
    if missing:
        problems(f"{where}: names {missing} messages that are not there, or twice; left out")


def _inline(data: Data) -> dict[str, Piece]:
    """Bubbles inside of the conversation's record, where older versions kept them."""
    found = {id: piece(each, bubbleId=id) for id, each in as_object(data.get("conversationMap")).items()}
    for number, each in enumerate(as_list(data.get("conversation"))):
        found[as_text(as_object(each).get("bubbleId")) or f"#{number}"] = piece(each)
    return found


def _bubbles(database: Database, id: str, where: str, problems: Problems) -> dict[str, Piece]:
    prefix = f"{_BUBBLE}{id}:"
    query = f"SELECT key, {bounded('value')} FROM {_TABLE} WHERE key >= ? AND key < ? ORDER BY key"
    found: dict[str, Piece] = {}
    for key, kind, length, value in database.rows(query, prefix, _behind(prefix)):
        name = text(key)
        if kind != b"null":
            found[name.removeprefix(prefix)] = _record(f"{where}: {name}", kind, length, value, problems)
    return found


def _value(database: Database, key: str) -> tuple[bytes, int, Any]:
    row = next(database.rows(f"SELECT {bounded('value')} FROM {_TABLE} WHERE key = ?", key), None)
    return (b"null", 0, None) if row is None else (row[0], row[1], row[2])


def _record(where: str, kind: bytes, length: int, value: Any, problems: Problems) -> Piece:
    if isinstance(value, bytes):
        decoded = _decoded(value)
        if isinstance(decoded, dict):
            return piece({key: None if key.endswith(_KEY) else each for key, each in decoded.items()})
        problems(f"{where}: no JSON object; kept as text")
        return Piece(text(value), None)
    what = f"longer than {LONGEST_LINE:,} bytes" if kind in (b"text", b"blob") else f"{text(kind)} instead of text"
    problems(f"{where}: {what}; left out")
    return Piece("", None)


def _decoded(value: Any) -> Any:
    try:
        return decode(value, LIMITS) if isinstance(value, bytes) else None
    except ValueError:
        return None
