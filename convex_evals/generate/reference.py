"""The reference answers as a model: what a suite's own author would have replied."""

from __future__ import annotations

from convex_evals.extract import render_response
from convex_evals.generate import Reply
from convex_evals.records import Generation
from convex_evals.suite import Eval, sha256_files, sha256_parts, sha256_text

SLUG = "reference/answers"


class ReferenceAnswerer:
    """Replies with the eval's answer, in the format that models are asked for."""

    model = SLUG
    synthetic = True

    def parameters(self, ev: Eval) -> dict[str, str]:
        return {"answer": sha256_files(ev.answer().files)}

    async def respond(self, ev: Eval, trial: int, generation_key: str) -> Reply:
        response = render_response(ev.answer().files)
        generation = Generation(
            trial=trial,
            generation_id=sha256_parts([generation_key, str(trial)])[:16],
            received=True,
            response_sha256=sha256_text(response),
            finish_reason="stop",
        )
        return Reply(generation, response)
