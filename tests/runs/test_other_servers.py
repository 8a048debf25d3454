"""A vendor's model that another server answers for: the record says who did, and nothing ranks the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from convex_evals.store.runs import RunStore
from tests.conftest import Invoke
from tests.factories import make_eval, write_files
from tests.provider import Provider, models_yaml

pytestmark = [pytest.mark.grading, pytest.mark.usefixtures("toolchain")]


@pytest.fixture
def suite(tmp_path: Path, stub: Provider, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_eval(tmp_path, "000-fundamentals/000-eval", {"TASK.txt": "Task.\n"})
    monkeypatch.chdir(tmp_path)
    for name in ("STUB_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "planted-secret-0123456789")
    return write_files(tmp_path, {"guidelines/convex.md": "Answer.\n"})


def test_a_proxy_does_not_pass_for_the_vendor(
    suite: Path, stub: Provider, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_BASE", stub.url)
    write_files(suite, {"models.yaml": "models: [{slug: openai/gpt-4o}]\n"})
    done = invoke("run", "-m", "openai/gpt-4o")
    server = stub.url.removesuffix("/v1")
    assert done.status == 0, done.err
    assert f"Asked at {server}, no server of openai: never ranked; give the model a name of your own" in done.out
    (run,) = RunStore(suite / "runs").all()
    summary = run.summary()
    assert summary and summary.elsewhere == (server,)
    (generation,) = run.generations("000-fundamentals/000-eval").values()
    assert (generation.server, generation.elsewhere) == (server, True)
    told = invoke("leaderboard").out
    assert "No run to rank" in told and f"asked at {server}, under a provider's name" in told


def test_under_a_name_of_its_own_it_is_ranked(suite: Path, stub: Provider, invoke: Invoke) -> None:
    write_files(suite, {"models.yaml": models_yaml(stub.url)})
    assert invoke("run", "-m", "model").status == 0
    (run,) = RunStore(suite / "runs").all()
    summary = run.summary()
    assert summary and summary.elsewhere == ()
    (generation,) = run.generations("000-fundamentals/000-eval").values()
    assert (generation.server, generation.elsewhere) == (stub.url.removesuffix("/v1"), False)
    assert "stub/model" in invoke("leaderboard").out.partition("Not ranked")[0]
