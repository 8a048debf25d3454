"""What `A` and `B` of a comparison name: a run, or all runs that fit some words."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from convex_evals.analysis.compare import Side
from convex_evals.config import Workspace
from convex_evals.errors import UserError
from convex_evals.models.catalog import find_ran, load_catalog
from convex_evals.records import RunPlan, Summary
from convex_evals.store.run import Run
from convex_evals.store.runs import RunStore
from convex_evals.suite.prompt import guidelines_sha256
from convex_evals.text import read_text
from convex_evals.vcs.git import open_checkout, text_at

RUNS, ALL = "runs", "all"
KEYS = ("model", "experiment", "guidelines", "date", RUNS)
_HEX = re.compile(r"[0-9a-f]{4,64}")


def select(text: str, workspace: Workspace, store: RunStore) -> Side:
    """The runs of `store` that `text` names, newest first. Raises `UserError` where these are none."""
    if "=" not in text or ("\0" not in text and (Path(text) / "run.json").is_file()):
        return Side(text, (store.find(text),))
    words = parse(text)
    if "model" in words:
        listed = [m.slug for m in load_catalog(workspace.home).own]
        runs = store.of_model(find_ran(words["model"], listed, store.models()))
    else:
        runs = list(store.all())
    fits = [_fits(key, value, workspace, runs) for key, value in words.items() if key not in ("model", RUNS)]
    chosen = list(store.with_summaries(run for run in runs if all(fit(run.plan) for fit in fits)))
    if not chosen:
        raise UserError(f"{text}: no run in {workspace.runs_dir} matches; {_nearest(words, runs)}")
    if RUNS in words:
        return Side(text, tuple(run for run, _ in chosen))
    reasons = Counter(why for run, summary in chosen if (why := _why_not(run.plan, summary, words)))
    found = tuple(run for run, summary in chosen if _why_not(run.plan, summary, words) is None)
    why = ", ".join(f"{n} {reason}" for reason, n in reasons.items())
    if not found:
        raise UserError(f"{text}: only runs that are not taken: {why}; add {RUNS}={ALL} to take them")
    return Side(text, found, f"{text}: not taken: {why} ({RUNS}={ALL} takes them)" if why else None)


def _why_not(plan: RunPlan, summary: Summary | None, words: Mapping[str, str]) -> str | None:
    """Why a run that fits says nothing of how models do; a stand-in that is named is meant."""
    if plan.synthetic and "model" not in words:
        return "synthetic"
    if summary is None or summary.missing:
        return "not complete"
    return None if summary.counts.scored else "without a scored trial"


def parse(text: str) -> dict[str, str]:
    """The words of `key=value,key=value`; what is not named is left open. Raises `UserError`."""
    words: dict[str, str] = {}
    for part in text.split(","):
        key, equals, value = (word.strip() for word in part.partition("="))
        if key not in KEYS:
            near = difflib.get_close_matches(key, KEYS, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"available: {', '.join(KEYS)}"
            raise UserError(f"{text}: unknown key '{key}'; {hint}")
        if not equals or not value:
            raise UserError(f"{text}: '{key}' has no value; write {key}=VALUE")
        if key == RUNS and value != ALL:
            raise UserError(f"{text}: {RUNS}={value}: write {RUNS}={ALL} to take synthetic and incomplete runs, too")
        if key in words:
            raise UserError(f"{text}: '{key}' is given twice; give it once")
        words[key] = value
    return words


Fit = Callable[[RunPlan], bool]


def _fits(key: str, value: str, workspace: Workspace, runs: Sequence[Run]) -> Fit:
    if key == "experiment":
        return lambda plan: plan.experiment == value
    if key == "date":
        if not re.fullmatch(r"\d{4}(-\d{2}(-\d{2})?)?", value):
            raise UserError(f"date={value}: not a day; write YYYY-MM-DD, YYYY-MM or YYYY")
        return lambda plan: plan.date == value or plan.date.startswith(f"{value}-")
    digest = guidelines_digest(value, workspace, runs)
    return lambda plan: plan.guidelines_sha256 == digest


def guidelines_digest(value: str, workspace: Workspace, runs: Sequence[Run]) -> str | None:
    """The hash that runs with these guidelines recorded; None for `none`.

    `value` is the beginning of such a hash, a revision of the default experiment's guidelines, PATH@REV, or a file.
    Raises `UserError` where it is none of these.
    """
    if value == "none":
        return None
    if _HEX.fullmatch(value):
        known = {run.plan.guidelines_sha256 or "" for run in runs}
        found = sorted(digest for digest in known if digest.startswith(value))
        if len(found) > 1:
            raise UserError(f"guidelines={value}: {len(found)} versions begin with that; give more of it")
        if found:
            return found[0]
    return guidelines_sha256(_guidelines(value, workspace))


def _guidelines(value: str, workspace: Workspace) -> str:
    file = workspace.suite / value
    if file.is_file():
        return read_text(file)
    path, _, revision = value.rpartition("@")
    if not path:
        given = workspace.config.experiment("default").guidelines
        if given is None:
            raise UserError(f"guidelines={value}: the experiment 'default' has none; write guidelines=PATH@{value}")
        path = given.rpartition("@")[0] or given
        if open_checkout(workspace.suite, f"there is no revision '{value}' of {path}").commit(value) is None:
            raise UserError(
                f"guidelines={value}: neither a file of the suite, a revision, nor the hash of guidelines that ran; "
                f"`git log --oneline -- {path}` lists revisions"
            )
    return text_at(workspace.suite, revision, path)


def _nearest(words: dict[str, str], runs: Sequence[Run]) -> str:
    """What to try instead."""
    if not runs:
        return "`cli list` shows what has run"
    experiments = sorted({run.plan.experiment for run in runs})
    if "experiment" in words and words["experiment"] not in experiments:
        return f"experiments that ran: {', '.join(experiments)}"
    if "guidelines" in words:
        given = sorted({(run.plan.guidelines_sha256 or "none")[:8] for run in runs})
        return f"guidelines that ran: {', '.join(given)}"
    return "`cli list` shows what has run"
