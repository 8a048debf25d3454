"""`cli run -m demo`: a true-to-life run without a key, marked as what it is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from convex_evals.models.replay import open_demo
from convex_evals.records import GradeFile, StepName
from convex_evals.store.records import read_record
from convex_evals.suite.id_filter import pattern_of
from convex_evals.suite.suite import load_suite
from tests.conftest import ROOT, Invoke, clean_environment
from tests.factories import make_eval, write_files

STARTER = ROOT / "convex_evals" / "suite" / "starter" / "files"
# What each reply comes to: the step that catches it, None where it passes.
OUTCOMES: dict[str, StepName | None] = {
    "000-fundamentals/000-crons/1": StepName.DEPLOY,
    "000-fundamentals/000-crons/2": None,
    "000-fundamentals/001-function_kinds/1": None,
    "000-fundamentals/000-greeting/1": None,
    "000-fundamentals/000-greeting/2": StepName.TESTS,
    "001-data_modeling/000-tagged_union_schema/1": None,
    "001-data_modeling/001-relations/1": StepName.TSC,
    "002-queries/000-index_range/1": None,
    "002-queries/002-pagination/1": StepName.TESTS,
    "003-mutations/000-cascade_delete/1": StepName.ESLINT,
    "003-mutations/001-patch_and_replace/1": None,
    "004-actions/000-node_action_storage/1": None,
    "004-actions/001-fetch/1": StepName.TESTS,
    "004-actions/001-fetch/2": None,
    "005-idioms/000-authorization/1": None,
    "005-idioms/000-authorization/2": StepName.TESTS,
    "005-idioms/003-convex_test/1": StepName.FILESYSTEM,
    "005-idioms/004-environment/1": None,
    "006-clients/000-react_chat/1": None,
    "007-components/000-rate_limiter/1": None,
}
# A pass and two cheap failures; --soak grades all.
QUICK = ["000-fundamentals/000-crons", "005-idioms/003-convex_test"]


def test_every_reply_answers_an_eval_that_is_here() -> None:
    folder = open_demo().folder
    suite, starter = load_suite(ROOT), load_suite(STARTER)
    replies = {p.relative_to(folder).with_suffix("").as_posix() for p in folder.glob("*/*/*.md")}
    assert replies == OUTCOMES.keys()
    answered = {reply.rpartition("/")[0] for reply in replies}
    assert answered <= {e.id for e in (*suite.evals, *starter.evals)}
    assert {e.partition("/")[0] for e in answered} == set(suite.categories)
    assert {f"{e}/1" for e in answered} <= replies


@pytest.mark.full
@pytest.mark.grading
@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("trials", [1, 2])
def test_the_replies_come_to_what_they_should(tmp_path: Path, trials: int, soak: bool) -> None:
    here = {e.id for e in load_suite(ROOT).evals}
    replies = [reply for reply in OUTCOMES if reply.rpartition("/")[0] in here and reply.endswith(f"/{trials}")]
    evals = [reply.rpartition("/")[0] for reply in replies]
    if not soak:
        evals = [e for e in evals if e in QUICK]
    argv = [sys.executable, str(ROOT / "cli.py"), "-C", str(ROOT), "run", "-m", "demo", "--json"]
    argv += ["-f", pattern_of(evals), "--trials", str(trials)]
    done = subprocess.run(argv, cwd=tmp_path, env=clean_environment(), capture_output=True, text=True, check=True)
    (found,) = json.loads(done.stdout)
    plan = json.loads(Path(found["folder"], "run.json").read_text())
    assert found["synthetic"] is plan["synthetic"] is True and plan["model"] == "demo/recorded"
    verdicts: dict[str, StepName | None] = {}
    for path in Path(found["folder"]).glob("evals/*/*/grade.*.json"):
        grade = read_record(path, GradeFile)
        verdicts |= {f"{grade.eval}/{t.trial}": t.verdict.caught_by for t in grade.trials}
    assert {e for e in evals if f"{e}/{trials}" in verdicts} == set(evals)
    assert verdicts == {reply: OUTCOMES[reply] for reply in verdicts}


@pytest.mark.grading
@pytest.mark.usefixtures("toolchain")
def test_nobody_takes_it_for_a_model(invoke: Invoke, tmp_path: Path) -> None:
    make_eval(tmp_path, "005-idioms/003-convex_test")
    make_eval(tmp_path, "005-idioms/099-nobody_answered")
    done = invoke("run", "-m", "demo")
    assert "demo/recorded: 1 of these 2 evals have a recorded reply, the rest are skipped" in done.err
    assert "demo/recorded  default  (synthetic: no model was asked)" in done.out
    assert "demo/recorded (synthetic)" in invoke("list").out
    assert json.loads(invoke("list", "--json").out)[0]["synthetic"] is True
    assert "synthetic" in invoke("show", "last").out


def test_a_suite_that_it_does_not_know(invoke: Invoke, tmp_path: Path) -> None:
    make_eval(tmp_path)
    write_files(tmp_path, {"models.yaml": "models: []\n"})
    result = invoke("run", "-m", "demo")
    assert result.status == 1 and "demo/recorded: no reply to any of these 1 evals in the demo" in result.err
    assert "take -m reference instead" in result.err and "convex_evals" not in result.err
    assert result.err.count("\n") == 1 and not (tmp_path / "runs").exists()
