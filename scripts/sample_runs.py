"""The runs that a fresh clone has: recorded replies under two versions of the guidelines, and the reference answers.

    python scripts/sample_runs.py BEFORE AFTER

BEFORE and AFTER are commits of guidelines/convex.md. The replies are those of `cli run -m demo`: the first to each eval
under BEFORE, the last under AFTER. No model was asked for them, and the runs say so. They are graded as any run is, in
the repository that this script stands in; what is there already stays.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from convex_evals.config import Workspace, open_workspace
from convex_evals.errors import ExitCode, UserError
from convex_evals.grading.sandbox.choice import Containment
from convex_evals.models.reference import ReferenceSolver
from convex_evals.models.replay import DEMO_SLUG, ReplaySolver, open_demo
from convex_evals.runs.execute import carry_out
from convex_evals.runs.options import DEFAULT_EXPERIMENT, RunOptions
from convex_evals.runs.plan import RunRequest
from convex_evals.runs.request import NOTHING, asked_under, make_request
from convex_evals.store.runs import RunStore
from convex_evals.suite.prompt import Prompt, guidelines_sha256
from convex_evals.suite.suite import Eval, load_suite
from convex_evals.vcs.git import clean_commit, open_checkout, text_at
from scripts.command import start

ROOT = Path(__file__).parents[1]
BEFORE, AFTER, REFERENCE = "recorded-before", "recorded-after", "reference"  # names of the runs
_GUIDELINES = "guidelines/convex.md"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", help="a commit of the guidelines")
    parser.add_argument("after", help="a later one")
    given = parser.parse_args()
    workspace = open_workspace(None, None, ROOT)
    commit = clean_commit(ROOT)
    if commit is None:
        raise UserError(f"{ROOT}: has uncommitted changes, and a run has to say what it is of; commit them")
    evals = load_suite(ROOT).evals
    with tempfile.TemporaryDirectory() as folder:
        first, last = lay_out(Path(folder))
        requests = [
            _recorded(workspace, evals, commit, first, BEFORE, given.before),
            _recorded(workspace, evals, commit, last, AFTER, given.after),
            _request(ReferenceSolver(), evals, commit, len(evals), REFERENCE),
        ]
        work = carry_out(workspace, RunStore(workspace.runs_dir), Containment(), None, requests)
    return work.exit_code or ExitCode.OK


def lay_out(folder: Path) -> tuple[Path, Path]:
    """Lay out below `folder` the first reply to each eval here, and the last, as replies to one trial; return where."""
    first, last = folder / "first", folder / "last"
    for reply in sorted(open_demo().folder.glob("*/*/*.md")):
        eval_id = reply.parent.relative_to(open_demo().folder)
        if not (ROOT / "evals" / eval_id).is_dir():
            continue  # it is of the starter's
        for take in (first, last):
            own = take / eval_id / "1.md"
            own.parent.mkdir(parents=True, exist_ok=True)
            if take == last or not own.exists():
                shutil.copyfile(reply, own)
    return first, last


def _recorded(
    workspace: Workspace, evals: Sequence[Eval], commit: str, replies: Path, run_id: str, revision: str
) -> RunRequest:
    solver = ReplaySolver(DEMO_SLUG, replies)
    chosen = [each for each in evals if solver.has(each)]
    guidelines = text_at(ROOT, revision, _GUIDELINES)
    found = open_checkout(ROOT, "no revision of it is known").commit(revision)
    asked = replace(
        asked_under(DEFAULT_EXPERIMENT, workspace),
        guidelines=f"{_GUIDELINES}@{str(found)[:8]}",
        guidelines_sha256=guidelines_sha256(guidelines),
    )
    return replace(_request(solver, chosen, commit, len(evals), run_id), asked=asked)


def _request(
    solver: ReplaySolver | ReferenceSolver, evals: Sequence[Eval], commit: str, suite_evals: int, run_id: str
) -> RunRequest:
    prompts = {each.id: Prompt("", each.task) for each in evals}
    return make_request(RunOptions(run_id=run_id), solver, evals, prompts, NOTHING, commit, suite_evals)


if __name__ == "__main__":
    start(main)
