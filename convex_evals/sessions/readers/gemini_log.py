"""Gemini CLI's log of a session, replayed: which messages there are in the end, and what became of each record.

A message is written again as a whole each time something of it changes. `$rewindTo` takes back a message and all behind
it. `$set` changes what is known of the session; with `messages`, it and `$patch` say what the model is shown from then
on, where results of tools are shortened, and what was said is replaced by a summary. That takes nothing back: here, all
messages stay as they were said, and those that are new are added.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from convex_evals.sessions.conversation import (
    DETAIL,
    MESSAGE,
    OTHER_BRANCH,
    REPEATED,
    UNKNOWN,
    UNREADABLE,
    Problems,
    RecordCount,
)
from convex_evals.sessions.readers.gemini_parts import ERROR, GEMINI, INFO, USER, WARNING, calls_of, parsed
from convex_evals.sessions.readers.log_records import LogRecord
from convex_evals.sessions.readers.values import Data, as_list, as_object

_TYPES = (USER, GEMINI, INFO, WARNING, ERROR)
_UPDATE = "message_update"
# What a record is counted as that holds several messages, or that is a part of several.
_RANKS = (UNREADABLE, MESSAGE, UNKNOWN, OTHER_BRANCH, REPEATED, DETAIL)


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a message."""

    name: str
    kind: str = ""  # where it is unknown


@dataclass(slots=True)
class _Entry:
    """A message, and the indexes of the records that it was in."""

    record: LogRecord
    value: Data
    written: list[int]
    updates: list[int] = field(default_factory=list)


TakeMessage = Callable[[LogRecord, Data], Fate]


