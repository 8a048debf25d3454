"""One session with its label: what was said, in parts, and what people say of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

from convex_evals.errors import UserError
from convex_evals.records.hashes import sha256_text
from convex_evals.records.session import Label, Session, SessionStatus
from convex_evals.sessions.arguments import COMMANDS, PATHS, arguments_of
from convex_evals.sessions.index import open_index
from convex_evals.sessions.labels import read_label
from convex_evals.sessions.message import ASSISTANT, SYSTEM, USER, Message, ToolCall
from convex_evals.sessions.store import SessionStore
from convex_evals.sessions.transcript import facts
from convex_evals.site import urls
from convex_evals.site.html import Page
from convex_evals.site.pages.sessions import SECTION, STATUS_NAMES
from convex_evals.site.prose import MOST_PROSE
from convex_evals.site.session_view import SessionView
from convex_evals.text import counted, one_line

MESSAGES_PER_PAGE = 200
_MOST_PROSE_OF_PAGE = 400_000  # characters: a parser of Markdown takes its time
_LONGEST_GIST = 100
_ID = re.compile(r"[0-9a-f]{20}")
_TITLES = {USER: "User", ASSISTANT: "Assistant", SYSTEM: "System"}
# What, besides a path, says best what a tool was called for, in this order.
_GIST_KEYS = (*COMMANDS, "query", "pattern", "url", "description")


class Block(NamedTuple):
    """A text of what is folded: an argument of a tool, say."""

    text: str
    path: str = ""  # of the file that it is for, whose ending says how it is coloured
    name: str = ""  # of the argument


@dataclass(frozen=True)
class MessagePart:
    """A piece of a message, as its page shows it."""

    number: int  # of the message, from 1
    title: str
    text: str = ""  # what is said in the open
    speaker: str = ""  # who says it, as a class; empty of what is folded
    is_prose: bool = False  # whether it is shown as Markdown
    gist: str = ""  # of what is folded
    blocks: Sequence[Block] = ()
    is_error: bool = False
    time: str = ""
    model: str = ""
    subagent: str | None = None
    is_first: bool = False  # of its message


def session_page(store: SessionStore, session_id: str, view: SessionView, start: int) -> Page | None:
    """Make the page with the messages from number `start`; None where there is no session. Raises `UserError`."""
    session = store.find(session_id)
    if session is None:
        return None
    start = start if start <= session.messages else 1
    context = {
        **label_context(store, session_id, view),
        "session": session,
        "facts": _facts(session),
        "parts": _parts(islice(store.messages(session_id), start - 1, start - 1 + MESSAGES_PER_PAGE), start),
        "start": start,
        "ranges": [
            (f"{at}–{min(at + MESSAGES_PER_PAGE - 1, session.messages)}", at)
            for at in range(1, session.messages + 1, MESSAGES_PER_PAGE)
        ],
        **_neighbours(store, session_id, view),
    }
    title = one_line(session.title or session_id)
    return Page(urls.session(session_id), "session", title, SECTION, context, is_lasting=False)


def label_page(store: SessionStore, session_id: str, view: SessionView, problem: str = "") -> Page | None:
    """Make the label alone, as it is now; None where there is no session. Raises `UserError`."""
    if store.find(session_id) is None:
        return None
    context = label_context(store, session_id, view, problem)
    return Page(urls.session(session_id), "label", "Label", SECTION, context, is_lasting=False)


def label_context(store: SessionStore, session_id: str, view: SessionView, problem: str = "") -> dict[str, Any]:
    """What the template of the label needs. A label that cannot be read is a `problem`, and cannot be written."""
    label = None
    try:
        label = read_label(store, session_id)
    except UserError as error:
        problem = str(error)
    return {
        "session_id": session_id,
        "label": label,
        "digests": digests(label) if label else {},
        "problem": problem,
        "query": view.query,
        "statuses": [(status, STATUS_NAMES[status]) for status in SessionStatus],
    }


def digests(label: Label) -> dict[str, str]:
    """Return the digest of each field: a form sends the one that its reader saw."""
    return {
        name: sha256_text(json.dumps(value, sort_keys=True))[:16]
        for name, value in label.model_dump(mode="json").items()
    }


def _facts(session: Session) -> dict[str, str]:
    return {name: text for name, text in facts(session).items() if text and name != "parent"}


def _neighbours(store: SessionStore, session_id: str, view: SessionView) -> dict[str, Any]:
    """The sessions beside this one in the view, the next to be reviewed, and the known tags."""
    with open_index(store) as index:
        outline = index.outline(view.but(status=None).filter())
        ids = [found for found, status in outline if view.status in (None, status)]
        at = ids.index(session_id) if session_id in ids else None
        queue = _to_review(outline, session_id)
        return {
            "before": ids[at - 1] if at else None,
            "after": ids[at + 1] if at is not None and at + 1 < len(ids) else None,
            "next_unreviewed": queue[0] if queue else None,
            "left": len(queue),
            "known_tags": list(index.tags()),
        }


def _to_review(outline: Sequence[tuple[str, SessionStatus]], session_id: str) -> Sequence[str]:
    """The other sessions that need review, those behind this one first."""
    at = next((n for n, (found, _) in enumerate(outline) if found == session_id), -1)
    around = [*outline[at + 1 :], *outline[: max(at, 0)]]
    return [found for found, status in around if status is SessionStatus.NEEDS_REVIEW]


def _parts(messages: Iterable[Message], start: int) -> Sequence[MessagePart]:
    found, left = [], _MOST_PROSE_OF_PAGE
    for number, message in enumerate(messages, start):
        for at, part in enumerate(_of_message(message, number)):
            left -= len(part.text)
            found.append(replace(part, is_prose=part.is_prose and left > 0, is_first=at == 0))
    return found


def _of_message(message: Message, number: int) -> Iterator[MessagePart]:
    text, is_spoken = message.text, message.role in (USER, ASSISTANT) and not message.injected
    if message.thinking:
        yield MessagePart(number, "thinking", gist=_gist(message.thinking), blocks=[Block(message.thinking)])
    if is_spoken and text.strip():
        yield MessagePart(
            number,
            _TITLES[message.role],
            text.strip("\n"),
            message.role,
            is_prose=len(text) <= MOST_PROSE,
            time=(message.time or "")[:19].replace("T", " "),
            model=message.model or "",
        )
    if isinstance(message.content, list) and (others := len(message.content) - _texts(message.content)):
        shown = json.dumps(message.content, indent=1, ensure_ascii=False)
        yield MessagePart(number, f"{counted(others, 'part')} without text", blocks=[Block(shown, "x.json")])
    if not is_spoken:
        yield MessagePart(
            number,
            _what(message),
            gist=_gist(text),
            blocks=[Block(text)],
            is_error=message.is_error,
            subagent=message.subagent if _ID.fullmatch(message.subagent or "") else None,
        )
    for call in message.tool_calls:
        gist, blocks = _arguments(call)
        yield MessagePart(number, f"calls {call.name}", gist=gist, blocks=blocks)


def _texts(content: Sequence[dict[str, Any]]) -> int:
    return sum(isinstance(part.get("text"), str) for part in content)


def _what(message: Message) -> str:
    if message.injected:
        return "added by the agent"
    if message.role == SYSTEM:
        return "system"
    return f"{message.name or message.role} {'failed' if message.is_error else 'returned'}"


def _arguments(call: ToolCall) -> tuple[str, Sequence[Block]]:
    """Return the gist of a call, and its arguments: texts of several lines by themselves, the others as JSON."""
    arguments, is_object = arguments_of(call.arguments)
    if not is_object:
        return _gist(call.arguments), [Block(call.arguments)]
    texts = {key: value for key, value in arguments.items() if isinstance(value, str)}
    path = next((texts[key] for key in PATHS if key in texts), "")
    long = [Block(text, path, key) for key, text in texts.items() if "\n" in text]
    others = {key: value for key, value in arguments.items() if "\n" not in texts.get(key, "")}
    shown = [Block(json.dumps(others, indent=2, ensure_ascii=False), "x.json")] if others or not long else []
    gist = next((texts[key] for key in (*PATHS, *_GIST_KEYS, *texts) if key in texts), "")
    return _gist(gist), [*shown, *long]


def _gist(text: str) -> str:
    first = text.lstrip()[: 2 * _LONGEST_GIST].partition("\n")[0].strip()
    return first if len(first) <= _LONGEST_GIST else f"{first[:_LONGEST_GIST].rstrip()}…"
