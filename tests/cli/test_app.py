"""Every command: exit code and output. What can go wrong is one clear line."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from convex_evals.cli.app import COMMANDS
from convex_evals.models.catalog import shipped_models
from convex_evals.models.keys import KEYS
from convex_evals.vcs.origin import own_origin
from tests.conftest import ROOT, Invoke, clean_environment
from tests.factories import make_eval, make_generation_file, make_grade_file, make_plan, write_files


def test_every_command_is_listed_with_its_whole_line(invoke: Invoke) -> None:
    folder = ROOT / "convex_evals/cli/commands"
    files = [*folder.glob("[!_]*.py"), *(path.parent for path in folder.glob("*/__init__.py"))]
    modules = {path.stem.replace("_", "-") for path in files}
    assert set(COMMANDS) == modules
    help_ = invoke("--help").out
    for name, summary in COMMANDS.items():
        line = f"  {name:<{max(map(len, COMMANDS))}}  {summary}"
        assert line in help_.splitlines() and len(line) <= 80


def test_help_teaches(invoke: Invoke) -> None:
    result = invoke("--help")
    assert result.status == 0 and "Examples:" in result.out
    for command in COMMANDS:
        help_ = invoke(command, "--help")
        assert help_.status == 0 and "Example" in help_.out


def test_help_imports_nothing_heavy() -> None:
    code = "import sys; from convex_evals.cli.app import cli; cli(['--help'], standalone_mode=False)"
    code += "; print(sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()[-1]
    assert not [
        m
        for m in ("pydantic", "httpx", "git", "rich", "litellm", "markdown_it", "numpy", "scipy")
        if f"'{m}'" in loaded
    ]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["valdate"], 2, "no command 'valdate'; did you mean 'validate'?"),
        (["run"], 2, "Missing option '-m' / '--model'"),
        (["validate", "--nope"], 2, "No such option"),
        (["list", "-c", "x"], 2, "-f, -c and --tag choose evals: `cli list evals`"),
        (
            ["list", "evals"],
            1,
            "not a suite (no evals/ folder); go to one, name one with -C DIR, or make one with `cli init",
        ),
        (["-C", "nowhere", "validate"], 1, "nowhere: no such folder; -C takes the folder of a suite"),
        (["-C", "README.md", "validate"], 1, "README.md: is a file; -C takes the folder of a suite"),
        (["init", "."], 1, "README.md: already exists; name a new folder, or move it away"),
    ],
)
def test_wrong_usage(arguments: list[str], status: int, message: str, invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine")
    result = invoke(*arguments)
    assert result.status == status and message in result.err
    assert "Traceback" not in result.err
    if status == 1:
        assert result.err.count("\n") == 1


def test_unknown_names(invoke: Invoke, tmp_path: Path) -> None:
    make_eval(tmp_path)
    for arguments, message in [
        (
            ["run", "-m", "zzz/model"],
            "error: zzz/model: no such model; LiteLLM does not know it either; add it to models.yaml; "
            "`cli models list` shows what is there\n",
        ),
        (
            ["run", "-m", "reference", "-c", "fundamental"],
            "error: -c fundamental: no such category; did you mean 'fundamentals'?\n",
        ),
        (["validate", "-f", "zzz"], "error: no eval matches -f 'zzz'; `cli list evals` shows the only one\n"),
        (["show", "last"], f"error: {tmp_path}/runs: no runs here yet; `cli run --model reference` makes one\n"),
    ]:
        result = invoke(*arguments)
        assert (result.status, result.err) == (1, message)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"grader.test.ts": None}, "no grader.test.ts; write the grader"),
        ({"TASK.txt": None}, "no TASK.txt; write what the model is asked"),
        ({"TASK.txt": " \n"}, "TASK.txt: empty; write what the model is asked"),
        ({"eval.yaml": "timeouts: {test: 1}"}, "unknown key 'timeouts.test'; did you mean 'tests'?"),
    ],
)
def test_incomplete_evals(files: dict[str, str | None], message: str, invoke: Invoke, tmp_path: Path) -> None:
    make_eval(tmp_path, files=files)
    refused = invoke("run", "-m", "reference")
    assert refused.status == 1 and message in refused.err and refused.err.count("\n") == 1
    told = invoke("validate")
    assert told.status == 4 and message in told.out and told.out.count("\n") == 1


def test_all_that_an_eval_lacks_is_told_at_once(invoke: Invoke, tmp_path: Path) -> None:
    make_eval(tmp_path, files={"grader.test.ts": None, "TASK.txt": "\n", "eval.yaml": "tgas: []"})
    assert invoke("validate").out.count("off: 000-fundamentals/000-answer: cannot be graded: ") == 3


def test_listing_and_showing(invoke: Invoke, tmp_path: Path) -> None:
    from convex_evals.store.runs import RunStore
    from convex_evals.store.summary import summarize

    make_eval(tmp_path)
    assert "No runs in" in invoke("list").out
    assert "000-fundamentals/000-answer" in invoke("list", "evals").out
    assert json.loads(invoke("list", "evals", "--json").out)[0]["eval"] == "000-fundamentals/000-answer"
    run = RunStore(tmp_path / "runs").create(make_plan())
    assert "incomplete" in invoke("list").out
    assert "not done" in invoke("show", "last").out
    run.write_eval(make_generation_file(), {1: "# Files\n"}, make_grade_file())
    run.write_summary(summarize(run))
    assert "1/1" in invoke("list").out
    assert json.loads(invoke("list", "--json").out)[0]["summary"]["counts"]["passed"] == 1
    shown = invoke("show", "default")
    assert "000-fundamentals/000-answer" in shown.out and "100%" in shown.out
    assert json.loads(invoke("show", "last", "--json").out)["complete"] is True
    detail = invoke("show", "last", "answer")
    assert "✓ answers (3 ms)" in detail.out
    assert json.loads(invoke("show", "last", "answer", "--json").out)["trials"][0]["outcome"] == "passed"
    assert "no such eval in this run" in invoke("show", "last", "zzz").err


def test_answers_that_no_reply_could_hold(tmp_path: Path) -> None:
    import asyncio

    from convex_evals.errors import UserError
    from convex_evals.models import Ask
    from convex_evals.models.reference import ReferenceSolver
    from convex_evals.store.replies import ReplyFile
    from convex_evals.suite.prompt import Prompt
    from convex_evals.suite.suite import load_suite

    make_eval(tmp_path, files={"answer/convex/my file.ts": "export {};"})
    ask = Ask(load_suite(tmp_path).evals[0], 1, "key", Prompt("", "task"))
    with pytest.raises(UserError, match=r"answer/convex/my file\.ts: no reply could hold this file"):
        asyncio.run(ReferenceSolver().respond(ask, ReplyFile(tmp_path / "1.jsonl")))


def test_a_damaged_run_is_one_line(invoke: Invoke, tmp_path: Path) -> None:
    make_eval(tmp_path)
    write_files(tmp_path, {"runs/a/b/2026-01-01/x/run.json": "{"})
    result = invoke("list")
    assert result.status == 1 and "not valid JSON" in result.err and result.err.count("\n") == 1


def test_init_lays_out_a_repository(invoke: Invoke, tmp_path: Path) -> None:
    result = invoke("init", "new")
    assert result.status == 0 and "Next: cd new && git init && cli validate" in result.out
    assert (tmp_path / "new" / ".gitignore").is_file()
    requirements = (tmp_path / "new" / "requirements.txt").read_text()
    known = own_origin().requirement(version("convex-evals"))
    assert requirements.endswith(f"{known or 'convex-evals @ git+https://REPOSITORY@COMMIT'}\n")
    assert ("no repository is known to have this very convex-evals" in result.err) is (known is None)
    assert {p.stem for p in (tmp_path / "new" / ".github" / "workflows").iterdir()} == {
        *("ask-and-grade", "guidelines-comment", "manual", "nightly", "pages", "periodic", "pr"),
        *("validate-guidelines", "validation-round"),
    }
    assert "000-fundamentals/000-greeting" in invoke("list", "evals", cwd=tmp_path / "new").out
    again = invoke("init", "new")
    assert again.status == 1 and "already exists" in again.err


def test_new_eval_takes_the_next_number(invoke: Invoke, tmp_path: Path) -> None:
    make_eval(tmp_path)
    result = invoke("new-eval", "fundamentals", "second_thoughts")
    folder = tmp_path / "evals" / "000-fundamentals" / "001-second_thoughts"
    assert result.status == 0 and "cli validate -f 000-fundamentals/001-second_thoughts" in result.out
    assert '"second-thoughts"' in (folder / "TASK.txt").read_text()
    assert '"name": "second-thoughts"' in (folder / "answer" / "package.json").read_text()
    assert invoke("new-eval", "001-others", "first").status == 0
    assert (tmp_path / "evals" / "001-others" / "000-first" / "grader.test.ts").is_file()


@pytest.mark.parametrize(
    ("category", "name", "complaint"),
    [
        ("fundamental", "x", "'fundamental': no such category; did you mean 'fundamentals'?"),
        ("agents", "x", "no such category; available: 000-fundamentals (a new one is named with its number"),
        ("fundamentals", "Two Words", "'Two Words': a name is lower-case words joined by '_'"),
        ("fundamentals", "../up", "'../up': a name is lower-case words joined by '_'"),
        ("fundamentals", "answer", "000-answer: already exists; choose another name"),
    ],
)
def test_new_eval_refuses(invoke: Invoke, tmp_path: Path, category: str, name: str, complaint: str) -> None:
    make_eval(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    result = invoke("new-eval", category, name)
    assert result.status == 1 and complaint in result.err and result.err.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_doctor_names_what_is_missing(invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONVEX_EVALS_CACHE", str(tmp_path / "empty"))
    result = invoke("doctor", "--json")
    findings = {f["part"]: f for f in json.loads(result.out)}
    assert result.status == 1
    assert findings["toolchain"]["status"] == "missing" and findings["toolchain"]["remedy"] == "cli doctor --install"
    assert findings["Python"]["status"] == findings["git"]["status"] == findings["Node.js"]["status"] == "ok"
    assert "-> cli doctor --install" in invoke("doctor").out
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CONVEX_EVALS_CACHE", str(tmp_path / "file"))
    result = invoke("doctor")
    assert result.status == 1 and f"broken   cache             {tmp_path}/file: File exists" in result.out
    assert "Node.js" not in result.out


def test_doctor_names_mistakes_in_settings(invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONVEX_EVALS_CACHE", str(tmp_path / "empty"))

    def settings() -> str:
        (line,) = [line for line in invoke("doctor").out.splitlines() if line.split()[1] == "settings"]
        return line

    assert settings() == f"absent   settings          {tmp_path}: not a suite; the keys are those of the shipped models"
    make_eval(tmp_path)
    assert settings() == f"ok       settings          {tmp_path}: convex-evals.yaml and models.yaml have no mistake"
    for name, text in (("models.yaml", "models:\n  - name: x\n"), ("convex-evals.yaml", "runs_dir: runs\nworker: 3\n")):
        (tmp_path / name).write_text(text)
        assert settings().startswith(f"broken   settings          {tmp_path / name}:2: ")
    assert settings().endswith("convex-evals.yaml:2: unknown key 'worker'; did you mean 'workers'?")
    (tmp_path / "convex-evals.yaml").write_text("workers: [1,\n")
    assert f"{tmp_path}/convex-evals.yaml:2:1: not valid YAML" in settings() and invoke("doctor").status == 1


def test_a_closed_pipe_is_quiet(tmp_path: Path) -> None:
    make_eval(tmp_path)
    command = f"{sys.executable} {ROOT / 'cli.py'} list evals | head -n 0"
    done = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, env=clean_environment(), capture_output=True, text=True
    )
    assert done.stderr == ""


def test_a_bug_leaves_a_log_file(invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import convex_evals.suite.suite

    def broken(root: Path) -> None:
        raise ZeroDivisionError("oops")

    make_eval(tmp_path)
    monkeypatch.setattr(convex_evals.suite.suite, "load_suite", broken)
    result = invoke("list", "evals")
    assert (
        result.status == 3
        and "error: this is a bug in convex-evals: ZeroDivisionError: oops; details in " in result.err
    )
    log = Path(result.err.strip().rpartition(" ")[2])
    assert "ZeroDivisionError" in log.read_text()
    log.unlink()


def test_keys_are_shown_as_set_or_missing_and_never_as_they_are(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "planted-key-0123456789"
    for name in ("OURS_KEY", *(name for entry in shipped_models() for name in KEYS[entry.provider])):
        monkeypatch.setenv(name, "")  # so that what the command takes from .env is forgotten afterwards
        monkeypatch.delenv(name)
    monkeypatch.setenv("CONVEX_EVALS_CACHE", str(tmp_path / "cache"))
    (finding,) = [f for f in json.loads(invoke("doctor", "--json").out) if f["part"] == "keys"]
    assert finding["status"] == "absent" and finding["detail"] == "0 of 11 are set" and finding["remedy"]
    make_eval(tmp_path)
    own = "models: [{slug: ours/x, litellm: openai/x, base_url: 'http://127.0.0.1:1/v1', key_env: OURS_KEY}]\n"
    write_files(tmp_path, {"models.yaml": own, ".env": f"OURS_KEY={secret}\nGOOGLE_API_KEY={secret}\n"})
    (finding,) = [f for f in json.loads(invoke("doctor", "--json").out) if f["part"] == "keys"]
    assert finding["status"] == "ok" and finding["detail"] == "2 of 12 are set"
    assert finding["tried"]["OURS_KEY"] == "set" and finding["tried"]["OPENAI_API_KEY"] == "missing"
    listed = {m["slug"]: m for m in json.loads(invoke("models", "list", "--json").out)}
    assert listed["ours/x"]["key"] == {"variable": "OURS_KEY", "set": True} and not listed["ours/x"]["shipped"]
    assert listed["gemini/gemini-3.8-flash"]["key"] == {"variable": "GOOGLE_API_KEY", "set": True}
    assert listed["openai/gpt-5"]["key"] == {"variable": "OPENAI_API_KEY", "set": False}
    assert "key                  OPENAI_API_KEY: missing" in invoke("models", "show", "gpt-5").out
    for words in (["doctor"], ["models", "list"], ["models", "list", "--json"], ["models", "show", "ours/x"]):
        assert secret not in invoke(*words).out
