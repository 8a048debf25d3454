"""`cli diff-guidelines` and `cli guidelines coverage`, in repositories whose truth is known."""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt

from bench.fabricate import Campaign, eval_ids, make_repository, models, texts
from convex_evals.suite.prompt import guidelines_sha256
from tests import patience
from tests.commands import command
from tests.conftest import ROOT, Invoke, clean_environment
from tests.factories import make_eval, make_git_repo, make_plan, make_run, write_files
from tests.provider import Provider, models_yaml, serve

Golden = Callable[[str, str], None]
EVALS = eval_ids(40)
IMPROVED, REGRESSED = "acme/model-2", "acme/model-4"
# Commit 10 changes the rule about eval 30, commit 20 that about eval 20.
BETTER = frozenset(EVALS[n] for n in (30, 1, 2, 4, 6, 7, 9, 11, 13, 14, 17, 19, 22, 24, 25, 27, 33, 35, 36, 38))
WORSE = frozenset(EVALS[n] for n in (20, 0, 3, 5, 6, 8, 10, 12, 15, 16, 18, 21, 23, 26, 28, 29, 31, 34, 37, 39))
RAN = (0, 9, 10, 19, 20, 29)


def truth(model: str, eval_id: str, version: int) -> float:
    """Chances to pass: each model has its own for each eval; two changes of guidelines did something."""
    if model == IMPROVED and eval_id in BETTER:
        return 0.95 if version >= 10 else 0.05
    if model == REGRESSED and eval_id in WORSE:
        return 0.05 if version >= 20 else 0.95
    return random.Random(f"{model} {eval_id}").choice([0.1, 0.3, 0.5, 0.8, 0.9, 1.0])


@dataclass(frozen=True)
class World:
    suite: Path
    commits: list[str]
    versions: list[str]

    def at(self, version: int) -> str:
        return self.commits[version]


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """30 commits of guidelines; six models with 40 evals and 3 trials each ran at six of them."""
    suite = tmp_path_factory.mktemp("world")
    versions = texts(30, EVALS)
    commits = make_repository(suite, versions, EVALS)
    Campaign(models(6), RAN, EVALS, 3, truth).write(suite / "runs", versions)
    return World(suite, commits, versions)


def data(invoke: Invoke, world: World, *words: str) -> dict[str, Any]:
    result = invoke("diff-guidelines", *words, "--format", "json", cwd=world.suite)
    assert result.err == ""
    found: dict[str, Any] = json.loads(result.out)
    return found


def shown(found: dict[str, Any]) -> dict[str, str]:
    verdicts = {m["model"]: m["paired"]["verdict"] for m in found["models"]}
    return {m: v for m, v in verdicts.items() if v in ("improved", "regressed")}


@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        (9, 10, {IMPROVED: "improved"}),
        (19, 20, {REGRESSED: "regressed"}),
        (10, 19, {}),
        (20, 29, {}),
        (0, 29, {IMPROVED: "improved", REGRESSED: "regressed"}),
        (29, 0, {IMPROVED: "regressed", REGRESSED: "improved"}),
    ],
)
def test_what_was_planted_is_named_and_nothing_else(
    base: int, head: int, expected: dict[str, str], invoke: Invoke, world: World
) -> None:
    found = data(invoke, world, world.at(base), world.at(head))
    assert len(found["models"]) == 6 and shown(found) == expected and found["missing"] == []
    assert found["regressed"] == ("regressed" in expected.values())
    planted = {IMPROVED: BETTER, REGRESSED: WORSE}
    for model in found["models"]:
        sure = {f["eval"] for f in model["flips"] if f["surety"] == "sure"}
        assert sure <= planted.get(model["model"], frozenset())
    result = invoke("diff-guidelines", world.at(base), world.at(head), "--fail-on-regression", cwd=world.suite)
    assert result.status == (4 if found["regressed"] else 0)


def test_the_changed_rule_shows_what_its_eval_did(invoke: Invoke, world: World) -> None:
    rules = data(invoke, world, world.at(9), world.at(10))["rules"]
    assert [r["kind"] for r in rules] == ["changed"]
    (effect,) = rules[0]["evals"]
    assert effect["eval"] == EVALS[30]
    own = effect["models"][IMPROVED]
    assert own["a_scored"] == own["b_scored"] == 3 and own["b_passed"] > own["a_passed"]
    assert effect["total"]["b_scored"] == 18


