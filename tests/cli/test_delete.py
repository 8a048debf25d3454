"""`cli delete`: shown first, then gone from the folder of runs and from the journal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from convex_evals.records import Outcome
from convex_evals.records.journal import JournalEntry
from convex_evals.records.publication import Publication, PublishedTrial
from convex_evals.store.journal import Journal
from convex_evals.store.records import write_record
from convex_evals.store.run import Run
from tests.conftest import Invoke
from tests.factories import EVAL, make_eval, make_generation, make_run, make_verdict


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_eval(tmp_path, EVAL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def journal_of(home: Path, run: Run) -> Journal:
    return Journal(home / ".cache/convex-evals/journal", run.plan)


def half_done(home: Path) -> Run:
    run = make_run(home / "runs", {EVAL: "p", "001-more/000-later": ""}, run_id="half", complete=False)
    lost = make_generation().model_copy(update={"received": False, "fault": "server_error"})
    entry = JournalEntry(generation=lost, response=None, verdict=make_verdict(Outcome.UNSCORED))
    journal_of(home, run).write("001-more/000-later", entry)
    return run


def publish(path: Path, root: Path, run: Run, name: str, state: str) -> None:
    trial = PublishedTrial.model_validate({"trial": 1, "state": state, "id": "x" if state == "published" else None})
    record = Publication(run_id=run.plan.run_id, deployment=name, url="https://a.convex.cloud", trials=(trial,))
    write_record(path, record, root)


def test_it_is_shown_first(home: Path, invoke: Invoke) -> None:
    run = half_done(home)
    kept = make_run(home / "runs", {EVAL: "p"}, run_id="kept")
    done = invoke("delete", "half")
    assert done.status == 0 and "would be deleted; --yes deletes them." in done.out
    assert run.folder.is_dir() and journal_of(home, run).folder.is_dir()
    (row,) = json.loads(invoke("delete", "half", "--json").out)
    assert (row["run_id"], row["journalled"], row["deleted"]) == ("half", 1, False)
    assert row["files"] == sum(p.is_file() for p in run.folder.rglob("*")) and row["bytes"] > 0
    done = invoke("delete", "half", "--yes")
    assert done.status == 0 and "deleted." in done.out
    assert not run.folder.exists() and not journal_of(home, run).folder.exists() and kept.folder.is_dir()
    assert "half: no such run" in invoke("delete", "half").err


def test_all_of_a_model(home: Path, invoke: Invoke) -> None:
    for n in range(3):
        make_run(home / "runs", {EVAL: "p"}, run_id=f"default-{n}", model="stub/model" if n else "acme/model")
    assert invoke("delete", "stub/model", "--yes").status == 0
    assert [run["run_id"] for run in json.loads(invoke("list", "--json").out)] == ["default-0"]


def test_what_is_published_is_withdrawn_first(home: Path, invoke: Invoke) -> None:
    run = make_run(home / "runs", {EVAL: "p"}, run_id="sent")
    path = run.folder / "published" / "prod.json"
    publish(path, run.root, run, "prod", "published")
    done = invoke("delete", "sent", "--yes")
    assert done.status == 1 and "sent: was published to prod; `cli unpublish sent --to prod` first" in done.err
    publish(path, run.root, run, "prod", "withdrawn")
    local = home / ".leaderboard" / "ledgers"
    publish(local / run.folder.relative_to(run.root).with_suffix(".json"), local, run, "local", "published")
    assert "was published to local;" in invoke("delete", "sent", "--yes").err and run.folder.is_dir()
    (local / run.folder.relative_to(run.root).with_suffix(".json")).unlink()
    assert invoke("delete", "sent", "--yes").status == 0 and not run.folder.exists()


def test_a_run_under_way_is_left_alone(home: Path, invoke: Invoke) -> None:
    run = half_done(home)
    with journal_of(home, run).locked():
        done = invoke("delete", "half", "--yes")
    assert done.status == 1 and "run half is under way in another process" in done.err and run.folder.is_dir()
