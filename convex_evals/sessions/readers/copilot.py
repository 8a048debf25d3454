"""GitHub Copilot CLI: a folder with a log of events for each session, older versions' files, and what it prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from yaml import YAMLError

from convex_evals.inputs.bounded_yaml import load
from convex_evals.sessions.conversation import Conversation, Problems
from convex_evals.sessions.folders import files_below
from convex_evals.sessions.readers.copilot_session import NAME, conversations
from convex_evals.sessions.readers.log_records import Teller, read_records
from convex_evals.sessions.readers.values import Data, as_object

_FOLDER = "session-state"
_EVENTS = "events.jsonl"
_WORKSPACE = "workspace.yaml"
_LARGEST_WORKSPACE = 1024 * 1024
# What Copilot keeps next to its sessions: credentials, settings, and all requests that were typed.
_OTHERS = frozenset(
    (
        *("config.json", "settings.json", "mcp-config.json", "lsp-config.json", "permissions-config.json"),
        *("command-history-state.json", "auth.json", "hosts.json", "apps.json", "config.toml", "history.jsonl"),
    )
)


class Copilot:
    """The reader `copilot`."""

    name = NAME

    def places(self, home: Path) -> Sequence[Path]:
        return (home / ".copilot" / _FOLDER,)

    def files(self, place: Path) -> Iterator[Path]:
        """Logs in folders of sessions, where people's own files are, too, and older ones next to the folders."""
        if place.is_file():
            if place.name not in _OTHERS:
                yield place
            return
        state = place / _FOLDER
        top = state if state.is_dir() else place
        for file in files_below(top, "*.jsonl"):
            if file.name == _EVENTS or (file.parent == top and file.name not in _OTHERS):
                yield file

    def read(self, file: Path, problems: Problems) -> Iterator[Conversation]:
        if file.name in _OTHERS:
            problems(f"{file}:1: holds no conversation; not opened")
            return
        records = read_records(file, problems)
        if records:
            is_folder = file.name == _EVENTS
            native_id = file.parent.name if is_folder else file.stem
            yield from conversations(records, native_id, Teller(problems), _workspace(file) if is_folder else {})


def _workspace(events: Path) -> Data:
    """What Copilot keeps of a session beside its events: its name, a summary, the folder."""
    file = events.with_name(_WORKSPACE)
    try:
        if file.is_symlink() or file.stat().st_size > _LARGEST_WORKSPACE:
            return {}
        return as_object(load(file.read_text("utf-8", "replace")))
    except (OSError, YAMLError, ValueError, RecursionError):
        return {}


READER = Copilot()
