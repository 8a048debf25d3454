"""A reply to a verdict."""

from __future__ import annotations

from convex_evals.grading.service import GradingService
from convex_evals.grading.verdict import failed_reply, unscored
from convex_evals.models.faults import BY_WORD, Meaning
from convex_evals.records import Verdict
from convex_evals.records.reply import TrialReply
from convex_evals.suite.extract import extract_aside
from convex_evals.suite.suite import Eval


async def judge(service: GradingService, ev: Eval, reply: TrialReply) -> Verdict:
    """The verdict on one trial: unscored without a reply, failed where the reply itself is the failure, else graded."""
    generation = reply.generation
    if not generation.received:
        return unscored(f"{generation.fault}: {generation.reason}")
    fault = BY_WORD.get(generation.fault or "")
    if fault and fault.meaning is Meaning.MODEL:
        return failed_reply(f"{fault.word}: {fault.happened}")
    extraction = await extract_aside(reply.response or "")
    return await service.grade(ev, extraction.files)
