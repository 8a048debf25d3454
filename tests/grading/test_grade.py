"""Grading without a toolchain: what is decided in Python."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, cast

import httpx
import pytest

from convex_evals.errors import InfrastructureError, ProcessFault, UserError
from convex_evals.grading.backends import Endpoints
from convex_evals.grading.backends.push import DeployError, push
from convex_evals.grading.gate import Gate
from convex_evals.grading.pipeline import Grading, Tools
from convex_evals.grading.scratch import write_files
from convex_evals.grading.service import GradingService
from convex_evals.grading.tester import TestReport
from convex_evals.grading.verdict import summarize
from convex_evals.records import Outcome, StepName, TestResult, Verdict
from convex_evals.store.journal import Journal
from convex_evals.suite.suite import Eval, load_suite
from tests.factories import make_eval, make_plan, make_verdict


@pytest.fixture
def ev(tmp_path: Path) -> Eval:
    make_eval(tmp_path)
    return load_suite(tmp_path).evals[0]


@pytest.mark.parametrize("path", ["../x_evil.ts", "/etc/x_evil", "a\\b", "a\0b", "/".join(["a" * 200] * 25)])
def test_bad_paths_end_at_the_filesystem(path: str, ev: Eval, tmp_path: Path) -> None:
    grading = Grading(ev, {"package.json": "{}", path: "x"}, cast(Tools, None), tmp_path / "trial")
    verdict = asyncio.run(grading.run())
    assert (verdict.outcome, verdict.caught_by) == (Outcome.FAILED, StepName.FILESYSTEM)
    assert not (tmp_path / "trial").exists() and not list(tmp_path.rglob("x_evil*"))


def test_an_unforeseen_error_is_nobodys_fault(ev: Eval, tmp_path: Path) -> None:
    grading = Grading(ev, {"package.json": "{}"}, cast(Tools, None), tmp_path / "trial")
    verdict = asyncio.run(grading.run())
    assert (verdict.outcome, verdict.caught_by) == (Outcome.UNSCORED, StepName.INSTALL)
    assert isinstance(grading.fault, ProcessFault) and "internal error: AttributeError" in str(verdict.reason)


def test_a_grader_sees_the_tsconfig_that_was_checked(ev: Eval, tmp_path: Path) -> None:
    files = {"convex/tsconfig.json": "{}", "tsconfig.app.json/x.ts": ""}
    grading = Grading(ev, files, cast(Tools, None), tmp_path / "trial")
    write_files(files, grading.project)
    elsewhere = grading.project / "node_modules"
    elsewhere.mkdir()
    seen = ("tsconfig.json", "convex/tsconfig.json")
    grading.repaired = dict.fromkeys(
        (*seen, "tsconfig.app.json", "node_modules/tsconfig.json", "../tsconfig.json"), "new"
    )
    grading.write_repaired()
    assert [(grading.project / path).read_text() for path in seen] == ["new", "new"]
    assert not list(elsewhere.iterdir()) and [path.name for path in grading.folder.iterdir()] == ["project"]


UNSCORED = make_verdict(Outcome.UNSCORED, StepName.TESTS)
PASSED, FAILED = make_verdict(), make_verdict(Outcome.FAILED, StepName.TSC)
FAULT, NETWORK = ProcessFault("died"), InfrastructureError("no network")
Graded = tuple[Verdict, Exception | None]


@pytest.mark.parametrize(
    ("gradings", "canary", "outcome", "count"),
    [
        ([(PASSED, None)], PASSED, Outcome.PASSED, 1),
        ([(UNSCORED, NETWORK)], PASSED, Outcome.UNSCORED, 1),
        ([(UNSCORED, FAULT), (PASSED, None)], PASSED, Outcome.PASSED, 2),
        ([(UNSCORED, FAULT), (FAILED, None)], PASSED, Outcome.FAILED, 2),
        ([(UNSCORED, FAULT), (UNSCORED, FAULT)], PASSED, Outcome.FAILED, 2),
        ([(UNSCORED, FAULT), (UNSCORED, FAULT)], UNSCORED, Outcome.UNSCORED, 2),
        ([(UNSCORED, FAULT), (UNSCORED, NETWORK)], PASSED, Outcome.UNSCORED, 2),
    ],
)
def test_whom_the_canary_blames(
    gradings: list[Graded], canary: Verdict, outcome: Outcome, count: int, ev: Eval, monkeypatch: pytest.MonkeyPatch
) -> None:
    service: GradingService = cast(Any, GradingService)(*[None] * 8, Gate(1), None)
    left = list(gradings)

    async def grade_once(self: GradingService, ev: Eval, files: object, *, fresh: bool = False) -> Graded:
        return left.pop(0) if ev.category != "000-canary" else (canary, None)

    monkeypatch.setattr(GradingService, "_grade_once", grade_once)
    verdict = asyncio.run(service.grade(ev, {}))
    assert (verdict.outcome, verdict.gradings, left) == (outcome, count, [])


def test_who_is_graded_again_and_the_canary_get_fresh_processes(ev: Eval, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = []

    async def grade_once(self: GradingService, ev: Eval, files: object, **more: bool) -> Graded:
        fresh.append((ev.category == "000-canary", more.get("fresh", False)))
        return (PASSED, None) if ev.category == "000-canary" else (UNSCORED, FAULT)

    monkeypatch.setattr(GradingService, "_grade_once", grade_once)
    asyncio.run(cast(Any, GradingService)(*[None] * 8, Gate(1), None).grade(ev, {}))
    assert fresh == [(False, False), (False, True), (True, True)]


def test_alone_means_alone_and_does_not_wait_for_the_queue() -> None:
    order: list[str] = []

    async def main() -> None:
        gate = Gate(2)

        async def together(name: str) -> None:
            async with gate.together():
                order.append(f"{name} in")
                await asyncio.sleep(0.01)
                order.append(f"{name} out")

        async def alone() -> None:
            await asyncio.sleep(0.005)
            async with gate.alone():
                order.append("alone in")
                await asyncio.sleep(0.01)
                order.append("alone out")

        await asyncio.gather(*(together(str(n)) for n in range(6)), alone())

    asyncio.run(main())
    at = order.index("alone in")
    assert order[at + 1] == "alone out" and at < len(order) - 4
    assert sum(1 if line.endswith("in") else -1 for line in order[:at]) == 0


def test_skipped_tests_do_not_count() -> None:
    passed = TestResult(name="a", outcome="passed")
    skipped = TestResult(name="b", outcome="skipped")
    failed = TestResult(name="c", outcome="failed")
    assert TestReport((passed, skipped), ()).passed and TestReport((passed, skipped), ()).score == 1
    assert not TestReport((skipped,), ()).passed and TestReport((skipped,), ()).reason == "no test of the grader ran"
    assert not TestReport((passed, failed), ()).passed
    assert not TestReport((passed,), ("no set-up",)).passed


def serve(answer: Callable[[], tuple[int, bytes]]) -> ThreadingHTTPServer:
    """A server that answers every POST the same."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            status, body = answer()
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    return server


