"""Links and other things that are no files, in folders of runs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from convex_evals.records.journal import JournalEntry
from convex_evals.store.journal import Journal
from tests.conftest import Invoke
from tests.factories import make_generation, make_git_repo, make_run
from tests.store.hostile import EVAL, READS, SECRET, WRITES, refused, run_command, run_folder, tree

pytestmark = pytest.mark.full


def link_reply(suite: Path, outside: Path) -> None:
    path = run_folder(suite) / "evals" / EVAL / "2.md"
    path.unlink()
    path.symlink_to(outside / "secret.txt")


def link_grade(suite: Path, outside: Path) -> None:
    replace_by_link(run_folder(suite) / "evals" / EVAL / "grade.66666666.json", outside)


def link_plan(suite: Path, outside: Path) -> None:
    replace_by_link(run_folder(suite) / "run.json", outside)


def link_summary(suite: Path, outside: Path) -> None:
    replace_by_link(run_folder(suite) / "summary.json", outside)


def link_eval(suite: Path, outside: Path) -> None:
    replace_by_link(run_folder(suite) / "evals" / EVAL, outside)


def link_evals(suite: Path, outside: Path) -> None:
    replace_by_link(run_folder(suite) / "evals", outside)


def link_run(suite: Path, outside: Path) -> None:
    replace_by_link(run_folder(suite), outside)


def link_day(suite: Path, outside: Path) -> None:
    replace_by_link(run_folder(suite).parent, outside)


def link_provider(suite: Path, outside: Path) -> None:
    replace_by_link(suite / "runs" / "acme", outside)


def replace_by_link(path: Path, outside: Path) -> None:
    target = outside / path.name
    path.rename(target)
    path.symlink_to(target)


LINKS = (link_reply, link_grade, link_plan, link_summary, link_eval, link_evals, link_run, link_day, link_provider)


@pytest.mark.parametrize("plant_link", LINKS)
def test_nothing_is_reached_through_links(
    plant_link: Callable[[Path, Path], None], suite: Path, tmp_path: Path, invoke: Invoke
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text(SECRET)
    plant_link(suite, outside)
    before = tree(outside)
    found = [invoke(*command, cwd=suite) for command in (*READS, *WRITES)]
    for result in found:
        assert SECRET not in result.out + result.err
        if result.status:
            refused(result)
    assert any(r.status == 1 for r in found)
    assert tree(outside) == before
    for written in (suite / "reports").rglob("*.md"):
        assert SECRET not in written.read_text()


@pytest.mark.parametrize("place", ["reports", "reports/acme", "reports/acme/model-1", "report", "index"])
def test_reports_are_not_written_through_links(place: str, suite: Path, tmp_path: Path, invoke: Invoke) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / ".bashrc").write_text("precious")
    names = {"report": "reports/acme/model-1/default-after_2026-02-01.md", "index": "reports/README.md"}
    path = suite / names.get(place, place)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(outside / ".bashrc" if place in names else outside)
    before = tree(outside)
    result = invoke("report", "default-after", "--index", cwd=suite)
    refused(result)
    assert tree(outside) == before


@pytest.mark.parametrize("part", [".cache", ".cache/convex-evals", ".cache/convex-evals/journal"])
def test_the_journal_is_not_reached_through_links(part: str, suite: Path, tmp_path: Path, invoke: Invoke) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    replace_by_link(suite / part, outside)
    before = tree(outside)
    for command in (("status", "default-part"), ("finish", "default-part"), ("finish", "default-after")):
        refused(invoke(*command, cwd=suite))
    assert tree(outside) == before


@pytest.mark.parametrize("kind", ["folder", "entry", "lock"])
def test_a_journal_in_links_is_neither_read_nor_emptied(kind: str, suite: Path, tmp_path: Path, invoke: Invoke) -> None:
    folder = suite / ".cache" / "convex-evals" / "journal" / "acme+model-1+2026-01-01+default-part"
    outside = tmp_path / "outside"
    outside.mkdir()
    paths = {"folder": folder, "entry": folder / EVAL / "1.json", "lock": folder.parent / f"{folder.name}.lock"}
    if kind == "lock":
        paths[kind].write_text("precious")
    replace_by_link(paths[kind], outside)
    before = tree(outside)
    refused(invoke("status", "default-part", cwd=suite))
    assert invoke("finish", "default-part", cwd=suite).status == 1
    assert tree(outside) == before


def test_removing_a_journal_removes_nothing_else(tmp_path: Path) -> None:
    """A folder that is swapped for a link, a link inside of it, and a base that is one."""
    run = make_run(tmp_path / "runs", {EVAL: "p"})
    (tmp_path / "victim" / "a").mkdir(parents=True)
    (tmp_path / "victim" / "a" / "kept.txt").write_text("kept")
    journal = Journal(tmp_path / ".cache" / "convex-evals" / "journal", run.plan)
    journal.write(EVAL, JournalEntry(generation=make_generation(), response=None))
    (journal.folder / "link").symlink_to(tmp_path / "victim")
    journal.drop()
    assert not journal.folder.exists() and (tmp_path / "victim" / "a" / "kept.txt").is_file()


@pytest.mark.parametrize("file", ["run.json", "summary.json", f"evals/{EVAL}/2.md", f"evals/{EVAL}/generation.json"])
@pytest.mark.parametrize("kind", ["fifo", "device", "socket", "folder"])
def test_what_is_no_file_is_not_opened(file: str, kind: str, suite: Path) -> None:
    path = run_folder(suite) / file
    path.unlink()
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "socket":
        import socket

        here = os.open(path.parent, os.O_RDONLY)
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(f"/proc/self/fd/{here}/{path.name}")
        os.close(here)
    else:
        path.mkdir()
    done = [run_command(suite, *words) for words in (READS[3], READS[12])]
    for result in done:
        assert result.returncode in (0, 1), result.stderr
        assert "bug in convex-evals" not in result.stderr


def test_only_what_a_run_is_made_of_is_pruned(suite: Path, invoke: Invoke) -> None:
    folder = run_folder(suite) / "evals" / EVAL
    strangers = [folder / "notes.md", folder / "0.md", folder.parents[1] / "README.md", folder / "2.md.md"]
    others = suite / "runs" / "acme" / "model-1" / "2026-02-01" / "default-after" / "evals" / "x" / "y" / "1.md"
    others.parent.mkdir(parents=True)
    for path in (*strangers, others):
        path.write_text("kept")
    assert invoke("prune", "--keep", "0", "--yes", cwd=suite).status == 0
    assert not (folder / "1.md").exists() and all(p.is_file() for p in (*strangers, others))


def test_a_commit_has_no_contents_of_links(suite: Path, tmp_path: Path, invoke: Invoke) -> None:
    (tmp_path / "id_rsa").write_text(SECRET)
    make_git_repo(suite)
    for name in ("user.name", "user.email"):
        subprocess.run(["git", "config", name, "x@example.org"], cwd=suite, check=True)
    planted = run_folder(suite) / "evals" / EVAL / "9.md"
    planted.symlink_to(tmp_path / "id_rsa")
    result = invoke("finish", "default-after", "--commit", cwd=suite)
    refused(result)
    objects = subprocess.run(
        ["git", "rev-list", "--all", "--objects"], cwd=suite, capture_output=True, text=True, check=True
    )
    assert "9.md" not in objects.stdout
    planted.unlink()
    odd = run_folder(suite) / "evals" / EVAL / "a\n" / "etc"
    odd.mkdir(parents=True)
    (odd / "passwd").write_text("x")
    refused(invoke("finish", "default-after", "--commit", cwd=suite))


def test_replaying_a_folder_reads_no_links(suite: Path, tmp_path: Path, invoke: Invoke) -> None:
    (tmp_path / "secret.md").write_text(SECRET)
    (run_folder(suite) / "evals" / EVAL / "2.md").unlink()
    (run_folder(suite) / "evals" / EVAL / "2.md").symlink_to(tmp_path / "secret.md")
    refused(invoke("run", "-m", f"replay:{run_folder(suite)}", "--dry-run", cwd=suite))
