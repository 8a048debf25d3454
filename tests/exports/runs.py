"""Runs for the tests of exports."""

from __future__ import annotations

from pathlib import Path

from convex_evals.exports import EXPORTS
from convex_evals.exports.trials import ExportedRun
from convex_evals.records import Outcome
from convex_evals.records.hashes import sha256_files, sha256_text
from convex_evals.store.run import Run
from convex_evals.suite.asked import AskedReader
from convex_evals.suite.suite import load_suite
from tests.factories import make_eval, make_eval_plan, make_failure, make_run

FIRST, SECOND = "000-fundamentals/000-answer", "001-queries/000-first"
OUTCOMES = {FIRST: "pfu", SECOND: "ppf"}
REPLY = '# Files\n\n## convex/main.ts\n```ts\nexport const a = "<b>&amp;</b> {{ x }}";\n```\n'
REASON = "convex/main.ts(1,1): <T> & \x1b[31mred\x1b[0m ]]> \"quoted\" 'so'\nline 2 \u2028 \ufffe \U0001f600"
FAILURES = {SECOND: make_failure({"tsc": REASON, "tests": "adds > up: expected 1\nadds > once: \x07"})}


def make_suite(folder: Path, outcomes: dict[str, str] | None = None, **changes: object) -> Run:
    """A suite with a run of it in `runs/`, whose plan knows the suite's tasks and answers."""
    chosen = outcomes or OUTCOMES
    for eval_id in chosen:
        task = f"The task of {eval_id}. 'quoted' \u00e9\n"
        make_eval(folder, eval_id, {"TASK.txt": task, "answer/convex/_generated/api.d.ts": "export {};\n"})
    return run_of(folder, chosen, **changes)


def run_of(folder: Path, outcomes: dict[str, str] | None = None, **changes: object) -> Run:
    """A run of the suite in `folder` as it is now."""
    evals = {each.id: each for each in load_suite(folder).evals}
    chosen = outcomes or OUTCOMES
    plans = {
        eval_id: make_eval_plan().model_copy(
            update={
                "task_sha256": sha256_text(evals[eval_id].task),
                "answer_sha256": sha256_files(evals[eval_id].answer().files),
            }
        )
        for eval_id in chosen
    }
    facts = {"replies": dict.fromkeys(chosen, REPLY), "failures": FAILURES, "evals": plans, **changes}
    return make_run(folder / "runs", chosen, **facts)  # type: ignore[arg-type]


def exported(suite: Path, *runs: Run, outcomes: frozenset[Outcome] = frozenset(Outcome)) -> list[ExportedRun]:
    reader = AskedReader(suite)
    return [ExportedRun(run, reader, outcomes=outcomes) for run in runs]


def written(form: str, runs: list[ExportedRun]) -> bytes:
    return b"".join(EXPORTS[form].write(runs))
