"""Trajectories in the Agent Trajectory Interchange Format 1.x: one to a file, a list of them, or one a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from convex_evals.records.hashes import sha256_text
from convex_evals.sessions.conversation import DETAIL, UNREADABLE, Conversation, Problems, RecordCount
from convex_evals.sessions.readers.atif_steps import NAME, Steps
from convex_evals.sessions.readers.openai_files import conversation_files, json_values, raw
from convex_evals.sessions.readers.values import Data, as_cost, as_list, as_object, as_text
from convex_evals.sessions.times import timestamp

_VERSION = "ATIF-v1."
_APART = ("steps", "subagent_trajectories")


class AtifFile:
    """The reader `atif`."""

    name = NAME

    def places(self, home: Path) -> Sequence[Path]:
        return ()

    def files(self, place: Path) -> Iterator[Path]:
        yield from conversation_files(place)

    def read(self, file: Path, problems: Problems) -> Iterator[Conversation]:
        reader = _Reader(problems)
        for line in json_values(file, problems):
            where = f"{file}:{line.number}"
            if line.problem:
                records = RecordCount()
                records.count(UNREADABLE)
                yield Conversation(NAME, sha256_text(line.text), [], [line.text], records)
            elif isinstance(line.value, list):
                for number, value in enumerate(line.value, 1):
                    yield from reader.trajectory(f"{where}: trajectory {number}", value)
            else:
                yield from reader.trajectory(where, line.value)


class _Reader:
    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._hashes: dict[str, str] = {}  # of steps, by the ids of trajectories

    def trajectory(self, where: str, value: Any, parent: str | None = None) -> Iterator[Conversation]:
        """A trajectory, and those embedded in it, each after the one that started it."""
        data = as_object(value)
        if not isinstance(data.get("steps"), list):
            kind = f"keys {', '.join(sorted(data)[:5])}" if data else "(no object)"
            self._problems(f"{where}: no steps ({kind[:60]!r}); no trajectory")
            text, records = raw(value), RecordCount()
            records.count_unknown(kind)
            yield Conversation(NAME, sha256_text(text), [], [text], records)
            return
        if not str(data.get("schema_version")).startswith(_VERSION):
            self._problems(f"{where}: its version is {str(data.get('schema_version'))[:40]!r}; read as {_VERSION}x")
        native_id = self._native_id(where, data, parent)
        yield self._conversation(where, data, native_id, parent)
        for embedded in as_list(data.get("subagent_trajectories")):
            yield from self.trajectory(where, embedded, native_id)

    def _conversation(self, where: str, data: Data, native_id: str, parent: str | None) -> Conversation:
        agent, about = as_object(data.get("agent")), as_object(data.get("extra"))
        embedded = (
            [as_text(as_object(each).get("trajectory_id")) for each in as_list(data["subagent_trajectories"])]
            if "subagent_trajectories" in data
            else []
        )
        subagents = {each: f"{native_id}/{each}" for each in embedded if each}
        steps = Steps(as_text(agent.get("model_name")), subagents, lambda what: self._problems(f"{where}: {what}"))
        steps.records.count(DETAIL)
        for step in data["steps"]:
            steps.take(step)
        known = " ".join(filter(None, (as_text(agent.get("name")), as_text(agent.get("version")))))
        return Conversation(
            NAME,
            native_id,
            steps.messages,
            [raw({key: value for key, value in data.items() if key not in _APART}), *map(raw, data["steps"])],
            steps.records,
            title=as_text(about.get("title")),
            tool_version=known or None,
            folder=as_text(about.get("folder")),
            git_branch=as_text(about.get("git_branch")),
            parent=parent,
            started_at=timestamp(about.get("started_at")),
            cost_usd=as_cost(as_object(data.get("final_metrics")).get("total_cost_usd")),
        )

    def _native_id(self, where: str, data: Data, parent: str | None) -> str:
        """Its own id, that of the run where it has none, else what tells its steps from others'."""
        steps = sha256_text(json.dumps(data["steps"], ensure_ascii=False, sort_keys=True))
        given = as_text(data.get("trajectory_id")) or (None if parent else as_text(data.get("session_id"))) or steps
        name = f"{parent}/{given}" if parent else given
        if self._hashes.setdefault(name, steps) != steps:
            self._problems(f"{where}: has the id of an earlier trajectory in the file; told from it by its steps")
            return f"{name}/{steps}"
        return name


READER = AtifFile()
