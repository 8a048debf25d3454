"""The reference answers as a model: what a suite's own author would have replied."""

from __future__ import annotations

from convex_evals.errors import UserError
from convex_evals.extract import extract, render_response
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
        files = ev.answer().files
        response = render_response(files)
        read = extract(response).files
        lost = [path for path, text in files.items() if read.get(path, "").rstrip("\n") != text.rstrip("\n")]
        if lost:
            raise UserError(
                f"{ev.path / 'answer' / lost[0]}: no reply could hold this file; rename it, or mend its text"
            )
        generation = Generation(
            trial=trial,
            generation_id=sha256_parts([generation_key, str(trial)])[:16],
            received=True,
            response_sha256=sha256_text(response),
            finish_reason="stop",
        )
        return Reply(generation, response)
