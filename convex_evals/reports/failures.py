"""A run's failures, each as the report shows it: what was asked and given, what is wrong, and whose fault it may be."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from convex_evals.analysis.trial import Source, read_source
from convex_evals.records import StepName
from convex_evals.render.verdicts import headline
from convex_evals.reports.classify import Decision, propose, read_decisions
from convex_evals.reports.failure_groups import FailureGroup, checks_of
from convex_evals.reports.human_sections import Document, SectionKey
from convex_evals.reports.links import Linker
from convex_evals.reports.model import Check, Failure, Judgement
from convex_evals.reports.relevant_lines import focus_of, focused_diff
from convex_evals.reports.signature import gist, signatures
from convex_evals.reports.sources import Sources
from convex_evals.store.run import Run
from convex_evals.suite.asked import reply_files

MOST_CHECKS = 3
LONGEST_HEADLINE = 240  # characters
Tell = Callable[[int, int], None]


@dataclass(frozen=True)
class Failures:
    """Shows the failures of one run, with what people decided in its own report and in others."""

    run: Run
    sources: Sources
    linker: Linker
    path: Path  # where the report stands, or will
    document: Document | None  # the one that stands there now

    def show(self, groups: Sequence[FailureGroup], tell: Tell) -> Iterator[Failure]:
        """One for each of `groups`; `tell` is told how many are done, of how many. Raises `WrongDecisions`."""
        shown = str(os.path.relpath(self.path, self.sources.home)).replace(os.sep, "/")
        earlier = [d for d in self.sources.decisions if d.report != shown]
        places = self.document.places if self.document else {}
        written = [places.get(SectionKey("classification", group.eval_id, group.kind.key)) for group in groups]
        for done, (group, said) in enumerate(zip(groups, read_decisions(written, shown), strict=True)):
            tell(done, len(groups))
            yield self._failure(group, earlier, Judgement(*said, "a person", True) if said else None)

    def _failure(self, group: FailureGroup, earlier: Sequence[Decision], decided: Judgement | None) -> Failure:
        run, verdict, trial, eval_id = self.run, group.first.verdict, group.first.trial, group.eval_id
        source = read_source(run, eval_id, self.sources.items.get(eval_id))
        checks = list(checks_of(verdict))
        diff, note = self._diff(group, source, checks)
        tests = [t for t in verdict.tests if t.outcome != "skipped"]
        asked = self.sources.asked(eval_id, run.plan.model)
        return Failure(
            eval=eval_id,
            trials=tuple(g.trial for g in group.grades),
            of_trials=run.plan.trials,
            step=(verdict.caught_by or StepName.TESTS).value,
            gist=gist(verdict),
            headline=headline(verdict.reason, LONGEST_HEADLINE),
            signature=group.kind,
            also=signatures(verdict)[1:],
            checks=tuple(checks[:MOST_CHECKS]),
            checks_left_out=max(0, len(checks) - MOST_CHECKS),
            passed_tests=sum(t.outcome == "passed" for t in tests),
            tests=len(tests),
            task=source.task,
            diff=diff,
            diff_note=note,
            notes=source.notes,
            reply=self.linker.file(run.eval_folder(eval_id) / f"{trial}.md", f"reply {trial}"),
            files=tuple(self.linker.of_eval(eval_id)),
            proposed=propose(eval_id, group.kind, verdict, earlier, *asked),
            decided=decided,
        )

    def _diff(self, group: FailureGroup, source: Source, checks: Sequence[Check]) -> tuple[str, str]:
        """From what was expected to what the model wrote, where it matters, and what that leaves out."""
        reply = self.run.reply(group.eval_id, group.first.trial)
        files = dict(reply_files(self.run.plan, reply)) if reply is not None else {}
        diff, note = focused_diff(source.expected, files, focus_of([c.message for c in checks], files))
        return diff, "The reply is no longer here." if reply is None else note
