"""Concurrency groups: one at a time, one that waits, and a newer one takes the place of the one that waits."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


class Superseded(Exception):
    """Cancelled while it waited: a newer one came."""


@dataclass
class Cancellation:
    """Asks what runs to stop."""

    _event: threading.Event = field(default_factory=threading.Event)

    def cancel(self) -> None:
        self._event.set()

    @property
    def is_requested(self) -> bool:
        return self._event.is_set()


@dataclass
class _Group:
    changed: threading.Condition = field(default_factory=threading.Condition)
    running: Cancellation | None = None
    waiting: Cancellation | None = None
    arrived: int = 0


@dataclass
class Groups:
    _groups: dict[str, _Group] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def arrived(self, name: str) -> int:
        """How many have come to a group so far."""
        group = self._groups.get(name.lower())
        return group.arrived if group else 0

    @contextmanager
    def turn(self, name: str | None, cancellation: Cancellation, *, cancels: bool) -> Iterator[None]:
        """Hold the group `name`, whose letters' case does not matter. With `cancels`, what holds it is stopped."""
        if name is None:
            yield
            return
        with self._lock:
            group = self._groups.setdefault(name.lower(), _Group())
        self._enter(group, cancellation, cancels)
        try:
            yield
        finally:
            with group.changed:
                group.running = None
                group.changed.notify_all()

    def _enter(self, group: _Group, own: Cancellation, cancels: bool) -> None:
        with group.changed:
            group.waiting = own
            group.arrived += 1
            if group.running and cancels:
                group.running.cancel()
            group.changed.notify_all()
            while group.running or group.waiting is not own:
                if group.waiting is not own:
                    raise Superseded
                group.changed.wait()
            group.running, group.waiting = own, None
