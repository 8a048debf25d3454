"""The bodies of a provider's responses, on their way to their reader: counted, decompressed and cut into events."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn, Protocol

from convex_evals.inputs.bounded_json import Limits, TooLarge, check
from convex_evals.models.faults import Fault

_LARGEST_ERROR = 64 * 1024  # bytes
_VALUES_OF_ERROR = 50_000
_DEPTH = 64
# Python's readers of lines take these for line ends, which JSON does not: within one line there would be two documents,
# and the first could hide the second. Escaped they mean the same to JSON; control characters mean nothing to it.
_SEPARATORS = {
    b"\xe2\x80\xa8": b"\\u2028",
    b"\xe2\x80\xa9": b"\\u2029",
    b"\xc2\x85": b"\\u0085",
    **{bytes([code]): b" " for code in (0x0B, 0x0C, 0x1C, 0x1D, 0x1E)},
}


class BodyLimits(Protocol):
    """What a body may be."""

    @property
    def most_bytes(self) -> int: ...
    @property
    def most_events(self) -> int: ...
    @property
    def most_values(self) -> int:
        """In the JSON of one event, or of a body in one piece."""

    @property
    def most_of_one(self) -> int:
        """Bytes of one event, and of a body in one piece."""

    def refuse(self, fault: Fault, message: str) -> NoReturn: ...


class Filter(Protocol):
    """Takes what arrives and gives what may be read of it. Raises `ProviderFault`."""

    def feed(self, data: bytes) -> Iterator[bytes]: ...
    def end(self) -> Iterator[bytes]: ...
    @property
    def done(self) -> bool:
        """Whether no more is wanted."""


@dataclass
class Counted:
    """Handed on as it comes."""

    limits: BodyLimits
    size: int = 0
    done = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        self.count(data)
        yield data

    def count(self, data: bytes) -> None:
        self.size += len(data)
        if self.size > self.limits.most_bytes:
            self.limits.refuse(Fault.OVER_LIMIT, f"more than {self.limits.most_bytes:,} bytes")

    def end(self) -> Iterator[bytes]:
        return iter(())


class EventStream(Counted):
    """A stream of events, each handed on once it is whole and small: until a blank line, or line by line."""

    def __init__(self, limits: BodyLimits, *, by_line: bool) -> None:
        super().__init__(limits)
        self._by_line = by_line
        self._event = bytearray()
        self._line = 0  # where in the event its last line begins
        self._seen = 0  # bytes of it that have no line end
        self._events = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        self.count(data)
        self._event += data
        while (at := self._event.find(b"\n", self._seen)) >= 0:
            blank = bytes(self._event[self._line : at]) in (b"", b"\r")
            self._line = self._seen = at + 1
            if self._by_line or blank:
                yield self._cut(at + 1)
        self._seen = len(self._event)
        self._check_size(self._seen)

    def end(self) -> Iterator[bytes]:
        if self._event:
            yield self._cut(len(self._event))

    def _cut(self, size: int) -> bytes:
        self._check_size(size)
        event = bytes(self._event[:size])
        for separator, escaped in _SEPARATORS.items():
            event = event.replace(separator, escaped)
        del self._event[:size]
        self._line = self._seen = 0
        self._events += 1
        if self._events > self.limits.most_events:
            self.limits.refuse(Fault.OVER_LIMIT, f"more than {self.limits.most_events:,} events")
        lines = event.splitlines()
        data = [line[5:] for line in lines if line.startswith(b"data:")]
        for document in [*lines, b"\n".join(data)] if len(data) > 1 else lines:
            _check_json(self.limits, document)
        return event

    def _check_size(self, size: int) -> None:
        if size > self.limits.most_of_one:
            self.limits.refuse(Fault.OVER_LIMIT, f"an event of more than {self.limits.most_of_one:,} bytes")


class WholeBody(Counted):
    """A body that is read in one piece."""

    def __init__(self, limits: BodyLimits) -> None:
        super().__init__(limits)
        self._data = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        self._data += data
        if len(self._data) > self.limits.most_of_one:
            self.limits.refuse(Fault.OVER_LIMIT, f"a body of more than {self.limits.most_of_one:,} bytes")
        return iter(())

    def end(self) -> Iterator[bytes]:
        _check_json(self.limits, bytes(self._data))
        yield bytes(self._data)


class ErrorBody:
    """What goes with an error: its beginning, and nothing of what cannot be read."""

    def __init__(self) -> None:
        self._data = bytearray()

    @property
    def done(self) -> bool:
        return len(self._data) >= _LARGEST_ERROR

    def feed(self, data: bytes) -> Iterator[bytes]:
        self._data += data[: _LARGEST_ERROR - len(self._data)]
        return iter(())

    def end(self) -> Iterator[bytes]:
        try:
            check(bytes(self._data), Limits(_LARGEST_ERROR, _VALUES_OF_ERROR, _DEPTH))
        except TooLarge:
            return
        yield bytes(self._data)


class Decompressed:
    """gzip or zlib, at most 64 KiB at a time."""

    def __init__(self, limits: BodyLimits, inner: Filter) -> None:
        self._limits, self._inner = limits, inner
        self._decoder = zlib.decompressobj(32 + zlib.MAX_WBITS)  # either header

    @property
    def done(self) -> bool:
        return self._inner.done

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data and not self._decoder.eof and not self.done:
            try:
                piece = self._decoder.decompress(data, 65536)
            except zlib.error as error:
                self._limits.refuse(Fault.MALFORMED, f"a compressed body that cannot be read: {error}")
            data = self._decoder.unconsumed_tail
            yield from self._inner.feed(piece)

    def end(self) -> Iterator[bytes]:
        if not self.done:
            yield from self._inner.feed(self._decoder.flush())
        yield from self._inner.end()


def _check_json(limits: BodyLimits, data: bytes) -> None:
    try:
        check(data, Limits(len(data), limits.most_values, _DEPTH))
    except TooLarge as error:
        limits.refuse(Fault.OVER_LIMIT, str(error))
