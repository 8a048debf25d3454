"""Whose conversations can be read, by their names."""

from __future__ import annotations

from importlib import import_module

from convex_evals.sessions.conversation import Reader

# Modules, which are imported when they are needed. Those of agents come first, in the order in which a file is tried.
_MODULES = {
    "claude-code": "claude_code",
    "codex": "codex",
    "opencode": "opencode",
    "gemini": "gemini",
    "cursor": "cursor",
    "droid": "droid",
    "aider": "aider",
    "copilot": "copilot",
    "openai": "openai_chat",
    "atif": "atif_file",
    "runs": "own_runs",
}
NAMES = tuple(_MODULES)


def find_reader(name: str) -> Reader:
    """The reader of this name, one of `NAMES`."""
    reader: Reader = import_module(f"convex_evals.sessions.readers.{_MODULES[name]}").READER
    return reader
