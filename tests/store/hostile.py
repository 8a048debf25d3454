"""Records that somebody else wrote, and the commands that read and write them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from convex_evals.records.journal import JournalEntry
from convex_evals.store.journal import Journal
from tests import patience
from tests.conftest import ROOT
from tests.factories import make_eval, make_failure, make_generation, make_run, make_verdict

EVAL = "000-fundamentals/000-answer"
SECRET = "the secret of the host"
HOSTILE_REPLY = """# Files
## package.json
```json
{}
```
"""


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


def refused(result: Any) -> None:
    """One line that says where and what, and no bug."""
    assert result.status == 1, result
    assert result.err.count("\n") == 1 and result.err.startswith("error: "), result.err
    assert "bug in convex-evals" not in result.err and "Traceback" not in result.err


def run_command(cwd: Path, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """In a process of its own, which ends when it hangs."""
    argv = [sys.executable, str(ROOT / "cli.py"), *words]
    return subprocess.run(
        argv, cwd=cwd, capture_output=True, text=True, check=False, timeout=patience.seconds(60), **options
    )
