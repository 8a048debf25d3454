from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.errors import UserError
from convex_evals.grading.scratch import scratch_folder
from convex_evals.records.journal import JournalEntry
from convex_evals.store.files import write_atomic
from convex_evals.store.journal import Journal
from convex_evals.store.paths import slug_folders
from convex_evals.store.runs import RunStore
from convex_evals.store.validations import newest
from tests.factories import make_generation, make_generation_file, make_grade_file, make_plan

slugs = st.text(min_size=1, max_size=90)


@given(slugs, slugs)
def test_no_two_slugs_share_a_folder(a: str, b: str) -> None:
    assert (slug_folders(a) == slug_folders(b)) == (a.partition("/")[::2] == b.partition("/")[::2])


@given(slugs)
def test_folders_are_legal_everywhere(slug: str) -> None:
    for folder in slug_folders(slug):
        assert re.fullmatch(r"[a-z0-9._%~-]{1,60}", folder)
        assert not folder.startswith(".") and not folder.endswith(".")
        assert folder.partition(".")[0] not in {"con", "prn", "aux", "nul", "com1", "lpt9"}


@pytest.mark.parametrize(
    ("slug", "folders"),
    [
        ("anthropic/claude-sonnet-5", ("anthropic", "claude-sonnet-5")),
        ("openrouter/meta/Llama:free", ("openrouter", "meta%2f%4clama%3afree")),
        ("reference", ("reference", "%")),
        ("con/nul.x", ("%63on", "%6eul.x")),
    ],
)
def test_slugs_to_folders(slug: str, folders: tuple[str, str]) -> None:
    assert slug_folders(slug) == folders


def test_a_failed_write_leaves_the_old_file_and_no_rubbish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    write_atomic(path, "old\n")

    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(
        UserError, match=r"cannot write .*a\.json: No space left on device; the disk is full; free some"
    ):
        write_atomic(path, "new\n")
    assert path.read_text() == "old\n"
    assert list(tmp_path.iterdir()) == [path]


def test_a_run_is_complete_once_its_summary_is_there(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "runs")
    run = store.create(make_plan())
    assert run.folder == tmp_path / "runs" / "reference" / "answers" / "2026-01-31" / "default-00000000"
    assert not run.is_written("000-fundamentals/000-answer")
    run.write_eval(make_generation_file(), {1: "# Files\n"}, make_grade_file())
    assert run.is_written("000-fundamentals/000-answer") and not run.is_complete
    assert (run.eval_folder("000-fundamentals/000-answer") / "1.md").read_text() == "# Files\n"
    assert [r.plan for r in store.same_work(make_plan(run_id="other", date="2026-02-01"))] == [make_plan()]
    assert store.same_work(make_plan(trials=2)) == []


def test_runs_are_found_by_the_beginning_of_their_id(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    with pytest.raises(UserError, match="no runs here yet"):
        store.find("last")
    for name, day in (("default-aa", "2026-01-01"), ("default-ab", "2026-01-02")):
        store.create(make_plan(run_id=name, date=day))
    assert store.find("default-aa").plan.run_id == "default-aa"
    assert store.find("last").plan.run_id == "default-ab"
    assert store.find(str(store.find("default-ab").folder)).plan.run_id == "default-ab"
    with pytest.raises(UserError, match=r"2 runs begin with that: default-a., default-a."):
        store.find("default-")
    with pytest.raises(UserError, match="no such run"):
        store.find("x")


def test_runs_of_one_day_are_sorted_by_when_they_were_planned(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    for hour, name in enumerate(["b", "a", "c"], start=9):
        run = store.create(make_plan(run_id=name, planned_at=f"2026-01-31T{hour:02}:00:00.000+00:00"))
        # A checkout writes files in an order of its own.
        os.utime(run.folder / "run.json", (-hour, -hour))
    for name in ("x", "y"):
        store.create(make_plan(run_id=name))
    store.create(make_plan(run_id="earlier", date="2026-01-30", planned_at="2026-02-01T00:00:00.000+00:00"))
    assert [run.plan.run_id for run in store.all()] == ["c", "a", "b", "y", "x", "earlier"]
    assert store.find("last").plan.run_id == "c"
    assert sorted(store.all(), key=newest, reverse=True) == list(store.all())


def test_a_time_inside_another_text_does_not_sort_a_plan(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    store.create(make_plan(run_id="a", planned_at="2026-01-31T09:00:00.000+00:00"))
    late = '\n  "planned_at": "2026-01-31T23:00:00.000+00:00",'
    run = store.create(make_plan(run_id="b", planned_at="2026-01-31T08:00:00.000+00:00"))
    plan = json.loads((run.folder / "run.json").read_text())
    (run.folder / "run.json").write_text(json.dumps({**plan, "guidelines": None, "extra": late}, indent=2))
    assert [folder.name for folder in store.folders()] == ["a", "b"]


@pytest.mark.parametrize("moment", ["2026-01-31", "2026-01-31T09:00:00", "2026-01-31T09:00:00+01:00", "yesterday"])
def test_a_plan_of_no_moment(moment: str, tmp_path: Path) -> None:
    RunStore(tmp_path).create(make_plan(planned_at=moment))
    with pytest.raises(UserError, match=r"run\.json: planned_at: "):
        RunStore(tmp_path).find("last")


@pytest.mark.parametrize("day", ["2026-13-01", "20260101", "yesterday"])
def test_a_plan_of_no_day(day: str, tmp_path: Path) -> None:
    RunStore(tmp_path).create(make_plan(date=day))
    with pytest.raises(UserError, match=r"run\.json: date: "):
        RunStore(tmp_path).find("last")


def test_the_journal_keeps_what_is_not_written_yet(tmp_path: Path) -> None:
    journal = Journal(tmp_path, make_plan())
    assert journal.read("a/b", 1) is None
    entry = JournalEntry(generation=make_generation(), response="x")
    journal.write("a/b", entry)
    assert journal.read("a/b", 1) == entry
    (journal.folder / "a" / "b" / "2.json").write_text("{")
    with pytest.raises(UserError, match=r"2\.json:1: not valid JSON: .*; without the file the trial is asked again$"):
        journal.read("a/b", 2)
    journal.drop()
    assert journal.read("a/b", 1) is None


def test_projects_are_graded_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUTPUT_TEMPDIR", str(tmp_path / "new" / "place"))
    with scratch_folder() as folder:
        assert folder.parent == tmp_path / "new" / "place"
    assert not folder.exists()


def test_a_reply_comes_out_of_its_log_as_it_went_in(tmp_path: Path) -> None:
    from convex_evals.records import Attempt, Usage
    from convex_evals.records.reply import LoggedReply, Reply
    from convex_evals.store.replies import ReplyFile

    log = ReplyFile(tmp_path / "1.reply.jsonl")
    assert log.is_empty() and log.read() == LoggedReply()
    lost = Attempt(fault="cut_off", max_output_tokens=100)
    reply = Reply("# Files", "stop", Usage(input_tokens=3, output_tokens=2), 1, 0.25, 7, 9)
    log.begin(100)
    log.text("half of ")
    log.end(lost, None)
    log.begin(200)
    for piece in ("# ", "Files"):
        log.text(piece)
    assert log.read() == LoggedReply((lost,), None, "# Files", 200) and not log.is_whole()
    log.end(Attempt(cost_usd=0.25), reply)
    log.close()
    assert log.read() == LoggedReply((lost, Attempt(cost_usd=0.25)), reply, "# Files") and log.is_whole()
    assert '"text"' not in (tmp_path / "1.reply.jsonl").read_text().splitlines()[-1], "it is there once"
