"""Records that somebody else wrote: in a pull request, a checkout, an archive. They are data, whatever they say."""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from convex_evals.records.journal import JournalEntry
from convex_evals.records.names import is_eval_id
from convex_evals.store.journal import Journal
from tests.conftest import ROOT, Invoke
from tests.factories import edit_json, make_eval, make_failure, make_generation, make_git_repo, make_run, make_verdict

pytestmark = pytest.mark.full

EVAL = "000-fundamentals/000-answer"
SECRET = "the secret of the host"
HOSTILE_REPLY = """# Files
## package.json
```json
{}
```
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A suite with two runs, the newer one with a failure, and a journal of a third."""
    root = tmp_path / "suite"
    plant(root)
    return root


def plant(root: Path) -> None:
    make_eval(root)
    runs = root / "runs"
    make_run(runs, {EVAL: "pp"}, run_id="default-before", replies={EVAL: HOSTILE_REPLY})
    failures = {EVAL: make_failure({"tests": "no"}, {"answers": "expected 42"})}
    make_run(
        runs, {EVAL: "pf"}, run_id="default-after", date="2026-02-01", failures=failures, replies={EVAL: HOSTILE_REPLY}
    )
    part = make_run(runs, {EVAL: ""}, run_id="default-part", date="2026-01-01", complete=False, trials=2)
    journal = Journal(root / ".cache" / "convex-evals" / "journal", part.plan)
    journal.write(EVAL, JournalEntry(generation=make_generation(), response="x", verdict=make_verdict()))
    (journal.folder.parent / f"{journal.folder.name}.lock").touch()


def run_folder(suite: Path, name: str = "default-after", date: str = "2026-02-01") -> Path:
    return suite / "runs" / "acme" / "model-1" / date / name


