"""`cli site`: the same bytes from the same input, only what changed is written, and never half a site."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from convex_evals.records.publication import Publication, PublishedTrial
from convex_evals.site import tree
from convex_evals.site.tree import MANIFEST
from convex_evals.store.runs import RunStore
from tests import patience
from tests.conftest import ROOT, Invoke
from tests.factories import grade_again, make_eval
from tests.site.made import EVALS, add_run, commit, make_workspace


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("suite")
    make_workspace(folder)
    return folder


@pytest.fixture
def suite(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "suite", symlinks=True)
    return tmp_path / "suite"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def inodes(folder: Path) -> dict[str, int]:
    return {str(p.relative_to(folder)): p.stat().st_ino for p in folder.rglob("*") if p.is_file()}


def writing(suite: Path, out: Path) -> subprocess.Popen[bytes]:
    """`cli site` as a process with a group of its own."""
    command = [sys.executable, str(ROOT / "cli.py"), "site", str(out)]
    return subprocess.Popen(command, cwd=suite, stderr=subprocess.PIPE, start_new_session=True)


def test_the_same_input_gives_the_same_bytes(suite: Path, invoke: Invoke, tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    result = invoke("site", one, "-j", "1", cwd=suite)
    assert result.status == 0 and "written" in result.out
    for path in (suite / "runs").rglob("run.json"):
        os.utime(path, (1, 1))  # a checkout knows nothing of when runs were made
    assert invoke("site", other, "-j", "2", cwd=suite).status == 0
    assert contents(one) == contents(other)
    assert {"index.html", "badge.svg", "leaderboard.json", ".nojekyll", "assets/pages.css"} <= contents(one).keys()
    assert "sitemap.xml" not in contents(one)


def test_nothing_is_written_where_nothing_changed(suite: Path, invoke: Invoke, tmp_path: Path) -> None:
    out = tmp_path / "out"
    invoke("site", out, cwd=suite)
    before = {**inodes(out), ".": out.stat().st_ino}
    result = invoke("site", out, "--json", cwd=suite)
    [row] = json.loads(result.out)
    assert (row["written"], row["removed"]) == (0, 0) and row["files"] == len(before) - 2
    assert {**inodes(out), ".": out.stat().st_ino} == before


@pytest.mark.full
def test_only_what_changed_is_written(suite: Path, invoke: Invoke, tmp_path: Path) -> None:
    out = tmp_path / "out"
    invoke("site", out, cwd=suite)
    before, files = contents(out), inodes(out)
    add_run(suite / "runs", "acme/beta", "2026-02-01", ["ppp", "pff", "ppp"])
    [row] = json.loads(invoke("site", out, "--json", cwd=suite).out)
    after = contents(out)
    changed = {path for path in after if after[path] != before.get(path) and path != MANIFEST}
    assert row["written"] == len(changed)
    kept = {path for path in after if path not in changed and path != MANIFEST}
    assert all(inodes(out)[path] == files[path] for path in kept)
    assert any(path.startswith("runs/acme/alpha") for path in kept) and "index.html" in changed
    fresh = tmp_path / "fresh"
    invoke("site", fresh, cwd=suite)
    assert contents(fresh) == after


def regraded(suite: Path) -> None:
    run = RunStore(suite / "runs").opened("acme/alpha", "2026-01-20", "default-20000000")
    assert run is not None
    grade_again(run, "9" * 64, flip=True)


def pruned(suite: Path) -> None:
    run = RunStore(suite / "runs").opened("zeta/gamma", "2026-01-21", "default-21000000")
    assert run is not None
    run.prune("2026-02-01")


def appended(file: str, text: str) -> Callable[[Path], None]:
    def edit(suite: Path) -> None:
        path = suite / file
        path.write_text((path.read_text() if path.is_file() else "") + text)

    return edit


def committed(suite: Path) -> None:
    appended("guidelines/convex.md", "- Another rule.\n")(suite)
    commit(suite, "Add a rule")


def decided(suite: Path) -> None:
    path = next(suite.glob("reports/*/*/*.md"))
    path.write_text(path.read_text().replace("<!-- human: notes -->\n", "<!-- human: notes -->\nWords.\n"))


def another_eval(suite: Path) -> None:
    make_eval(suite, "001-queries/001-new")


def another_run(suite: Path) -> None:
    add_run(suite / "runs", "acme/beta", "2026-02-01", ["ppp", "pff", "ppp"])


EDITS: dict[str, Callable[[Path], None]] = {
    "a task": appended(f"evals/{EVALS[0]}/TASK.txt", "More.\n"),
    "an answer": appended(f"evals/{EVALS[1]}/answer/convex/main.ts", "// more\n"),
    "a grader": appended(f"evals/{EVALS[1]}/grader.test.ts", "// more\n"),
    "a timeout, which no page shows": appended(f"evals/{EVALS[2]}/eval.yaml", "timeouts: {tests: 99}\n"),
    "a new eval": another_eval,
    "models": appended("models.yaml", "models:\n  - slug: acme/alpha\n    name: Alpha\n    tags: [new]\n"),
    "a comment of the guidelines": appended("guidelines/convex.md", "<!-- evals: 000-fundamentals/001-crons -->\n"),
    "a rule that is not committed": appended("guidelines/convex.md", "- Yet another rule.\n"),
    "a rule that is": committed,
    "a report": decided,
    "a regrading": regraded,
    "pruned replies": pruned,
    "a run": another_run,
}


@pytest.mark.full
@pytest.mark.parametrize("name", EDITS)
def test_an_updated_site_is_as_one_made_from_nothing(suite: Path, invoke: Invoke, tmp_path: Path, name: str) -> None:
    out, fresh = tmp_path / "out", tmp_path / "fresh"
    invoke("site", out, cwd=suite)
    before = contents(out)
    EDITS[name](suite)
    assert invoke("site", out, cwd=suite).status == 0
    assert invoke("site", fresh, cwd=suite).status == 0
    updated, made = ({p: text for p, text in contents(each).items() if p != MANIFEST} for each in (out, fresh))
    assert updated == made
    assert (contents(out) == before) == (name == "a timeout, which no page shows")


@pytest.mark.full
def test_a_run_that_went_is_removed_and_a_file_that_was_lost_is_made(
    suite: Path, invoke: Invoke, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    invoke("site", out, cwd=suite)
    shutil.rmtree(suite / "runs/zeta/gamma/2026-01-22")
    (out / "runs.html").unlink()
    (out / "index.html").write_text("broken")
    [row] = json.loads(invoke("site", out, "--json", cwd=suite).out)
    fresh = tmp_path / "fresh"
    invoke("site", fresh, cwd=suite)
    assert contents(fresh) == contents(out) and row["removed"] == 2


@pytest.mark.full
def test_own_files_at_the_top_stay_and_other_folders_are_refused(suite: Path, invoke: Invoke, tmp_path: Path) -> None:
    out = tmp_path / "out"
    invoke("site", out, cwd=suite)
    (out / "CNAME").write_text("evals.example.org\n")
    add_run(suite / "runs", "acme/beta", "2026-02-01", ["ppp", "pff", "ppp"])
    assert invoke("site", out, cwd=suite).status == 0
    assert (out / "CNAME").read_text() == "evals.example.org\n"
    (out / "mine").mkdir()
    result = invoke("site", out, cwd=suite)
    assert result.status == 1 and result.err.startswith(f"error: {out / 'mine'}: was not written by `cli site`")


@pytest.mark.parametrize("what", ["folder", "file", "link"])
def test_what_is_no_site_is_left_alone(suite: Path, invoke: Invoke, tmp_path: Path, what: str) -> None:
    out = tmp_path / "out"
    if what == "folder":
        out.mkdir()
        (out / "thesis.txt").write_text("mine")
    elif what == "file":
        out.write_text("mine")
    else:
        (tmp_path / "elsewhere").mkdir()
        out.symlink_to(tmp_path / "elsewhere")
    result = invoke("site", out, cwd=suite)
    assert result.status == 1 and result.err.count("\n") == 1 and str(out) in result.err
    assert not list((tmp_path).glob(".out*"))


@pytest.mark.full
def test_a_folder_whose_manifest_is_broken_is_refused(suite: Path, invoke: Invoke, tmp_path: Path) -> None:
    out = tmp_path / "out"
    invoke("site", out, cwd=suite)
    before = contents(out)
    for broken in (
        "",
        "[]",
        '{"kind": "site", "schema": 1, "whole": "", "files": {"../../x": ["", "", 1]}}',
        "[" * 9000,
    ):
        (out / MANIFEST).write_text(broken)
        for path in before:
            if path != MANIFEST and path.count("/"):
                continue
        result = invoke("site", out, cwd=suite)
        # Without it, the site's files cannot be told from the user's.
        assert result.status == 1 and "was not written by `cli site`" in result.err
    shutil.rmtree(out)
    assert invoke("site", out, cwd=suite).status == 0 and contents(out) == before


@pytest.mark.full
def test_what_is_below_the_top_and_not_the_sites_is_never_deleted(suite: Path, invoke: Invoke, tmp_path: Path) -> None:
    out = tmp_path / "out"
    invoke("site", out, cwd=suite)
    (out / "runs/mine").mkdir()
    for file in ("runs/mine/x", "assets/own.css"):
        (out / file).write_text("mine")
        add_run(suite / "runs", "acme/beta", f"2026-02-0{len(file) % 9 + 1}", ["ppp", "pff", "ppp"])
        result = invoke("site", out, cwd=suite)
        assert result.status == 1 and "was not written by `cli site`" in result.err
        assert (out / file).read_text() == "mine"
        (out / file).unlink()
    (out / "runs/mine").rmdir()
    assert invoke("site", out, cwd=suite).status == 0


@pytest.mark.full
@pytest.mark.parametrize("many", [2_000, 1], ids=["hashed here", "in another process"])
def test_a_page_that_was_tampered_with_is_made_again(
    suite: Path, invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    monkeypatch.setattr(tree, "_MANY", many)
    out = tmp_path / "out"
    invoke("site", out, cwd=suite)
    before = contents(out)
    assert "nothing changed" in invoke("site", out, cwd=suite).out
    page = out / "runs/zeta/gamma/2026-01-21/default-21000000/000-fundamentals/000-answer.html"
    page.write_text(page.read_text().replace("default-src", "default-zzz"))
    assert invoke("site", out, cwd=suite).status == 0
    assert contents(out) == before
    secret = tmp_path / "secret"
    secret.write_bytes(before[str(page.relative_to(out))])
    page.unlink()
    page.symlink_to(secret)
    result = invoke("site", out, cwd=suite)
    assert result.status == 1 and f"{page}: is a link" in result.err


@pytest.mark.full
@pytest.mark.parametrize("where", ["runs/site", "reports/site", "evals", "guidelines/x"])
def test_a_site_is_no_part_of_what_it_is_made_of(suite: Path, invoke: Invoke, where: str) -> None:
    result = invoke("site", suite / where, cwd=suite)
    assert result.status == 1 and "which it is made of; name a folder elsewhere" in result.err


BROKEN = {
    "no trailer": "# x\n",
    "empty": "<!-- report: {} -->\n",
    "other types": '<!-- report: {"date": 1, "run_id": [], "model": {}, "verdict": 1, "counts": 5} -->\n',
    "a place of its own": '<!-- report: {"place": "//evil.example/x", "problem": 5, "path": 7} -->\n',
    "counts": '<!-- report: {"counts": {"failed": [1]}, "failures": "x", "undecided": null} -->\n',
}


@pytest.mark.full
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_report_is_one_line(suite: Path, invoke: Invoke, tmp_path: Path, name: str) -> None:
    (suite / "reports/zeta/gamma/x_2026-01-21.md").write_text(BROKEN[name])
    (suite / os.fsdecode(b"reports/zeta/gamma/\xffx_2026-01-21.md")).write_text("# x\n")
    assert invoke("site", tmp_path / "out", cwd=suite).status == 0
    page = (tmp_path / "out/reports.html").read_text()
    assert "Its last line" in page and "evil.example" not in page and "default-21000000" in page


@pytest.mark.full
def test_a_base_url_is_for_what_cannot_be_relative(suite: Path, invoke: Invoke, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert invoke("site", out, "--base-url", "https://example.org/evals", cwd=suite).status == 0
    page = (out / "models/acme/alpha.html").read_text()
    assert '<link rel="canonical" href="https://example.org/evals/models/acme/alpha.html">' in page
    assert "<loc>https://example.org/evals/index.html</loc>" in (out / "sitemap.xml").read_text()
    for bad in (
        "example.org",
        "javascript:alert(1)",
        "https://example.org/?x=1",
        "file:///etc",
        "https://[",
        "https://a\nb",
    ):
        result = invoke("site", out, "--base-url", bad, cwd=suite)
        assert result.status == 2 and "--base-url" in result.err


@pytest.mark.full
def test_replies_are_in_full_packed_or_left_out(suite: Path, invoke: Invoke, tmp_path: Path) -> None:
    page = "runs/zeta/gamma/2026-01-21/default-21000000/000-fundamentals/001-crons.html"
    found = {}
    for replies in ("all", "failed", "packed", "none"):
        assert invoke("site", tmp_path / replies, "--replies", replies, cwd=suite).status == 0
        found[replies] = (tmp_path / replies / page).read_text()
    assert [text.count('<section class="file"') for text in found.values()] == [4, 0, 0, 0]
    assert [text.count('data-of="replies"') for text in found.values()] == [0, 2, 2, 0]
    default = tmp_path / "default"
    invoke("site", default, cwd=suite)
    assert (default / page).read_text() == found["failed"]


@pytest.mark.full
def test_only_published_runs(suite: Path, invoke: Invoke, tmp_path: Path) -> None:
    run = RunStore(suite / "runs").opened("acme/beta", "2026-01-20", "default-20000000")
    assert run is not None
    (run.folder / "published").mkdir()
    trials = tuple(PublishedTrial(trial=n, state="published", id=str(n)) for n in (1, 2, 3))
    ledger = Publication(run_id=run.plan.run_id, deployment="prod", url="https://a.convex.cloud", trials=trials)
    (run.folder / "published/prod.json").write_text(ledger.to_json())
    out = tmp_path / "out"
    assert invoke("site", out, "--only-published", cwd=suite).status == 0
    assert (out / "models/acme/beta.html").is_file() and not (out / "models/acme/alpha.html").exists()
    assert "acme/alpha" not in (out / "index.html").read_text()
    part = ledger.model_copy(update={"trials": trials[:2]})
    (run.folder / "published/prod.json").write_text(part.to_json())
    assert invoke("site", out, "--only-published", cwd=suite).status == 0
    assert not (out / "models/acme/beta.html").exists()


@pytest.mark.full
def test_an_empty_repository_has_a_site(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "empty/evals").mkdir(parents=True)
    out = tmp_path / "out"
    assert invoke("site", out, cwd=tmp_path / "empty").status == 0
    assert "No run can be ranked yet." in (out / "index.html").read_text()
    assert "no runs yet" in (out / "badge.svg").read_text()


@pytest.mark.full
def test_a_reader_never_sees_half_a_site(suite: Path, invoke: Invoke, tmp_path: Path) -> None:
    out = tmp_path / "out"
    invoke("site", out, cwd=suite)
    odd: list[str] = []
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            for name in ("index.html", "runs.html", "assets/pages.css"):
                try:
                    text = (out / name).read_text()
                except FileNotFoundError:
                    odd.append(f"{name} was not there")
                    continue
                if name != "assets/pages.css" and not text.endswith("</html>"):
                    odd.append(f"{name} was cut")

    reader = threading.Thread(target=read)
    reader.start()
    for n in range(3):
        add_run(suite / "runs", "acme/beta", f"2026-02-0{n + 1}", ["ppp", "pff", "ppp"])
        assert invoke("site", out, "-j", "1", cwd=suite).status == 0
    stop.set()
    reader.join()
    assert odd == []


@pytest.mark.full
@pytest.mark.parametrize("seconds", [0.8, 1.2, 1.6])
def test_a_writing_that_is_killed_leaves_the_old_site(
    suite: Path, invoke: Invoke, tmp_path: Path, seconds: float
) -> None:
    out = tmp_path / "out"
    invoke("site", out, cwd=suite)
    before = contents(out)
    for n in range(8):
        add_run(suite / "runs", "acme/beta", f"2026-02-{n + 10}", ["ppp", "pff", "ppp"])
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "cli.py"), "site", str(out)],
        cwd=suite,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    after = contents(out)
    assert after == before or "2026-02-17" in after["runs.html"].decode()
    assert invoke("site", out, cwd=suite).status == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "suite"]


@pytest.mark.full
def test_ctrl_c_leaves_the_old_site(suite: Path, invoke: Invoke, tmp_path: Path) -> None:
    out = tmp_path / "out"
    invoke("site", out, cwd=suite)
    before = contents(out)
    for n in range(20):
        add_run(suite / "runs", "acme/beta", f"2026-03-{n + 10}", ["ppp", "pff", "ppp"])
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "cli.py"), "site", str(out)],
        cwd=suite,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    time.sleep(1.2)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=patience.seconds(30))
    if process.returncode:
        assert process.returncode == 130 and err.decode().splitlines()[-1] == "interrupted", err
        assert contents(out) == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "suite"]


INTERRUPTED_START = """
import multiprocessing.process, os, runpy, signal, sys
start = multiprocessing.process.BaseProcess.start
def start_and_interrupt(self):
    start(self)
    os.kill(os.getpid(), signal.SIGINT)
multiprocessing.process.BaseProcess.start = start_and_interrupt
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.full
def test_ctrl_c_while_processes_start_ends_them(suite: Path, tmp_path: Path) -> None:
    for n in range(20):
        add_run(suite / "runs", "acme/beta", f"2026-03-{n + 10}", ["ppp", "pff", "ppp"])
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_START, str(ROOT / "cli.py"), "site", str(tmp_path / "out")],
        cwd=suite,
        capture_output=True,
        text=True,
        timeout=patience.seconds(60),
        check=False,
    )
    assert (done.returncode, done.stderr.splitlines()[-1]) == (130, "interrupted")
    assert [p.name for p in tmp_path.iterdir()] == ["suite"]


@pytest.mark.full
def test_a_folder_that_cannot_be_written_is_one_line(suite: Path, invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = invoke("site", tmp_path / "file/out", cwd=suite)
    assert result.status == 1 and result.err.count("\n") == 1 and "a file is in the way" in result.err