class OverTcp(Endpoints):
    """A backend that is no process of ours."""

    def client(self, timeout: float | None) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=f"http://127.0.0.1:{self.port}", timeout=timeout, trust_env=False)


@pytest.mark.parametrize(
    ("status", "body", "error", "message"),
    [
        (200, b"[]", ProcessFault, "no object"),
        (200, b"oops", ProcessFault, "cannot be read"),
        (200, b"[" * 200_000, ProcessFault, "nested deeper than 64"),
        (200, b'{"a": [' + b"{}," * 2_000_000 + b"{}]}", ProcessFault, "more than 100,000 values"),
        (200, b'{"a": "' + b"a" * 9_000_000 + b'"}', ProcessFault, "more than 8,388,608 bytes"),
        (200, b'{"a": 1' + b"0" * 1_000_000 + b"}", ProcessFault, "cannot be read"),
        (200, gzip.compress(b"{" + b" " * 100_000_000 + b"}", mtime=0), ProcessFault, "cannot be read"),
        (200, b'{"type": "inProgress"}', ProcessFault, "within 1 s"),
        (200, b'{"type": ["?"]}', ProcessFault, "the backend answered"),
        (400, b'{"code": "InvalidModules", "message": "no"}', DeployError, "^no$"),
        (500, b'{"code": "x"}', ProcessFault, "HTTP 500: x"),
    ],
    # Of what is expected: some of the answers have megabytes.
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_a_backend_may_answer_to_a_push(
    status: int, body: bytes, error: type[Exception], message: str, tmp_path: Path
) -> None:
    (tmp_path / "bundle.json").write_text(json.dumps({"functions": "convex/"}))
    server = serve(lambda: (status, body))
    with pytest.raises(error, match=message):
        asyncio.run(push(OverTcp(tmp_path, server.server_port, 0), tmp_path / "bundle.json", timeout=1))
    server.shutdown()
    server.server_close()


def test_two_processes_do_not_share_a_run(tmp_path: Path) -> None:
    plan = make_plan(run_id="run-1")
    with Journal(tmp_path, plan).locked():
        with pytest.raises(UserError, match="run run-1 is under way in another process; wait for it"):
            Journal(tmp_path, plan).locked().__enter__()
        for other in (make_plan(run_id="run-2"), make_plan(run_id="run-1", model="acme/model-1")):
            with Journal(tmp_path, other).locked():
                pass


def test_a_problem_without_a_line_is_told_by_its_file() -> None:
    found = summarize(
        [{"file": "convex/main.ts", "line": None, "column": None, "rule": "syntax", "message": "too deep"}]
    )
    assert "convex/main.ts" in found and "too deep" in found and "None" not in found
