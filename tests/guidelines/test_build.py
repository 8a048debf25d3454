"""`cli guidelines build`: what is written where, what is refused, and what `--check` says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from convex_evals.guidelines.build import DEFAULT_OUT
from convex_evals.guidelines.editor_files import TOOLS
from tests.conftest import Invoke
from tests.factories import make_eval, make_git_repo, write_files

RULES = "# Rules\n\n- Be brief.\n<!-- evals: none\npage: docs.convex.dev/functions -->\n"
FILES = {
    ".cursor/rules/convex_rules.mdc",
    "AGENTS.md",
    "CLAUDE.md",
    ".github/copilot-instructions.md",
    ".windsurf/rules/convex_rules.md",
    "llms.txt",
    "llms-full.txt",
}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    make_eval(tmp_path)
    return write_files(tmp_path, {"guidelines/convex.md": RULES})


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def states(invoke: Invoke, *options: str | Path) -> dict[str, str]:
    data = json.loads(invoke("guidelines", "build", "--json", *options).out)
    return {file["file"]: file["state"] for file in data["files"]}


def test_all_files_are_written_once(suite: Path, invoke: Invoke) -> None:
    result = invoke("guidelines", "build")
    assert result.status == 0 and f"{suite / DEFAULT_OUT}: 7 files; sizes in bytes and tokens (" in result.out
    before = tree(suite / DEFAULT_OUT)
    assert before.keys() == FILES
    kept = (suite / DEFAULT_OUT / "AGENTS.md").stat().st_mtime_ns
    assert set(states(invoke).values()) == {"up to date"}
    assert (tree(suite / DEFAULT_OUT), (suite / DEFAULT_OUT / "AGENTS.md").stat().st_mtime_ns) == (before, kept)


def test_each_file_is_told_with_its_size_and_limit(suite: Path, invoke: Invoke) -> None:
    rules = "".join(f"- Rule {n}: {'x' * 80}\n<!-- evals: {'000-a/000-b' * (n > 0)} -->\n" for n in range(300))
    write_files(suite, {"guidelines/convex.md": f"# Rules\n\n## All\n\n{rules}"})
    data = json.loads(invoke("guidelines", "build", "--json").out)
    assert data["folder"] == str(suite / DEFAULT_OUT) and data["rules"] == 300
    files = {file["tool"]: file for file in data["files"]}
    windsurf = files["windsurf"]
    assert windsurf["bytes"] == len((suite / DEFAULT_OUT / windsurf["file"]).read_bytes())
    assert windsurf["size"] <= windsurf["limit"] == 12_000 and windsurf["unit"] == "characters" and windsurf["strict"]
    assert windsurf["documented"].startswith("https://docs.devin.ai/") and windsurf["tokens"] > 1_000
    assert windsurf["left_out"][0] == {"line": 5, "section": "All", "text": f"Rule 0: {'x' * 80}"}
    assert [rule["text"][:8] for rule in windsurf["left_out"][-1:]] == ["Rule 299"]
    assert files["copilot"]["left_out"] == [] and files["llms"]["limit"] is None
    out = invoke("guidelines", "build").out
    assert f"{windsurf['size']:,} of 12,000 characters" in out and "Left out are the rules that the fewest evals" in out
    assert invoke("guidelines", "build", "--format", "csv").out.startswith("tool,file,bytes,tokens,size,limit,unit,")


def test_only_the_tools_that_are_named_are_built(suite: Path, invoke: Invoke) -> None:
    assert states(invoke, "--tool", "claude", "--tool", "claude", "--out", "app") == {"CLAUDE.md": "written"}
    assert tree(suite / "app").keys() == {"CLAUDE.md"}
    result = invoke("guidelines", "build", "--tool", "emacs")
    assert result.status == 2 and "emacs" in result.err and "windsurf" in result.err
    assert all(tool in invoke("guidelines", "build", "--help").out for tool in TOOLS)


def test_check_names_what_is_out_of_date_and_writes_nothing(suite: Path, invoke: Invoke) -> None:
    result = invoke("guidelines", "build", "--check")
    assert result.status == 1 and not (suite / DEFAULT_OUT).exists()
    invoke("guidelines", "build")
    assert invoke("guidelines", "build", "--check").status == 0
    (suite / DEFAULT_OUT / "CLAUDE.md").unlink()
    with (suite / DEFAULT_OUT / "AGENTS.md").open("a") as file:
        file.write("More.\n")
    before = tree(suite / DEFAULT_OUT)
    result = invoke("guidelines", "build", "--check", "--json")
    assert result.status == 1 and tree(suite / DEFAULT_OUT) == before
    again = "write them by the same command without --check"
    assert result.err == f"error: out of date: AGENTS.md, CLAUDE.md; {again}\n"
    found = {file["file"]: file["state"] for file in json.loads(result.out)["files"]}
    assert (found["AGENTS.md"], found["CLAUDE.md"], found["llms.txt"]) == ("out of date", "missing", "up to date")
    assert invoke("guidelines", "build", "--check", "--tool", "cursor").status == 0


def test_sources_do_not_change_the_rules_but_evals_may(suite: Path, invoke: Invoke) -> None:
    invoke("guidelines", "build")
    write_files(suite, {"guidelines/convex.md": RULES.replace("docs.convex.dev/functions", "docs.convex.dev/other")})
    stale = {path for path, state in states(invoke, "--check").items() if state != "up to date"}
    assert stale == {"llms.txt"}


def test_a_file_of_somebody_else_is_not_replaced(suite: Path, invoke: Invoke) -> None:
    write_files(suite / "app", {"AGENTS.md": "# Ours\n"})
    result = invoke("guidelines", "build", "--out", "app")
    assert result.status == 1 and result.err == (
        f"error: {suite / 'app' / 'AGENTS.md'}: was not written by `cli guidelines build`, or edited since; "
        "move it away, or name another folder with --out\n"
    )
    assert tree(suite / "app") == {"AGENTS.md": b"# Ours\n"}, "nothing is written"
    assert invoke("guidelines", "build", "--out", "app", "--tool", "claude").status == 0
    write_files(suite, {"guidelines/convex.md": RULES.replace("brief", "short")})
    assert states(invoke, "--out", "app", "--tool", "claude") == {"CLAUDE.md": "written"}, "it is ours"
    path = suite / "app" / "CLAUDE.md"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert states(invoke, "--out", "app", "--tool", "claude") == {"CLAUDE.md": "up to date"}
    write_files(suite, {"guidelines/convex.md": RULES})
    assert states(invoke, "--out", "app", "--tool", "claude") == {"CLAUDE.md": "written"}
    path.write_text(f"{path.read_text()}\n- And a rule of my own.\n")
    assert "edited since" in invoke("guidelines", "build", "--out", "app", "--tool", "claude").err
    assert path.read_text().endswith("- And a rule of my own.\n")


def test_in_the_folder_of_the_suite_everything_is_replaced(suite: Path, invoke: Invoke) -> None:
    write_files(suite / DEFAULT_OUT, {"AGENTS.md": "<<<<<<< HEAD\n"})
    assert states(invoke)["AGENTS.md"] == "written"
    assert invoke("guidelines", "build", "--check").status == 0


@pytest.mark.parametrize("options", [(), ("--out", "app"), ("--check",)])
@pytest.mark.parametrize("link", ["AGENTS.md", ".cursor", ".github/copilot-instructions.md"])
def test_nothing_is_read_or_written_through_a_link(
    options: tuple[str, ...], link: str, suite: Path, tmp_path_factory: pytest.TempPathFactory, invoke: Invoke
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    path = suite / ("app" if "--out" in options else DEFAULT_OUT) / link
    path.parent.mkdir(parents=True)
    path.symlink_to(outside / "target" if "." in link[1:] else outside)
    result = invoke("guidelines", "build", *options)
    assert result.status == 1 and f"{path}: is a link" in result.err and result.err.count("\n") == 1
    assert tree(outside) == {}


def test_a_link_in_place_of_the_folder_of_the_suite_is_refused(
    suite: Path, tmp_path_factory: pytest.TempPathFactory, invoke: Invoke
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (suite / DEFAULT_OUT).symlink_to(outside)
    result = invoke("guidelines", "build")
    assert result.status == 1 and "is a link" in result.err and tree(outside) == {}
    # A folder that the user names may be one.
    assert invoke("guidelines", "build", "--out", DEFAULT_OUT).status == 0 and tree(outside).keys() == FILES


def test_what_is_in_the_way_is_one_line(suite: Path, invoke: Invoke) -> None:
    write_files(suite, {"app": "a file", "other/AGENTS.md/x": ""})
    for out, says in (("app", "a file is in the way of a folder"), ("other", "is a folder; move it away")):
        result = invoke("guidelines", "build", "--out", out)
        assert result.status == 1 and says in result.err and result.err.count("\n") == 1


def test_another_experiment_has_other_files(suite: Path, invoke: Invoke) -> None:
    settings = (
        "experiments:\n  short: {guidelines: guidelines/short.md}\n  old: {guidelines: guidelines/convex.md@HEAD}\n"
    )
    make_git_repo(write_files(suite, {"guidelines/short.md": "- Be.\n", "convex-evals.yaml": settings}))
    assert ".cursor/rules/short_rules.mdc" in states(invoke, "-e", "short", "--out", "short")
    assert (suite / "short" / "llms.txt").read_text().startswith("# short\n")
    write_files(suite, {"guidelines/convex.md": "- New.\n"})
    assert ".cursor/rules/convex_rules.mdc" in states(invoke, "-e", "old", "--out", "old")
    assert "- Be brief." in (suite / "old" / "AGENTS.md").read_text()
    result = invoke("guidelines", "build", "-e", "no_guidelines")
    assert result.status == 1 and "gives no guidelines; name another experiment" in result.err


def test_titles_of_pages_come_from_the_list_beside_the_guidelines(suite: Path, invoke: Invoke) -> None:
    write_files(suite, {"guidelines/sources.yaml": "docs.convex.dev/functions: All functions\n"})
    invoke("guidelines", "build")
    link = "- [All functions](https://docs.convex.dev/functions): 1 rule"
    assert link in (suite / DEFAULT_OUT / "llms.txt").read_text()
    for wrong in ("- a\n", "a: [b]\n", "a: {\n"):
        write_files(suite, {"guidelines/sources.yaml": wrong})
        result = invoke("guidelines", "build")
        assert result.status == 1 and "sources.yaml: expected a line `ADDRESS: TITLE`" in result.err


def test_a_suite_that_is_only_read_gets_no_files(
    suite: Path, tmp_path_factory: pytest.TempPathFactory, invoke: Invoke
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    result = invoke("-C", suite, "guidelines", "build", cwd=elsewhere)
    assert result.status == 1 and "only read; add --check or --out DIR" in result.err
    assert invoke("-C", suite, "guidelines", "build", "--out", "app", cwd=elsewhere).status == 0
    assert tree(elsewhere / "app").keys() == FILES
    assert invoke("-C", suite, "guidelines", "build", "--check", cwd=elsewhere).status == 1
