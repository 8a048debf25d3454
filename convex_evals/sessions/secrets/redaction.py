"""Removes secrets from texts and records before anything of them is written."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from convex_evals.inputs.bounded_json import decode
from convex_evals.sessions.lines import LIMITS
from convex_evals.sessions.secrets import scanner
from convex_evals.sessions.secrets.binary import binary_fields, without_data_urls
from convex_evals.sessions.secrets.names import is_literal, kind_of_name
from convex_evals.sessions.secrets.personal import HomeFolder
from convex_evals.sessions.secrets.spans import MARKER, MARKERS, NOT_SCANNED, Finder, not_scanned, redacted, replaced
from convex_evals.sessions.secrets.values import free_key, texts_in
from convex_evals.text import well_formed

T = TypeVar("T")
_MOST_PASSES = 8
_MOST_KNOWN = 100_000  # texts
_MOST_NESTED = 6  # JSON texts in each other
_JSON_ENDS = {"{": "}", "[": "]", '"': '"'}
_JWK_PARTS = frozenset(("d", "p", "q", "dp", "dq", "qi", "k"))  # those of a JSON web key that are private
_HEADERS = frozenset(("authorization", "proxy-authorization", "cookie", "set-cookie"))


@dataclass(frozen=True, slots=True)
class SecretCount:
    """How many secrets of one kind were found."""

    kind: str
    count: int


@dataclass(frozen=True, slots=True)
class _Known:
    """What became of a text."""

    text: str
    nested: int  # how many JSON texts it stood in
    counts: Counter[str]


_NOTHING: Counter[str] = Counter()


class Redactor:
    """Removes secrets, e-mail addresses and home folders, and counts them.

    What cannot be scanned is left out. Redacting what is redacted changes nothing more.
    """

    def __init__(self, home: Path | None = None, *, keep: bool = False) -> None:
        """`home`: the home folder of this machine's user, besides any that look like one; `keep`: only count."""
        self.counts: Counter[str] = Counter()
        self._keep = keep
        self._more: tuple[Finder, ...] = () if home is None else (HomeFolder(home).find,)
        self._finders: Sequence[Finder] | None = None  # that may find something in the value that is looked through
        self._known: dict[str, _Known] = {}

    def apart(self) -> Redactor:
        """One that counts for itself, and does not look again at what this one has seen."""
        other = copy.copy(self)
        other.counts = Counter()
        return other

    @property
    def findings(self) -> tuple[SecretCount, ...]:
        """All that was found, by kind."""
        return tuple(SecretCount(kind, count) for kind, count in sorted(self.counts.items()) if count)

    def text(self, text: str) -> str:
        """Any text: a title, a path, a message."""
        return self._checked(text, lambda: self._text(text, 0), self._left_out)

    def data(self, value: Any) -> Any:
        """Any JSON value, with every text in it, keys included."""
        return self._checked(value, lambda: self._all_of(value, 0), self._left_out)

    def line(self, raw: str) -> str:
        """A raw record: as compact JSON, or as text where it is no JSON."""
        if self._keep:
            self._line(raw)
            return raw
        return well_formed(self._line(raw))

    def _line(self, raw: str) -> str:
        try:
            value = decode(raw, LIMITS)
        except (ValueError, RecursionError):
            return self.text(raw)
        return self._checked(raw, lambda: _dumped(self._all_of(value, 0)), self._left_out_line)

    def _checked(self, given: T, redact: Callable[[], T], left_out: Callable[[str], T]) -> T:
        if len(self._known) > _MOST_KNOWN:
            self._known.clear()
        try:
            done = redact()
        except Exception as error:
            # Whatever went wrong, what was not looked through is not passed on.
            done = left_out(type(error).__name__)
        return given if self._keep else done

    def _count(self, kind: str, number: int) -> None:
        if number:
            self.counts[kind] += number

    def _left_out(self, reason: str) -> str:
        self.counts[NOT_SCANNED] += 1
        return not_scanned(reason)

    def _left_out_line(self, reason: str) -> str:
        return _dumped(self._left_out(reason))

    def _text(self, text: str, nested: int) -> str:
        known = self._known_of(text, nested)
        if known is None:
            known = self._known[text] = self._looked_through(text, nested)
        if known.counts:
            self.counts.update(known.counts)
        return known.text

    def _known_of(self, text: str, nested: int) -> _Known | None:
        """What was found in the text before, at least as far within other texts as now."""
        known = self._known.get(text)
        return None if known is None or known.nested > nested else known

    def _looked_through(self, text: str, nested: int) -> _Known:
        """Until nothing more is found, since what is left may stand in another light."""
        outer, self.counts = self.counts, Counter()
        finders, given = self._finders, text
        try:
            for _ in range(_MOST_PASSES):
                done = self._pass(text, nested, finders)
                if done == text:
                    return _Known(text, nested, self.counts if text != given else _NOTHING)
                text, finders = done, None
        except scanner.ScanError as error:
            reason = str(error)
        except Exception as error:
            reason = type(error).__name__
        else:
            reason = "secrets in each other"
        finally:
            self.counts = outer
        return _Known(not_scanned(reason), nested, Counter([NOT_SCANNED]))

    def _pass(self, given: str, nested: int, finders: Sequence[Finder] | None) -> str:
        text, count = without_data_urls(given)
        self._count(NOT_SCANNED, count)
        if _JSON_ENDS.get(text[:1]) == text[-1:] and len(text) > 4 and nested < _MOST_NESTED:
            text = self._json(text, nested)
        spans = scanner.find(text, self._more, finders if text is given else None)
        self.counts.update(span.kind for span in spans)
        return replaced(text, spans) if spans else text

    def _json(self, text: str, nested: int) -> str:
        """`text` as it is where it is no JSON, or there is nothing in it."""
        if len(text) > scanner.LONGEST_TEXT:
            return text
        try:
            value = decode(text, LIMITS)
        except (ValueError, RecursionError):
            return text
        done = self._all_of(value, nested + 1)
        return text if done == value else _dumped(done)

    def _all_of(self, value: Any, nested: int) -> Any:
        new = (text for text in texts_in(value) if self._known_of(text, nested) is None)
        outer, self._finders = self._finders, scanner.finders_for("\n".join(new))
        try:
            return self._value(value, "", 0, nested)
        finally:
            self._finders = outer

    def _value(self, value: Any, name: str, depth: int, nested: int) -> Any:
        """`name`: what the value is called, where it is."""
        if isinstance(value, str):
            return self._named(value, name, nested)
        if depth > LIMITS.depth:
            return self._left_out(f"nested deeper than {LIMITS.depth}") if isinstance(value, dict | list) else value
        if isinstance(value, dict):
            return self._object(value, name, depth, nested)
        if isinstance(value, list | tuple):
            return self._list(value, name, depth, nested)
        return value

    def _object(self, value: dict[Any, Any], name: str, depth: int, nested: int) -> dict[Any, Any]:
        binary = binary_fields(value)
        self._count(NOT_SCANNED, len(binary))
        # {"name": "DB_PASSWORD", "value": ...}
        label = next((value[key] for key in ("name", "key", "Name", "Key") if isinstance(value.get(key), str)), name)
        done: dict[Any, Any] = {}
        for key, item in value.items():
            new_key = self._text(key, nested) if isinstance(key, str) else key
            if new_key != key:
                new_key = free_key(new_key, value, done)
            if key in binary:
                done[new_key] = binary[key]
                continue
            shown = label if key in ("value", "Value") else str(key)
            if key in _JWK_PARTS and "kty" in value:
                shown = "private_key"
            done[new_key] = self._value(item, shown, depth + 1, nested)
        return done

    def _list(self, value: list[Any] | tuple[Any, ...], name: str, depth: int, nested: int) -> list[Any]:
        done, flag = [], ""
        for item in value:
            # ["--password", "..."]
            is_flag = isinstance(item, str) and item.startswith("-") and "=" not in item and len(item) < 80
            done.append(self._value(item, name if is_flag else flag or name, depth + 1, nested))
            flag = item if is_flag else ""
        return done

    def _named(self, value: str, name: str, nested: int) -> str:
        done = self._text(value, nested)
        # A marker says a kind of secrets, and stands where a name said something else.
        kind = kind_of_name(name) if name and not MARKER.search(name) else None
        if kind is not None and not MARKERS.fullmatch(done) and is_literal(done, kind):
            self.counts[kind] += 1
            return redacted(kind)
        return self._header(name, done, nested) if name.lower() in _HEADERS else done

    def _header(self, name: str, value: str, nested: int) -> str:
        prefix = f"{name}: "
        outer, self._finders = self._finders, None
        try:
            return self._text(prefix + value, nested).removeprefix(prefix)
        finally:
            self._finders = outer


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
