"""A file's commits."""

from __future__ import annotations

from pathlib import Path

from convex_evals.vcs.git import open_checkout
from tests.factories import make_git_repo, write_files
from tests.site.made import commit


def test_commits_of_one_file_come_newest_first(tmp_path: Path) -> None:
    write_files(tmp_path, {"a b.md": "1\n", "other.md": "1\n"})
    make_git_repo(tmp_path)
    for n in (2, 3):
        write_files(tmp_path, {"a b.md": f"{n}\n"})
        commit(tmp_path, f"Say {n}")
    write_files(tmp_path, {"other.md": "2\n"})
    commit(tmp_path, "Another file")
    checkout = open_checkout(tmp_path, "test")
    found = checkout.history("a b.md", 10)
    assert [each.summary for each in found] == ["Say 3", "Say 2", "Begin"]
    assert [checkout.text(each.hexsha, "a b.md") for each in found] == ["3\n", "2\n", "1\n"]
    assert len(checkout.history("a b.md", 2)) == 2
    assert checkout.history("nothing.md", 10) == [] and checkout.history("../outside.md", 10) == []
