"""OpenAI's JSON Lines of chats, as fine-tuning takes them: a session a line, complete and in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from convex_evals.render.json_lines import to_line
from convex_evals.sessions.exports.labelled import LabelledSession


def write(sessions: Iterable[LabelledSession]) -> Iterator[bytes]:
    for session in sessions:
        yield to_line({"messages": [message.to_chat() for message in session.read_messages()]})
