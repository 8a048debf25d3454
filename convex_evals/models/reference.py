"""The reference answers as a model: what a suite's own author would have replied."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convex_evals.errors import UserError
from convex_evals.models import Ask, ReplyLog
from convex_evals.records.hashes import sha256_files, sha256_parts
from convex_evals.records.reply import Reply, TrialReply
from convex_evals.suite.extract import extract, render_response
from convex_evals.suite.prompt import Prompt
from convex_evals.suite.suite import Eval

SLUG = "reference/answers"


class ReferenceSolver:
    """Replies with the eval's answer, in the format that models are asked for."""

    model = SLUG
    synthetic = True

    def inputs(self, ev: Eval, prompt: Prompt) -> Mapping[str, Any]:
        return {"answer": sha256_files(ev.answer().files)}

    def stop(self) -> None:
        """Nothing is ever under way."""

    async def respond(self, ask: Ask, log: ReplyLog) -> TrialReply:
        files = ask.ev.answer().files
        response = render_response(files)
        read = extract(response).files
        lost = [path for path, text in files.items() if read.get(path, "").rstrip("\n") != text.rstrip("\n")]
        if lost:
            raise UserError(
                f"{ask.ev.path / 'answer' / lost[0]}: no reply could hold this file; rename it, or fix its text"
            )
        ident = sha256_parts([ask.generation_key, str(ask.trial)])[:16]
        return TrialReply.received(Reply.recorded(response), trial=ask.trial, generation_id=ident)
