"""The reference replies as a model: what a suite's own author would have replied, or what sessions expect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convex_evals.models import Ask, Item, ReplyLog
from convex_evals.records.hashes import sha256_parts, sha256_text
from convex_evals.records.reply import Reply, TrialReply
from convex_evals.suite.prompt import Prompt

SLUG = "reference/answers"


class ReferenceSolver:
    """Replies with the eval's answer, in the format that models are asked for, or with what a session expects."""

    model = SLUG
    synthetic = True

    def inputs(self, ev: Item, prompt: Prompt) -> Mapping[str, Any]:
        return {"answer": sha256_text(ev.reference_reply())}

    def stop(self) -> None:
        """Nothing is ever under way."""

    async def respond(self, ask: Ask, log: ReplyLog) -> TrialReply:
        response = ask.ev.reference_reply()
        ident = sha256_parts([ask.generation_key, str(ask.trial)])[:16]
        return TrialReply.received(Reply.recorded(response), trial=ask.trial, generation_id=ident)
