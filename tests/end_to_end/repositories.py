"""Repositories with a run in them."""

from __future__ import annotations

import subprocess
from pathlib import Path

from convex_evals.runs.delivery import Delivery
from convex_evals.store.run import Run
from convex_evals.store.runs import RunStore
from convex_evals.vcs.commits import open_branch
from tests.conftest import ROOT
from tests.factories import (
    make_generation_file,
    make_grade_file,
    make_plan,
)

EVAL = "000-fundamentals/000-answer"


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def fabricate(folder: Path, run_id: str = "default-00000001") -> Run:
    run = RunStore(folder / "runs").create(make_plan(run_id=run_id))
    run.write_eval(make_generation_file(), {1: "# Files\n"}, make_grade_file())
    return run


def commit_staged(folder: Path) -> Path:
    """What is committed or staged of this repository, as a repository of one commit."""
    git(ROOT, "checkout-index", "--all", f"--prefix={folder}/")
    for words in (("init", "-q"), ("add", "--all", "--force"), ("commit", "-q", "-m", "Everything")):
        git(folder, "-c", "user.name=a", "-c", "user.email=a@b.c", *words)
    return folder


def deliver(run: Run, *, push: bool = True) -> list[str]:
    return Delivery(open_branch(run.folder, push=push), push).deliver([run])
