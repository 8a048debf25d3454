"""What people get wrong is answered by one line that says where, what and what to do."""

from __future__ import annotations

import csv
import io
import json
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from tests import patience
from tests.conftest import ROOT, Invoke, clean_environment
from tests.factories import EVAL, make_eval, make_run

RUN = Path("runs/acme/model-1/2026-01-31/default-0001")


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    make_eval(tmp_path, EVAL)
    make_run(tmp_path / "runs", {EVAL: "p"}, run_id="default-0001", date="2026-01-31")
    assert (tmp_path / RUN).is_dir()
    return tmp_path


def complaint(invoke: Invoke, *words: str) -> str:
    result = invoke(*words)
    assert result.status == 1 and result.err.startswith("error: ") and result.err.count("\n") == 1, result.err
    return result.err.removeprefix("error: ").rstrip("\n")


@pytest.mark.parametrize(
    ("file", "command", "advice"),
    [
        ("convex-evals.yaml", "list", "is a folder; put a file there"),
        ("models.yaml", "models list", "is a folder; put a file there"),
        (".env", "models list", "is a folder; put a file there"),
        (f"evals/{EVAL}/TASK.txt", "run -m reference", "is not a regular file; put one there"),
        (f"evals/{EVAL}/eval.yaml", "run -m reference", "is a folder; put a file there"),
        ("guidelines/convex.md", "guidelines coverage", "is a folder; put a file there"),
        (f"{RUN}/summary.json", "show last", "is a folder; move it away"),
        (f"{RUN}/evals/{EVAL}/generation.json", "show last answer", "is a folder; move it away"),
    ],
)
def test_a_folder_where_a_file_belongs(file: str, command: str, advice: str, suite: Path, invoke: Invoke) -> None:
    (suite / file).unlink(missing_ok=True)
    (suite / file).mkdir(parents=True)
    assert complaint(invoke, *command.split()) == f"{suite / file}: {advice}"


@pytest.mark.parametrize(
    "command", ["list", "status", "show last", "run -m reference", "prune --keep 1", "leaderboard"]
)
def test_a_file_where_results_belong(command: str, suite: Path, invoke: Invoke) -> None:
    (suite / "file").write_text("")
    words = [*command.split(), "--runs-dir", "file"]
    assert complaint(invoke, *words) == f"{suite}/file: is a file; move it away, or name a folder with --runs-dir"


@pytest.mark.parametrize("model", ["-m reference", "-m demo", "-m reference -e no_guidelines"])
@pytest.mark.parametrize("command", ["run --dry-run", "plan"])
def test_guidelines_that_are_not_there_are_refused_whether_a_model_reads_them(
    command: str, model: str, suite: Path, invoke: Invoke
) -> None:
    said = complaint(invoke, *f"{command} {model} --guidelines nosuch.md".split())
    assert (
        said
        == f"{suite / 'nosuch.md'}: no such file; name other guidelines with --guidelines PATH, or use -e no_guidelines"
    )


@pytest.mark.parametrize(
    "command", ["run -m reference", "plan -m demo", "leaderboard", "history -m acme/model-1", "guidelines coverage"]
)
def test_an_experiment_that_there_is_not(command: str, suite: Path, invoke: Invoke) -> None:
    said = complaint(invoke, *command.split(), "-e", "no_guideline")
    assert said == "-e no_guideline: no such experiment; did you mean 'no_guidelines'?"


@pytest.mark.parametrize(
    ("text", "message"), [("a: [", "not valid YAML"), ("pipeline: x", "pipeline: input should be")]
)
def test_a_list_of_evals_names_broken_settings(text: str, message: str, suite: Path, invoke: Invoke) -> None:
    (suite / "evals" / EVAL / "eval.yaml").write_text(text)
    result = invoke("list", "evals")
    assert result.status == 0 and EVAL in result.out
    assert result.err.startswith("warning: ") and result.err.count("\n") == 1 and message in result.err


def test_a_damaged_record_is_restored_from_git(suite: Path, invoke: Invoke) -> None:
    path = suite / RUN / "run.json"
    path.write_text('{"kind": "run", "schema": 1}')
    assert complaint(invoke, "show", "last") == f"{path}: run_id: field required; restore the file from Git"
    (suite / "models.yaml").write_text("models: 3")
    assert complaint(invoke, "models", "list").endswith("models.yaml:1: models: input should be a valid list")


@pytest.mark.parametrize("command", ["list", "leaderboard", "prune --keep 1"])
def test_nothing_at_all_in_each_format(command: str, tmp_path: Path, invoke: Invoke) -> None:
    make_eval(tmp_path)
    texts = {form: invoke(*command.split(), "--format", form).out for form in ("markdown", "json", "csv")}
    assert texts["markdown"].strip() and "|" not in texts["markdown"]
    found = json.loads(texts["json"])
    assert not any(found.values() if isinstance(found, dict) else found)
    assert len(list(csv.reader(io.StringIO(texts["csv"])))) <= 1


def test_ctrl_c_while_modules_load(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("import time\nopen('loading', 'w').close()\ntime.sleep(60)\n")
    command = [sys.executable, str(ROOT / "cli.py"), "list"]
    env = clean_environment(PYTHONPATH=str(tmp_path))
    # What runs in the background of a script inherits that Ctrl-C means nothing.
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(
        command, cwd=tmp_path, env=env, stderr=subprocess.PIPE, text=True, preexec_fn=heed
    ) as process:
        while not (tmp_path / "loading").exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=patience.seconds(20))[1] == ""
    assert process.returncode == -signal.SIGINT
