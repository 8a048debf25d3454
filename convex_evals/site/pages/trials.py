"""The trials of one eval in one run: what came back, what failed, and how it differs from what was expected."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from convex_evals.analysis.trial import Trial, read_source, read_trials
from convex_evals.errors import UserError
from convex_evals.records import Outcome, RunPlan, Verdict
from convex_evals.records.hashes import sha256_parts
from convex_evals.render.numbers import dollars, duration
from convex_evals.reports.failure_groups import checks_of
from convex_evals.reports.relevant_lines import focus_of, focused_diff
from convex_evals.site import urls
from convex_evals.site.html import Page
from convex_evals.site.library import Entry, Library
from convex_evals.site.pages.matrix import matrices
from convex_evals.site.prose import MOST_PROSE
from convex_evals.suite.blocks import Fenced, blocks

T = TypeVar("T")


class Replies(StrEnum):
    """How much of the replies a page has."""

    ALL = "all"  # every file, coloured
    FAILED = "failed"  # those of failed trials; others are packed
    PACKED = "packed"  # all compressed, for a script to show; of failed trials what differs is shown
    NONE = "none"  # of failed trials what differs


@dataclass(frozen=True)
class Shown:
    """One trial as its page shows it."""

    trial: Trial
    diff: str
    diff_note: str
    prose: str  # what the reply says before its files
    is_packed: bool  # whether the reply is among those that are compressed together
    in_full: bool  # whether files are shown

    @property
    def outcome(self) -> str:
        return str(self.verdict.outcome)

    @property
    def verdict(self) -> Verdict:
        return self.trial.grade.verdict

    @property
    def reasons(self) -> list[tuple[str, str, str]]:
        """Step, outcome and message of the steps that say something which no test says."""
        found = self.verdict.steps
        return [
            (s.step.value, s.outcome.value, s.reason) for s in found if s.reason and not self._is_told(s.step.value)
        ]

    def _is_told(self, step: str) -> bool:
        return step == "tests" and any(t.message for t in self.verdict.tests)

    @property
    def figures(self) -> str:
        """What the reply cost, and how it came."""
        own, usage = self.trial.generation, self.trial.generation.usage
        found = [f"{dollars(own.cost_usd)}{' (estimated)' if own.cost_estimated else ''}"]
        found.append(f"{usage.input_tokens:,} tokens in, {usage.output_tokens:,} out")
        if own.first_token_ms is not None:
            found.append(f"first token {duration(own.first_token_ms)}")
        found.append(f"reply {duration(own.duration_ms)}")
        if own.finish_reason:
            found.append(f"finished: {own.finish_reason}")
        if len(own.attempts) > 1:
            found.append(f"{len(own.attempts)} attempts")
        if own.reused_from:
            found.append(f"reused from {own.reused_from}")
        return " · ".join([*found, *own.notes])


class ModelRun(NamedTuple):
    """What one model's newest run under an experiment says of an eval."""

    model: str
    passed: str  # trials of those that have a verdict
    place: str  # of the page


@dataclass(frozen=True)
class ModelRuns:
    """Those of all models."""

    rows: Sequence[ModelRun] = ()

    @cached_property
    def sha256(self) -> str:
        """The pages of all these runs are made of it."""
        return sha256_parts([text for row in self.rows for text in row])

    def around(self, place: str) -> tuple[ModelRun | None, ModelRun | None]:
        """The models before and after the one with this page."""
        at = next((n for n, row in enumerate(self.rows) if row.place == place), None)
        return (None, None) if at is None else _around(self.rows, at)


