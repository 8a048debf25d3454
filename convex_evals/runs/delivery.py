"""Runs to Git: a commit that holds exactly their files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from convex_evals.records import Counts
from convex_evals.records.validation import ValidationRecord
from convex_evals.render.numbers import percent
from convex_evals.runs.shard import Shard
from convex_evals.store.batches import BatchFolder
from convex_evals.store.run import SUMMARY_NAME, Run
from convex_evals.store.summary import summarize
from convex_evals.store.validations import VALIDATION_NAME
from convex_evals.vcs.commits import Branch

# What can be made again from the files beside it may be replaced by what another process made.
_DERIVED = frozenset([SUMMARY_NAME, VALIDATION_NAME])


@dataclass(frozen=True)
class Delivery:
    """Where results are committed, and whether they are pushed."""

    branch: Branch
    push: bool

    def deliver(self, runs: Sequence[Run], verb: str = "add", shard: Shard | None = None) -> list[str]:
        """Commit (and push) the files of `runs`; lines that say what was done. Raises `UserError`.

        A run that scored nothing says nothing of its model, and is not committed unless it is a plan or waits for
        batches.
        """
        if not runs:
            return []
        left = [] if verb == "plan" else [run for run in runs if _says_nothing(run, shard)]
        runs = [run for run in runs if run not in left]
        lines = [f"Not committed, since no trial was scored: {run.plan.run_id}" for run in left]
        return [*lines, *(self._deliver([run.folder for run in runs], message(runs, verb, shard)) if runs else [])]

    def deliver_attempts(self, runs: Sequence[Run]) -> list[str]:
        """The same of scheduled runs. One that scored nothing is committed as a plan: it counts as an attempt."""
        failed = [run for run in runs if _says_nothing(run, None)]
        lines = self._deliver([run.folder for run in failed], message(failed, "plan", None)) if failed else []
        return [*self.deliver([run for run in runs if run not in failed]), *lines]

    def deliver_validations(self, found: Mapping[Path, ValidationRecord]) -> list[str]:
        """Commit (and push) all files of validations, by their folders; lines that say what was done."""
        one = next(iter(found.values()), None)
        if one is None:
            return []
        what = one.model if len(found) == 1 else f"{len(found)} models"
        sides = "..".join((side.guidelines_sha256 or "none")[:8] for side in (one.before, one.after))
        verdicts = ", ".join(v.verdict.words for v in found.values())
        first = f"chore(runs): validate guidelines {sides}, {what}: {verdicts}"
        below = [
            f"{folder.name} ({v.model} {v.experiment}, {len(v.evals) + len(v.unchanged)} evals): {v.verdict.words}"
            for folder, v in found.items()
        ]
        return self._deliver(list(found), "\n".join([first, "", *below, ""]))

    def deliver_ledgers(self, runs: Sequence[Run], deployment: str, verb: str) -> list[str]:
        """Commit (and push) what was done of these runs at `deployment`; lines that say what was committed."""
        what = f"{runs[0].plan.model} {runs[0].plan.experiment}" if len(runs) == 1 else f"{len(runs)} runs"
        below = [f"{run.plan.run_id} ({run.plan.date})" for run in runs]
        way = "from" if verb == "unpublish" else "to"
        text = "\n".join([f"chore(runs): {verb} {what} {way} {deployment}", "", *below, ""])
        return self._deliver([run.folder / "published" for run in runs], text)

    def _deliver(self, folders: Sequence[Path], text: str) -> list[str]:
        committed = self.branch.commit(folders, text)
        name = self.branch.name
        lines = [f"Committed to {name}: {committed.commit[:10]}" if committed.new else f"Nothing to commit to {name}"]
        if self.push:
            pushed = self.branch.push(committed, _DERIVED)
            where = f"{self.branch.remote}/{self.branch.upstream}"
            lines.append(f"Pushed to {where}" if pushed.new else f"{where} is up to date")
            lines += [pushed.note] if pushed.note else []
        return lines


def message(runs: Sequence[Run], verb: str, shard: Shard | None) -> str:
    """A conventional commit message: what and the pass rate first, a line for each run below."""
    lines = []
    total = Counts()
    for run in runs:
        counts = _counts(run, shard)
        total += counts
        lines.append(f"{run.plan.run_id} ({run.plan.date}): {_rate(counts)}")
    plan = runs[0].plan
    what = f"{plan.model} {plan.experiment}" if len(runs) == 1 else f"{len(runs)} runs"
    part = f", shard {shard}" if shard else ""
    rate = "" if verb == "plan" else f": {_rate(total)}"
    return "\n".join([f"chore(runs): {verb} {what}{part}{rate}", "", *lines, ""])


def _says_nothing(run: Run, shard: Shard | None) -> bool:
    """Whether there was something to do, and nothing came of it. The share of a shard may be empty."""
    share = run.plan.evals if shard is None else shard.share(run.plan.evals)
    return bool(share) and not _counts(run, shard).scored and not BatchFolder(run).pending()


def _counts(run: Run, shard: Shard | None) -> Counts:
    return summarize(run, only=shard.share(run.plan.evals) if shard else None).counts


def _rate(counts: Counts) -> str:
    if not counts.scored and not counts.unscored:
        return "no result yet"
    unscored = f", {counts.unscored} unscored" if counts.unscored else ""
    return f"{counts.passed}/{counts.scored} passed ({percent(counts)}){unscored}"