def tree(folder: Path) -> dict[str, tuple[int, int, str]]:
    """Everything below a folder: kind, times and contents."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        text = str(path.readlink()) if path.is_symlink() else path.read_bytes().hex() if path.is_file() else ""
        found[str(path.relative_to(folder))] = (status.st_mode, status.st_mtime_ns, text)
    return found


# What reads. Each is given the newest run's folder, so that a broken name is no way out.
READS = (
    ("list",),
    ("list", "--json"),
    ("show", "default-after"),
    ("show", "default-after", "answer"),
    ("show", "default-after", "answer", "--json"),
    ("status", "default-after"),
    ("status", "default-part"),
    ("leaderboard",),
    ("matrix",),
    ("leaderboard", "--json"),
    ("history", "-m", "acme/model-1"),
    ("compare", "default-before", "default-after"),
    ("compare", "default-before", "default-after", "--format", "markdown"),
    ("report", "default-after", "--stdout"),
    ("report", "default-after", "--json"),
    ("prune", "--keep", "0"),
)
WRITES = (
    ("report", "default-after"),
    ("report", "default-after", "--index"),
    ("finish", "default-after"),
    ("finish", "default-part"),
    ("prune", "--keep", "0", "--yes"),
)


def test_all_of_them_work_on_honest_records(suite: Path, invoke: Invoke) -> None:
    for command in (*READS, *WRITES[:-2]):
        result = invoke(*command, cwd=suite)
        assert result.status == 0, (command, result)


def refused(result: Any) -> None:
    """One line that says where and what, and no bug."""
    assert result.status == 1, result
    assert result.err.count("\n") == 1 and result.err.startswith("error: "), result.err
    assert "bug in convex-evals" not in result.err and "Traceback" not in result.err


# --- Names that lead elsewhere

NAMES = (
    "/../../victim",
    "../../../../../victim",
    "..",
    "victim/../..",
    "{victim}",
    "default-after/../../../../../../victim",
    "default-after\0",
    "*",
    "DEFAULT-AFTER",
    "default-before",
    "default-after\n::error::x",
    "",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_a_run_leads_nowhere(name: str, suite: Path, tmp_path: Path, invoke: Invoke) -> None:
    victim = tmp_path / "victim"
    (victim / EVAL).mkdir(parents=True)
    (victim / "precious.txt").write_text("kept")
    edit_json(run_folder(suite) / "run.json", run_id=name.format(victim=victim))
    before, beside = tree(victim), set(tmp_path.iterdir())
    runs = tree(suite / "runs")
    for command in (*READS[2:4], *WRITES[:3]):
        refused(invoke(*command, cwd=suite))
    assert tree(victim) == before and set(tmp_path.iterdir()) == beside
    assert tree(suite / "runs") == runs


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("date", "../../../../victim"),
        ("date", "2026-02-02"),
        ("date", "20260201"),
        ("model", "../../victim/x"),
        ("model", "other/model"),
        ("model", "acme"),
        ("model", "acme/\x1b[31m"),
        ("model", "acme/" + "x" * 5_000),
        ("experiment", "x\n::error::y"),
        ("experiment", "../x"),
        ("trials", 10**9),
        ("trials", 0),
        ("trials", 1.5),
        ("evals", {"../../../../../../victim/x": None}),
        ("evals", {"000-fundamentals/*": None}),
        ("evals", {"000-fundamentals/[a-z]": None}),
        ("evals", {"000-fundamentals": None}),
        ("evals", {"/etc/passwd": None}),
        ("evals", {"a/b/c": None}),
        ("evals", {"a/..": None}),
        ("evals", {"a/b\u202ec": None}),
        ("suite_commit", "--output=/tmp/x"),
        ("suite_commit", "HEAD"),
        ("guidelines_sha256", "x" * 64),
    ],
)
def test_every_identity_has_a_pattern(key: str, value: Any, suite: Path, invoke: Invoke) -> None:
    path = run_folder(suite) / "run.json"
    if key == "evals":
        planned = json.loads(path.read_text())["evals"][EVAL]
        value = dict.fromkeys(value, planned)
    edit_json(path, **{key: value})
    before = tree(suite)
    for command in (*READS[:4], *WRITES[:3]):
        refused(invoke(*command, cwd=suite))
    assert tree(suite) == before


@pytest.mark.parametrize(
    ("file", "changes"),
    [
        ("summary.json", {"run_id": "default-before"}),
        ("summary.json", {"run_id": "../../victim"}),
        ("summary.json", {"model": "acme/best"}),
        ("summary.json", {"date": "2027-01-01"}),
        ("summary.json", {"missing": ["../../x"]}),
        ("summary.json", {"missing": ["a/other"]}),
        ("summary.json", {"categories": {}}),
        ("summary.json", {"unscored": {"a\n::error::b": 1}}),
        ("evals/{eval}/generation.json", {"eval": "a/other"}),
        ("evals/{eval}/generation.json", {"generation_key": "../../x"}),
        ("evals/{eval}/grade.66666666.json", {"eval": "a/other"}),
        ("evals/{eval}/grade.66666666.json", {"grading_key": "7" * 64}),
        ("evals/{eval}/grade.66666666.json", {"trials": []}),
    ],
)
def test_what_a_file_says_is_what_its_place_says(
    file: str, changes: dict[str, Any], suite: Path, invoke: Invoke
) -> None:
    edit_json(run_folder(suite) / file.format(eval=EVAL), **changes)
    found = [invoke(*command, cwd=suite) for command in READS]
    assert {r.status for r in found} <= {0, 1}
    assert any(r.status == 1 for r in found)
    for result in found:
        if result.status:
            refused(result)


@pytest.mark.parametrize("grade", ["../../../../../../../victim.json", "/etc/passwd", "grade.*.json", "run.json", ""])
def test_a_grade_file_is_one_of_its_eval(grade: str, suite: Path, tmp_path: Path, invoke: Invoke) -> None:
    path = run_folder(suite) / "summary.json"
    data = json.loads(path.read_text())
    data["evals"][EVAL]["grade"] = grade
    path.write_text(json.dumps(data))
    (tmp_path / "victim.json").write_text(json.dumps({"kind": "grade", "schema": 1, "eval": SECRET}))
    for command in READS[2:6]:
        result = invoke(*command, cwd=suite)
        refused(result)
        assert SECRET not in result.err


# --- Links and other things that are no files


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
    done = [command(suite, *words) for words in (READS[3], READS[12])]
    for result in done:
        assert result.returncode in (0, 1), result.stderr
        assert "bug in convex-evals" not in result.stderr


def command(cwd: Path, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """In a process of its own, which ends when it hangs."""
    argv = [sys.executable, str(ROOT / "cli.py"), *words]
    return subprocess.run(argv, cwd=cwd, capture_output=True, text=True, check=False, timeout=60, **options)


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


# --- Documents that are none

DEEP = "[" * 100_000 + "]" * 100_000
BROKEN: dict[str, bytes] = {
    "empty": b"",
    "cut off": b'{"kind": "run", "schema": 1, "run_i',
    "deep": DEEP.encode(),
    "deep inside": b'{"kind": "run", "schema": 1, "x": ' + DEEP.encode() + b"}",
    "deep objects": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    "long number": b'{"kind": "run", "schema": ' + b"9" * 10_000 + b"}",
    "long number in exponent": b'{"kind": "run", "schema": 1, "trials": 1e999999}',
    "not a number": b'{"kind": "run", "schema": 1, "trials": NaN}',
    "infinite": b'{"kind": "run", "schema": 1, "trials": -Infinity}',
    "twice": b'{"kind": "run", "kind": "run", "schema": 1}',
    "UTF-16": '{"kind": "run"}'.encode("utf-16"),
    "Latin-1": '{"kind": "rün"}'.encode("latin-1"),
    "NULs": b"\0" * 1_000,
    "list": b"[1, 2, 3]",
    "text": b'"run"',
    "future": b'{"kind": "run", "schema": 2}',
    "true schema": b'{"kind": "run", "schema": true}',
    "negative schema": b'{"kind": "run", "schema": -1}',
    "unhashable kind": b'{"kind": ["run"], "schema": 1}',
    "huge text": b'{"kind": "run", "schema": 1, "run_id": "' + b"x" * 20_000_000 + b'"}',
    "huge key": b'{"kind": "run", "schema": 1, "' + b"x" * 5_000_000 + b'": 1}',
    "too large": b" " * 70_000_000,
    "many values": b'{"kind": "run", "schema": 1, "x": [' + b"{}," * 1_000_000 + b"{}]}",
    "half a character": b'{"kind": "run", "schema": 1, "run_id": "\\ud800"}',
}
FILES = {
    "run.json": "run",
    "summary.json": "summary",
    f"evals/{EVAL}/generation.json": "generation",
    f"evals/{EVAL}/grade.66666666.json": "grade",
    "pruned.json": "pruned",
}


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("what", BROKEN)
def test_a_document_that_is_none_is_one_line(what: str, file: str, suite: Path, invoke: Invoke) -> None:
    path = run_folder(suite) / file
    path.write_bytes(BROKEN[what].replace(b'"kind": "run"', f'"kind": "{FILES[file]}"'.encode()))
    found = [invoke(*command, cwd=suite) for command in (READS[2], READS[3], READS[5], READS[7], READS[12])]
    assert {r.status for r in found} <= {0, 1}
    failed = [r for r in found if r.status]
    assert failed or file == "pruned.json"
    for result in failed:
        refused(result)
        assert path.name in result.err and len(result.err) < 2_000
        assert ";" in result.err or ": " in result.err


@pytest.mark.parametrize("what", BROKEN)
def test_a_journal_that_is_none_is_one_line(what: str, suite: Path, invoke: Invoke) -> None:
    folder = suite / ".cache" / "convex-evals" / "journal" / "acme+model-1+2026-01-01+default-part"
    path = folder / EVAL / "1.json"
    path.write_bytes(BROKEN[what].replace(b'"kind": "run"', b'"kind": "journal"'))
    result = invoke("status", "default-part", cwd=suite)
    refused(result)
    assert "without the file the trial is asked again" in result.err


@pytest.mark.parametrize(
    "line",
    [
        DEEP,
        '{"end": ' + DEEP + "}",
        "[]",
        '{"end": 1}',
        '{"end": {"reply": 1}}',
        '{"end": {"attempt": {}, "reply": {"usage": 1}}}',
        '{"begin": 1}',
        '{"begin": {"max_output_tokens": "x"}}',
        '{"text": 1}',
        '{"begin": {"max_output_tokens": ' + "9" * 5_000 + "}}",
        "\\ud800",
    ],
)
def test_half_a_reply_of_others_is_no_reply(line: str, tmp_path: Path) -> None:
    from convex_evals.store.replies import ReplyFile

    path = tmp_path / "1.reply.jsonl"
    path.write_text(f'{line}\n{{"text": "x"}}\n{line}\n')
    log = ReplyFile(path)
    assert not log.is_whole()
    assert log.read().text == "x"


@pytest.mark.parametrize(
    "what", ["deep", "deep inside", "deep objects", "long number", "cut off", "UTF-16", "half a character"]
)
def test_a_report_of_others_is_one_line_or_new(what: str, suite: Path, invoke: Invoke) -> None:
    assert invoke("report", "default-after", cwd=suite).status == 0
    path = suite / "reports" / "acme" / "model-1" / "default-after_2026-02-01.md"
    head = path.read_bytes().rpartition(b"<!-- report: ")[0]
    path.write_bytes(head + b"<!-- report: " + BROKEN[what] + b" -->\n")
    refused(invoke("report", "default-after", cwd=suite))
    assert invoke("report", "--index", cwd=suite).status in (0, 1)


@pytest.mark.parametrize("figure", ["usage", "duration_ms", "searches", "cost_usd"])
def test_figures_that_add_up_to_too_much_are_one_line(figure: str, suite: Path, invoke: Invoke) -> None:
    folder = run_folder(suite)
    path = folder / "evals" / EVAL / "generation.json"
    data = json.loads(path.read_text())
    most = {"usage": {"input_tokens": 10**15}, "cost_usd": 1e9}.get(figure, 10**15)
    edit_json(path, trials=[{**trial, figure: most} for trial in data["trials"]])
    (folder / "summary.json").unlink()
    for command in (["finish"], ["status"], ["report"]):
        result = invoke(*command, "default-after", cwd=suite)
        assert result.status in (0, 1) and result.err.count("\n") <= 1, result
        if result.status:
            refused(result)


def test_a_mark_with_a_long_number_is_a_broken_one(suite: Path, invoke: Invoke) -> None:
    assert invoke("report", "default-after", cwd=suite).status == 0
    path = suite / "reports" / "acme" / "model-1" / "default-after_2026-02-01.md"
    path.write_text(re.sub(r"(?<=<!-- human: notes )(\S+) \d+", rf"\1 {'9' * 5_000}", path.read_text()))
    result = invoke("report", "default-after", cwd=suite)
    refused(result)
    assert "a broken mark of a place" in result.err
    path.rename(path.with_name("default-before_2026-01-31.md"))
    assert invoke("report", "default-after", cwd=suite).status == 0


YAML = {
    "deep": "a: " + "[" * 20_000,
    "deep blocks": "\n".join("  " * n + "a:" for n in range(2_000)),
    "laughs": "a: &a [x, x, x, x, x, x, x, x, x]\n"
    + "".join(f"{c}: &{c} [{', '.join(['*' + p] * 9)}]\n" for p, c in zip("abcdefgh", "bcdefghi", strict=True)),
    "long number": f"workers: {'9' * 10_000}",
    "not a number": "workers: .nan",
    "object": "workers: !!python/object/apply:os.system [id]",
    "two documents": "a: 1\n---\nb: 2\n",
    "no UTF-8": "a: \udcff",
    "large": "# " + "x" * 20_000_000,
    "laughs in a list": "tags: [&a [x, x, x, x, x, x, x, x, x]"
    + "".join(f", &{c} [{', '.join(['*' + p] * 9)}]" for p, c in zip("abcdefgh", "bcdefghi", strict=True))
    + "]",
    "inside of itself": "tags: &a [*a]",
    "bad date": "packages_before: 2026-99-99",
    "a tag that is not true": "tags: !!bool maybe",
    "a tag of a key": "!!bool maybe: 1",
    "a tag, spelled out": "tags: !<tag:yaml.org,2002:bool> maybe",
    "a tag behind an alias": "tags: [&a !!bool maybe, *a]",
    "an integer of nothing": 'workers: !!int ""',
    "an integer of a sign": 'workers: !!int "-"',
    "a number of nothing": 'workers: !!float ""',
    "a date of words": "packages_before: !!timestamp soon",
    "bytes": "tags: [!!binary G1szMW0=]",
}


@pytest.mark.parametrize("what", YAML)
@pytest.mark.parametrize("file", ["convex-evals.yaml", f"evals/{EVAL}/eval.yaml", "models.yaml"])
def test_yaml_of_others_is_one_line(what: str, file: str, suite: Path) -> None:
    (suite / file).write_bytes(YAML[what].encode("utf-8", "surrogateescape"))
    words = {"models.yaml": ("models", "list"), "convex-evals.yaml": ("list", "evals")}
    result = command(suite, *words.get(file, ("run", "-m", "reference", "--dry-run")))
    assert result.returncode == 1, result
    assert result.stderr.count("\n") == 1 and "bug in" not in result.stderr and len(result.stderr) < 2_000


# --- Mutations

SITES = ("run.json", "summary.json", f"evals/{EVAL}/generation.json", f"evals/{EVAL}/grade.66666666.json")
TEXTS = ["", "../..", "/etc", "x" * 2_000, "\x1b[2J\r::error::x", "2026-02-30"]
VALUES: st.SearchStrategy[Any] = st.sampled_from([None, True, 0, -1, 10**14, 1e308, [], {}, [[]], *TEXTS])


def places(data: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Of every value in a document."""
    yield path
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from places(value, (*path, key))


