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
def test_a_flood_of_settings_hides_no_filter(
    flood: Callable[[Path], None], tmp_path: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "planted-secret-0123456789")  # without it, its price comes with a warning
    suite, mark = make_suite(tmp_path), tmp_path / "ran"
    flood(suite)
    a_filter(suite, mark)
    for command in (["run", "-m", "acme/m", "--dry-run"], ["plan", "-m", "reference", "--json"]):
        result = invoke("-C", suite, *command, cwd=mine(tmp_path))
        assert not mark.exists()
        assert result.err.count("\n") == result.status <= 1, result
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


SECRET = "only-the-hosts-settings-say-this"


def outside(tmp_path: Path) -> Path:
    """Settings of the host, with a value that git quotes in an error."""
    return write_files(tmp_path, {"private": f"[core]\n\tfileMode = {SECRET}\n"}) / "private"


def by_text(text: str) -> Callable[[Path, Path], Path]:
    def plant(suite: Path, private: Path) -> Path:
        append(suite, text.format(private))
        return suite

    return plant


def by_byte_order_mark(suite: Path, private: Path) -> Path:
    config = suite / ".git" / "config"
    config.write_bytes(f"\ufeff[include]\n\tpath = {private}\n".encode() + config.read_bytes())
    return suite


def by_linked_settings(suite: Path, private: Path) -> Path:
    (suite / ".git" / "config").unlink()
    (suite / ".git" / "config").symlink_to(private)
    return suite


def by_linked_folder(suite: Path, private: Path) -> Path:
    (suite / ".git").rename(private.parent / "repository")
    (suite / ".git").symlink_to(private.parent / "repository")
    append(suite, private.read_text())
    return suite


def by_linked_include(suite: Path, private: Path) -> Path:
    append(suite, "[include]\n\tpath = near\n")
    (suite / ".git" / "near").symlink_to(private)
    return suite


def by_gitfile(suite: Path, private: Path) -> Path:
    other = make_git_repo(write_files(private.parent / "other", {"x": "x"}))
    append(other, private.read_text())
    shutil.rmtree(suite / ".git")
    (suite / ".git").write_text(f"gitdir: {other}/.git\n")
    return suite


def by_name_with_a_space(suite: Path, private: Path) -> Path:
    shutil.copytree(suite / ".git", suite / "evil")
    (suite / ".git").rename(suite / "evil ")
    (suite / ".git").write_text("gitdir: evil \n")
    with (suite / "evil " / "config").open("a") as file:
        file.write(f"[include]\n\tpath = {private}\n")
    return suite


def by_name_with_an_end(suite: Path, private: Path) -> Path:
    """Of a name that a zero byte ends."""
    shutil.copytree(suite / ".git", suite / "evil")
    (suite / ".git").rename(suite / "other")
    (suite / ".git").write_text("gitdir: evil\0/../other\n")
    with (suite / "evil" / "config").open("a") as file:
        file.write(f"[include]\n\tpath = {private}\n")
    return suite


def by_empty_folder(suite: Path, private: Path) -> Path:
    """Git takes it for none, and finds the one above."""
    append(suite, f"[include]\n\tpath = {private}\n")
    inner = suite / "inner"
    inner.mkdir()
    for name in ("evals", "guidelines"):
        (suite / name).rename(inner / name)
    (inner / ".git").mkdir()
    return inner


def by_linked_suite(suite: Path, private: Path) -> Path:
    append(suite, f"[include]\n\tpath = {private}\n")
    (suite / "inner").mkdir()
    for name in ("evals", "guidelines"):
        (suite / name).rename(suite / "inner" / name)
    (suite.parent / "somewhere").mkdir()
    (suite.parent / "somewhere" / "link").symlink_to(suite / "inner")
    return suite.parent / "somewhere" / "link"


WAYS: dict[str, Callable[[Path, Path], Path]] = {
    "plain": by_text("[include]\n\tpath = {}\n"),
    "after another section": by_text("[core][include]\n\tpath = {}\n"),
    "on its line": by_text("[include] path = {}\n"),
    "with a condition": by_text('[includeIf "gitdir:/**"]\n\tpath = {}\n'),
    "with a condition that says path =": by_text('[includeIf "gitdir:/**"]\n\tpath = "{}" ; path = x\n'),
    "from home": by_text("[include]\n\tpath = ~/../{}\n"),
    "up": by_text("[include]\n\tpath = ../../private\n"),
    "a byte order mark": by_byte_order_mark,
    "linked settings": by_linked_settings,
    "a linked folder": by_linked_folder,
    "a linked include": by_linked_include,
    "a file that leads out": by_gitfile,
    "a name with a space": by_name_with_a_space,
    "a name with an end": by_name_with_an_end,
    "an empty folder": by_empty_folder,
    "a linked suite": by_linked_suite,
}


@pytest.mark.parametrize("way", WAYS)
def test_no_settings_of_the_host_are_printed(way: str, tmp_path: Path, invoke: Invoke) -> None:
    suite = WAYS[way](make_suite(tmp_path), outside(tmp_path))
    result = invoke("-C", suite, "diff-guidelines", "HEAD", cwd=mine(tmp_path))
    assert result.status == 1 and result.err.count("\n") == 1, result
    assert SECRET not in result.out + result.err
    invoke("-C", suite, "run", "-m", "acme/m", "--dry-run", cwd=mine(tmp_path))
    assert clean_commit(suite) is None


@pytest.mark.parametrize("settings", ["\tpath = deep\n", "\tpath = deep\n" * 60, "\tpath = config\n" * 3])
def test_includes_have_an_end(settings: str, tmp_path: Path) -> None:
    suite = make_suite(tmp_path)
    append(suite, f"[include]\n{settings}")
    write_files(suite / ".git", {"deep": "[include]\n" + "\tpath = deep\n" * 80})
    start = time.monotonic()
    assert clean_commit(suite) is None
    assert time.monotonic() - start < 10


def test_includes_of_the_suite_are_read(tmp_path: Path) -> None:
    suite = make_suite(tmp_path)
    append(suite, '[include]\n\tpath = ../team.config\n[includeIf "gitdir:/**"]\n\tpath = missing\n')
    write_files(suite, {"team.config": "[alias]\n\tlast = log -1\n"})
    assert changed_since(suite, "HEAD") == {"team.config"}
