"""Questions on a terminal; escape goes back to the one before."""

from __future__ import annotations

import signal
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from convex_evals.text import one_line, printable

if TYPE_CHECKING:
    from questionary import Question

T = TypeVar("T")

_BACK = "esc to go back"


class GoBack(Exception):
    """The question before is to be asked again."""


def checkbox(
    message: str,
    values: Sequence[str] | Mapping[str, str],
    *,
    how: str,
    checked: Collection[str] = (),
    required: bool = False,
    note: str | None = None,
    first: bool = False,
) -> list[str]:
    """Those of `values` that the user selects; a mapping says how each is shown. Raises `GoBack`."""
    import questionary

    titles = values if isinstance(values, Mapping) else dict(zip(values, values, strict=True))
    choices = [questionary.Choice(_shown(title), value, checked=value in checked) for value, title in titles.items()]
    if note:
        choices.append(questionary.Separator(note))
    found: list[str] = _asked(
        questionary.checkbox(
            message,
            choices=choices,
            instruction=f"({how})" if first else f"({how}; {_BACK})",
            validate=lambda picked: bool(picked) or not required or "select at least one",
        )
    )
    return found


def select(message: str, values: Mapping[str, T]) -> T:
    """The one of `values`, by title, that the user selects. Raises `GoBack`."""
    import questionary

    choices = [questionary.Choice(_shown(title), value) for title, value in values.items()]
    lines = "\n".join(map(_shown, message.split("\n")))
    found: T = _asked(questionary.select(lines, choices=choices, instruction="(arrows and enter)"))
    return found


def ask(message: str, default: str, problem: Callable[[str], str | None]) -> str:
    """What the user types, once there is no `problem` with it. Raises `GoBack`."""
    import questionary

    question = questionary.text(
        _shown(message),
        default=default,
        instruction=f"({_BACK}) ",
        validate=lambda text: True if (what := problem(text)) is None else _shown(what),
    )
    return str(_asked(question))


@contextmanager
def interrupting() -> Iterator[None]:
    """Ctrl-C ends a question, though an event loop waits for it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _asked(question: Question) -> Any:
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent, merge_key_bindings
    from prompt_toolkit.keys import Keys

    bindings = KeyBindings()

    @bindings.add(Keys.Escape, eager=True)
    def go_back(event: KeyPressEvent) -> None:
        event.app.exit(exception=GoBack())

    own = question.application.key_bindings
    question.application.key_bindings = merge_key_bindings([bindings, *([own] if own else [])])
    return question.unsafe_ask()


def _shown(text: str) -> str:
    return printable(one_line(text))
