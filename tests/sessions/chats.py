"""Conversations in files, in the simplest form that is read: a chat of OpenAI's a line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Chat = dict[str, Any]


def chat(*texts: str, id: str = "one", **more: Any) -> Chat:
    """A conversation in which person and assistant take turns."""
    roles = ("user", "assistant")
    messages = [{"role": roles[at % 2], "content": text} for at, text in enumerate(texts)]
    return {"id": id, "messages": messages, **more}


def write_chats(file: Path, chats: Sequence[Chat]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(each) + "\n" for each in chats), encoding="utf-8")
    return file
