"""What a trial was asked, and what was expected: from the suite as it is, or as it was committed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.records import EvalPlan, RunPlan
from convex_evals.records.hashes import sha256_files, sha256_text
from convex_evals.store.run import Run
from convex_evals.suite.extract import extract
from convex_evals.suite.suite import TASK_NAME, Eval, is_project_file, load_suite
from convex_evals.vcs.git import Checkout, open_checkout
from convex_evals.vcs.git_command import GitFailed

REPLY_NAME = "reply.md"  # what a reply to a session is called where replies are files


def reply_files(plan: RunPlan, reply: str) -> Mapping[str, str]:
    """Return the files of a reply; to a session, the reply itself is the only one."""
    return {REPLY_NAME: reply} if plan.comparison else extract(reply).files


@dataclass(frozen=True)
class AskedEval:
    """As the run had it. A field is None where neither the suite nor its history has that version any more."""

    task: str | None = None
    expected: Mapping[str, str] | None = None

    def of(self, plan: EvalPlan) -> AskedEval:
        """Keep what is as `plan` recorded it."""
        task = self.task if self.task is not None and sha256_text(self.task) == plan.task_sha256 else None
        known = self.expected is not None and sha256_files(self.expected) == plan.answer_sha256
        return AskedEval(task, self.expected if known else None)

    def or_else(self, other: AskedEval) -> AskedEval:
        """Fill in from `other` what is None."""
        return AskedEval(
            other.task if self.task is None else self.task,
            other.expected if self.expected is None else self.expected,
        )


@dataclass(frozen=True)
class AskedReader:
    """Reads tasks and answers of one suite."""

    suite: Path
    of_session: Callable[[str], AskedEval] | None = None  # what is here of a session that a run asked about, by its id
    _last: dict[tuple[str, str | None, str], AskedEval] = field(default_factory=dict)

    def read(self, run: Run, eval_id: str) -> AskedEval:
        """Return what the run asked and expected. Raises `UserError` if the suite cannot be read."""
        plan, commit = run.plan.evals[eval_id], run.plan.suite_commit
        key = (eval_id, commit, f"{plan.task_sha256} {plan.answer_sha256}")
        if key not in self._last:
            found = self._today(run.plan, eval_id).of(plan)
            if commit and not run.plan.comparison and (found.task is None or found.expected is None):
                found = found.or_else(self._committed(commit, eval_id).of(plan))
            self._last.clear()  # trials of one eval follow each other
            self._last[key] = found
        return self._last[key]

    @cached_property
    def _evals(self) -> Mapping[str, Eval]:
        return {each.id: each for each in load_suite(self.suite).evals}

    @cached_property
    def _checkout(self) -> Checkout | None:
        try:
            return open_checkout(self.suite, "there is no history")
        except UserError:
            return None

    def _today(self, plan: RunPlan, eval_id: str) -> AskedEval:
        if plan.comparison:
            return self.of_session(eval_id) if self.of_session else AskedEval()
        own = self._evals.get(eval_id)
        return AskedEval(own.task, own.answer().files) if own else AskedEval()

    def _committed(self, commit: str, eval_id: str) -> AskedEval:
        """Nothing where the commit is not here, as in a shallow clone."""
        folder = self._checkout.inside(f"evals/{eval_id}") if self._checkout else None
        try:
            files = self._checkout.files(commit, folder) if self._checkout and folder else {}
        except GitFailed:
            files = {}
        texts = {path: data.decode("utf-8", "replace").replace("\r\n", "\n") for path, data in files.items()}
        answer = {path.removeprefix("answer/"): text for path, text in texts.items() if path.startswith("answer/")}
        return AskedEval(texts.get(TASK_NAME), {path: text for path, text in answer.items() if is_project_file(path)})