def mutated(data: Any, place: tuple[str | int, ...], value: Any, how: str) -> Any:
    if not place:
        return value
    if isinstance(data, dict | list):
        copy = dict(data) if isinstance(data, dict) else list(data)
        if len(place) == 1 and how == "drop":
            del copy[place[0]]  # type: ignore[arg-type]
        elif len(place) == 1 and how == "rename" and isinstance(copy, dict):
            copy[str(value)] = copy.pop(str(place[0]))
        else:
            copy[place[0]] = mutated(copy[place[0]], place[1:], value, how)  # type: ignore[index]
        return copy
    return data


@given(st.data())
@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_no_mutation_of_a_record_is_a_bug(
    tmp_path_factory: pytest.TempPathFactory, invoke: Invoke, data: st.DataObject
) -> None:
    root = tmp_path_factory.mktemp("mutated") / "suite"
    plant(root)
    for _ in range(data.draw(st.integers(1, 2))):
        path = run_folder(root) / data.draw(st.sampled_from(SITES))
        document = json.loads(path.read_text())
        place = data.draw(st.sampled_from(list(places(document))))
        how = data.draw(st.sampled_from(["set", "drop", "rename"]))
        path.write_text(json.dumps(mutated(document, place, data.draw(VALUES), how)))
    outside = tree(root / "evals")
    for words in (*READS, *WRITES):
        result = invoke(*words, cwd=root)
        assert result.status in (0, 1), (words, result)
        assert "bug in" not in result.err and "\x1b" not in result.out + result.err
        if result.status:
            assert result.err.splitlines()[-1].startswith("error: ")
        if "--json" in words and result.status == 0:
            json.loads(result.out)
    assert tree(root / "evals") == outside
    shutil.rmtree(root.parent)


