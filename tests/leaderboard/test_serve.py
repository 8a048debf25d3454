"""`cli leaderboard serve` and `cli publish --to local`, as processes that are ended in every way."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests import patience
from tests.conftest import ROOT, clean_environment
from tests.loopback import two_free_ports
from tests.processes import processes_with
from tests.publish.publications import Home, make_home

pytestmark = pytest.mark.grading

_SECONDS = patience.seconds(60)


@dataclass(frozen=True)
class Serving:
    """A leaderboard that a process of its own serves."""

    process: subprocess.Popen[str]
    url: str
    site_url: str

    def runs(self) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = self.call("query", "runs:listRuns")["value"]
        return listed

    def call(self, kind: str, path: str, /, **args: Any) -> dict[str, Any]:
        """The whole answer of a public function."""
        body = {"path": path, "args": args, "format": "json"}
        answer: dict[str, Any] = httpx.post(f"{self.url}/api/{kind}", json=body, trust_env=False).json()
        return answer


@pytest.fixture
def home(toolchain: Path, tmp_path: Path) -> Home:
    return make_home(tmp_path, "https://never-asked.convex.cloud")


def cli(home: Home, *words: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, str(ROOT / "cli.py"), *words]
    return subprocess.run(
        argv, cwd=home.folder, env=clean_environment(), capture_output=True, text=True, timeout=_SECONDS, check=False
    )


def start(home: Home, *words: str) -> subprocess.Popen[str]:
    argv = [sys.executable, str(ROOT / "cli.py"), *words]
    pipe = subprocess.PIPE
    return subprocess.Popen(argv, cwd=home.folder, env=clean_environment(), stdout=pipe, stderr=pipe, text=True)


@contextmanager
def serving(home: Home, *words: str) -> Iterator[Serving]:
    process = start(home, "leaderboard", "serve", "--port", "0", "--json", *words)
    try:
        assert process.stdout and process.stderr
        lines = iter(process.stdout.readline, "")  # none where it ended with an error
        text = "".join(takewhile(lambda line: line != "}\n", lines))
        assert text, process.stderr.read()
        said = json.loads(text + "}")
        yield Serving(process, said["url"], said["site_url"])
    finally:
        process.kill()
        process.communicate()


def test_publishing_to_this_machine_needs_nothing_else(home: Home) -> None:
    run = home.add_run("default-00000001")
    first = cli(home, "publish", "--all", "--to", "local")
    assert first.returncode == 0, first.stderr
    (ledger,) = (home.folder / ".leaderboard" / "ledgers").rglob("*.json")
    assert [trial["state"] for trial in json.loads(ledger.read_text(encoding="utf-8"))["trials"]] == ["published"]
    assert not (run.folder / "published").exists()  # what this machine shows is nothing for the repository
    # The same run is there after a restart, and another one goes to what is being served.
    with serving(home) as served:
        assert [each["runId"] for each in served.runs()] == [f"{run.plan.date}/{run.plan.run_id}/1"]
        home.add_run("default-00000002")
        second = cli(home, "publish", "--all", "--to", "local")
        assert second.returncode == 0 and served.url in second.stdout + second.stderr, second.stderr
        assert len(served.runs()) == 2
        refused = cli(home, "leaderboard", "serve", "--port", "0")
        assert refused.returncode == 1 and "another process serves it" in refused.stderr
        assert len(refused.stderr.strip().splitlines()) == 1
        served.process.send_signal(signal.SIGINT)
        _, err = served.process.communicate(timeout=_SECONDS)
        assert served.process.returncode == 0 and "what was published is kept" in err
    assert not processes_with(str(home.folder / ".leaderboard"))


def test_whoever_asks_is_answered_from_the_first_moment_on(home: Home) -> None:
    """A page that is open while the leaderboard starts waits, with and without data; it is not told of an error."""
    port = two_free_ports()
    url = f"http://127.0.0.1:{port}"
    for _ in range(2):
        process = start(home, "leaderboard", "serve", "--port", str(port))
        try:
            assert _first_answer(process, url)["value"] == []
        finally:
            process.kill()
            process.communicate()
            _until_gone(home)  # the backend has the port for as long as it takes to notice


def _until_gone(home: Home) -> None:
    until = time.monotonic() + _SECONDS
    while processes_with(str(home.folder / ".leaderboard")):
        assert time.monotonic() < until
        time.sleep(0.01)


def _first_answer(process: subprocess.Popen[str], url: str) -> dict[str, Any]:
    while process.poll() is None:
        try:
            return Serving(process, url, "").call("query", "runs:listRuns")
        except httpx.ConnectError:
            time.sleep(0.01)
    raise AssertionError(process.communicate())


@pytest.mark.full
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_ends_in_the_background_of_a_script_as_well(home: Home, ending: signal.Signals) -> None:
    """Where Ctrl-C is ignored."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with serving(home) as served:
            served.process.send_signal(ending)
            _, err = served.process.communicate(timeout=_SECONDS)
            assert served.process.returncode == 0 and "what was published is kept" in err
    finally:
        signal.signal(signal.SIGINT, before)
    assert not processes_with(str(home.folder / ".leaderboard"))