class Log:
    """Takes the records in order."""

    def __init__(self, problems: Problems) -> None:
        self.session: Data = {}
        self.branches = 0
        self._problems = problems
        self._fates: list[list[Fate]] = []  # of each record
        self._entries: dict[str, _Entry] = {}
        self._copies: dict[str, str] = {}  # ids of messages, by those of their copies
        self._run: list[str] = []  # ids of messages in the records right before
        self._pending: dict[str, list[tuple[int, Data]]] = {}  # updates of messages that did not come yet

    def take(self, record: LogRecord) -> None:
        self._fates.append([])
        run, self._run = self._run, []
        value = record.value
        if record.fault:
            self._note(Fate(record.fault, "(no object)"))
        elif isinstance(value.get("$rewindTo"), str):
            self._rewind(record, value["$rewindTo"])
        elif isinstance(value.get("$patch"), dict):
            self._patch(value["$patch"], run)
        elif isinstance(value.get("$set"), dict):
            self._set(record, value["$set"])
        elif value.get("type") == _UPDATE and isinstance(value.get("id"), str):
            self._update(value["id"], value)
        elif isinstance(value.get("id"), str) or value.get("type") in _TYPES:
            self._run = [*run, self._put(record, value)]
        elif "sessionId" in value:
            self._set(record, value)
        else:
            self._note(Fate(UNKNOWN, f"record with {', '.join(sorted(value)[:5]) or 'nothing'}"))

    def count(self, take: TakeMessage) -> RecordCount:
        """Hand each message to `take`, in order, and count what became of the records."""
        for entry in self._entries.values():
            self._settle(entry, take(entry.record, entry.value))
        for index, _ in (each for pending in self._pending.values() for each in pending):
            self._fates[index].append(Fate(UNKNOWN, f"{_UPDATE} of no message"))
        count = RecordCount()
        for fates in self._fates:
            fate = min(fates, key=lambda each: _RANKS.index(each.name), default=Fate(DETAIL))
            if fate.name == UNKNOWN:
                count.count_unknown(fate.kind)
            else:
                count.count(fate.name)
        return count

    def _note(self, fate: Fate) -> None:
        self._fates[-1].append(fate)

    def _settle(self, entry: _Entry, fate: Fate) -> None:
        for index in entry.written[:-1]:
            self._fates[index].append(fate if fate.name == OTHER_BRANCH else Fate(REPEATED))
        for index in (*entry.written[-1:], *entry.updates):
            self._fates[index].append(fate)

    def _put(self, record: LogRecord, value: Data) -> str:
        at = len(self._fates) - 1
        given = value.get("id")
        name = given if isinstance(given, str) else f"\0{at}"
        name = self._copies.get(name, name)
        entry = self._entries.get(name)
        if entry is None:
            entry = self._entries[name] = _Entry(record, dict(value), [])
        else:
            entry.value |= {key: each for key, each in value.items() if each is not None}
            entry.record = record
        entry.written.append(at)
        for index, update in self._pending.pop(name, ()):
            _merge(entry, index, update)
        return name

    def _update(self, name: str, value: Data) -> None:
        at, name = len(self._fates) - 1, self._copies.get(name, name)
        if name in self._entries:
            _merge(self._entries[name], at, value)
        else:
            self._pending.setdefault(name, []).append((at, value))

    def _rewind(self, record: LogRecord, given: str) -> None:
        name = self._copies.get(given, given)
        if name not in self._entries:
            what = "goes back to a message that is not there; what was said before is kept"
            self._problems(f"{record.file}:{record.number}: {what}")
            return
        names = list(self._entries)
        taken_back = [self._entries.pop(each) for each in names[names.index(name) :]]
        for entry in taken_back:
            self._settle(entry, Fate(OTHER_BRANCH))
        self.branches += any(entry.value.get("type") in (USER, GEMINI) for entry in taken_back)

    def _set(self, record: LogRecord, changes: Data) -> None:
        self.session |= {key: value for key, value in changes.items() if key != "messages"}
        messages = as_list(changes.get("messages"))
        if not messages:
            return
        others: list[tuple[str, Data]] = []
        for message in messages:
            name = message.get("id") if isinstance(message, dict) else None
            if not isinstance(name, str):
                self._note(Fate(UNKNOWN, "message without an id"))
            elif self._copies.get(name, name) in self._entries:
                self._note(Fate(REPEATED))
            else:
                others.append((name, message))
        known = {_fingerprint(entry.value): name for name, entry in self._entries.items()} if others else {}
        for name, message in others:
            original = known.get(_fingerprint(message))
            if original is None:
                self._put(record, message)
            else:
                self._copies[name] = original
                self._note(Fate(REPEATED))

    def _patch(self, patch: Data, run: list[str]) -> None:
        """Messages that are shown to the model under new ids were recorded right before; each other has a `$set`."""
        removed = [name for name in as_list(patch.get("removeIds")) if isinstance(name, str) and name in self._entries]
        known = {_fingerprint(self._entries[name].value): name for name in removed}
        for name in run if known else ():
            entry = self._entries.get(name)
            original = known.get(_fingerprint(entry.value)) if entry else None
            if entry and original is not None and name not in removed:
                self._copies[name] = original
                self._settle(self._entries.pop(name), Fate(REPEATED))


def _merge(entry: _Entry, index: int, update: Data) -> None:
    for key, value in update.items():
        if key not in ("id", "type"):
            before = entry.value.get(key)
            entry.value[key] = {**before, **value} if isinstance(before, dict) and isinstance(value, dict) else value
    entry.updates.append(index)


def _fingerprint(message: Data) -> Hashable:
    """What a message says: the same of a copy, that has other keys and may be in other pieces."""
    content = parsed(message.get("content"))
    text = "".join(part["text"] for part in content.parts if isinstance(part.get("text"), str)).strip()
    others = [part for part in content.parts if not isinstance(part.get("text"), str)]
    calls = [_call(call) for call in calls_of(content, as_list(message.get("toolCalls")))]
    answers = [result.get("id") for result in content.results]
    return message.get("type") == USER, text, repr(others), tuple(calls), repr(answers)


def _call(call: Any) -> Hashable:
    data = as_object(call)
    return repr((data.get("id"), data.get("name"), data.get("args")))
