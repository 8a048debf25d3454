"""OpenAI's JSON Lines of chats, as fine-tuning takes them: a session a line, complete and in order."""

from __future__ import annotations

from collections.abc import Iterator

from convex_evals.render.json_lines import to_line
from convex_evals.sessions.exports.labelled import LabelledSession
from convex_evals.sessions.exports.parts import PartedFormat


def _part(labelled: LabelledSession) -> Iterator[bytes]:
    yield to_line({"messages": [message.to_chat() for message in labelled.read_messages()]})


FORMAT = PartedFormat(_part)
