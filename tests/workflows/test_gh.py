"""The `gh` of the tests refuses what the workflows do not use, and what a token may not do."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.workflows.gh import Issues, shim
from tests.workflows.hub import REPOSITORY

COMMENTS = f"repos/{REPOSITORY}/issues/7/comments"
LIST = ("issue", "list", "--state", "open", "--label", "nightly", "--limit", "100", "--json", "number")


def gh(folder: Path, *words: str, token: str = "writes") -> subprocess.CompletedProcess[str]:
    rights = {"writes": {"issues": "write"}, "reads": {"issues": "read"}, "none": {"contents": "write"}}
    (folder / "tokens.json").write_text(json.dumps(rights))
    (folder / "gh").write_text(shim(folder))
    (folder / "body.md").write_text("Text")
    env = {**os.environ, "GH_TOKEN": token, "GH_REPO": REPOSITORY}
    return subprocess.run(["sh", str(folder / "gh"), *words], cwd=folder, env=env, capture_output=True, text=True)


@pytest.mark.parametrize(
    "words",
    [
        ("pr", "comment", "7", "--body", "x"),
        (*LIST, "--jq", ".[]"),
        ("issue", "list", "--label", "nightly"),
        ("issue", "create", "--title", "x", "--label", "x", "--body", "x"),
        ("issue", "create", "--title", "x", "--label", "not-there", "--body-file", "body.md"),
        ("issue", "edit", "9", "--body-file", "body.md"),
        ("api", f"repos/{REPOSITORY}/pulls/7"),
        ("api", "repos/else/where/issues/7/comments", "--paginate", "--slurp"),
        ("api", COMMENTS, "--method", "PATCH", "--field", "body=@body.md"),
        ("api", COMMENTS, "--method", "POST", "--field", "body=text"),
    ],
)
def test_what_is_not_used_is_refused(tmp_path: Path, words: tuple[str, ...]) -> None:
    assert gh(tmp_path, *words).returncode != 0 and not (tmp_path / "issues.json").exists()


@pytest.mark.parametrize(("token", "reads", "writes"), [("writes", 1, 1), ("reads", 1, 0), ("none", 0, 0), ("x", 0, 0)])
def test_a_token_does_what_its_rights_are(tmp_path: Path, token: str, reads: int, writes: int) -> None:
    listed, written = (
        gh(tmp_path, "api", COMMENTS, *words, token=token)
        for words in (("--paginate", "--slurp"), ("--method", "POST", "--field", "body=@body.md"))
    )
    assert (listed.returncode == 0, written.returncode == 0) == (reads, writes), listed.stderr + written.stderr
    assert Issues(tmp_path).on(7) == ["Text"] * writes


def test_comments_come_in_pages(tmp_path: Path) -> None:
    issues = Issues(tmp_path)
    for n in range(5):
        issues.comment(7, str(n))
    issues.comment(8, "of another")
    issues.save()
    pages = json.loads(gh(tmp_path, "api", f"{COMMENTS}?per_page=2", "--paginate", "--slurp").stdout)
    assert [[c["body"] for c in page] for page in pages] == [["0", "1"], ["2", "3"], ["4"]]
