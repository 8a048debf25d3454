"""Test cases of promptfoo's, a session a line: `tests: file://sessions.jsonl`.

promptfoo renders the text of a variable as a Nunjucks template, replaces `{{ env.NAME }}` in it, and opens what begins
with `file://` or `package:`. Here, what begins such a thing is written as an expression of its own (`{{ "{" }}`), which
Nunjucks renders as that one character and renders once: a prompt `{{input}}` becomes the request to the letter. A
`{% raw %}` block could not hold a text that ends such a block itself.

- `input`: the last request of a person that was answered, for prompts that are plain text
- `messages`: the chat up to that request, as JSON; as the whole prompt, `{{messages}}`. It has no `{` inside of texts
- `expected_output`: where a person wrote one, for assertions
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from convex_evals.render.json_lines import to_line
from convex_evals.sessions.exchanges import last_turn
from convex_evals.sessions.exports.inspect_ai import about
from convex_evals.sessions.exports.labelled import LabelledSession
from convex_evals.sessions.message import Message
from convex_evals.text import well_formed

# What begins a template, the end of a comment that none began, and what begins a reference. promptfoo removes a line
# end at the end.
_ACTIVE = re.compile(r"\{(?=[{%#])|#(?=\})|(?i:\Af(?=ile:)|\Ap(?=ackage:))")
_NOTHING = '{{ "" }}'


def write(sessions: Iterable[LabelledSession]) -> Iterator[bytes]:
    """A session in which a person asked nothing makes no test."""
    for session in sessions:
        messages = list(session.read_messages())
        turn = last_turn(messages)
        if turn is not None:
            yield to_line(_test(session, turn.request, messages[: turn.end]))


def inert(text: str) -> str:
    """A template that renders as `text`."""
    found = _ACTIVE.sub(lambda match: f'{{{{ "{match[0]}" }}}}', text)
    return found + _NOTHING if found.endswith("\n") else found


def _test(labelled: LabelledSession, request: str, asked: Sequence[Message]) -> dict[str, Any]:
    session, expected = labelled.session, labelled.label.expectedOutput
    variables = {"input": inert(request), "messages": _chat(asked)}
    if expected is not None:
        variables["expected_output"] = inert(expected)
    title = " ".join((session.title or "").split())
    return {
        "description": inert(f"Session {session.id}: {title}" if title else f"Session {session.id}"),
        "vars": variables,
        "metadata": {"session": session.id, **_inert_values(about(labelled))},
    }


def _chat(messages: Sequence[Message]) -> str:
    """JSON in which only objects have braces: whatever renders it, and however often, it stays what it is."""
    text = json.dumps([message.to_chat() for message in messages], ensure_ascii=False, allow_nan=False)
    # Objects begin with `{"` or are `{}`; `{` in front of anything else, or behind a backslash, stands in a text.
    return _in_strings(well_formed(text))


def _in_strings(document: str) -> str:
    return re.sub(
        r'"(?:[^"\\]|\\.)*+"', lambda found: found[0].replace("{", "\\u007b").replace("#", "\\u0023"), document
    )


def _inert_values(value: dict[str, Any]) -> dict[str, Any]:
    return {
        key: [inert(each) for each in one] if isinstance(one, list) else one and inert(one)
        for key, one in value.items()
    }
