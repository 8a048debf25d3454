"""Where the tool comes from, as far as that is known."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from convex_evals.vcs.origin import Origin, find_origin, web_address
from scripts.record_origin import origin_of
from tests.factories import make_git_repo, write_files


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout.rstrip("\n")


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("https://github.com/acme/evals.git", "https://github.com/acme/evals"),
        ("https://github.com/acme/evals/", "https://github.com/acme/evals"),
        ("https://me:s3cret@git.acme.example:8443/a/b/evals", "https://git.acme.example:8443/a/b/evals"),
        ("git@github.com:acme/evals.git", "https://github.com/acme/evals"),
        ("ssh://git@git.acme.example:2222/acme/evals.git", "https://git.acme.example/acme/evals"),
        ("/home/me/evals", None),
        ("file:///home/me/evals", None),
        ("http://git.acme.example/acme/evals", None),
        ("../evals", None),
        ("https://github.com/acme/ev als", None),
        ("https://github.com/acme/evals?token=s3cret", "https://github.com/acme/evals"),
        ("", None),
    ],
)
def test_a_remote_as_browsers_know_it(remote: str, address: str | None) -> None:
    assert web_address(remote) == address


def test_a_checkout_is_a_commit_of_a_repository(tmp_path: Path) -> None:
    make_git_repo(write_files(tmp_path, {"a.txt": "a"}))
    head = git(tmp_path, "rev-parse", "HEAD")
    assert origin_of(tmp_path, "1.2.3") == Origin()
    git(tmp_path, "remote", "add", "upstream", "https://github.com/other/evals")
    assert origin_of(tmp_path, "1.2.3").repository is None
    git(tmp_path, "remote", "add", "origin", "git@github.com:acme/evals.git")
    git(tmp_path, "tag", "v1.2.2")
    assert origin_of(tmp_path, "1.2.3") == Origin("https://github.com/acme/evals"), "is not there yet"
    git(tmp_path, "update-ref", "refs/remotes/origin/main", head)
    untagged = Origin("https://github.com/acme/evals", head)
    assert origin_of(tmp_path, "1.2.3") == untagged
    assert untagged.requirement("1.2.3") == f"convex-evals @ git+https://github.com/acme/evals@{head}"
    assert untagged.page("docs/a.md") == f"https://github.com/acme/evals/blob/{head}/docs/a.md"
    git(tmp_path, "tag", "v1.2.3")
    release = origin_of(tmp_path, "1.2.3")
    assert release.requirement("1.2.3") == "convex-evals==1.2.3"
    assert release.page("docs/a.md") == "https://github.com/acme/evals/blob/v1.2.3/docs/a.md"


def test_what_is_not_committed_is_of_no_commit(tmp_path: Path) -> None:
    make_git_repo(write_files(tmp_path, {"a.txt": "a"}))
    git(tmp_path, "remote", "add", "origin", "https://github.com/acme/evals")
    git(tmp_path, "tag", "v1.2.3")
    write_files(tmp_path, {"b.txt": "b"})
    found = origin_of(tmp_path, "1.2.3")
    assert found == Origin("https://github.com/acme/evals") and found.requirement("1.2.3") is None
    assert found.page("docs/a.md") == "https://github.com/acme/evals/blob/HEAD/docs/a.md"


def test_outside_of_a_checkout_nothing_is_known(tmp_path: Path) -> None:
    """Least of all what the repository is that the folder happens to stand in."""
    make_git_repo(write_files(tmp_path, {"unpacked/a.txt": "a"}))
    assert origin_of(tmp_path / "unpacked", "1.2.3") == Origin()
    assert Origin().page("docs/a.md") == "docs/a.md of convex-evals" and Origin().requirement("1.2.3") is None


def test_a_folder_without_a_commit_raises(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    with pytest.raises(subprocess.CalledProcessError):
        find_origin("1.2.3", lambda *words: git(tmp_path, *words))
    assert origin_of(tmp_path, "1.2.3") == Origin()