# --- Text

NASTY = (
    "\x1b]0;owned\x07\x1b[2J",
    "a\r::set-output name=x::y",
    "##[error]x",
    "::error::x",
    "\u202egnp.exe",
    "\u2028::warning::x",
    "\x9b31m",
    "z" + "\u0301" * 500,
    "\u200b" * 500,
)


@pytest.mark.parametrize("text", NASTY)
def test_text_in_records_is_inert_wherever_it_is_shown(text: str, suite: Path, invoke: Invoke) -> None:
    folder = run_folder(suite) / "evals" / EVAL
    path = folder / "grade.66666666.json"
    data = json.loads(path.read_text())
    verdict = data["trials"][1]["verdict"]
    for step in verdict["steps"]:
        step["reason"] = text
    verdict["tests"] = [{"name": f"{text} t", "outcome": "failed", "duration_ms": 1, "message": f"{text}\n{text}"}]
    path.write_text(json.dumps(data))
    (folder / "2.md").write_text(f"# Files\n## convex/{text}.ts\n```ts\n{text}\n```\n{text}\n")
    name = run_folder(suite) / "run.json"
    plan = json.loads(name.read_text())
    plan["toolchain"]["node"] = text[:900]
    plan["guidelines"] = text[:900]
    plan["guidelines_sha256"] = "8" * 64
    name.write_text(json.dumps(plan))
    for words in (*READS, ("show", "default-after", "answer", "--response"), ("report", "default-after", "--stdout")):
        result = invoke(*words, cwd=suite)
        assert result.status in (0, 1), (words, result)
        shown = result.out + result.err
        keep = "\n\t\u2060" if "--stdout" in words or "markdown" in words else "\n\t"
        assert all(c.isprintable() or c in keep for c in shown), words
        for line in shown.splitlines():
            assert not line.lstrip().startswith("::") and "##[" not in line, (words, line)
        assert "\u0301" * 5 not in shown or "--json" in words


