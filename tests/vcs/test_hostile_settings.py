"""Settings in a repository's `.git`: their number and size hide no command, and none is read from elsewhere."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from convex_evals.errors import UserError
from convex_evals.vcs import git_command
from convex_evals.vcs.git import changed_since, clean_commit
from tests.conftest import Invoke
from tests.factories import make_eval, make_git_repo, write_files

pytestmark = pytest.mark.full


def make_suite(tmp_path: Path) -> Path:
    suite = tmp_path / "suite"
    make_eval(suite)
    write_files(suite, {"guidelines/convex.md": "- One rule.\n"})
    return make_git_repo(suite)


def mine(tmp_path: Path) -> Path:
    return write_files(tmp_path / "mine", {"models.yaml": "models: [{slug: acme/m, litellm: openai/gpt-4o}]\n"})


def append(suite: Path, settings: str) -> None:
    with (suite / ".git" / "config").open("a") as file:
        file.write(settings)


def a_filter(suite: Path, mark: Path) -> None:
    """A command for all files, which look changed."""
    append(suite, f'[filter "evil"]\n\tclean = "echo >> {mark}; cat"\n')
    write_files(suite / ".git" / "info", {"attributes": "* filter=evil\n"})
    later = time.time() + 100
    for path in suite.rglob("*"):
        if ".git" not in path.parts:
            os.utime(path, (later, later))


def by_many_includes(suite: Path) -> None:
    """All names together are longer than what is read of git."""
    names = "".join(f'[filter "{n}{"p" * 90_000}"]\n\tclean = x\n' for n in range(11))
    write_files(suite / ".git", {"big": names})
    append(suite, "[include]\n" + "\tpath = big\n" * 80)


def by_many_keys(suite: Path) -> None:
    """The same in one file: each key repeats the name of its section."""
    append(suite, f'[filter "{"p" * 400_000}"]\n' + "\tclean = x\n" * 300)


def by_many_names(suite: Path) -> None:
    append(suite, "".join(f'[filter "{n}{"p" * 100}"]\n\tclean = x\n' for n in range(5_000)))


def by_a_long_name(suite: Path) -> None:
    append(suite, f'[filter "{"p" * 200_000}"]\n\tclean = x\n')


FLOODS: list[Callable[[Path], None]] = [by_many_includes, by_many_keys, by_many_names, by_a_long_name]


@pytest.mark.parametrize("flood", FLOODS)
def test_a_flood_of_settings_hides_no_filter(flood: Callable[[Path], None], tmp_path: Path, invoke: Invoke) -> None:
    suite, mark = make_suite(tmp_path), tmp_path / "ran"
    flood(suite)
    a_filter(suite, mark)
    for command in (["run", "-m", "acme/m", "--dry-run"], ["plan", "-m", "reference", "--json"]):
        result = invoke("-C", suite, *command, cwd=mine(tmp_path))
        assert not mark.exists()
        assert result.status == 1 and result.err.count("\n") == 1, result
    with pytest.raises(UserError):
        changed_since(suite, "HEAD")
    assert not mark.exists()


def test_a_listing_that_does_not_end_hides_no_filter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suite, mark = make_suite(tmp_path), tmp_path / "ran"
    a_filter(suite, mark)
    assert clean_commit(suite) and not mark.exists()
    script = f'#!/bin/sh\ncase "$*" in *get-regexp*) sleep 9;; esac\nexec {shutil.which("git")} "$@"\n'
    slow = write_files(tmp_path / "bin", {"git": script})
    (slow / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow}:{os.environ['PATH']}")
    monkeypatch.setattr(git_command, "READ_SECONDS", 1)
    with pytest.raises(UserError, match="did not end within 1 s"):
        clean_commit(suite)
    assert not mark.exists()