def trials_page(library: Library, entry: Entry, eval_id: str, replies: Replies = Replies.ALL) -> Page | None:
    """None where the run has not done that eval."""
    plan = entry.plan
    done = library.keep(("done", entry.run.folder), lambda: entry.done) if entry.summary else entry.done
    if eval_id not in done:
        return None
    own = library.evals.get(eval_id)
    source, problem = None, ""
    try:
        source = library.keep(
            ("source of", eval_id, plan.evals[eval_id].task_sha256, plan.evals[eval_id].answer_sha256),
            lambda: read_source(entry.run, eval_id, own),
        )
    except UserError as error:
        problem = str(error)
    trials = read_trials(entry.run, eval_id, entry.summary)
    expected = source.expected if source else None
    shown = sorted((_shown(trial, expected, replies) for trial in trials), key=_by_outcome)
    place, models = urls.trials(plan, eval_id), models_with(library, entry, eval_id)
    context: dict[str, Any] = {
        "plan": plan,
        "eval_id": eval_id,
        "task": source.task if source else None,
        "notes": [*(source.notes if source else ()), *([problem] if problem else [])],
        "shown": shown,
        "outcomes": [(s.trial.number, s.outcome) for s in shown],
        "packed": _pack(shown),
        "models": models.rows,
        "beside": list(_beside(plan, eval_id, done, models)),
        "with_task": replies is Replies.ALL,
    }
    return Page(place, "trials", f"{eval_id}: {plan.model}", "Runs", context)


def _shown(trial: Trial, expected: Mapping[str, str] | None, replies: Replies) -> Shown:
    failed = trial.grade.verdict.outcome is not Outcome.PASSED
    in_full = replies is Replies.ALL or (failed and replies is Replies.FAILED)
    diff, note = "", ""
    if (failed or in_full) and trial.files:
        messages = [check.message for check in checks_of(trial.grade.verdict)]
        diff, note = focused_diff(expected, trial.files, focus_of(messages, trial.files))
    is_packed = trial.reply is not None and not in_full and replies is not Replies.NONE
    return Shown(trial, diff, note, _prose(trial.reply) if in_full else "", is_packed, in_full)


def _pack(shown: Sequence[Shown]) -> str | None:
    """The replies that are not shown, as a list in JSON, compressed, in base 64: alike texts are small together."""
    texts = [s.trial.reply for s in shown if s.is_packed]
    if not texts:
        return None
    return base64.b64encode(zlib.compress(json.dumps(texts).encode(), 9)).decode()


def _by_outcome(shown: Shown) -> tuple[int, int]:
    """What failed comes first: it is what people came for."""
    return ("failed", "unscored", "passed").index(shown.outcome), shown.trial.number


def _prose(reply: str | None) -> str:
    """What stands before the first block of code, without the headings right above it."""
    if reply is None:
        return ""
    start = reply[:MOST_PROSE]
    first = next((b for b in blocks(start) if isinstance(b, Fenced)), None)
    before = start.split("\n```", 1)[0] if first else start
    lines = before.rstrip().split("\n")
    while lines and (not lines[-1].strip() or lines[-1].startswith("#")):
        lines.pop()
    return "\n".join(lines).strip()


def _beside(plan: RunPlan, eval_id: str, done: Sequence[str], models: ModelRuns) -> Iterator[tuple[str, str, str]]:
    """The pages that are one key away: key, place, and what they are."""
    yield "e", urls.eval_page(eval_id), "All models on this eval"
    before, after = _around(done, done.index(eval_id))
    if before:
        yield "p", urls.trials(plan, before), "Previous eval"
    if after:
        yield "n", urls.trials(plan, after), "Next eval"
    model_before, model_after = models.around(urls.trials(plan, eval_id))
    if model_before:
        yield "[", model_before.place, f"Model before: {model_before.model}"
    if model_after:
        yield "]", model_after.place, f"Next model: {model_after.model}"


def _around(items: Sequence[T], at: int) -> tuple[T | None, T | None]:
    return items[at - 1] if at else None, items[at + 1] if at + 1 < len(items) else None


def models_with(library: Library, entry: Entry, eval_id: str) -> ModelRuns:
    """The newest runs under this experiment that have the eval.

    None where this is an older run: its pages stay as they are when others run.
    """

    def read() -> tuple[ModelRuns, frozenset[str]]:
        matrix = next((m for m in matrices(library) if m.experiment == entry.plan.experiment), None)
        rows = [
            ModelRun(run.model, f"{counts.passed}/{counts.scored}", urls.trials(run, eval_id))
            for column in (matrix.columns if matrix else ())
            if (run := column.run_of.get(eval_id)) and (counts := column.counts(eval_id))
        ]
        return ModelRuns(rows), frozenset(row.place for row in rows)

    found, places = library.keep(("models of", entry.plan.experiment, eval_id), read)
    return found if urls.trials(entry.plan, eval_id) in places else _NO_RUNS


_NO_RUNS = ModelRuns()
