"""What people see while something runs: a bar and a table on a terminal, lines elsewhere. All of it on stderr."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from convex_evals.render.marks import MARKS
from convex_evals.render.output import say
from convex_evals.text import one_line, printable

_COLOURS = {"passed": "green", "failed": "red", "unscored": "yellow", "received": "dim", "off": "red"}
_PLAIN = {"passed": "pass", "failed": "FAIL", "unscored": "????", "received": "got ", "off": "OFF "}
# Off a terminal, between two lines about progress.
_PROGRESS_SECONDS = 30.0
_WAITING_SECONDS = 60.0
# Columns that have room for a bar and for what is told beside it.
_WIDE = 120
_FRONT = (SpinnerColumn(), TextColumn("{task.description}", markup=False))
_PROGRESS = TextColumn("{task.fields[progress]}", markup=False)


# Those that draw now.
_drawing: list[Progress] = []


class Display:
    """Progress of one command. Off a terminal every finished item is a line, and waiting is told every few seconds.

    `off_later`: the result, which people read beside these lines, names what is off, and why.
    """

    def __init__(self, *, off_later: bool = False) -> None:
        self._off_later = off_later
        self.console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._live: Progress | None = None
        self._preparing: TaskID | None = None
        self._items: TaskID | None = None
        self._told = ("", 0.0)
        self._last_progress = self._last_waiting = time.monotonic()
        self._so_far, self._waiting = "", ""
        if self.console.is_terminal:
            self._live = Progress(
                *_FRONT,
                BarColumn(bar_width=30),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                _PROGRESS,
                console=self.console,
                transient=True,
            )

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
            _drawing.append(self._live)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            _drawing.remove(self._live)
            self._live.stop()

    def preparing(self, what: str, done: int, total: int) -> None:
        """Set-up work. `total` is 0 where it is not known."""
        if self._live:
            if self._preparing is None:
                self._preparing = self._live.add_task(_shown(what), progress="")
            self._live.update(self._preparing, description=_shown(what), completed=done, total=total or None)
        else:
            last, when = self._told
            if total and (what != last or time.monotonic() - when >= 3):
                self._told = (what, time.monotonic())
                self._line(f"{what}: {done}/{total}")

    def start(self, what: str, total: int) -> None:
        """The main work begins: `total` items."""
        if self._live:
            if self._preparing is not None:
                self._live.remove_task(self._preparing)
                self._preparing = None
            self._items = self._live.add_task(_shown(what), total=total, progress="")
        else:
            self._line(f"{what}: {total}")

    def item(self, mark: str, name: str, seconds: float, note: str = "") -> None:
        """One item is finished."""
        if self._live and self._items is not None:
            tail = f" {_shown(note)}" if note else ""
            front = (MARKS[mark], _COLOURS[mark])
            self._live.console.print(Text.assemble(front, f" {_shown(name)} ", (f"{seconds:.1f}s{tail}", "dim")))
            self._live.advance(self._items)
        elif not (mark == "off" and self._off_later):
            self._line(f"{_PLAIN[mark]} {name} {seconds:.1f}s{'  ' + note if note else ''}")

    def progress(self, line: str) -> None:
        """What the items came to so far: beside the bar, or now and then on a line of its own."""
        if self._live and self._items is not None:
            # The line counts the items; a narrow terminal has no room for the bar beside it.
            drawn = (BarColumn(bar_width=30), TimeElapsedColumn()) if self.console.width >= _WIDE else ()
            self._live.columns = (*_FRONT, *drawn, _PROGRESS)
            self._so_far = line
            self._redraw()
        elif time.monotonic() - self._last_progress >= _PROGRESS_SECONDS:
            self._last_progress = time.monotonic()
            self._line(f"so far: {line}")

    def waiting(self, line: str | None) -> None:
        """What is waited for, None for nothing: behind the progress, or once a minute on a line of its own."""
        if self._live:
            if (line or "") != self._waiting:
                self._waiting = line or ""
                self._redraw()
        elif line and time.monotonic() - self._last_waiting >= _WAITING_SECONDS:
            self._last_waiting = time.monotonic()
            self._line(f"waiting: {line}")

    def _redraw(self) -> None:
        task = self._preparing if self._items is None else self._items
        if self._live and task is not None:
            told = "; ".join(filter(None, (self._so_far, self._waiting)))
            self._live.update(task, progress=_shown(told))

    def note(self, message: str) -> None:
        """Say on a line of its own what is no reason to worry."""
        self._line(message)

    def warn(self, message: str) -> None:
        self._line(f"warning: {message}")

    def _line(self, text: str) -> None:
        if self._live:
            self._live.console.print(Text(_shown(text)))
        else:
            say(one_line(text), err=True)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Nothing is drawn meanwhile: the user is asked something."""
    paused = list(_drawing)
    for live in paused:
        live.stop()
    try:
        yield
    finally:
        for live in paused:
            live.start()


def _shown(text: str) -> str:
    """As one line that a terminal and a CI log may see."""
    return printable(one_line(text))
