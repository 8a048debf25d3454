"""`cli validate-guidelines` from its questions to its verdict: screen, ask again what flipped, judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from convex_evals.config import HUNKS, Workspace
from convex_evals.errors import ExitCode, UserError
from convex_evals.grading.sandbox.choice import Containment
from convex_evals.guidelines.confirmation import Answered, Question, Rounds, Screened
from convex_evals.guidelines.confirmed import record_of
from convex_evals.guidelines.diff_report import DiffReport
from convex_evals.guidelines.effect import Effect, ModelEffect
from convex_evals.guidelines.hunks import Hunk, hunks
from convex_evals.guidelines.revisions import Version, differ
from convex_evals.guidelines.validation_report import ValidationReport
from convex_evals.models.budget import Budget
from convex_evals.records.hashes import sha256_text
from convex_evals.records.validation import ValidationRecord
from convex_evals.runs.execute import carry_out
from convex_evals.runs.plan import RunRequest
from convex_evals.runs.request import make_resolver
from convex_evals.runs.stage import Stage
from convex_evals.stats import together
from convex_evals.store.files import write_atomic
from convex_evals.store.run import Run
from convex_evals.suite.suite import load_suite

_NEXT = {Stage.ASK: Stage.GRADE, Stage.GRADE: Stage.ASK}


@dataclass
class RoundRunner:
    """Does the requests of rounds; `complain` is told what was not done: a line and its kind."""

    rounds: Rounds
    containment: Containment
    workers: int | None
    complain: Callable[[str, str], None]
    only: Stage | None = None
    hands_over: bool = False  # the rest is for a command that does the other half
    exit_code: ExitCode = ExitCode.OK  # of the work that ended worst

    def do(self, groups: Sequence[Sequence[RunRequest]], fresh: bool) -> Sequence[Run] | None:
        """The runs of all requests; None where one of them was not finished, which is told."""
        space, store = self.rounds.workspace, self.rounds.store
        work = carry_out(space, store, self.containment, self.workers, *groups, fresh=fresh, only=self.only)
        left = work.unbegun or any(f.summary is None for f in work.done)
        after = _NEXT.get(self.only) if self.only else None
        hands_over = left and after and not work.fell_short
        # What was not asked yet lacks verdicts, and a command that only grades says no more of it.
        expected = hands_over and self.only is Stage.GRADE
        for kind, line in () if expected else work.complaints:
            self.complain(line, kind)
        if hands_over:
            self.hands_over = True
            self.complain(f"the rest is for the same command with --only {after}", "error")
        elif left and not work.fell_short:
            self.complain("the same command tries again what has no verdict yet", "error")
        self.exit_code = self.exit_code or (ExitCode.OK if expected else work.exit_code)
        return None if left or work.fell_short else [f.run for f in work.done]


@dataclass(frozen=True)
class Recipe:
    """What is done for one change of guidelines, and by whom."""

    rounds: Rounds
    agree: Callable[[Sequence[str], int], None]  # told what so many calls are for; raises where that is not agreed to
    # Groups, one after the other, perhaps with new replies only: the runs of all; None where one was not finished.
    do: Callable[[Sequence[Sequence[RunRequest]], bool], Sequence[Run] | None]

    def validate(
        self, before: Version, after: Version, models: Sequence[str], *, each_hunk: bool
    ) -> ValidationReport | None:
        """What came of it; None where something was not finished, which was told. Raises `UserError`."""
        for version in (before, after):
            if version.is_missing:
                raise UserError(f"{version.path}: not in {version.label}; name a revision that has it")
        if each_hunk and (before.bare or after.bare):
            raise UserError("--each-hunk: against `none`, all guidelines are one hunk; leave it out")
        questions = self.rounds.questions(models, before, after)
        if not differ(before, after):
            return self._report(before, after, [], [], None)
        changed = hunks(before.text or "", after.text or "") if each_hunk else None
        questions += self._of_hunks(questions, changed or [])
        screened = self._screen(questions)
        answered = None if screened is None else self._confirm(screened)
        return None if answered is None else self._report(before, after, screened or [], answered, changed)

    def _of_hunks(self, questions: Sequence[Question], changed: Sequence[Hunk]) -> list[Question]:
        """A hunk that is the whole change is answered with it."""
        found: list[Question] = []
        for hunk in changed if len(changed) > 1 else ():
            version = _version(self.rounds.workspace, hunk, questions[0].after)
            found += [replace(question, after=version, hunk=hunk.number) for question in questions]
        return found

    def _screen(self, questions: Sequence[Question]) -> list[Screened] | None:
        rounds = self.rounds
        by_side = rounds.screening(questions)
        requests = list(by_side.values())
        price = rounds.price(requests)
        most = rounds.most_again(requests, 2 * len(questions))
        again = (
            f"Then, of evals that flip: {2 * rounds.again} calls for each; if all do, {most.words}. "
            "It asks again before that."
        )
        self.agree([f"Screening: {price.words}", again], price.calls)
        runs = self.do([requests], False)
        if runs is None:
            return None
        found = dict(zip(by_side, runs, strict=True))
        return [rounds.screened(question, found) for question in questions]

    def _confirm(self, screened: Sequence[Screened]) -> list[Answered] | None:
        # With what is left of the budget; solvers wait in one event loop, and this step has its own.
        budget = Budget(self.rounds.budget.limit, self.rounds.budget.spent)
        options = self.rounds.options
        resolver = make_resolver(self.rounds.workspace, budget, options.concurrency, options.timeout)
        rounds = replace(self.rounds, budget=budget, resolver=resolver)
        asked = [rounds.confirming(one) for one in screened]
        # Round by round, that of all questions together.
        groups = [[r for own in asked if own for r in own[number]] for number in range(rounds.again)]
        runs: Sequence[Run] | None = []
        if any(asked):
            price = rounds.price([request for group in groups for request in group], fresh=True)
            flips = sum(len(one.flipped) for one in screened)
            self.agree([f"Flipped, to be asked again: {flips} evals. {price.words}"], price.calls)
            runs = self.do(groups, True)
        if runs is None:
            return None
        left = iter(runs)
        done: list[list[tuple[Run, Run]]] = [[] for _ in screened]
        for _ in range(rounds.again):
            for own, requests in zip(done, asked, strict=True):
                if requests:
                    own.append((next(left), next(left)))
        return [rounds.answered(one, own) for one, own in zip(screened, done, strict=True)]

    def _report(
        self,
        before: Version,
        after: Version,
        screened: Sequence[Screened],
        answered: Sequence[Answered],
        changed: list[Hunk] | None,
    ) -> ValidationReport:
        rounds = self.rounds
        whole, alone = (
            _judged([a for a in answered if (a.screened.question.hunk is None) == of_whole])
            for of_whole in (True, False)
        )
        diff = _diff(rounds, before, after, [s for s in screened if s.question.hunk is None])
        return ValidationReport(diff, rounds.options.trials, rounds.again, whole, changed, alone, self._written(whole))

    def _written(self, answers: Sequence[Answered]) -> dict[Path, ValidationRecord]:
        """The files of answers that were judged together, by their folders."""
        rounds, found = self.rounds, {}
        facts = {"experiment": rounds.experiment, "trials": rounds.options.trials, "rounds": rounds.again}
        for answer in answers:
            within = answer.screened.question.within
            found[within.folder] = record_of(answer, models=len(answers), **facts)
            within.write(found[within.folder])
        return found


def _judged(answers: Sequence[Answered]) -> list[Answered]:
    found = together([a.confirmation for a in answers])
    return [replace(a, confirmation=c) for a, c in zip(answers, found, strict=True)]


def _version(workspace: Workspace, hunk: Hunk, after: Version) -> Version:
    """A file with the hunk alone: runs name the file that they were given."""
    path = HUNKS / f"{sha256_text(hunk.text)[:12]}.md"
    write_atomic(workspace.home / path, hunk.text, workspace.home)
    return Version(hunk.name, None, path.as_posix(), hunk.text, after.prompt)


def _diff(rounds: Rounds, before: Version, after: Version, screened: Sequence[Screened]) -> DiffReport:
    """The change, with what its rules' evals did in the screening."""
    effects = tuple(ModelEffect(s.model, s.comparison, s.comparison.paired) for s in screened)
    evals = [e.id for e in load_suite(rounds.workspace.suite).evals]
    return DiffReport.of(rounds.experiment, before, after, Effect(effects, ()), evals)
