"""`published/DEPLOYMENT.json`: what of a run a leaderboard deployment was told. Written before each step, not after."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from convex_evals.records.base import FileRecord, Record
from convex_evals.records.names import DeploymentName, Line, RunId, TrialNumber
from convex_evals.records.run import RunPlan

State = Literal["planned", "starting", "started", "deleting", "published", "withdrawn"]


def run_text(plan: RunPlan, trial: int) -> str:
    """What a trial's run is called there. A run id may be used again on another day; the model is asked besides."""
    return f"{plan.date}/{plan.run_id}/{trial}"


class PublishedTrial(Record):
    """One trial, which is a run of its own there."""

    trial: TrialNumber = Field(description="number of the trial, from 1")
    state: State = Field(
        description="`planned`: it was seen not to be there; `starting`: it may be there, without an id; `started`: "
        "it is there, in part; `deleting`: it was to be deleted, and sent again; `published`: all of it is there, and "
        "complete; `withdrawn`: `cli unpublish` deleted it there, and it is sent again only where its run is named"
    )
    id: Line | None = Field(
        default=None, description="id of its run there; null while `planned` or `starting`, and once `withdrawn`"
    )
    version: Line | None = Field(
        default=None, description="benchmark version that it was sent with; null until it is `published`"
    )
    after: Line | None = Field(
        default=None, description="newest run of the model there before `starting`: what was started since is newer"
    )


class Publication(FileRecord):
    """The ledger of one run and one deployment, which is what `cli publish` resumes from."""

    kind: Literal["publication"] = "publication"
    schema_: Literal[1] = Field(default=1, alias="schema", description="version of this format")
    run_id: RunId = Field(description="the run's folder name")
    deployment: DeploymentName = Field(description="name of the deployment and of this file")
    url: Line = Field(description="the deployment's URL")
    trials: tuple[PublishedTrial, ...] = Field(description="those that were begun, in order of their number")
