"""periodic.yml with models that are asked in batches: one start submits, and a later one takes up the replies."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from convex_evals.store.batches import BatchFolder
from convex_evals.store.run import Run
from convex_evals.store.runs import RunStore
from tests.batch_provider import BatchProvider, serve_batches
from tests.conftest import ROOT
from tests.end_to_end.repositories import git
from tests.factories import make_eval, make_git_repo, write_files
from tests.provider import NO_FILES
from tests.workflows.hub import Hub, hosting
from tests.workflows.runner import WorkflowRun, run_workflow

pytestmark = [
    pytest.mark.grading,
    pytest.mark.usefixtures("toolchain"),
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
]

KEY = "planted-key-0123456789"


@pytest.fixture
def provider() -> Iterator[BatchProvider]:
    with serve_batches(BatchProvider(reply=NO_FILES, key=KEY)) as found:
        yield found


@pytest.fixture
def clone(tmp_path: Path, provider: BatchProvider) -> Path:
    """Two evals, and a model on the schedule."""
    folder = tmp_path / "clone"
    for i in range(2):
        make_eval(folder, f"000-fundamentals/00{i}-eval", {"TASK.txt": f"Task {i}.\n"})
    model = (
        f"models:\n  - slug: stub/one\n    litellm: openai/one\n    base_url: {provider.url}\n    batch: true\n"
        "    key_env: OPENAI_API_KEY\n    price: {input: 10, output: 100}\n    parameters: {max_output_tokens: 100}\n"
    )
    files = {
        "models.yaml": model,
        "guidelines/convex.md": "Always answer.\n",
        "convex-evals.yaml": "schedule: {experiments: [default]}\n",
        ".gitignore": ".cache/\n",
        ".gitattributes": "runs/** -text\n",
    }
    return make_git_repo(write_files(folder, files))


@pytest.fixture
def hub(tmp_path: Path, clone: Path, provider: BatchProvider) -> Iterator[Hub]:
    settings = {"PERIODIC_BUDGET": "40", "BATCH_WAIT": "0"}
    with hosting(tmp_path / "hub", clone, secrets={"OPENAI_API_KEY": KEY}, vars=settings) as hub:
        hub.machine["CONVEX_EVALS_SERVERS"] = provider.url
        yield hub


def periodic(hub: Hub) -> WorkflowRun:
    return run_workflow(hub, ROOT / ".github" / "workflows" / "periodic.yml", hub.scheduled())


def delivered(hub: Hub, tmp_path: Path) -> Run:
    folder = tmp_path / "looked at" / hub.head()
    git(tmp_path, "clone", "-q", str(hub.repository), str(folder))
    (run,) = RunStore(folder / "runs").all()
    return run


@pytest.mark.full
def test_one_start_submits_and_the_next_takes_up_the_replies(hub: Hub, provider: BatchProvider, tmp_path: Path) -> None:
    provider.hold = True
    first = periodic(hub)
    assert first.result == "success", first.report()
    run = delivered(hub, tmp_path)
    (file,) = BatchFolder(run).files()
    assert file.batch in provider.batches and run.summary() is None and KEY not in first.report()

    waiting = periodic(hub)
    assert waiting.result == "success", waiting.report()
    assert len(provider.bodies) == 2

    provider.hold = False
    last = periodic(hub)
    assert last.result == "success", last.report()
    run = delivered(hub, tmp_path)
    summary = run.summary()
    assert summary is not None and summary.counts.failed == 2 and not summary.missing
    assert summary.cost_usd == pytest.approx(2 * 0.003) and len(provider.bodies) == 2

    again = periodic(hub)
    assert [record.path for record in again.attempt.records.values()] == ["due/plan"], again.report()
