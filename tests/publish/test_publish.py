"""What a deployment gets of a run, and what it never gets."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from convex_evals.config import DeploymentSettings
from convex_evals.publish.client import Patience
from convex_evals.store.run import Run
from tests.conftest import Invoke
from tests.end_to_end.repositories import git
from tests.factories import grade_again, make_failure
from tests.loopback import serving
from tests.publish.deployed import Deployment
from tests.publish.faulty_proxy import FaultyProxy
from tests.publish.publications import (
    NAME,
    TOKEN_ENV,
    Home,
    check_published,
    ledger,
    ledger_path,
    make_home,
    only_error,
)

pytestmark = pytest.mark.grading

RUN = "default-00000001"
READS = (
    *("admin:checkAssetHash", "auth:tokenScopes", "models:getBySlug"),
    *("runs:listRuns", "runs:getRunDetails", "runs:getOutputUrl", "runs:leaderboardVersions"),
)
EVALS = ("000-fundamentals/000-answer", "000-fundamentals/001-other")


@pytest.fixture
def home(proxy: FaultyProxy, deployment: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv(TOKEN_ENV, deployment.token)
    return make_home(tmp_path, proxy.url)


def unzipped(data: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def mutations(proxy: FaultyProxy) -> list[str]:
    """What was sent that changes something."""
    asked = [each.function or "upload" for each in proxy.passed]
    return [name for name in asked if name not in READS]


def test_what_a_deployment_gets(deployment: Deployment, home: Home, invoke: Invoke) -> None:
    failure = make_failure({"tests": "answers: expected 41 to be 42"})
    run = home.add_run(RUN, {EVALS[0]: "p", EVALS[1]: "f"}, failures={EVALS[1]: failure})
    result = invoke("publish", "--all", "last", "--json")
    assert result.status == 0, result.err
    check_published(deployment, run)
    (sent,) = json.loads(result.out)["runs"]
    assert sent["trials"] == [{"trial": 1, "id": ledger(run)[1][1], "how": "sent", "reason": None}]
    there = deployment.everything()
    (found,) = there["runs"]
    summary = run.summary()
    assert summary is not None and found["benchmarkVersion"] == summary.benchmark
    assert found["provider"] == "acme" and "experiment" not in found
    by_path = {each["evalPath"]: each for each in there["evals"]}
    first, second = (by_path[e] for e in EVALS)
    assert (first["category"], first["name"]) == ("000-fundamentals", "000-answer")
    assert first["status"]["usage"] == {
        "inputTokens": 1_000,
        "inputTokenDetails": {"noCacheTokens": 1_000, "cacheReadTokens": 0},
        "outputTokens": 200,
        "outputTokenDetails": {"textTokens": 200, "reasoningTokens": 0},
        "totalTokens": 1_200,
        "raw": {"cost": 0.0125},
    }
    assert second["status"]["failureReason"] == "tests: answers: expected 41 to be 42"
    assert first["task"] == (home.folder / "evals" / EVALS[0] / "TASK.txt").read_text()
    source = unzipped(deployment.download(first["evalSourceStorageId"]))
    assert "TASK.txt" in source and "grader.test.ts" in source
    assert not [name for name in source if "_generated" in name or "node_modules" in name]
    output = unzipped(deployment.download(first["status"]["outputStorageId"]))
    assert list(output) == ["convex/main.ts"] and EVALS[0] in output["convex/main.ts"]
    # What is published already is not sent again, and its ledger can be committed.
    assert "every complete run is published already" in invoke("publish", "--all").out
    assert "chore(runs): publish" not in git(home.folder, "log", "-1", "--format=%s")
    git(home.folder, "config", "user.name", "Test")
    git(home.folder, "config", "user.email", "test@example.org")
    assert "1 was there" in invoke("publish", "--all", RUN, "--commit").out
    assert git(home.folder, "log", "-1", "--format=%s") == f"chore(runs): publish acme/model-1 default to {NAME}"
    assert git(home.folder, "status", "--porcelain") == ""


def test_a_source_is_that_of_the_commit_that_was_asked(deployment: Deployment, home: Home, invoke: Invoke) -> None:
    home.add_run(RUN)
    (home.folder / "evals" / EVALS[0] / "TASK.txt").write_text("Another task.\n")
    home.commit()
    assert invoke("publish", "--all").status == 0
    tasks = [each["task"] for each in deployment.everything()["evals"]]
    assert "Another task.\n" not in tasks


def test_a_dry_run_sends_nothing(deployment: Deployment, home: Home, invoke: Invoke, proxy: FaultyProxy) -> None:
    run = home.add_run(RUN)
    result = invoke("publish", "--all", "--dry-run")
    assert result.status == 0 and "1 would be sent" in result.out and "Nothing was sent" in result.out
    assert mutations(proxy) == [] and not (run.folder / "published").exists()


def test_a_dry_run_makes_the_checks_of_the_real_command(
    deployment: Deployment, home: Home, invoke: Invoke, proxy: FaultyProxy
) -> None:
    whole, gone, half = (home.add_run(f"default-{n:08}") for n in range(3))
    assert invoke("publish", "--all").status == 0
    before = [ledger(run) for run in (whole, gone, half)]
    deployment.mutation("deleteRun", runId=before[1][1][1])
    deployment.administrate("inspect:copy", table="evals")  # of the first
    # The last, in part.
    path = ledger_path(half)
    path.write_text(path.read_text().replace('"published"', '"started"'))
    file = next(each for each in deployment.everything()["evals"] if each["runId"] == before[2][1][1])["status"]
    deployment.administrate("inspect:loseFile", storageId=file["outputStorageId"])
    new = home.add_run("default-00000003")

    def preview(*words: str) -> dict[str, str]:
        sent = len(proxy.passed)
        result = invoke("publish", "--all", "--dry-run", "--json", *words)
        assert result.status == int("error: " in result.err)
        del proxy.passed[:sent]
        assert mutations(proxy) == []
        runs = json.loads(result.out)["runs"]
        return {run["run_id"][-1]: run["failed"] or run["trials"][0]["how"] for run in runs}

    assert preview() == {"2": "would be completed", "3": "would be sent"}
    named = preview(whole.plan.run_id, gone.plan.run_id)
    assert "an eval is there twice" in named["0"] and "the deployment has no such run" in named["1"]
    assert preview("--repair", whole.plan.run_id, gone.plan.run_id) == {"0": "would be replaced", "1": "would be sent"}
    assert [ledger(run)[1][1] for run in (whole, gone, half)] == [each[1][1] for each in before]
    assert not ledger_path(new).exists()


def test_a_benchmark_is_minted_there(
    deployment: Deployment, home: Home, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.cli.test_benchmark import PLANS, run_of

    run_of(home.folder, "p p f", PLANS, run_id="first")
    assert invoke("benchmark", "mint", "v1", "--from", "first", "-m", "claude-sonnet-5").status == 0
    assert ": minted." in invoke("benchmark", "publish", "v1").out
    assert ": was there." in invoke("benchmark", "publish", "v1").out
    (there,) = deployment.everything()["benchmarks"]
    assert there["evalCount"] == 3 and there["curatedModels"] == ["anthropic/claude-sonnet-5"]


def test_unnamed_runs_are_sent_where_a_minted_benchmark_ranks_them(
    deployment: Deployment, home: Home, invoke: Invoke, proxy: FaultyProxy
) -> None:
    from tests.cli.test_benchmark import PLANS

    whole = home.add_run(RUN, evals=dict(zip(EVALS, PLANS.values(), strict=False)))
    part = home.add_run("default-00000002", OUTCOMES_ALONE, evals={EVALS[0]: whole.plan.evals[EVALS[0]]})
    result = invoke("publish")
    assert result.status == 0 and result.out.count("is of no minted benchmark") == 2 and "--all" in result.out
    assert mutations(proxy) == []
    assert invoke("benchmark", "mint", "v1", "--from", RUN).status == 0
    evals = dict(zip(EVALS, PLANS.values(), strict=False))
    home.add_run("default-00000003", {EVALS[0]: "p", EVALS[1]: "u"}, evals=evals)
    listed = {each["run_id"]: each for each in json.loads(invoke("publish", "--json").out)["runs"]}
    assert listed[RUN]["refused"] is None and "no minted benchmark" in listed["default-00000002"]["refused"]
    assert "no verdict on 50% of its trials, so nothing ranks it" in listed["default-00000003"]["refused"]
    check_published(deployment, whole)
    # What was sent by its name is looked after like any other.
    named = invoke("publish", "default-00000002")
    assert named.status == 0 and "in no score there: 1 run of a benchmark without a name" in named.err
    repaired = invoke("publish", "--repair")
    assert repaired.out.count("1 was there") == 2 and "is of no minted benchmark" not in repaired.out
    check_published(deployment, whole, part)


def test_what_counts_in_no_score_is_said_and_minted_if_asked(
    deployment: Deployment, home: Home, invoke: Invoke, proxy: FaultyProxy
) -> None:
    from tests.cli.test_benchmark import PLANS

    home.add_run(RUN, evals=dict(zip(EVALS, PLANS.values(), strict=False)))
    nameless = "`cli benchmark mint NAME --from default-00000001` names it"
    dry = invoke("publish", "--all", "--dry-run", "default-00000001")
    assert dry.status == 0 and "warning: in no score there: 1 run of a benchmark without a name" in dry.err
    assert nameless in dry.err
    assert invoke("benchmark", "mint", "v1", "--from", "default-00000001").status == 0
    sent = invoke("publish", "--all", "default-00000001")
    assert "1 run of v1, which is not minted there; `cli publish --mint` mints it" in sent.err, sent.err
    assert deployment.everything()["benchmarks"] == []
    minted = invoke("publish", "--all", "default-00000001", "--mint")
    assert minted.status == 0 and "minted there: v1" in minted.err and "in no score" not in minted.err
    assert len(deployment.everything()["benchmarks"]) == 1
    assert "minted there: nothing that was not" in invoke("publish", "--all", "default-00000001", "--mint").err


Spoil = Callable[[Home, Run], None]


def _edit(home: Home, run: Run) -> None:
    path = run.eval_folder(EVALS[0]) / "1.md"
    path.write_text(path.read_text() + "\n")


def _add(home: Home, run: Run) -> None:
    (run.folder / "notes.txt").write_text("later")


def _prune(home: Home, run: Run) -> None:
    run.prune("2026-11-01")
    home.commit()


def _lose(home: Home, run: Run) -> None:
    (run.eval_folder(EVALS[0]) / "1.md").unlink()
    home.commit()


def _reword(home: Home, run: Run) -> None:
    """An edit that is committed."""
    _edit(home, run)
    home.commit()


def _flatter(home: Home, run: Run) -> None:
    """Figures that add up, and are not those of the grade files."""
    path = run.folder / "summary.json"
    path.write_text(path.read_text().replace('"failed": 1', '"failed": 0').replace('"passed": 0', '"passed": 1'))
    data = json.loads(path.read_text())
    for part in (data, *data["categories"].values()):
        part["counts"] = {"passed": 2, "failed": 0, "unscored": 0}
    path.write_text(json.dumps(data))
    home.commit()


def _detach(home: Home, run: Run) -> None:
    git(home.folder, "checkout", "-q", "--detach")


def _uncommit(home: Home, run: Run) -> None:
    git(home.folder, "reset", "-q", "--mixed", "HEAD~1")


@pytest.mark.parametrize(
    ("spoil", "changes", "said"),
    [
        (_edit, {}, "is not the reply that came"),
        (_reword, {}, "is not the reply that came"),
        (_flatter, {}, "`cli finish default-00000001` makes it again"),
        (_lose, {}, "the reply is missing; restore it from Git"),
        (_add, {}, "notes.txt; commit it, or restore it"),
        (_prune, {}, "has lost replies"),
        (_uncommit, {}, "is not committed"),
        (_detach, {}, "detached HEAD"),
        (None, {"synthetic": True}, "is synthetic"),
        (None, {"complete": False}, "is not complete"),
        (None, {"suite_commit": None}, "uncommitted changes"),
        (None, {"date": "2999-01-01"}, "in the future"),
        (None, {"suite_commit": "d" * 40}, "git fetch"),
        (None, {"experiment": "of_ours"}, "of_ours"),
    ],
)
def test_what_is_refused(
    spoil: Spoil | None, changes: dict[str, Any], said: str, home: Home, invoke: Invoke, proxy: FaultyProxy
) -> None:
    run = home.add_run(RUN, **changes)
    if spoil:
        spoil(home, run)
    result = invoke("publish", "--all", run.folder)
    assert result.status == 1 and said in result.err and result.err.count("\n") == 1
    assert mutations(proxy) == [] and not (run.folder / "published").exists()
    # Unnamed, it is listed with the reason, or stops everything before anything is sent.
    unnamed = invoke("publish", "--all")
    assert mutations(proxy) == [] and "Traceback" not in unnamed.err


def test_without_a_sandbox(home: Home, invoke: Invoke, proxy: FaultyProxy) -> None:
    run = home.add_run(RUN, OUTCOMES_ALONE)
    for path in run.folder.rglob("*.json"):
        path.write_text(path.read_text().replace('"strict"', '"none"'))
    home.commit()
    result = invoke("publish", "--all", RUN)
    assert result.status == 1 and "without a sandbox" in result.err and mutations(proxy) == []
    listed = json.loads(invoke("publish", "--all", "--json").out)["runs"]
    assert "without a sandbox" in listed[0]["refused"] and mutations(proxy) == []


OUTCOMES_ALONE = {EVALS[0]: "p"}


def test_the_token_is_never_told(
    deployment: Deployment, home: Home, invoke: Invoke, proxy: FaultyProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.add_run(RUN)
    monkeypatch.setenv(TOKEN_ENV, "wrong-0123456789")
    result = invoke("publish", "--all")
    assert result.status == 1 and f"check the token in {TOKEN_ENV}" in result.err and result.err.count("\n") == 1
    assert "Invalid authentication token; check" in result.err  # without the stack of the server
    assert "wrong-0123456789" not in result.err + result.out and mutations(proxy) == []
    monkeypatch.delenv(TOKEN_ENV)
    result = invoke("publish", "--all")
    assert result.status == 1 and f"{TOKEN_ENV} is not set" in result.err


def test_a_guarded_deployment(home: Home, invoke: Invoke, proxy: FaultyProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"url": proxy.url, "token_env": TOKEN_ENV, "guard": "ci_main"}
    (home.folder / "convex-evals.yaml").write_text(json.dumps({"deployments": {NAME: settings}}))
    home.add_run(RUN)
    for name in ("GITHUB_ACTIONS", "GITHUB_REF", "GITHUB_EVENT_NAME"):
        monkeypatch.delenv(name, raising=False)
    assert "only GitHub Actions on the branch main" in invoke("publish", "--all").err
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_REF", "refs/heads/main")
    monkeypatch.setenv("GITHUB_EVENT_NAME", "pull_request_target")
    assert invoke("publish", "--all").status == 1 and proxy.passed == []
    monkeypatch.setenv("GITHUB_EVENT_NAME", "push")
    assert invoke("publish", "--all").status == 0


class _Site(BaseHTTPRequestHandler):
    status, body, headers_sent = 200, b"<html>", {"content-type": "text/html"}
    failing = b""  # the answer where benchmarks are asked for; empty: the same

    def do_POST(self) -> None:
        asked = self.rfile.read(int(self.headers.get("content-length") or 0))
        self.answer(self.failing if b"leaderboardVersions" in asked and self.failing else self.body)

    def answer(self, body: bytes) -> None:
        self.send_response_only(self.status)
        for name, value in {**self.headers_sent, "content-length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def site(status: int, body: bytes, headers: dict[str, str], failing: bytes = b"") -> Iterator[str]:
    class Handler(_Site):
        pass

    Handler.status, Handler.body, Handler.headers_sent, Handler.failing = status, body, headers, failing
    with serving(Handler) as port:
        yield f"http://127.0.0.1:{port}"


_FOUND = {"exists": False, "storageId": None, "scopes": ["publish", "admin"]}
GOOD = json.dumps({"status": "success", "value": _FOUND}).encode()
MISSING = json.dumps({"status": "error", "errorMessage": "Could not find public function for 'admin:checkAssetHash'"})


@pytest.mark.parametrize(
    ("status", "body", "headers", "said"),
    [
        (200, b"<html>", {"content-type": "text/html"}, "check that the URL is a Convex deployment's"),
        (200, b'{"status": "succ', {"content-type": "application/json"}, "no answer after"),
        (404, b"{}", {}, "HTTP 404"),
        (302, b"", {"location": "http://127.0.0.1:1/"}, "redirects"),
        (200, MISSING.encode(), {}, "Could not find public function"),
        (200, GOOD, {"date": formatdate(0, usegmt=True)}, "clock"),
        (429, b"", {"retry-after": "4000"}, "asks to wait for 4,000 s"),
        (503, b"", {"retry-after": "Fri, 01 Jan 2100 00:00:00 GMT"}, "asks to wait for"),
    ],
)
def test_another_address(
    status: int, body: bytes, headers: dict[str, str], said: str, home: Home, invoke: Invoke
) -> None:
    home.add_run(RUN)
    with site(status, body, headers) as url:
        settings = {"url": url, "token_env": TOKEN_ENV}
        (home.folder / "convex-evals.yaml").write_text(json.dumps({"deployments": {NAME: settings}}))
        result = invoke("publish", "--all")
    assert result.status == 1 and said in result.err and result.err.count("\n") == 1, result.err


def test_nobody_is_there(home: Home, invoke: Invoke) -> None:
    home.add_run(RUN)
    result = invoke("publish", "--all", "--to", "http://127.0.0.1:9")
    assert result.status == 1 and "CONVEX_AUTH_TOKEN is not set" in result.err
    (home.folder / ".env").write_text("CONVEX_AUTH_TOKEN=x\n")
    result = invoke("publish", "--all", "--to", "http://127.0.0.1:9")
    assert result.status == 1 and "nobody answers there" in result.err and result.err.count("\n") == 1
    assert "checkAssetHash" not in result.err
    waits = Patience()  # a port that nobody listens on refuses at once
    assert sum(waits.pause(n) for n in range(1, waits.first_tries)) < 2


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"url": "http://example.org"}, "not encrypted"),
        ({"url": "https://example.org/path"}, "has a path"),
        ({"url": "https://user:secret@example.org"}, "without a password"),
        ({"url": "ftp://example.org"}, "address"),
        ({"url": "https://a.example", "token_env": "OPENAI_API_KEY"}, "CONVEX_PROD_TOKEN"),
        ({"url": "https://a.example", "guard": "all"}, "ci_main"),
    ],
)
def test_settings_of_a_deployment(settings: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        DeploymentSettings.model_validate(settings)


def test_which_deployment_is_meant(home: Home, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    both = {name: {"url": f"https://{name}.example", "token_env": TOKEN_ENV} for name in ("prod", "staging")}
    (home.folder / "convex-evals.yaml").write_text(json.dumps({"deployments": both}))
    assert "several deployments are known: prod, staging" in invoke("publish", "--all").err
    assert "did you mean 'prod'?" in invoke("publish", "--all", "--to", "prdo").err
    (home.folder / "convex-evals.yaml").write_text("{}")
    assert "no deployment to publish to" in invoke("publish", "--all").err
    # A suite of others says nothing about where tokens go.
    (home.folder / "convex-evals.yaml").write_text(json.dumps({"deployments": both}))
    elsewhere = home.folder.parent / f"{home.folder.name}-elsewhere"
    elsewhere.mkdir()
    assert "no deployment to publish to" in invoke("-C", home.folder, "publish", cwd=elsewhere).err


def test_one_run_keeps_no_other_from_being_published(
    deployment: Deployment, home: Home, invoke: Invoke, proxy: FaultyProxy
) -> None:
    gone = home.add_run(RUN)
    assert invoke("publish", "--all").status == 0
    deployment.mutation("deleteRun", runId=ledger(gone)[1][1])
    path = ledger_path(gone)
    path.write_text(path.read_text().replace('"published"', '"started"'))
    home.add_run("default-00000002", experiment="of_ours")
    sent = home.add_run("default-00000003")
    result = invoke("publish", "--all", "--json")
    assert result.status == 1 and "--repair" in result.err
    found = {each["run_id"]: each for each in json.loads(result.out)["runs"]}
    assert "of_ours" in found["default-00000002"]["refused"] and found[RUN]["failed"]
    check_published(deployment, sent)
    assert invoke("publish", "--all", "--repair").status == 0
    check_published(deployment, gone, sent)


@pytest.mark.parametrize("by_another_grader", [True, False])
def test_a_run_that_was_graded_again_replaces_none_unasked(
    deployment: Deployment, home: Home, invoke: Invoke, by_another_grader: bool
) -> None:
    run = home.add_run(RUN)
    assert invoke("publish", "--all").status == 0
    key = "e" * 64 if by_another_grader else run.grade(EVALS[0]).grading_key
    grade_again(run, key, flip=True)
    home.commit()
    named, words = only_error(invoke("publish", "--all", RUN).err), "of another benchmark"
    assert (words if by_another_grader else "001-other is failed, not passed") in named and "--repair" in named
    ledger_path(run).unlink()
    lost = only_error(invoke("publish", "--all").err)
    assert (words if by_another_grader else "is failed there, not passed") in lost and "--repair" in lost
    assert invoke("publish", "--all", "--repair").status == 0
    check_published(deployment, run)


def test_ledgers_are_pushed(home: Home, invoke: Invoke, tmp_path_factory: pytest.TempPathFactory) -> None:
    home.add_run(RUN)
    remote = tmp_path_factory.mktemp("remote")
    git(remote, "init", "-q", "--bare", "-b", "main")
    git(home.folder, "remote", "add", "origin", str(remote))
    git(home.folder, "push", "-q", "origin", "main")
    git(home.folder, "config", "user.name", "Test")
    git(home.folder, "config", "user.email", "test@example.org")
    result = invoke("publish", "--all", "--push")
    assert result.status == 0 and "Pushed to origin/main" in result.out, result.err
    listed = git(remote, "ls-tree", "-r", "--name-only", "main", "runs/")
    assert f"published/{NAME}.json" in listed


def test_a_deployment_that_lists_no_benchmarks(home: Home, invoke: Invoke) -> None:
    from tests.cli.test_benchmark import PLANS, run_of

    run_of(home.folder, "p p f", PLANS, run_id="first")
    assert invoke("benchmark", "mint", "v1", "--from", "first").status == 0
    with site(200, GOOD, {}, failing=MISSING.encode()) as url:
        settings = {"url": url, "token_env": TOKEN_ENV}
        (home.folder / "convex-evals.yaml").write_text(json.dumps({"deployments": {NAME: settings}}))
        result = invoke("benchmark", "publish", "v1")
    assert result.status == 1 and "Could not find public function" in only_error(result.err)
