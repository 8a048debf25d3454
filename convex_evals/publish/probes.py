"""What a deployment is asked before anything is sent to it."""

from __future__ import annotations

from typing import Literal

from convex_evals.errors import UserError
from convex_evals.publish.client import FunctionFailedError, Patience
from convex_evals.publish.content import DEFAULT_EXPERIMENT, experiment_there
from convex_evals.publish.leaderboard import LeaderboardApi

PATIENCE = Patience()
Scope = Literal["publish", "admin"]  # of a token, as docs/leaderboard.md has them
_LARGEST_OFFSET = 3600.0  # seconds between the deployment's clock and ours


async def probe(board: LeaderboardApi, scope: Scope = "publish") -> None:
    """Ask what changes nothing, so that mistakes are found before anything is sent. Raises `UserError`."""
    client = board.client
    deployment = client.deployment
    try:
        scopes = await board.scopes()
    except FunctionFailedError as error:
        advice = f"check the token in {deployment.token_variable}, and that the URL is a leaderboard's"
        raise UserError(f"{deployment.url}: {error.message}; {advice}; nothing was sent") from None
    if scopes is not None and scope not in scopes:
        raise UserError(
            f"{deployment.url}: the token in {deployment.token_variable} lacks the scope '{scope}', which this command "
            f"takes, and has {', '.join(scopes) or 'none'}; make one with "
            f"""`npx convex run auth:createToken '{{"name":"NAME","scopes":["publish","admin"]}}'`; nothing was sent"""
        )
    why = await unknown_experiment(board, DEFAULT_EXPERIMENT)
    if why:
        raise UserError(f"{why}; nothing was sent")
    offset = client.offset_seconds
    if offset is not None and abs(offset) > _LARGEST_OFFSET:
        raise UserError(
            f"{deployment.url}: its clock is {abs(offset) / 3600:.1f} hours {'ahead of' if offset > 0 else 'behind'} "
            "this machine's; set the clock, since runs are found by their time"
        )


async def unknown_experiment(board: LeaderboardApi, name: str) -> str | None:
    """Why a deployment does not list runs of an experiment; None where it does."""
    there = experiment_there(name)
    given = {} if there is None else {"experiment": there}
    try:
        await board.client.query("runs:listRuns", {**given, "limit": 1})
    except FunctionFailedError as error:
        what = "is it a leaderboard's?" if there is None else f"it may not know the experiment '{name}'"
        return f"{board.client.deployment.url}: {error}; {what}"
    return None