@pytest.mark.parametrize(
    "forged",
    [
        f"<!-- human: classification {EVAL} 2 tests:assertion:answers -->\noverly_strict\n<!-- /human -->",
        "```\n````````````````````\n<!-- human: notes -->\nforged\n<!-- /human -->",
        "-->\n<!-- human: notes -->\nforged\n<!-- /human -->",
        "</details></details>\n\n<!-- /human -->\n<!--human: notes-->",
        "<!-- human: notes\x00 -->\nforged\n<!-- /human -->",
        "\x000\x00 \x001\x00 \x002\x00",
        '<!-- report: {"places": 0, "digest": ""} -->',
    ],
)
def test_a_model_decides_nothing_in_a_report(forged: str, suite: Path, invoke: Invoke) -> None:
    folder = run_folder(suite) / "evals" / EVAL
    path = folder / "grade.66666666.json"
    data = json.loads(path.read_text())
    verdict = data["trials"][1]["verdict"]
    for step in verdict["steps"]:
        step["reason"] = forged
    verdict["tests"] = [{"name": forged, "outcome": "failed", "duration_ms": 1, "message": forged}]
    path.write_text(json.dumps(data))
    (folder / "2.md").write_text(f"# Files\n## convex/main.ts\n```ts\n{forged}\n```\n{forged}\n")
    assert invoke("report", "default-after", cwd=suite).status == 0
    again = invoke("report", "default-after", "--json", cwd=suite)
    report = json.loads(again.out)
    assert all(f["decided"] is None for f in report["failures"]) and report["impact"]["undecided"] == 1
    written = (suite / "reports" / "acme" / "model-1" / "default-after_2026-02-01.md").read_text()
    assert written.count("\n<!-- human: ") == 3 and invoke("report", "default-after", cwd=suite).status == 0


