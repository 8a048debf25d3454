"""Who gives verdicts on the replies of a run: the grading service, or a comparison of texts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from convex_evals.grading.comparison import COMPARISON_PROTOCOL, compare
from convex_evals.grading.service import GradingService, check_graders
from convex_evals.grading.verdict import failed_reply, unscored
from convex_evals.models import Item
from convex_evals.models.faults import BY_WORD, Meaning
from convex_evals.records import BackendIdentity, ComparisonRules, Pipeline, ToolVersions, Verdict
from convex_evals.records.grading_inputs import GradingInputs
from convex_evals.records.hashes import sha256_files, sha256_text
from convex_evals.records.reply import TrialReply
from convex_evals.runs.grading_rules import current_rules, refuse_broken_graders
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

    async def verdict(self, eval_id: str, reply: TrialReply) -> Verdict: ...


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


@dataclass
class ComparingJudge:
    """Compares the text of a reply with what was expected."""

    rules: ComparisonRules
    items: Sequence[Item]
    sandbox: None = None
    _expected: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self._expected = {item.id: item.reference_reply() for item in self.items}

    async def planned(self) -> PlannedGrading:
        return PlannedGrading({item.id: self._inputs(item) for item in self.items})

    def _inputs(self, item: Item) -> GradingInputs:
        return GradingInputs(
            task_sha256=sha256_text(item.task),
            grader_sha256=sha256_text(f"{COMPARISON_PROTOCOL} {self.rules.model_dump_json()}"),
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
        async def grade(response: str) -> Verdict:
            return await compare(response, self._expected[eval_id], self.rules)

        return await judge(reply, grade)


async def judge(reply: TrialReply, grade: Callable[[str], Awaitable[Verdict]]) -> Verdict:
    """Return the verdict on one trial: unscored without a reply, failed where the reply itself is the failure.

    All others are graded.
    """
    generation = reply.generation
    if not generation.received:
        return unscored(f"{generation.fault}: {generation.reason}")
    fault = BY_WORD.get(generation.fault or "")
    if fault and fault.meaning is Meaning.MODEL:
        return failed_reply(f"{fault.word}: {fault.happened}")
    return await grade(reply.response or "")
