"""A suite of a stranger is only read, and through no link."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from convex_evals.errors import UserError
from convex_evals.inputs.suite_files import read_inside
from convex_evals.runs.named_text import guidelines_text
from convex_evals.runs.request import load_environment
from convex_evals.suite.suite import grader_files, load_suite, package_files, read_generated
from tests.conftest import Invoke
from tests.factories import make_plan, make_run, write_files
from tests.suite.hostile import EVAL, SECRET, Plant, link, make_suite, moved, pipe, settings, sparse, void, written

BEHIND_LINKS: dict[str, Plant] = {
    "the task": link(f"evals/{EVAL}/TASK.txt", "HOST/secret.txt"),
    "the task, relative": link(f"evals/{EVAL}/TASK.txt", "../../../../host/secret.txt"),
    "the task, by two links": lambda s: (
        link("one", "HOST/secret.txt")(s),
        link(f"evals/{EVAL}/TASK.txt", "../../../one")(s),
    )[1],
    "the task, a device": link(f"evals/{EVAL}/TASK.txt", "/dev/zero"),
    "the task, the process": link(f"evals/{EVAL}/TASK.txt", "/proc/self/environ"),
    "the task, into itself": link(f"evals/{EVAL}/TASK.txt", "TASK.txt"),
    "the folder of an eval": moved(f"evals/{EVAL}"),
    "a category": moved("evals/000-fundamentals"),
    "all evals": moved("evals"),
    "the guidelines": link("guidelines/convex.md", "HOST/secret.txt"),
    "the folder of guidelines": link("guidelines", "HOST"),
    "the prompt": link("guidelines/prompt.j2", "HOST/prompt.j2"),
    "the settings": link("convex-evals.yaml", "HOST/secret.txt"),
    "an eval's settings": link(f"evals/{EVAL}/eval.yaml", "HOST/secret.txt"),
    "guidelines above": settings("guidelines: ../host/secret.txt"),
    "guidelines, absolute": settings("guidelines: /etc/passwd"),
    "guidelines, absolute at a revision": settings("guidelines: /etc/passwd@HEAD"),
    "guidelines above at a revision": settings("guidelines: ../host/secret.txt@HEAD"),
    "guidelines through a folder": settings("guidelines: guidelines/../../host/secret.txt"),
    "guidelines, a zero byte": settings('guidelines: "a\\0b"'),
    "keys as guidelines": settings("guidelines: .env"),
    "keys as guidelines, with a dot": settings("guidelines: ./.env"),
    "keys as a prompt": settings("prompt: .env"),
    "settings of Git as guidelines": settings("guidelines: .git/config"),
    "keys at a revision": settings("guidelines: .env@HEAD"),
    "keys below a hidden folder of ours": settings("guidelines: .cache/convex-evals/hunks/.env"),
    "a prompt above": settings("prompt: ../host/prompt.j2"),
    "a prompt, absolute": settings("prompt: /etc/passwd"),
    "a pipe for a task": pipe(f"evals/{EVAL}/TASK.txt"),
    "a pipe for guidelines": pipe("guidelines/convex.md"),
    "a pipe for a prompt": pipe("guidelines/prompt.j2"),
    "a pipe for settings": pipe("convex-evals.yaml"),
    "a pipe for an eval's settings": pipe(f"evals/{EVAL}/eval.json"),
    "a huge task": sparse(f"evals/{EVAL}/TASK.txt"),
    "huge guidelines": sparse("guidelines/convex.md"),
    "huge settings": sparse("convex-evals.yaml"),
    "a folder for a task": lambda s: (
        link(f"evals/{EVAL}/TASK.txt")(s),
        (s / f"evals/{EVAL}/TASK.txt").rename(s / "kept"),
        written({f"evals/{EVAL}/TASK.txt/x": "x"})(s),
    )[2],
    "no text": lambda s: void((s / f"evals/{EVAL}/TASK.txt").write_bytes(b"\xff\xfe\xfd")),
}


@pytest.mark.parametrize("name", BEHIND_LINKS)
@pytest.mark.parametrize("named", ["by -C", "as a checkout"])
def test_a_dry_run_reads_nothing_else(name: str, named: str, tmp_path: Path, invoke: Invoke) -> None:
    """Whatever would be in the prompt must come from files of the suite."""
    suite = make_suite(tmp_path)
    BEHIND_LINKS[name](suite)
    mine = write_files(tmp_path / "mine", {"models.yaml": "models: [{slug: openai/gpt-4o}]\n"})
    where, options = (mine, ["-C", str(suite)]) if named == "by -C" else (suite, [])
    start = time.monotonic()
    done = invoke(*options, "run", "-m", "openai/gpt-4o", "--dry-run", cwd=where)
    assert done.status == 1 and done.err.startswith("error: ") and done.err.count("\n") == 1, done.err
    assert time.monotonic() - start < 30 and SECRET not in done.out + done.err and "root:" not in done.err
    for arguments in (["list", "evals"], ["diff-guidelines", "HEAD"], ["guidelines", "coverage"], ["list"]):
        done = invoke(*options, *arguments, cwd=where)
        assert done.status in (0, 1) and "Traceback" not in done.err + done.out, done.err
        assert SECRET not in done.out + done.err


@pytest.mark.parametrize(
    "path",
    [
        "answer",
        "answer/convex",
        "answer/convex/main.ts",
        "wrong",
        "wrong/a",
        "wrong/a/convex",
        "accept/b",
        "answer/x.ts",
    ],
)
def test_projects_are_read_through_no_link(path: str, tmp_path: Path) -> None:
    suite = make_suite(tmp_path)
    link(f"evals/{EVAL}/{path}", "HOST/secret.txt" if path.endswith(".ts") else "HOST")(suite)
    ev = load_suite(suite).evals[0]
    found = []
    try:
        found = [ev.answer(), *ev.wrong(), *ev.accept()]
    except UserError as error:
        assert "is a link" in str(error) or "no package.json" in str(error)
    assert SECRET not in str([dict(p.files) for p in found])


def test_graders_are_shown_no_link(tmp_path: Path) -> None:
    suite = make_suite(tmp_path)
    packages = tmp_path / "main" / "node_modules"
    packages.mkdir(parents=True)
    write_files(suite, {"package.json": "{}", ".env": "A_KEY=x", "shared.ts": "1"})
    for name, target in (("ssh", tmp_path / "host"), ("env", suite / ".env"), ("past", suite / "runs")):
        (suite / name).symlink_to(target)
    (suite / "node_modules").symlink_to(packages)
    assert {p.name for p in grader_files(suite)} == {
        *("evals", "guidelines", "models.yaml", "node_modules", "package.json", "shared.ts")
    }
    assert {p.name for p in package_files(suite)} == {"node_modules", "package.json"}
    (suite / "node_modules").unlink()
    (suite / "node_modules").symlink_to(tmp_path / "host")
    (suite / "package.json").unlink()
    (suite / "package.json").symlink_to(tmp_path / "host" / "secret.txt")
    assert package_files(suite) == []


@pytest.mark.parametrize("path", ["models.yaml", ".env", "convex-evals.yaml"])
@pytest.mark.parametrize("plant", [pipe, sparse, lambda p: link(p, "HOST/secret.txt"), lambda p: link(p, "/dev/zero")])
def test_files_of_the_workspace_are_plain(
    path: str, plant: Callable[[str], Plant], tmp_path: Path, invoke: Invoke
) -> None:
    suite = make_suite(tmp_path)
    plant(path)(suite)
    done = invoke("models", "list", cwd=suite)
    assert done.status == 1 and done.err.count("\n") == 1 and done.err.startswith(f"error: {suite}/{path}"), done.err
    assert SECRET not in done.out + done.err


def test_a_record_does_not_say_which_file_is_sent(tmp_path: Path, invoke: Invoke) -> None:
    """`cli run --run` reads a plan, which may have come with a pull request."""
    suite = make_suite(tmp_path)
    for path in ("../host/secret.txt", str(tmp_path / "host/secret.txt"), "/etc/passwd", "../host/secret.txt@HEAD"):
        plan = next(iter(make_plan().evals))
        run = make_run(
            suite / "runs", {plan: "p"}, complete=False, model="openai/gpt-4o", synthetic=False, guidelines=path
        )
        done = invoke("run", "--run", run.plan.run_id, "--dry-run", cwd=suite)
        assert done.status == 1 and "leads out of" in done.err and done.err.count("\n") == 1, done.err
        shutil.rmtree(suite / "runs")
    write_files(suite, {".env": f"A_KEY={SECRET}\n"})
    for path in (".env", "guidelines/.hidden", ".env@HEAD"):
        plan = next(iter(make_plan().evals))
        run = make_run(
            suite / "runs", {plan: "p"}, complete=False, model="openai/gpt-4o", synthetic=False, guidelines=path
        )
        done = invoke("run", "--run", run.plan.run_id, "--dry-run", cwd=suite)
        assert done.status == 1 and "is hidden" in done.err and done.err.count("\n") == 1, done.err
        shutil.rmtree(suite / "runs")


def test_what_the_user_types_may_be_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suite = make_suite(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "linked.md").symlink_to(tmp_path / "host/convex.md")
    assert guidelines_text("host/convex.md", suite, given=True) == SECRET
    assert guidelines_text("linked.md", suite, given=True) == SECRET
    link("guidelines/convex.md", "HOST/secret.txt")(suite)
    for typed in ("guidelines/convex.md", "suite/guidelines/convex.md", str(suite / "guidelines/convex.md")):
        with pytest.raises(UserError, match="is a link"):
            guidelines_text(typed, suite, given=True)


def test_nothing_is_written_through_links(tmp_path: Path, invoke: Invoke) -> None:
    suite = make_suite(tmp_path)
    before = sorted((tmp_path / "host").iterdir())
    (suite / "evals/001-linked").symlink_to(tmp_path / "host")
    result = invoke("new-eval", "linked", "mine", cwd=suite)
    assert result.status == 1 and "is a link" in result.err and result.err.count("\n") == 1, result.err
    assert sorted((tmp_path / "host").iterdir()) == before
    from convex_evals.grading.codegen import Generated

    (suite / "evals/001-linked").unlink()
    ev = load_suite(suite).evals[0]
    link(f"evals/{EVAL}/answer/convex/_generated")(suite)
    generated = Generated(ev, {"convex/_generated/api.js": "x"}, ("convex/_generated/api.js",), (), 0.0)
    with pytest.raises(UserError, match="is a link"):
        generated.write()
    assert read_generated(ev.path / "answer") == {} and sorted((tmp_path / "host").iterdir()) == before


def test_a_reading_command_changes_nothing(tmp_path: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    suite = make_suite(tmp_path)
    make_run(tmp_path / "mine/runs", {EVAL: "f"})

    def state() -> dict[str, int]:
        return {str(p): p.lstat().st_mtime_ns for p in (suite, *suite.rglob("*"), *(tmp_path / "mine").rglob("*"))}

    write_files(tmp_path / "mine", {"models.yaml": "models: [{slug: openai/gpt-4o}]\n"})
    before = state()
    for arguments in (
        *(["list"], ["list", "evals"], ["show", "last"], ["show", "last", EVAL], ["leaderboard"], ["status"]),
        *(["run", "-m", "openai/gpt-4o", "--dry-run"], ["run", "-m", "reference", "--dry-run"], ["models", "list"]),
        *(["guidelines", "coverage"], ["report", "last", "--stdout"], ["report", "last", "--json"]),
    ):
        result = invoke("-C", suite, *arguments, cwd=tmp_path / "mine")
        assert result.status == 0, (arguments, result.err)
        assert state() == before, arguments


def test_reading_inside(tmp_path: Path) -> None:
    write_files(tmp_path, {"a/b.txt": "\ufeffx\r\ny", "c.txt": "z"})
    assert read_inside(tmp_path, "a/b.txt") == "x\ny" == read_inside(tmp_path, tmp_path / "a/b.txt")
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "whole").symlink_to(tmp_path)
    assert read_inside(tmp_path / "whole", "c.txt") == "z", "which folder the suite is its user says"
    for path in ("link/b.txt", "../x", "/etc/passwd", "a/../../x", "a", "a/b.txt/c", "nope", "a\0b", "whole/c.txt"):
        with pytest.raises(UserError) as error:
            read_inside(tmp_path, path)
        assert "\n" not in str(error.value)
    assert load_environment(tmp_path) is None  # type: ignore[func-returns-value]
