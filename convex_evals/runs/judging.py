"""Who gives verdicts on the replies of a run: the grading service, or a comparison of texts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from convex_evals.grading.comparison import COMPARISON_PROTOCOL, compare
from convex_evals.grading.service import GradingService, check_graders
from convex_evals.grading.verdict import failed_reply, unscored
from convex_evals.models.faults import BY_WORD
from convex_evals.records import BackendIdentity, ComparisonRules, Pipeline, ToolVersions, Verdict
from convex_evals.records.grading_inputs import GradingInputs
from convex_evals.records.hashes import sha256_files, sha256_text
from convex_evals.records.reply import TrialReply
from convex_evals.runs.grading_rules import current_rules, refuse_broken_graders
from convex_evals.sessions.asking import AskedSession
from convex_evals.sessions.opinions import JudgedReply, ModelJudge
from convex_evals.suite.extract import extract_aside
from convex_evals.suite.suite import Eval


@dataclass(frozen=True)
class PlannedGrading:
    """What verdicts depend on, as a plan records it."""

    inputs: Mapping[str, GradingInputs]  # by eval id
    backend: BackendIdentity | None = None  # these two: None where nothing of a reply is run
    toolchain: ToolVersions | None = None


class Judge(Protocol):
    """Gives verdicts on the replies of one run."""

    @property
    def sandbox(self) -> str | None:
        """The level of containment; None where nothing is run."""

    async def planned(self) -> PlannedGrading:
        """Raises `UserError` where a grader cannot be used."""

    async def notes(self, response: str) -> tuple[str, ...]:
        """What is odd about a reply."""

    async def verdict(self, eval_id: str, reply: TrialReply) -> Verdict:
        """Raises `OverBudget` and `ModelStopped` where a model has to be asked and cannot be."""

    def stop(self) -> None:
        """Ask no model for anything more."""


@dataclass
class ServiceJudge:
    """Executes the files of a reply."""

    service: GradingService
    evals: Mapping[str, Eval]

    @property
    def sandbox(self) -> str:
        return self.service.tester.sandbox.level

    async def planned(self) -> PlannedGrading:
        rules = await current_rules(self.service)
        checks = await check_graders(self.service, list(self.evals.values()))
        refuse_broken_graders(checks)
        inputs = {e: rules.grading_inputs(ev, checks[e]) for e, ev in self.evals.items()}
        return PlannedGrading(inputs, rules.backend, rules.toolchain)

    async def notes(self, response: str) -> tuple[str, ...]:
        return (await extract_aside(response)).notes

    async def verdict(self, eval_id: str, reply: TrialReply) -> Verdict:
        async def grade(response: str) -> Verdict:
            return await self.service.grade(self.evals[eval_id], (await extract_aside(response)).files)

        return await judge(reply, grade)

    def stop(self) -> None:
        """What is being graded is finished."""


@dataclass
class ComparingJudge:
    """Compares the text of a reply with what was expected."""

    rules: ComparisonRules
    sessions: Mapping[str, AskedSession]
    model: ModelJudge | None = None  # that is asked for its opinion
    sandbox: None = None

    async def planned(self) -> PlannedGrading:
        return PlannedGrading({eval_id: self._inputs(each) for eval_id, each in self.sessions.items()})

    def _inputs(self, item: AskedSession) -> GradingInputs:
        # Where the rubric stands does not matter; what it says is in the judge's hash.
        rules = self.rules.model_dump_json(exclude={"rubric"})
        if self.model and item.trusted is None:
            rules += " without an expected reply"
        return GradingInputs(
            task_sha256=sha256_text(item.task),
            grader_sha256=sha256_text(f"{COMPARISON_PROTOCOL} {rules}"),
            answer_sha256=sha256_files(item.expected_files()),
            pipeline=Pipeline.COMPARISON,
            backend=None,
            typescript=None,
            lint_rules_sha256=None,
            grading_protocol=COMPARISON_PROTOCOL,
        )

    async def notes(self, response: str) -> tuple[str, ...]:
        return ()

    async def verdict(self, eval_id: str, reply: TrialReply) -> Verdict:
        asked = self.sessions[eval_id]

        async def grade(response: str) -> Verdict:
            judged = JudgedReply(asked.task, response, asked.trusted)
            opinion = await self.model.opinion(asked, judged) if self.model else None
            return await compare(response, asked.expected, self.rules, opinion)

        return await judge(reply, grade)

    def stop(self) -> None:
        if self.model:
            self.model.solver.stop()


async def judge(reply: TrialReply, grade: Callable[[str], Awaitable[Verdict]]) -> Verdict:
    """Return the verdict on one trial: unscored without a reply, failed where the reply itself is the failure.

    All others are graded.
    """
    generation = reply.generation
    if not generation.received:
        return unscored(f"{generation.fault}: {generation.reason}")
    fault = BY_WORD.get(generation.fault or "")
    if fault and fault.is_the_models:
        return failed_reply(f"{fault.word}: {fault.happened}")
    return await grade(reply.response or "")