@pytest.mark.parametrize("form", ["terminal", "markdown", "json"])
def test_golden(form: str, invoke: Invoke, world: World, golden: Golden) -> None:
    suffix = {"terminal": "txt", "markdown": "md", "json": "json"}[form]
    model = ["-m", "model-2"] if form == "json" else []
    result = invoke("diff-guidelines", world.at(9), world.at(20), *model, "--format", form, cwd=world.suite)
    assert result.status == 0 and result.err == ""
    golden(f"diff-guidelines.{suffix}", result.out.replace(str(world.suite), "DIR"))


FILE = "guidelines/convex.md"
EVAL, OTHER = "000-fundamentals/000-answer", "000-fundamentals/001-more"
ONE = f"# Rules\n\n- Answer.\n<!-- evals: {EVAL} -->\n- Be quick.\n"
TWO = ONE.replace("Answer", "Always answer")


IDENTITY = {f"GIT_{who}_{what}": "test@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


digest = guidelines_sha256


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """Guidelines ONE committed, TWO in the working tree."""
    folder = tmp_path / "suite"
    for eval_id in (EVAL, OTHER):
        make_eval(folder, eval_id)
    make_git_repo(
        write_files(
            folder,
            {
                FILE: ONE,
                "models.yaml": models_yaml("http://127.0.0.1:1"),
                ".gitignore": "runs\n.cache\n.env\n",
            },
        )
    )
    write_files(folder, {FILE: TWO})
    return folder


def ran(suite: Path, text: str, row: str, **changes: Any) -> None:
    run_id = f"default-{digest(text)[:8]}"
    own = {"model": "stub/model", "run_id": run_id, "guidelines_sha256": digest(text), "guidelines": FILE}
    make_run(suite / "runs", {EVAL: row, OTHER: row}, **{**own, **changes})


def test_no_runs(suite: Path, invoke: Invoke) -> None:
    result = invoke("diff-guidelines", "HEAD", cwd=suite)
    assert result.status == 0 and "No runs with either version; name models with -m" in result.out
    assert "~ line 3: [-Answer-]{+Always answer+}." in result.out
    assert f"{EVAL}  not run on both sides" in result.out
    run = invoke("diff-guidelines", "HEAD", "--run", cwd=suite)
    assert run.err == "error: --run: no model has runs with either version; name models with -m\n"
    named = json.loads(invoke("diff-guidelines", "HEAD", "-m", "model", "--format", "json", cwd=suite).out)
    commit = named["before"]["commit"][:12]
    assert [gap["command"] for gap in named["missing"]] == [
        f"cli run -m stub/model --guidelines {FILE}@{commit} --trials 3 -f '^{EVAL}$'",
        f"cli run -m stub/model --trials 3 -f '^{EVAL}$'",
    ], "the evals that the changed rules name"
    assert invoke("diff-guidelines", "HEAD", "-m", "modle", cwd=suite).err == (
        "error: modle: no such model; did you mean 'model'?\n"
    )


def test_one_side_alone_says_what_to_run(suite: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_KEY", "x")
    ran(suite, TWO, "pf")
    result = invoke("diff-guidelines", "HEAD", cwd=suite)
    (command,) = [line.strip() for line in result.out.splitlines() if line.strip().startswith("cli run")]
    label = f"HEAD ({data_of(suite, invoke)['before']['commit'][:7]})"
    assert f"No runs with {label}: stub/model\n  {command}\n  2 calls, usually $" in result.out
    # The command is what it says: it would ask for the same, at the same price.
    dry = json.loads(invoke(*shlex.split(command)[1:], "--dry-run", "--json", cwd=suite).out)
    (gap,) = data_of(suite, invoke)["missing"]
    assert [(r["calls"], r["usual_usd"], r["most_usd"]) for r in dry] == [(2, gap["usual_usd"], gap["most_usd"])]
    # A part of the suite, another folder for runs, and a suite that is named.
    shutil.rmtree(suite / "runs")
    make_run(
        suite.parent / "elsewhere",
        {EVAL: "p"},
        model="gone/model",
        guidelines_sha256=digest(TWO),
        guidelines=FILE,
    )
    words = ("-C", "suite", "diff-guidelines", "HEAD", "--runs-dir", "elsewhere")
    out = invoke(*words, cwd=suite.parent).out
    assert "cli -C suite run -m gone/model --guidelines " in out and f"-f '^{EVAL}$' --runs-dir elsewhere" in out
    assert "gone/model: no such model; " in out


def test_runs_that_make_no_pair_say_what_to_run(suite: Path, invoke: Invoke) -> None:
    planned = next(iter(make_plan().evals.values()))
    other = {"grader_sha256": "9" * 64, **KEY}
    ran(suite, ONE, "p", date="2026-01-01")
    ran(suite, TWO, "pf", date="2026-01-02", evals=dict.fromkeys((EVAL, OTHER), planned.model_copy(update=other)))
    result = invoke("diff-guidelines", "HEAD", cwd=suite)
    found = data_of(suite, invoke)
    commands = [gap["command"] for gap in found["missing"]]
    commit = found["before"]["commit"]
    assert commands == [
        f"cli run -m stub/model --guidelines {FILE}@{commit[:12]} --trials 2 -f '^{EVAL}$'",
        f"cli run -m stub/model --trials 2 -f '^{EVAL}$'",
    ]
    assert all(gap["unpaired"] and gap["calls"] == 2 and gap["usual_usd"] > 0 for gap in found["missing"])
    assert f"No run that makes a pair with HEAD ({commit[:7]}): stub/model\n  {commands[0]}\n  2 calls, usually $" in (
        result.out
    )
    assert "**No run that makes a pair with" in invoke("diff-guidelines", "HEAD", "--format", "markdown", cwd=suite).out


def test_runs_that_were_asked_otherwise_are_not_pooled(suite: Path, invoke: Invoke) -> None:
    """Prompt, model and parameters are in one key; with the guidelines of one side it must be the same."""
    planned = next(iter(make_plan().evals.values()))
    others = dict.fromkeys((EVAL, OTHER), planned.model_copy(update={"generation_key": "8" * 64}))
    ran(suite, ONE, "p", run_id="old", date="2026-01-01")
    ran(suite, ONE, "f", run_id="new", date="2026-01-02", evals=others)
    part: dict[str, Any] = {
        "model": "stub/model",
        "run_id": "part",
        "date": "2026-01-03",
        "guidelines_sha256": digest(ONE),
    }
    make_run(suite / "runs", {EVAL: "f"}, **part, evals={EVAL: others[EVAL]}, guidelines=FILE)
    ran(suite, TWO, "p", date="2026-01-04")
    (model,) = data_of(suite, invoke)["models"]
    assert [run["run_id"] for run in model["a"]["runs"]] == ["part", "new"]
    out = invoke("diff-guidelines", "HEAD", cwd=suite).out
    assert "was left out: another prompt around the same guidelines, or other parameters, than part." in out
    # Another task is another key, and says nothing.
    task = {e: plan.model_copy(update={"task_sha256": "7" * 64}) for e, plan in others.items()}
    ran(suite, TWO, "p", run_id="task", date="2026-01-05", evals=task)
    (model,) = data_of(suite, invoke)["models"]
    assert len(model["b"]["runs"]) == 2


def data_of(suite: Path, invoke: Invoke, *words: str, base: str = "HEAD") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(invoke("diff-guidelines", base, *words, "--format", "json", cwd=suite).out)
    return found


def test_no_change_for_models(suite: Path, invoke: Invoke) -> None:
    write_files(suite, {FILE: ONE})
    ran(suite, ONE, "p")
    out = invoke("diff-guidelines", "HEAD", cwd=suite).out
    assert out.endswith("No change for models: the texts are the same.\n") and "cli run" not in out
    write_files(suite, {FILE: ONE.replace("\n", "\r\n")})
    assert data_of(suite, invoke)["comments_changed"] is False
    write_files(suite, {FILE: ONE.replace(EVAL, OTHER)})
    out = invoke("diff-guidelines", "HEAD", cwd=suite).out
    assert out.endswith("No change for models: comments alone changed.\n")
    markdown = invoke("diff-guidelines", "HEAD", "--format", "markdown", cwd=suite).out
    assert markdown.startswith("### Guidelines: no change for models\n")
    write_files(suite, {FILE: ONE.replace("- Be quick.", "\n- Be quick.")})
    assert "Rules: none changed; blank lines, titles or rulers did." in invoke("diff-guidelines", "HEAD", cwd=suite).out


def test_what_else_differs_is_said(suite: Path, invoke: Invoke) -> None:
    ran(suite, ONE, "p")
    ran(suite, TWO, "f")
    # Another experiment, and another eval than the rule is about, do not count.
    ran(suite, TWO, "p", experiment="web_search", run_id="web_search-1")
    write_files(suite, {"guidelines/prompt.j2": "{% block user %}{{ task }}{% endblock %}"})
    found = data_of(suite, invoke)
    assert found["prompt_changed"] and [m["paired"]["verdict"] for m in found["models"]] == ["too_few"]
    out = invoke("diff-guidelines", "HEAD", cwd=suite).out
    assert "The prompt around the guidelines is another one too" in out and f"{EVAL}  1/1 -> 0/1" in out
    assert "Fewer than six evals differ, which can be chance whatever they say: stub/model 2" in out
    assert invoke("diff-guidelines", "HEAD", "--fail-on-regression", cwd=suite).status == 0
    (suite / FILE).unlink()
    gone = invoke("diff-guidelines", "HEAD", cwd=suite).out
    assert "Not in working tree: the file is not there." in gone and "Rules: 2 removed; 0 as they were." in gone
    assert "cli run" not in gone


def test_links_lead_to_pages_of_the_site(suite: Path, invoke: Invoke, tmp_path: Path) -> None:
    ran(suite, ONE, "p", model="acme/model (1)")
    ran(suite, TWO, "f", model="acme/model (1)", run_id="default-2")
    write_files(suite, {FILE: TWO.replace(f"evals: {EVAL}", f"evals: {EVAL}, 000-fundamentals/009-gone")})
    words = ("diff-guidelines", "HEAD", "--pages")
    markdown = invoke(*words, "https://example.org/(my) evals", "--format", "markdown", cwd=suite).out
    site = tmp_path / "site"
    assert invoke("site", site, cwd=suite).status == 0
    found = dict(re.findall(r"\[([^]]*)\]\(https://example\.org/%28my%29%20evals/([^)]*)\)", markdown))
    assert found.keys() == {"guidelines", "comparisons", "evals", f"`{EVAL}`", "acme/model (1)"}
    assert all((site / unquote(place)).is_file() for place in found.values()), found
    assert "- `000-fundamentals/009-gone`: no such eval" in markdown
    assert invoke(*words, "https://example.org", cwd=suite).status == 2
    assert invoke(*words, "javascript:x", "--format", "markdown", cwd=suite).status == 2


@pytest.mark.parametrize("form", ["terminal", "markdown"])
def test_what_is_in_no_pair_is_said(form: str, suite: Path, invoke: Invoke) -> None:
    planned = next(iter(make_plan().evals.values()))
    ran(suite, ONE, "pu")
    ran(suite, TWO, "p", evals={EVAL: planned, OTHER: planned.model_copy(update={"grader_sha256": "9" * 64, **KEY})})
    out = invoke("diff-guidelines", "HEAD", "--format", form, cwd=suite).out
    assert "stub/model: A has 1 unscored trial of these evals: 1 x " in out
    assert "stub/model: 1 eval is in no pair: other grader (1)" in out and "A is before, B is after" in out
    shutil.rmtree(suite / "runs")
    ran(suite, ONE, "p")
    ran(suite, TWO, "u")
    out = invoke("diff-guidelines", "HEAD", "--format", form, cwd=suite).out
    assert "No scored trial of: stub/model (after: timeout)" in out and "Fewer than six" not in out


@pytest.mark.parametrize("form", ["terminal", "markdown"])
def test_models_without_a_scored_trial_are_on_one_line(form: str, suite: Path, invoke: Invoke) -> None:
    for model, before, after in (("a", "p", "f"), ("b", "uu", "uu"), ("c", "uu", "uu"), ("d", "pp", "uu")):
        ran(suite, ONE, before, model=f"acme/{model}")
        ran(suite, TWO, after, model=f"acme/{model}", complete=model != "c")
    out = invoke("diff-guidelines", "HEAD", "--format", form, cwd=suite).out
    assert out.count("No scored trial of: acme/b, acme/c (timeout); acme/d (after: timeout)\n") == 1
    assert not re.search("^.*(tell .*acme/[bcd]|pair: no scored|not complete|corrected for).*$", out, re.MULTILINE)
    assert re.search("too few to tell( [|])? +acme/a ", out)
    if form == "markdown":
        assert out.startswith("### Guidelines: 1 too few to tell, 3 without a scored trial\n")
    assert [m["model"] for m in data_of(suite, invoke)["models"]] == ["acme/a", "acme/b", "acme/c", "acme/d"]
    shutil.rmtree(suite / "runs" / "acme" / "a")
    out = invoke("diff-guidelines", "HEAD", "--format", form, cwd=suite).out
    assert "No scored trial of: acme/b, acme/c (timeout); acme/d (after: timeout)\n" in out and "tell" not in out
    assert out.startswith("### Guidelines: 3 without a scored trial\n") == (form == "markdown")


KEY = {"grading_key": "9" * 64}


def test_a_problem_of_all_models_is_said_once(suite: Path, invoke: Invoke) -> None:
    for n in range(3):
        ran(suite, TWO, "p", model=f"acme/model-{n}")
    listed = "".join(f"  - {{slug: acme/model-{n}, litellm: openai/model, key_env: STUB_KEY}}\n" for n in range(3))
    write_files(suite, {"models.yaml": f"models:\n{listed}"})
    (suite / "evals" / EVAL / "grader.test.ts").unlink()
    assert invoke("diff-guidelines", "HEAD", cwd=suite).out.count("no grader.test.ts") == 1


@pytest.mark.parametrize("form", ["terminal", "markdown"])
def test_a_huge_rule_shows_what_changed_in_it(form: str, suite: Path, invoke: Invoke) -> None:
    long = " ".join(f"word{n}" for n in range(1_200))
    write_files(suite, {FILE: f"- {long} end.\n- Short.\n"})
    subprocess.run(["git", "commit", "-qam", "Long"], cwd=suite, check=True, env={**os.environ, **IDENTITY})
    write_files(suite, {FILE: f"- {long} finish.\n- Short.\n- {'much ' * 2_000}\n"})
    out = invoke("diff-guidelines", "HEAD", "--format", form, cwd=suite).out
    assert "finish" in out and "word1199" in out and "word600" not in out
    assert "much much" in out and len(out) < 4_000
    write_files(suite, {FILE: f"- {long} {'more ' * 210}end.\n- Short.\n"})
    out = invoke("diff-guidelines", "HEAD", "--format", form, cwd=suite).out
    assert "more more" in out and len(out) < 4_000


@pytest.mark.full
@pytest.mark.grading
@pytest.mark.usefixtures("toolchain")
def test_what_is_missing_can_be_run(suite: Path) -> None:
    with serve(Provider(reply="There is nothing to write.\n" * 20)) as stub:
        write_files(suite, {"models.yaml": models_yaml(stub.url), ".env": "STUB_KEY=key"})
        words = ["diff-guidelines", "HEAD", "-m", "model", "--run", "--budget", "5", "--format", "json"]
        done = command(suite, *words)
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert found["missing"] == [] and [m["model"] for m in found["models"]] == ["stub/model"]
        assert len(stub.requests) == 6, "three trials a side, of the eval that the changed rule names"
        given = {"Always answer." in json.dumps(body) for body in stub.requests}
        assert given == {True, False}


def test_runs_without_guidelines_are_compared_with_runs_that_have_them(suite: Path, invoke: Invoke) -> None:
    bare: dict[str, Any] = {"experiment": "no_guidelines", "guidelines": None, "guidelines_sha256": None}
    make_run(suite / "runs", {EVAL: "f", OTHER: "f"}, model="stub/model", run_id="no_guidelines-1", **bare)
    out = invoke("diff-guidelines", "none", cwd=suite).out
    assert out.startswith(f"{FILE}  default\nno guidelines -> working tree\n") and out.endswith("Rules: all 2 added.\n")
    assert "No runs with working tree: stub/model\n  cli run -m stub/model\n" in out
    ran(suite, TWO, "p")
    # Another experiment without guidelines, and what no model was asked for, do not count.
    make_run(suite / "runs", {EVAL: "p"}, run_id="w-1", **{**bare, "experiment": "web_search_no_guidelines"})
    make_run(suite / "runs", {EVAL: "p"}, model="reference/answers", run_id="n-2", synthetic=True, **bare)
    (model,) = data_of(suite, invoke, base="none")["models"]
    assert (model["model"], model["paired"]["a_rate"], model["paired"]["b_rate"]) == ("stub/model", 0, 1)
    back = data_of(suite, invoke, "none")
    assert back["rules"] == [] and back["after"]["path"] is None
    assert "\n\nRules: all 2 removed.\n" in invoke("diff-guidelines", "HEAD", "none", cwd=suite).out
    shutil.rmtree(suite / "runs")
    ran(suite, TWO, "p")
    out = invoke("diff-guidelines", "none", cwd=suite).out
    assert "No runs without guidelines: stub/model\n  cli run -m stub/model -e no_guidelines\n" in out
    markdown = invoke("diff-guidelines", "none", "--format", "markdown", cwd=suite).out
    assert "**No runs without guidelines:** stub/model" in markdown
    assert f"`{FILE}`, no guidelines → `working tree`" in markdown


HOSTILE = "@octocat #1 <img src=x onerror=alert(1)> ![x](http://evil) [a](javascript:x) | `b` ~~~ ``` </details> <!-- x"


@pytest.mark.full
def test_markdown_fits_into_a_comment_and_says_what_it_leaves_out(suite: Path, invoke: Invoke) -> None:
    before = "".join(f"- Rule {n}: {'words of it ' * 20}\n<!-- evals: {EVAL} -->\n" for n in range(900))
    write_files(suite, {FILE: before})
    subprocess.run(["git", "commit", "-qam", "Many"], cwd=suite, check=True, env={**os.environ, **IDENTITY})
    write_files(suite, {FILE: before.replace("words of it", f"other words {HOSTILE}", 1).replace(": words", ": terms")})
    for n in range(70):
        ran(suite, before, "p", model=f"acme/model-{n}")
    ran(suite, (suite / FILE).read_text(), "f", model="acme/model-1")
    markdown = invoke("diff-guidelines", "HEAD", "--format", "markdown", cwd=suite).out
    assert 30_000 < len(markdown.encode()) <= 60_000
    assert re.search(r"_Left out, for length: [\d,]+ rules\. `cli diff-guidelines`", markdown)
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown)
    assert "<img" not in html and 'href="' not in html and html.count("<details") == html.count("</details>")


def test_coverage(suite: Path, invoke: Invoke) -> None:
    text = f"# Rules\n\n- Answer.\n<!-- evals: {EVAL} -->\n- Be quick.\n"
    write_files(suite, {FILE: text})
    ran(suite, text, "pp")
    out = invoke("guidelines", "coverage", cwd=suite)
    assert out.status == 0 and "Rules that no eval exercises:\n  line 5: Rules: Be quick.\n" in out.out
    assert f"Evals that no rule names:\n  {OTHER}\n" in out.out and "Evals that no rule helps: not known" in out.out
    bare: dict[str, Any] = {
        "experiment": "no_guidelines",
        "guidelines": None,
        "guidelines_sha256": None,
        "model": "stub/model",
    }
    make_run(suite / "runs", {EVAL: "pp", OTHER: "pf"}, run_id="no_guidelines-1", **bare)
    ran(suite, text, "pf", run_id="default-2")
    found = json.loads(invoke("guidelines", "coverage", "--json", cwd=suite).out)
    assert found["benefit"]["models"] == ["stub/model"] and found["errors"] == []
    assert [p["eval"] for p in found["benefit"]["passed_anyway"]] == [EVAL]
    assert found["benefit"]["not_helped"] == []
    make_run(
        suite / "runs",
        {EVAL: "ff", OTHER: "ff"},
        run_id="default-3",
        **{**bare, "experiment": "default", "guidelines": FILE, "guidelines_sha256": digest(text)},
    )
    # Web search is held against web search without guidelines, not against nothing of either.
    given = {"guidelines_sha256": digest(text), "guidelines": FILE}
    web: dict[str, Any] = {**bare, **given, "experiment": "web_search"}
    make_run(suite / "runs", {EVAL: "p"}, run_id="web_search-1", **web)
    searched = ("guidelines", "coverage", "-e", "web_search", "--json")
    assert json.loads(invoke(*searched, cwd=suite).out)["benefit"] is None
    alike: dict[str, Any] = {**bare, "experiment": "web_search_no_guidelines"}
    make_run(suite / "runs", {EVAL: "f"}, run_id="web_search_no_guidelines-1", **alike)
    assert json.loads(invoke(*searched, cwd=suite).out)["benefit"]["against"] == "web_search_no_guidelines"
    out = invoke("guidelines", "coverage", cwd=suite)
    assert re.search(rf"{OTHER} +1/2 +3/6", out.out) and "Besides, 1 evals always pass without" in out.out


def test_names_of_no_eval_are_errors(suite: Path, invoke: Invoke) -> None:
    text = f"<!-- evals: {EVAL} -->\n# Rules\n\n- Answer.\n<!-- evals: 000-fundamentals/000-anwser, x/y -->\n"
    write_files(suite, {FILE: text})
    result = invoke("guidelines", "coverage", cwd=suite)
    assert result.status == 1 and result.err.splitlines() == [
        f"error: {FILE}:4: the rule names '000-fundamentals/000-anwser', which is no eval here; did you mean '{EVAL}'?",
        f"error: {FILE}:4: the rule names 'x/y', which is no eval here; `cli list evals` shows them",
        f"error: {FILE}:1: names evals where no rule is above; put it after the rule",
    ]
    assert "gives no guidelines" in invoke("guidelines", "coverage", "-e", "no_guidelines", cwd=suite).err


@pytest.mark.full
def test_the_benchmark_runs() -> None:
    argv = [sys.executable, "bench/compare.py", "--commits", "5", "--results", "480", "--times", "1", "--json"]
    env = clean_environment(PYTHONPATH=str(ROOT))
    done = subprocess.run(
        argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=patience.seconds(120), check=False
    )
    report = json.loads(done.stdout)
    # A busy machine may miss a target; that the exit code says so is what counts here.
    assert done.returncode == (0 if all(report["met"].values()) else 1), done.stderr
    assert (report["commits"], report["results"], report["compared"]) == (5, 480, 6)


@pytest.mark.full
@pytest.mark.grading
@pytest.mark.usefixtures("toolchain")
def test_what_was_asked_before_is_in_no_price(suite: Path) -> None:
    with serve(Provider(reply="There is nothing to write.\n" * 20)) as stub:
        write_files(suite, {"models.yaml": models_yaml(stub.url), ".env": "STUB_KEY=key"})
        words = ["diff-guidelines", "HEAD", "-m", "model", "--format", "json"]
        assert [gap["calls"] for gap in json.loads(command(suite, *words).stdout)["missing"]] == [3, 3]
        asked = command(suite, "run", "-m", "model", "-f", EVAL, "--trials", "2", "--only", "ask")
        assert asked.returncode == 0 and len(stub.requests) == 2
        (gap,) = json.loads(command(suite, *words).stdout)["missing"]
        assert gap["calls"] == 2
        part = [*shlex.split(gap["command"])[1:], "--trials", "1", "--only", "ask"]
        assert command(suite, *part).returncode == 0 and len(stub.requests) == 3
        # Neither is graded, so they make no pair; to run both commands asks for nothing again.
        gaps = json.loads(command(suite, *words).stdout)["missing"]
        assert [(gap["calls"], gap["usual_usd"]) for gap in gaps] == [(0, 0), (0, 0)]
        for gap in gaps:
            assert command(suite, *shlex.split(gap["command"])[1:]).returncode == 0
        assert len(stub.requests) == 3 and json.loads(command(suite, *words).stdout)["missing"] == []