@pytest.mark.full
def test_nothing_is_lost_when_the_server_is_killed_while_a_run_is_sent(home: Home, soak: bool) -> None:
    """The publisher finishes after the restart; each trial is there exactly once."""
    rng = random.Random(1)
    for n in range(20 if soak else 2):
        home.add_run(f"default-{n:08}")
        with serving(home) as served:
            publisher = start(home, "publish", "--to", "local")
            time.sleep(rng.uniform(0.5, 1.5))
            os.kill(served.process.pid, signal.SIGKILL)
            publisher.terminate()
            publisher.communicate(timeout=_SECONDS)
        finished = cli(home, "publish", "--all", "--to", "local")
        assert finished.returncode == 0, finished.stderr
        with serving(home) as served:
            texts = [each["runId"] for each in served.runs()]
            assert len(texts) == len(set(texts)) == n + 1


@pytest.mark.full
def test_what_is_cut_off_from_the_log_is_said(home: Home) -> None:
    home.add_run("default-00000001")
    assert cli(home, "publish", "--all", "--to", "local").returncode == 0
    data = home.folder / ".leaderboard"
    log = data / "log-00000000"

    def tear() -> None:
        os.truncate(log, log.stat().st_size - 3)

    tear()
    published = cli(home, "publish", "--all", "--to", "local")
    (first,) = data.glob("*.torn-at-*")
    assert published.returncode == 0
    tear()
    with serving(home) as served:
        served.process.send_signal(signal.SIGINT)
        _, err = served.process.communicate(timeout=_SECONDS)
    (second,) = set(data.glob("*.torn-at-*")) - {first}
    for said, copy in [(published.stderr, first), (err, second)]:
        (warning,) = [line for line in said.splitlines() if "warning" in line]
        assert warning.startswith(f"warning: {log}: ") and warning.endswith(f" is kept in {copy.name}")


def test_a_page_of_another_site_may_only_read(home: Home) -> None:
    """Any page that is open in a browser of this machine can send requests to the leaderboard."""
    with serving(home) as served, httpx.Client(trust_env=False, headers={"origin": "https://example.com"}) as page:
        body = {"path": "runs:listRuns", "args": {}}
        read = page.post(f"{served.url}/api/query", json=body)
        assert read.json() == {"status": "success", "value": []}
        assert read.headers["access-control-allow-origin"] == "https://example.com"
        token = (home.folder / ".leaderboard" / "token").read_text(encoding="ascii").strip()
        asked = {"path": "auth:tokenScopes", "args": {"token": token}}
        for kind in ("mutation", "action", "run/auth/tokenScopes", "storage/upload?token=x"):
            refused = page.post(f"{served.url}/api/{kind}", json=asked)
            assert (refused.status_code, refused.json()["code"]) == (403, "ForeignOrigin"), kind
        assert page.post(f"{served.site_url}/api/export").status_code == 403
        assert page.get(f"{served.site_url}/api/leaderboard.json").status_code == 200
        # A program says nothing of a site, and a page of the leaderboard's own says which.
        for headers in ({}, {"origin": served.url}):
            answer = httpx.post(f"{served.url}/api/mutation", json=asked, headers=headers, trust_env=False)
            assert answer.json()["status"] == "success", answer.text


def test_an_error_does_not_say_where_the_data_are(home: Home) -> None:
    with serving(home) as served:
        (backend,) = processes_with(f"--data\0{home.folder / '.leaderboard'}\0")
        resource.prlimit(backend, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        token = (home.folder / ".leaderboard" / "token").read_text(encoding="ascii").strip()
        model = {"slug": "m", "formattedName": "M", "provider": "p"}
        answer = served.call("mutation", "admin:ensureModelFromSlug", token=token, **model)
        assert "log-00000000: cannot be written" in answer["errorMessage"], answer
        assert str(home.folder) not in answer["errorMessage"]
        assert served.runs() == []  # queries go on


def test_no_request_keeps_others_waiting(home: Home) -> None:
    with serving(home) as served:
        for path in ("runs:listRuns", "runs:nothing"):
            queries: list[dict[str, Any]] = [{"path": path, "args": {}}] * 100_000
            began = time.monotonic()
            answer = httpx.post(f"{served.url}/api/query_batch", json={"queries": queries}, trust_env=False)
            assert (answer.status_code, answer.json()["code"]) == (400, "TooManyQueries")
            assert served.runs() == []
            assert time.monotonic() - began < patience.seconds(10)


def test_a_lost_token_is_replaced(home: Home) -> None:
    """And nobody who has the old one can use it from then on."""
    path = home.folder / ".leaderboard" / "token"
    tokens, answers = [], []
    for _ in range(2):
        with serving(home) as served:
            tokens.append(path.read_text(encoding="ascii").strip())
            answers = [served.call("mutation", "auth:tokenScopes", token=token) for token in tokens]
        path.unlink()
    assert answers[0]["status"] == "error" and "Revoked authentication token" in answers[0]["errorMessage"]
    assert answers[1]["value"] == {"scopes": ["publish", "admin"]}


@pytest.mark.parametrize("fault", ["a file", "a damaged log", "a port in use"])
def test_what_cannot_be_served_is_said_in_one_line(home: Home, fault: str) -> None:
    data = home.folder / "data"
    words = ["--data", str(data), "--port", "0"]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        if fault == "a file":
            data.write_text("", encoding="utf-8")
            why = f"{data}: "
        elif fault == "a damaged log":
            data.mkdir()
            (data / "log-00000000").write_bytes(b"")
            why = "damaged at byte 0; restore the folder from a copy"
        else:
            words[3] = str(taken.getsockname()[1])
            why = "address already in use"
        done = cli(home, "leaderboard", "serve", *words)
    assert done.returncode == 1 and why in done.stderr and len(done.stderr.strip().splitlines()) == 1, done.stderr
