"""What is to be done of a run, as far as its ledger and the deployment tell. Nothing is changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from convex_evals.publish.assets import Assets
from convex_evals.publish.bundles import EvalSource
from convex_evals.publish.content import TrialContent, read_trial
from convex_evals.publish.leaderboard import MOST_LISTED, LeaderboardApi
from convex_evals.publish.ledger import Ledger
from convex_evals.publish.published import Published
from convex_evals.publish.trial import How, TrialPublisher, hidden
from convex_evals.publish.trial_runs import RunError
from convex_evals.publish.versions import BenchmarkVersion
from convex_evals.records.publication import PublishedTrial, run_text
from convex_evals.store.run import Run

Sources = Mapping[str, EvalSource]  # by eval
_DIFFERENCES: Mapping[How, str] = {
    "would be sent": "is not there",
    "would be completed": "is there in part: evals or files are missing",
    "would be replaced": "is something else there",
}


def contents_of(run: Run, sources: Sources, version: BenchmarkVersion) -> list[TrialContent]:
    """Return all trials of a run. Raises `UserError`."""
    return [read_trial(run, n, sources, version) for n in range(1, run.plan.trials + 1)]


async def unplanned(
    run: Run, ledger: Ledger, board: LeaderboardApi, model: str, *, repair: bool
) -> list[PublishedTrial]:
    """Return what a ledger should say of trials that it does not know: whether they are there.

    Raises `RunError` where that cannot be told.
    """
    unknown = [n for n in range(1, run.plan.trials + 1) if ledger.trial(n) is None]
    if not unknown:
        return []
    listed = await board.runs(model)
    known = {r.text for r in listed}
    day = datetime.fromisoformat(run.plan.date).replace(tzinfo=UTC).timestamp() * 1000
    is_cut_off = len(listed) >= MOST_LISTED and min(r.created for r in listed) > day
    entries = []
    for n in unknown:
        text = run_text(run.plan, n)
        if text not in known and is_cut_off and not repair:
            raise RunError(hidden(board.client.deployment.url, text))
        entries.append(PublishedTrial(trial=n, state="starting" if text in known else "planned"))
    return entries


async def preview_run(
    each: Published, board: LeaderboardApi, contents: Sequence[TrialContent], *, repair: bool, verify: bool
) -> None:
    """Say of each trial of a run what would be done, or with `verify` whether it is there. Raises `UserError`."""
    ledger, model = each.ledger, await board.model(each.run.plan.model)
    assert ledger is not None
    try:
        if model is not None:
            await unplanned(each.run, ledger, board, model, repair=repair)
        for content in contents:
            with each.of_trial(content.trial):
                how: How = "would be sent"  # no run is there of a model that is not
                if model is not None:
                    how = await TrialPublisher(board, Assets(board), ledger, content, model, repair).preview()
                if verify and how != "was there":
                    raise RunError(f"{board.client.deployment.url}: {content.text} {_DIFFERENCES[how]}")
                each.trials[content.trial] = how
    except RunError as error:
        each.failed = str(error)
