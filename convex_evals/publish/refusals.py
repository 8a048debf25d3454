"""What is never published, and why, in one line each. Nothing of it asks a deployment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.inputs import confined
from convex_evals.inputs.suite_files import files_below
from convex_evals.publish.deployments import Deployment
from convex_evals.publish.ledger import LEDGERS
from convex_evals.records.hashes import sha256_text
from convex_evals.store.files import MOST_TEXT
from convex_evals.store.run import Run
from convex_evals.store.summary import refuse_other_verdicts
from convex_evals.vcs.git import Checkout, open_checkout
from convex_evals.vcs.git_command import GitFailed

_UNCONTAINED = "none"


@dataclass(frozen=True)
class Head:
    """The commit of the branch that is checked out where results stand."""

    checkout: Checkout
    commit: str


def open_head(runs_dir: Path) -> Head:
    """Raises `UserError` outside of Git, and where no branch is checked out."""
    there = next(p for p in [runs_dir, *runs_dir.parents] if p.is_dir())
    checkout = open_checkout(there, "nothing of it is committed; only what is committed is published")
    try:
        checkout.run("symbolic-ref", "-q", "--short", "HEAD")
    except GitFailed:
        raise UserError(
            f"{checkout.root}: no branch is checked out (detached HEAD), and only what a branch holds is published; "
            "`git switch BRANCH` first"
        ) from None
    commit = checkout.commit("HEAD")
    if commit is None:
        raise UserError(f"{checkout.root}: nothing is committed yet, and only what is committed is published")
    return Head(checkout, commit)


def refuse_unguarded(deployment: Deployment, environment: Mapping[str, str]) -> None:
    """Raise `UserError` for a deployment that takes runs from GitHub Actions on main alone, anywhere else."""
    why = why_guarded(deployment, environment)
    if why:
        raise UserError(f"{why}; try it with --dry-run, or publish to another deployment with --to")


def why_guarded(deployment: Deployment, environment: Mapping[str, str]) -> str | None:
    """Return why nothing is published from here; None where it may be."""
    if deployment.guard != "ci_main":
        return None
    event = environment.get("GITHUB_EVENT_NAME", "")
    where = environment.get("GITHUB_ACTIONS") == "true" and environment.get("GITHUB_REF") == "refs/heads/main"
    if where and not event.startswith("pull_request"):
        return None
    return f"{deployment.name}: has `guard: ci_main`, so only GitHub Actions on the branch main publishes to it"


def why_not(run: Run, head: Head) -> str | None:
    """Return why a run is not published; None where it may be.

    Raises `UserError` where its files contradict each other.
    """
    plan, summary = run.plan, run.summary()
    if plan.synthetic:
        return "is synthetic: no model was asked"
    if plan.comparison:
        return "is a run of sessions, whose replies may quote what people said; only runs of evals are published"
    if summary is None or summary.missing:
        return f"is not complete; `cli finish {plan.run_id}` or `cli run --run {plan.run_id}` completes it"
    if not summary.sandbox or _UNCONTAINED in summary.sandbox:
        return "was graded without a sandbox, so its code could write its own verdicts; `cli regrade` grades it again"
    if plan.suite_commit is None:
        return "is of a suite with uncommitted changes; commit them, and run it again"
    if plan.date > datetime.now(UTC).date().isoformat():
        return f"is of {plan.date}, which is in the future; check the clock of the machine that planned it"
    if run.pruned:
        return "has lost replies (`cli prune`), which are published with it; restore them from Git"
    refuse_other_verdicts(run, summary)
    for eval_id in run.plan.evals:
        _refuse_other_replies(run, eval_id)
    return _why_uncommitted(run, head)


def _refuse_other_replies(run: Run, eval_id: str) -> None:
    """The hash of a reply was written down as it came."""
    for generation in run.generation(eval_id).trials:
        reply = run.response(eval_id, generation.trial)
        if reply is not None and sha256_text(reply) != generation.response_sha256:
            path = run.eval_folder(eval_id) / f"{generation.trial}.md"
            raise UserError(f"{path}: is not the reply that came; restore it from Git")


def _why_uncommitted(run: Run, head: Head) -> str | None:
    inside = head.checkout.inside(str(run.folder.resolve()))
    try:
        held = {} if inside is None else head.checkout.files(head.commit, inside)
    except GitFailed as error:
        return f"cannot be compared with {head.commit[:10]}: {str(error).partition(chr(10))[0]}"
    held = {path: data for path, data in held.items() if not path.startswith(f"{LEDGERS}/")}
    if not held:
        return "is not committed; commit it (`cli run --commit`, or `git add` and `git commit`)"
    here = {path: _read(run, path) for path in files_below(run.root, run.folder, {LEDGERS})}
    changed = sorted(path for path in {*held, *here} if held.get(path) != here.get(path))
    if changed:
        name = head.commit[:10]
        return f"differs from the commit {name} in {changed[0]}; commit it, or restore it with `git restore`"
    return None


def _read(run: Run, path: str) -> bytes | None:
    return confined.read_bytes(run.folder / path, run.root, MOST_TEXT)
