"""`cli run` of a model with `batch: true`: what a person sees, what is paid for, and what survives `kill -9`."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from convex_evals.records.batch import BatchFile
from convex_evals.store.records import read_record
from tests import patience
from tests.batch_provider import BatchProvider, serve_batches
from tests.commands import command, start
from tests.end_to_end.repositories import git
from tests.factories import make_eval, make_git_repo, write_files
from tests.provider import NO_FILES, models_yaml

pytestmark = [pytest.mark.grading, pytest.mark.usefixtures("toolchain")]

KEY = "planted-secret-0123456789"
EVALS = 3


@pytest.fixture
def provider() -> Iterator[BatchProvider]:
    with serve_batches(BatchProvider(reply=NO_FILES, key=KEY)) as found:
        yield found


@pytest.fixture
def suite(tmp_path: Path, provider: BatchProvider) -> Path:
    for i in range(EVALS):
        make_eval(tmp_path, f"000-fundamentals/00{i}-eval", {"TASK.txt": f"Task {i}.\n"})
    models = models_yaml(provider.url) + "    batch: true\n"
    files = {"models.yaml": models, "guidelines/convex.md": "Always answer.\n", ".env": f"STUB_KEY={KEY}"}
    return write_files(tmp_path, files)


def cli(cwd: Path, *arguments: str, status: int = 0) -> tuple[str, str]:
    done = command(cwd, *arguments)
    assert done.returncode == status, done.stderr + done.stdout
    assert KEY not in done.stdout + done.stderr
    return done.stdout, done.stderr


def run(suite: Path, *arguments: str, status: int = 0) -> dict[str, Any]:
    (found,) = json.loads(cli(suite, "run", "-m", "model", "--json", *arguments, status=status)[0])
    assert isinstance(found, dict)
    return found


def batch_files(suite: Path) -> list[BatchFile]:
    return [read_record(path, BatchFile) for path in suite.glob("runs/stub/model/*/*/batches/*.json")]


@pytest.mark.full
def test_a_run_by_batch(suite: Path, provider: BatchProvider) -> None:
    out, err = cli(suite, "run", "-m", "model")
    assert "0%" in out or "failed" in out
    assert "stub/model: batch batch_1 of 3 requests was submitted, at half the price" in err
    assert len(provider.batches) == 1 and len(provider.bodies) == EVALS
    (file,) = batch_files(suite)
    assert file.batch == "batch_1" and [r.eval for r in file.requests] == [
        f"000-fundamentals/00{i}-eval" for i in range(EVALS)
    ]

    again = run(suite)
    assert len(provider.bodies) == EVALS and again["pending"] == 0
    assert again["summary"]["cost_usd"] == pytest.approx(EVALS * 0.003)


def test_a_batch_that_is_not_waited_for(suite: Path, provider: BatchProvider) -> None:
    provider.hold = True
    found = run(suite, "--batch-wait", "0", status=5)
    assert found["pending"] == EVALS and found["summary"] is None
    _, err = cli(suite, "run", "-m", "model", "--batch-wait", "0", status=5)
    resume = f"cli run --run {found['run_id']}"
    assert f"pending: stub/model default: 3 trials wait for batch batch_1; `{resume}` takes up the replies" in err
    assert "in batches: 3 trials wait for batch batch_1" in cli(suite, "status")[0]
    assert json.loads(cli(suite, "status", "--json")[0])["pending"] == EVALS
    assert len(provider.bodies) == EVALS

    provider.hold = False
    (done,) = json.loads(cli(suite, *resume.split()[1:], "--json")[0])
    assert done["summary"]["counts"]["failed"] == EVALS and done["pending"] == 0
    assert len(provider.bodies) == EVALS


@pytest.mark.full
def test_a_run_with_other_graders_takes_up_the_batch(suite: Path, provider: BatchProvider) -> None:
    provider.hold = True
    first = run(suite, "--batch-wait", "0", status=5)
    grader = suite / "evals" / "000-fundamentals" / "002-eval" / "grader.test.ts"
    grader.write_text(grader.read_text() + "\n// another grader\n")
    provider.hold = False
    second = run(suite, "--budget", "1")
    assert second["run_id"] != first["run_id"] and len(provider.bodies) == EVALS
    assert second["summary"]["counts"]["failed"] == EVALS
    assert second["summary"]["cost_usd"] == pytest.approx(EVALS * 0.003)

    third = run(suite, "--fresh")
    assert third["summary"]["counts"]["failed"] == EVALS and len(provider.bodies) == 2 * EVALS


@pytest.mark.full
def test_what_is_pending_counts_at_its_worst_price(suite: Path, provider: BatchProvider) -> None:
    """A request may cost 0.005 for its reply, and a little for its prompt; there is money for each once."""
    provider.hold = True
    run(suite, "--batch-wait", "0", "--budget", "0.03", status=5)
    provider.hold = False
    done = run(suite, "--budget", "0.03")
    assert done["summary"]["cost_usd"] == pytest.approx(EVALS * 0.003) and len(provider.bodies) == EVALS


def test_a_wrong_key_is_one_line(suite: Path, provider: BatchProvider) -> None:
    provider.key = "another-key-0123456789"
    _, err = cli(suite, "run", "-m", "model", status=1)
    assert "error: stub/model: " in err and "check the key in STUB_KEY" in err
    assert "Traceback" not in err and batch_files(suite) == []


def test_a_model_whose_provider_has_no_batches(suite: Path) -> None:
    (suite / "models.yaml").write_text("models:\n  - slug: groq/llama\n    batch: true\n")
    _, err = cli(suite, "run", "-m", "groq/llama", status=1)
    assert "models.yaml: groq/llama: batch: true works with anthropic, gemini, openai" in err


def test_the_price_that_is_announced(suite: Path, provider: BatchProvider) -> None:
    half = json.loads(cli(suite, "run", "-m", "model", "--dry-run", "--json")[0])[0]["most_usd"]
    (suite / "models.yaml").write_text(models_yaml(provider.url))
    full = json.loads(cli(suite, "run", "-m", "model", "--dry-run", "--json")[0])[0]["most_usd"]
    assert half == pytest.approx(full / 2, rel=0.01) and provider.log == []


@pytest.mark.full
def test_results_travel_between_machines(suite: Path, provider: BatchProvider, tmp_path: Path) -> None:
    """One asks, another delivers, a third takes up the replies: by files of the repository alone."""
    (suite / ".gitignore").write_text(".cache/\n.env\n")
    make_git_repo(suite)
    git(suite, "config", "user.name", "Test")
    git(suite, "config", "user.email", "test@example.org")
    provider.hold = True
    found = run(suite, "--only", "ask", "--batch-wait", "0", status=5)
    assert found["pending"] == EVALS
    handed = tmp_path / "handed" / "batches-1"
    (folder,) = suite.glob("runs/stub/model/*/*")
    there = handed / folder.relative_to(suite)
    there.mkdir(parents=True)
    (folder / "batches").rename(there / "batches")

    out, err = cli(suite, "finish", found["run_id"], "--from", str(handed.parent), "--commit")
    assert "took in 0 evals and 1 batch" in err and "pending: stub/model default: 3 trials wait" in err
    assert "Committed" in out

    provider.hold = False
    elsewhere = tmp_path / "elsewhere"
    git(tmp_path, "clone", "-q", str(suite), str(elsewhere))
    (elsewhere / ".env").write_text(f"STUB_KEY={KEY}")
    (done,) = json.loads(cli(elsewhere, "run", "--run", found["run_id"], "--json")[0])
    assert done["summary"]["counts"]["failed"] == EVALS and len(provider.bodies) == EVALS


@pytest.mark.full
def test_kill_minus_nine_pays_for_nothing_twice(suite: Path, provider: BatchProvider) -> None:
    """At moments from before the batch is submitted to after its results are read."""
    provider.polls = 3
    for after in ("", "POST /v1/files", "POST /v1/batches", "GET /v1/batches/batch_1", "GET /v1/files"):
        process = start(suite, "run", "-m", "model")
        deadline = time.monotonic() + patience.seconds(120)
        while process.poll() is None and time.monotonic() < deadline and not _was_sent(provider, after):
            time.sleep(0.001)
        process.kill()
        process.wait()
    cli(suite, "run", "-m", "model")
    assert len(provider.bodies) == EVALS


def _was_sent(provider: BatchProvider, what: str) -> bool:
    return any(f"{method} {path}".startswith(what) for method, path in list(provider.log)) if what else True
