"""Runs that can be published, and what must be true once they are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convex_evals.records.outcome import StepName
from convex_evals.records.publication import run_text
from convex_evals.store.run import Run
from tests.conftest import ROOT, clean_environment
from tests.end_to_end.repositories import git
from tests.factories import make_eval, make_git_repo, make_run
from tests.publish.deployed import Deployment

TOKEN_ENV = "CONVEX_PUBLISH_TOKEN"
NAME = "faulty"
MODEL = "acme/model-1"
REPLY = '# Files\n\n## convex/main.ts\n\n```ts\nexport const eval_id = "%s";\n```\n'
OUTCOMES = {"000-fundamentals/000-answer": "p", "000-fundamentals/001-other": "f"}
# The beginning of what the deployment is told of an eval, by its letter.
UNSCORED = ("[infrastructure]", "[rate_limit]")


@dataclass(frozen=True)
class Home:
    """A suite in Git with runs, whose settings name one deployment."""

    folder: Path
    suite_commit: str

    def add_run(self, run_id: str, outcomes: Mapping[str, str] = OUTCOMES, **changes: object) -> Run:
        """A committed run that no one has published yet."""
        replies = {eval_id: REPLY % eval_id for eval_id in outcomes}
        facts: dict[str, Any] = {
            "synthetic": False,
            "suite_commit": self.suite_commit,
            "model": MODEL,
            "run_id": run_id,
            **changes,
        }
        run = make_run(self.folder / "runs", outcomes, replies=replies, **facts)
        self.commit()
        return run

    def commit(self) -> None:
        git(self.folder, "add", "-A")
        identity = ("-c", "user.name=Test", "-c", "user.email=test@example.org")
        git(self.folder, *identity, "commit", "-q", "--allow-empty", "-m", "Add runs")

    def start(self, token: str, *words: str) -> subprocess.Popen[str]:
        """`python cli.py publish` as a process of its own."""
        argv = [sys.executable, str(ROOT / "cli.py"), "publish", "--all", *words]
        env = clean_environment(**{TOKEN_ENV: token, "HOME": os.environ["HOME"]})
        pipe = subprocess.PIPE
        return subprocess.Popen(argv, cwd=self.folder, env=env, stdout=pipe, stderr=pipe, text=True)


def make_home(folder: Path, url: str, evals: Mapping[str, str] = OUTCOMES) -> Home:
    for eval_id in evals:
        make_eval(folder, eval_id)
    deployments = {NAME: {"url": url, "token_env": TOKEN_ENV}}
    (folder / "convex-evals.yaml").write_text(json.dumps({"deployments": deployments}), encoding="utf-8")
    (folder / ".gitignore").write_text(".cache/\n", encoding="utf-8")
    make_git_repo(folder)
    return Home(folder, git(folder, "rev-parse", "HEAD"))


def only_error(err: str) -> str:
    """The one line of an error, behind what was told of progress."""
    told = err.splitlines()
    assert [line for line in told if line.startswith("error: ")] == told[-1:], err
    return told[-1]


def ledger_path(run: Run) -> Path:
    return run.folder / "published" / f"{NAME}.json"


def ledger(run: Run) -> dict[int, tuple[str, str | None]]:
    """State and id of each trial."""
    found: list[dict[str, Any]] = json.loads(ledger_path(run).read_text(encoding="utf-8"))["trials"]
    return {each["trial"]: (each["state"], each["id"]) for each in found}


def check_published(deployment: Deployment, *runs: Run) -> None:
    """Each trial is there exactly once and complete, the ledger says so, and nothing else is there."""
    there = deployment.everything()
    by_text = {run["runId"]: run for run in there["runs"]}
    wanted = {run_text(run.plan, n): (run, n) for run in runs for n in range(1, run.plan.trials + 1)}
    assert Counter(run["runId"] for run in there["runs"]) == Counter(wanted.keys())
    for text, (run, trial) in wanted.items():
        assert ledger(run)[trial] == ("published", by_text[text]["_id"])
        _check_run(there, by_text[text], run, trial)
    assert {each["runId"] for each in there["evals"]} <= {run["_id"] for run in there["runs"]}
    assert {step["evalId"] for step in there["steps"]} <= {each["_id"] for each in there["evals"]}
    assert len(there["models"]) == len({run.plan.model for run in runs})


def _check_run(there: Mapping[str, list[dict[str, Any]]], found: dict[str, Any], run: Run, trial: int) -> None:
    assert found["status"]["kind"] == "completed" and sorted(found["plannedEvals"]) == sorted(run.plan.evals)
    assert found.get("experiment", "default") == run.plan.experiment
    evals = [each for each in there["evals"] if each["runId"] == found["_id"]]
    assert Counter(each["evalPath"] for each in evals) == Counter(run.plan.evals.keys())
    files = {file["_id"] for file in there["files"]}
    for each in evals:
        verdict = next(grade.verdict for grade in run.grade(each["evalPath"]).trials if grade.trial == trial)
        status, reason = each["status"], each["status"].get("failureReason", "")
        assert status["kind"] == ("passed" if verdict.outcome == "passed" else "failed")
        assert reason.startswith(UNSCORED) == (verdict.outcome == "unscored")
        assert each["evalSourceStorageId"] in files
        received = next(g.received for g in run.generation(each["evalPath"]).trials if g.trial == trial)
        assert (status.get("outputStorageId") in files) == received
        steps = [step for step in there["steps"] if step["evalId"] == each["_id"]]
        assert Counter(step["name"] for step in steps) == Counter(StepName)
        kinds = {step["name"]: step["status"]["kind"] for step in steps}
        told = {s.step: "failed" if s.outcome == "unscored" else s.outcome for s in verdict.steps}
        assert kinds == told
