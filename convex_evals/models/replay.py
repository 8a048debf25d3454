"""Recorded replies as a model: an earlier run's, a folder of Markdown files, or those that come with this package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convex_evals.errors import UserError
from convex_evals.inputs.confined import entries
from convex_evals.models import Ask, Item, ReplyLog
from convex_evals.records import RunPlan
from convex_evals.records.generation import MISSING
from convex_evals.records.hashes import sha256_parts, sha256_text
from convex_evals.records.reply import Reply, TrialReply
from convex_evals.store.files import read_confined
from convex_evals.store.run import PLAN_NAME, PRUNED_NAME, open_run
from convex_evals.suite.prompt import Prompt

DEMO_SLUG = "demo/recorded"
_DEMO = Path(__file__).parents[1] / "suite" / "demo"


@dataclass(frozen=True)
class ReplaySolver:
    """Replies with `folder`/<category>/<name>/<trial>.md."""

    model: str
    folder: Path
    recorded: RunPlan | None = None  # of the run that is replayed

    synthetic = True

    def inputs(self, ev: Item, prompt: Prompt) -> Mapping[str, Any]:
        folder = self.folder / ev.id
        texts = [read_confined(folder / name, self.folder) or "" for name in self._replies(ev)]
        return {"responses": sha256_parts(texts)}

    def _replies(self, ev: Item) -> list[str]:
        return [name for name in entries(self.folder / ev.id, self.folder) if name.endswith(".md")]

    def has(self, ev: Item) -> bool:
        return bool(self._replies(ev))

    def mismatch(self, ev: Item) -> str | None:
        """What has changed since the replies were recorded, where that is known."""
        planned = self.recorded.evals.get(ev.id) if self.recorded else None
        if planned is None or planned.task_sha256 == sha256_text(ev.task):
            return None
        return f"{ev.id}: TASK.txt is not the one that these replies answer"

    def stop(self) -> None:
        """Nothing is ever under way."""

    async def respond(self, ask: Ask, log: ReplyLog) -> TrialReply:
        text = read_confined(self.folder / ask.ev.id / f"{ask.trial}.md", self.folder)
        ident = sha256_parts([ask.generation_key, str(ask.trial)])[:16]
        if text is None:
            why = f"no recorded reply {ask.ev.id}/{ask.trial}.md"
            return TrialReply.missing(trial=ask.trial, generation_id=ident, fault=MISSING, reason=why)
        return TrialReply.received(Reply.recorded(text), trial=ask.trial, generation_id=ident)


def open_demo() -> ReplaySolver:
    """Replies, good and bad, to some evals of this repository: a run without a key."""
    return ReplaySolver(DEMO_SLUG, _DEMO)


def open_replay(path: Path) -> ReplaySolver:
    """The replies in a run's folder, or in a folder laid out `<category>/<name>/<trial>.md`. Raises `UserError`."""
    if (path / PLAN_NAME).is_file():
        plan = open_run(path).plan
        if (path / PRUNED_NAME).is_file() and not any((path / "evals").glob("*/*/*.md")):
            raise UserError(f"-m replay:{path}: its responses were pruned; restore them from Git")
        return ReplaySolver(f"replay/{plan.run_id}", path.absolute() / "evals", plan)
    if not any(path.glob("*/*/*.md")):
        raise UserError(
            f"-m replay:{path}: neither a run's folder nor one that is laid out <category>/<name>/<trial>.md"
        )
    return ReplaySolver(f"replay/{path.absolute().name.lower()}", path.absolute())