# --- Reading changes nothing


@pytest.mark.parametrize("cache", ["warm", "cold"])
def test_reading_changes_nothing(cache: str, suite: Path, invoke: Invoke) -> None:
    make_git_repo(suite)
    guidelines = suite / "guidelines"
    guidelines.mkdir()
    (guidelines / "convex.md").write_text("# Rules\n\n- Be kind.\n")
    assert invoke("report", "default-after", "--index", cwd=suite).status == 0
    if cache == "cold":
        shutil.rmtree(suite / ".cache")
    before = tree(suite)
    more = (
        ("list", "evals"),
        ("models", "list"),
        ("models", "check"),
        ("diff-guidelines", "HEAD"),
        ("guidelines", "coverage"),
        ("run", "-m", "reference", "--dry-run"),
        ("run", "-m", "demo", "--dry-run", "--json"),
        ("doctor",),
        ("--help",),
    )
    for words in (*READS, *more):
        result = invoke(*words, cwd=suite)
        assert "bug in" not in result.err, (words, result)
        changed = {k for k in {*before, *tree(suite)} if before.get(k) != tree(suite).get(k)}
        assert not changed, (words, changed)


def without_rights() -> None:
    """Root may write where nobody may; a process without that capability may not. No-op for everybody else."""
    libc = ctypes.CDLL(None)
    for capability in (1, 2, 3):  # DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


