"""One eval: what is asked, what is expected, what is tested, and who fails where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from convex_evals.errors import UserError
from convex_evals.records import Outcome, TrialGrade
from convex_evals.reports.failure_groups import groups_of
from convex_evals.reports.signature import gist
from convex_evals.site import urls
from convex_evals.site.html import Page
from convex_evals.site.library import Entry, Library
from convex_evals.site.pages.matrix import matrices
from convex_evals.suite.suite import Eval


@dataclass(frozen=True)
class ModelTrials:
    """One model's newest run under one experiment."""

    entry: Entry
    trials: Sequence[TrialGrade]

    @property
    def failed(self) -> TrialGrade | None:
        """The first trial that failed."""
        return next((t for t in self.trials if t.verdict.outcome is Outcome.FAILED), None)

    def count(self, outcome: str) -> int:
        return sum(t.verdict.outcome.value == outcome for t in self.trials)

    @property
    def gist(self) -> str:
        """What went wrong first."""
        return gist(self.failed.verdict) if self.failed else ""


@dataclass(frozen=True)
class SharedFailure:
    """Trials that failed alike, whosever they are."""

    key: str
    step: str
    gist: str
    models: Mapping[str, str]  # place of the page with the failure, by model
    trials: int


def eval_page(library: Library, eval_id: str) -> Page | None:
    """None where neither the suite nor a run that is shown has it."""
    asked = library.keep_for_page(("asked", eval_id), lambda: list(_asked(library, eval_id)))
    own = library.evals.get(eval_id)
    if own is None and not asked:
        return None
    names = sorted({*library.evals, *(row.eval_id for m in matrices(library) for row in m.rows)})
    at = names.index(eval_id) if eval_id in names else 0
    context = {
        "eval_id": eval_id,
        "category": eval_id.partition("/")[0],
        "source": library.keep(("source", eval_id), lambda: source_of(own)),
        "asked": asked,
        "signatures": signatures(asked, eval_id),
        "before": names[at - 1] if at > 0 else None,
        "after": names[at + 1] if at + 1 < len(names) else None,
    }
    return Page(urls.eval_page(eval_id), "eval", eval_id, "Evals", context)


def source_of(own: Eval | None) -> dict[str, Any]:
    """Task, answer and grader as the suite has them now; without what it has not."""
    if own is None:
        return {
            "task": None,
            "answer": {},
            "grader": None,
            "concept": "",
            "problem": "It is not in the suite any more.",
        }
    found: dict[str, Any] = {"task": None, "answer": {}, "grader": None, "concept": own.config.concept, "problem": ""}
    try:
        found["task"] = own.task
        found["answer"] = own.answer().files
        found["grader"] = own.grader_text
    except UserError as error:
        found["problem"] = str(error)
    return found


def _asked(library: Library, eval_id: str) -> Iterator[ModelTrials]:
    for matrix in matrices(library):
        for run in (column.run_of.get(eval_id) for column in matrix.columns):
            entry = library.by_place.get(tuple(urls.run_folder(run).split("/")[1:])) if run else None
            if run and entry:
                yield ModelTrials(entry, entry.run.grade_file(eval_id, run.evals[eval_id].grade).trials)


def signatures(asked: Sequence[ModelTrials], eval_id: str) -> list[SharedFailure]:
    """The most frequent first."""
    found: dict[str, SharedFailure] = {}
    for each in asked:
        plan = each.entry.plan
        for group in groups_of(eval_id, each.trials):
            known = found.get(group.kind.key)
            first = known or SharedFailure(group.kind.key, group.kind.step, gist(group.first.verdict), {}, 0)
            models = {plan.model: urls.trials(plan, eval_id), **first.models}
            found[first.key] = SharedFailure(
                first.key, first.step, first.gist, models, first.trials + len(group.grades)
            )
    return sorted(found.values(), key=lambda s: (-len(s.models), -s.trials, s.key))
