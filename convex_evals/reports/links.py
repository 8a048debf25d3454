"""Links from a report to files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from convex_evals.errors import UserError
from convex_evals.inputs.confined import kind_of
from convex_evals.reports.actions import Repository
from convex_evals.reports.model import Link
from convex_evals.store.run import PLAN_NAME, SUMMARY_NAME, Run


@dataclass(frozen=True)
class Linker:
    """Links from the report to files: at the run's commit where GitHub has it, else beside the report."""

    home: Path  # the repository that the report stands in
    suite: Path
    repository: Repository
    run: Run
    report: Path

    def file(self, path: Path, text: str) -> Link:
        if not self._is_here(path):
            return Link(text, None)
        relative = os.path.relpath(path, self.report.parent).replace(os.sep, "/")
        return Link(text, quote(relative, safe="/._-~"))

    def _is_here(self, path: Path) -> bool:
        """Whether there is such a file or folder in the repository; a run's plan may name anything."""
        try:
            return path.is_relative_to(self.home) and kind_of(path, self.home) is not None
        except (UserError, OSError, ValueError):
            return False

    def of_eval(self, eval_id: str) -> Iterator[Link]:
        for name, text in (("TASK.txt", "task"), ("grader.test.ts", "grader"), ("answer", "answer")):
            yield self._at_commit(f"evals/{eval_id}/{name}", text, "tree" if name == "answer" else "blob")

    def of_run(self) -> Iterator[Link]:
        yield self.file(self.run.folder / PLAN_NAME, "plan")
        yield self.file(self.run.folder / SUMMARY_NAME, "summary")
        yield self.file(self.run.folder / "evals", "replies and verdicts")
        guidelines = self.run.plan.guidelines
        if guidelines and "@" not in guidelines and not Path(guidelines).is_absolute():
            yield self._at_commit(guidelines, "guidelines", "blob")

    def _at_commit(self, path: str, text: str, kind: str) -> Link:
        repository, commit = self.repository, self.run.plan.suite_commit
        if repository.url and commit:
            return Link(text, f"{repository.url}/{kind}/{commit}/{quote(repository.prefix + path, safe='/._-~')}")
        return self.file(self.suite / path, text)
