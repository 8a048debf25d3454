"""A session as people read it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from convex_evals.records.session import Label, Session
from convex_evals.render.model import Column, Row, Table
from convex_evals.sessions.listing import cost_text
from convex_evals.sessions.message import ASSISTANT, SYSTEM, USER, Message

_LONGEST_LINE = 100  # of what is folded
_NAMES = {USER: "User", ASSISTANT: "Assistant", SYSTEM: "System"}


def facts(session: Session) -> dict[str, str]:
    """Return what is known of the session besides its title; empty where it is not known."""
    return {
        "agent": " ".join(filter(None, (session.tool, session.tool_version))),
        "models": ", ".join(session.models),
        "time": " to ".join(filter(None, (session.started_at, session.ended_at))),
        "folder": session.folder or "",
        "branch": session.git_branch or "",
        "parent": session.parent or "",
        "tokens": _tokens(session),
        "cost": cost_text(session.cost_usd, session.cost_estimated),
        "records": _counts(session.records),
        "unknown": _counts(session.unknown),
        "redacted": _counts(session.redacted),
        "revision": str(session.revision) if session.revision > 1 else "",
    }


def head_lines(session: Session, label: Label) -> Iterator[str]:
    """What is known of the session, and what people say of it."""
    yield f"Session {session.id}: {session.title or 'without a title'}"
    known = {
        **facts(session),
        "status": label.evalStatus.value + ("" if label.evalReady else " (not ready)"),
        "tags": ", ".join(label.evalTags),
    }
    width = max(map(len, known))
    yield from (f"  {name:<{width}}  {fact}" for name, fact in known.items() if fact)
    if label.evalNotes:
        yield from ("", "Notes:", *_indented(label.evalNotes))
    if label.expectedOutput is not None:
        yield from ("", "Expected output:", *_indented(label.expectedOutput))


def message_lines(messages: Iterable[Message], *, full: bool) -> Iterator[str]:
    """What was said.

    Calls of tools, their results, reasoning, and what the agent added are one line each, unless `full`.
    """
    for message in messages:
        if message.role in _NAMES and not message.injected and (message.role != SYSTEM or full):
            if message.thinking:
                yield from _folded("thinking", message.thinking, full)
            if message.text.strip():
                yield from ("", f"{_NAMES[message.role]}:", *_indented(message.text))
        else:
            yield from _folded(_what(message), message.text, full)
        for call in message.tool_calls:
            yield from _folded(f"calls {call.name}", call.arguments, full)


def messages_table(messages: Iterable[Message]) -> Table:
    """What was said, one message a row."""
    columns = [
        Column("number", "#", right=True),
        Column("role", "role"),
        Column("time", "time"),
        Column("tools", "tools"),
        Column("text", "text"),
    ]
    rows: list[Row] = [
        [at, _NAMES.get(message.role, message.role).lower(), message.time or "", _tools(message), message.text.strip()]
        for at, message in enumerate(messages, 1)
    ]
    return Table.of(columns, rows)


def session_to_data(session: Session, label: Label, messages: Iterable[Message]) -> dict[str, Any]:
    return {
        **session.model_dump(mode="json", by_alias=True),
        "label": label.model_dump(mode="json"),
        "conversation": [message.to_data() for message in messages],
    }


def _tools(message: Message) -> str:
    """The tools that are called, or the one that answers."""
    return ", ".join(call.name for call in message.tool_calls) or message.name or ""


def _what(message: Message) -> str:
    if message.injected:
        return "added by the agent"
    if message.role == SYSTEM:
        return "system"
    failed = " (failed)" if message.is_error else ""
    return f"{message.name or message.role}{failed}"


def _folded(what: str, text: str, full: bool) -> Iterator[str]:
    if full:
        yield from ("", f"[{what}]", *_indented(text))
        return
    first, _, rest = text.strip().partition("\n")
    more = f" (+{rest.count(chr(10)) + 1} lines)" if rest else ""
    shown = first if len(first) <= _LONGEST_LINE else f"{first[:_LONGEST_LINE]}…"
    yield f"  [{what}] {shown}{more}".rstrip()


def _indented(text: str) -> list[str]:
    return [f"  {line}" for line in text.rstrip("\n").split("\n")]


def _tokens(session: Session) -> str:
    usage = session.usage
    if not (usage.input_tokens or usage.output_tokens):
        return ""
    return f"{usage.input_tokens:,} in ({usage.cached_tokens:,} cached), {usage.output_tokens:,} out"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in counts.items())