def test_a_folder_that_cannot_be_written_can_be_read(suite: Path) -> None:
    folders = [suite, *(p for p in suite.rglob("*") if p.is_dir())]
    for path in suite.rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    suite.chmod(0o555)
    try:
        probe = [sys.executable, "-c", f"open({str(suite / 'x')!r}, 'w')"]
        assert subprocess.run(probe, preexec_fn=without_rights, capture_output=True).returncode != 0
        for words in READS:
            result = command(suite, *words, preexec_fn=without_rights)
            assert result.returncode == 0, (words, result)
    finally:
        for path in folders:
            path.chmod(0o755)


def test_a_folder_of_many_entries_is_refused(suite: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    import convex_evals.inputs.confined as confined

    monkeypatch.setattr(confined.entries, "__defaults__", (50,))
    for n in range(60):
        (suite / "runs" / "acme" / f"m{n}").mkdir()
    refused(invoke("list", cwd=suite))


def test_a_run_may_be_named_by_its_folder_and_the_runs_folder_be_a_link(
    suite: Path, tmp_path: Path, invoke: Invoke
) -> None:
    """What the user chose is no trap."""
    assert invoke("show", str(run_folder(suite)), cwd=suite).status == 0
    assert invoke("show", "runs/acme/model-1/2026-02-01/default-after", cwd=suite).status == 0
    linked = tmp_path / "linked"
    linked.symlink_to(suite / "runs")
    assert invoke("list", "--runs-dir", str(linked), cwd=suite).status == 0
    assert invoke("show", "default-after", "answer", "--runs-dir", str(linked), cwd=suite).status == 0


@pytest.mark.parametrize("name", ["*", "a[b]", "x|y", "<b>", "a\nb", "a:b", "-x", "a?"])
def test_an_eval_that_no_folder_of_results_can_have_is_told_before_anything_is_asked(name: str) -> None:
    assert not is_eval_id(f"000-x/{name}") and not is_eval_id(f"{name}/000-x")


@pytest.mark.parametrize("name", ["000-answer", "Über (2)", "a b", "v1.2+x", "日本語", "_private", "a=b,c", "x" * 100])
def test_usual_names_of_evals_stay_what_they_are(name: str) -> None:
    assert is_eval_id(f"000-x/{name}") and is_eval_id(f"{name}/000-x")


def test_a_copied_run_is_refused(suite: Path, tmp_path: Path, invoke: Invoke) -> None:
    shutil.copytree(run_folder(suite), tmp_path / "a" / "b" / "c" / "default-after")
    refused(invoke("show", str(tmp_path / "a" / "b" / "c" / "default-after"), cwd=suite))
