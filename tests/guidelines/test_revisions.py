"""Guidelines at two revisions: every spelling, and every repository that is not as one would like it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from convex_evals.config import open_workspace
from convex_evals.errors import UserError
from convex_evals.guidelines.revisions import Version, differ, parse_revisions, read_versions
from convex_evals.records.hashes import sha256_text
from convex_evals.suite.prompt import PromptSource
from convex_evals.vcs.git import text_at
from tests.factories import make_eval, make_git_repo, write_files

FILE = "guidelines/convex.md"
MANY = "".join(f"- Rule {n} says what to do in case {n}.\n" for n in range(30))


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "protocol.file.allow=always"]
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit(folder: Path, files: dict[str, str], message: str = "Edit") -> str:
    write_files(folder, files)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """`main` has version 1, 2 and 3; the working tree has 4."""
    folder = tmp_path / "suite"
    make_eval(folder)
    make_git_repo(write_files(folder, {FILE: f"{MANY}- Version 1\n"}))
    git(folder, "tag", "v1")
    commit(folder, {FILE: f"{MANY}- Version 2\n"})
    git(folder, "tag", "-a", "v2", "-m", "annotated")
    commit(folder, {FILE: f"{MANY}- Version 3\n"}, "Third version")
    write_files(folder, {FILE: f"{MANY}- Version 4\n"})
    return folder


def versions(folder: Path, base: str, head: str | None = None, experiment: str = "default") -> tuple[Version, Version]:
    return read_versions(open_workspace(None, None, folder), experiment, parse_revisions(base, head))


def last(version: Version) -> str:
    return "absent" if version.text is None else version.text.splitlines()[-1].removeprefix("- Version ")


def problem(folder: Path, base: str, head: str | None = None, experiment: str = "default") -> str:
    with pytest.raises(UserError) as error:
        versions(folder, base, head, experiment)
    assert "\n" not in str(error.value)
    return str(error.value).replace(str(folder), "DIR")


@pytest.mark.parametrize(
    ("base", "head", "found"),
    [
        ("HEAD", None, "3 4"),
        ("HEAD~1", None, "2 4"),
        ("HEAD^", "HEAD", "2 3"),
        ("v1", "v2", "1 2"),
        ("v1..v2", None, "1 2"),
        ("v1..", None, "1 4"),
        ("..v1", None, "3 1"),
        ("main", "v1", "3 1"),
        ("HEAD@{0}", None, "3 4"),
        (":/Third", "main~2", "3 1"),
        ("v2^{commit}", None, "2 4"),
    ],
)
def test_every_spelling_of_a_revision(suite: Path, base: str, head: str | None, found: str) -> None:
    before, after = versions(suite, base, head)
    assert f"{last(before)} {last(after)}" == found


def test_from_where_a_branch_began(suite: Path) -> None:
    git(suite, "stash", "-q")
    git(suite, "checkout", "-q", "-b", "work", "v1")
    commit(suite, {FILE: f"{MANY}- Version work\n"})
    for base, head in [("main...", None), ("main...", "work"), ("main...work", None)]:
        before, after = versions(suite, base, head)
        assert (last(before), last(after)) == ("1", "work") and before.label == f"main... ({before.commit:.7})"
    assert versions(suite, "work...main")[1].label.startswith("main (")
    # A merge is compared with its first parent by HEAD~1, with the other one by HEAD^2.
    git(suite, "merge", "-q", "-s", "ours", "main", "-m", "Merge")
    assert [last(v) for v in versions(suite, "HEAD~1", "HEAD")] == ["work", "work"]
    assert [last(v) for v in versions(suite, "HEAD^2", "HEAD")] == ["3", "work"]
    assert [last(v) for v in versions(suite, "main...")] == ["3", "work"]
    # A detached HEAD, in a worktree of its own.
    git(suite, "worktree", "add", "-q", "--detach", "../elsewhere", "v2")
    assert [last(v) for v in versions(suite.parent / "elsewhere", "HEAD~1")] == ["1", "2"]
    git(suite, "checkout", "-q", "--orphan", "alone")
    commit(suite, {})
    assert problem(suite, "main...") == "main...: HEAD has no commit in common with it; compare with `main`"


def test_the_hash_is_the_one_that_runs_record(suite: Path) -> None:
    write_files(suite, {FILE: "\ufeff- A rule\r\n<!-- evals: a/b -->\r\n- Another\r\n"})
    git(suite, "-c", "core.autocrlf=false", "commit", "-qam", "CRLF")
    write_files(suite, {FILE: "- A rule\n- Another\n<!-- evals: c/d -->\n"})
    before, after = versions(suite, "HEAD")
    assert before.text == "- A rule\n<!-- evals: a/b -->\n- Another\n"
    given = PromptSource("", "", "- A rule\n- Another\n").given
    assert given is not None and before.sha256 == after.sha256 == sha256_text(given)
    assert before.source == f"{FILE}@{before.commit:.12}" and after.source == FILE
    assert text_at(suite, "HEAD", FILE) == before.text


def test_a_renamed_file_is_followed(suite: Path) -> None:
    renamed = {"convex-evals.yaml": "experiments: {default: {guidelines: guidelines/rules.md}}\n"}
    git(suite, "mv", FILE, "guidelines/rules.md")
    # Not committed yet, and the settings of then say where it was.
    write_files(suite, renamed)
    assert [(v.path, last(v)) for v in versions(suite, "HEAD")] == [(FILE, "3"), ("guidelines/rules.md", "4")]
    commit(suite, renamed)
    assert [(v.path, last(v)) for v in versions(suite, "v2", "HEAD")] == [(FILE, "2"), ("guidelines/rules.md", "4")]
    # Settings that name it by a name that it did not have: git finds it by what it holds.
    commit(suite, {"convex-evals.yaml": "experiments: {default: {guidelines: guidelines/again.md}}\n"})
    git(suite, "mv", "guidelines/rules.md", "guidelines/again.md")
    commit(suite, {})
    assert [v.path for v in versions(suite, "HEAD~1")] == ["guidelines/rules.md", "guidelines/again.md"]
    # Step by step, where the ends have nothing in common.
    other = "".join(f"- Quite another text, line {n}.\n" for n in range(40))
    base = git(suite, "rev-parse", "HEAD~1")
    commit(suite, {"guidelines/again.md": other})
    assert versions(suite, base)[0].path == "guidelines/rules.md"


def test_the_settings_of_then_are_read(suite: Path) -> None:
    files = {"guidelines/short.md": "- Version short\n", "convex-evals.yaml": "experiments: {brief: {}}\n"}
    commit(suite, files)
    commit(suite, {"convex-evals.yaml": "experiments: {brief: {guidelines: guidelines/short.md}}\n"})
    assert [last(v) for v in versions(suite, "HEAD~1", experiment="brief")] == ["4", "short"]
    # Settings that nobody understands any more are none.
    commit(suite, {"convex-evals.yaml": "nonsense: 1\n"})
    commit(suite, {"convex-evals.yaml": "experiments: {brief: {guidelines: guidelines/short.md}}\n"})
    assert [last(v) for v in versions(suite, "HEAD~1", experiment="brief")] == ["short", "short"]
    # A suite below the top of its repository, and one that is named by -C.
    make_eval(suite / "below")
    commit(suite / "below", {FILE: "- Version below\n"})
    before, after = versions(suite / "below", "HEAD~1", "HEAD")
    assert (before.text, last(after)) == (None, "below")


def test_a_shallow_clone_says_how_to_deepen(suite: Path) -> None:
    git(suite, "commit", "-qam", "Fourth")
    git(suite.parent, "clone", "-q", "--depth", "2", f"file://{suite}", "shallow")
    clone = suite.parent / "shallow"
    assert [last(v) for v in versions(clone, "HEAD~1")] == ["3", "4"]
    assert problem(clone, "HEAD~3") == (
        "HEAD~3: not in this clone, which is shallow; `git fetch --deepen 3` fetches that much more, "
        "`git fetch --unshallow --tags` fetches all of it"
    )
    assert problem(clone, "v1") == (
        "v1: not in this clone, which is shallow; `git fetch --unshallow --tags` fetches all of it"
    )
    git(clone, "fetch", "-q", "--deepen", "3")
    assert [last(v) for v in versions(clone, "HEAD~3")] == ["1", "4"]
    # What branched off before the clone begins.
    git(suite, "checkout", "-q", "-b", "work", "v1")
    for n in range(3):
        commit(suite, {"note.txt": f"{n}"})
    git(suite.parent, "clone", "-q", "--depth", "1", "--no-single-branch", f"file://{suite}", "both")
    assert "shallow, and does not reach back to where HEAD branched off; `git fetch --deepen 50`" in problem(
        suite.parent / "both", "origin/main..."
    )
    assert problem(suite.parent / "both", "main") == "main: no such revision; did you mean 'origin/main'?"


def test_what_cannot_be_compared_is_one_line(suite: Path, tmp_path: Path) -> None:
    assert problem(suite, "mian") == "mian: no such revision; did you mean 'main'?"
    assert problem(suite, "zzz") == "zzz: no such revision; `git log --oneline` and `git tag` list some"
    assert problem(suite, "HEAD:evals").startswith("HEAD:evals: no such revision")
    assert problem(suite, "--all").startswith("--all: no such revision")
    assert problem(suite, "v1..v2", "HEAD").startswith("v1..v2 HEAD: names what to compare with twice")
    assert problem(suite, "HEAD", experiment="no_guidelines") == (
        "-e no_guidelines: gives no guidelines, so there is nothing to compare; name another experiment"
    )
    write_files(suite, {"convex-evals.yaml": f"experiments: {{old: {{guidelines: '{FILE}@v1'}}}}\n"})
    assert (
        problem(suite, "HEAD", experiment="old")
        == f"-e old: gives {FILE}@v1, whatever is committed; name another experiment"
    )
    write_files(suite, {"convex-evals.yaml": "experiments: {out: {guidelines: ../out.md}}\n"})
    assert "../out.md: not in the repository" in problem(suite, "HEAD", experiment="out")
    make_eval(tmp_path / "plain")
    assert problem(tmp_path / "plain", "HEAD~1").startswith("DIR: not in a Git repository, so there is no 'HEAD~1'")
    git(tmp_path / "plain", "init", "-q")
    assert problem(tmp_path / "plain", "HEAD~1") == "HEAD~1: nothing is committed yet; commit the guidelines first"


def test_a_side_without_the_file(suite: Path) -> None:
    git(suite, "rm", "-qf", FILE)
    commit(suite, {})
    assert [last(v) for v in versions(suite, "v1")] == ["1", "absent"]
    assert [last(v) for v in versions(suite, "HEAD", "v1")] == ["absent", "1"]
    assert f"{FILE}: neither in HEAD (" in problem(suite, "HEAD") and "nor in working tree" in problem(suite, "HEAD")


def test_none_is_no_guidelines(suite: Path, tmp_path: Path) -> None:
    for words, known in ((("none",), "4"), (("none", "HEAD"), "3"), (("none..v1",), "1"), (("none..",), "4")):
        before, after = versions(suite, *words)
        assert before.sha256 is None and before.label == "no guidelines"
        assert last(after) == known and after.bare is None and before.prompt == after.prompt
        assert before.bare == "no_guidelines"
    before, after = versions(suite, "v1", "none")
    assert last(before) == "1" and after.bare and differ(before, after)
    git(suite, "branch", "none", "v1")
    assert [last(v) for v in versions(suite, "refs/heads/none", "HEAD")] == ["1", "3"]
    assert versions(suite, "none", "heads/none")[0].bare

    assert problem(suite, "none", "none") == "none none: no guidelines on either side; name a revision on one of them"
    for words in (("none...",), ("none...", "HEAD"), ("HEAD...none",)):
        assert problem(suite, *words).endswith("nothing branched off from it; write `none HEAD`")
    assert problem(suite, "none", "zzz").startswith("zzz: no such revision")
    write_files(suite, {"convex-evals.yaml": "experiments: {cold: {parameters: {temperature: 0}}}\n"})
    assert problem(suite, "none", experiment="cold") == (
        "none: no experiment asks as 'cold' does and gives no guidelines; add one to convex-evals.yaml, "
        "the same with `guidelines: null`"
    )
    twin = "experiments: {cold: {parameters: {temperature: 0}}, bare: {guidelines: null, parameters: {temperature: 0}}}"
    write_files(suite, {"convex-evals.yaml": f"{twin}\n"})
    assert versions(suite, "none", experiment="cold")[0].bare == "bare"
    git(suite, "rm", "-qf", "--cached", FILE)
    commit(suite, {".gitignore": "guidelines\n"})
    assert problem(suite, "none", "HEAD").startswith(f"{FILE}: not in HEAD (")
    # What is not committed needs no repository.
    make_eval(write_files(tmp_path / "plain", {FILE: "- Version 1\n"}))
    assert last(versions(tmp_path / "plain", "none")[1]) == "1"
    assert problem(tmp_path / "plain", "none", "v1").startswith("DIR: not in a Git repository, so there is no 'v1'")


@pytest.mark.parametrize("words", [("", None), ("HEAD", "")])
def test_an_empty_revision_is_not_the_working_tree(words: tuple[str, str | None]) -> None:
    with pytest.raises(UserError, match="an empty revision: is a variable not set"):
        parse_revisions(*words)
