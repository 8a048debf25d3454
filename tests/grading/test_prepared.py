"""What is made once for all projects of an eval, and the answer that is there when somebody asks."""

from __future__ import annotations

import asyncio
import json
import socket
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, cast

import httpx
import pytest

from convex_evals.errors import InfrastructureError
from convex_evals.grading.answers import answer_on_demand
from convex_evals.grading.backends import Endpoints
from convex_evals.grading.prepared import PROJECT_FACTS, Prepared, write_facts
from convex_evals.grading.sandbox.base import machine_network
from convex_evals.suite.suite import load_suite
from tests.factories import make_eval


def test_a_second_try_takes_no_other_evals_place(tmp_path: Path) -> None:
    prepared = Prepared(tmp_path, "1", cast(Any, None), [])
    places: list[Path] = []

    async def make(out: Path, *, fails: bool = False) -> Path:
        assert list(out.parent.iterdir()) == []
        out.write_text("made")
        places.append(out)
        if fails:
            raise InfrastructureError("the registry is away")
        return out

    async def all_of_it() -> None:
        with pytest.raises(InfrastructureError):
            await prepared._once(Path("a"), lambda out: make(out, fails=True))
        await prepared._once(Path("b"), make)
        await prepared._once(Path("a"), make)
        await prepared._once(Path("a"), make)

    asyncio.run(all_of_it())
    assert len(places) == len(set(places)) == 3


def test_what_is_made_of_an_answer_serves_other_runs(tmp_path: Path) -> None:
    make_eval(tmp_path / "suite")
    ev = load_suite(tmp_path / "suite").evals[0]
    asked: list[str] = []

    class Packages:
        root = tmp_path / "packages"

        async def install(self, manifest: str) -> Path:
            folder = self.root / "set" / "node_modules"
            folder.mkdir(parents=True, exist_ok=True)
            return folder

    class Checker:
        async def request(self, op: str, *, project: Path, out: Path, timeout: float) -> None:
            asked.append(op)
            out.write_text((project / "convex/main.ts").read_text())

    def bundle(version: str) -> str:
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        prepared = Prepared(folder, version, cast(Any, Packages()), [])
        return asyncio.run(prepared.answer(ev, cast(Any, Checker()))).read_text()

    first = bundle("1")
    assert bundle("1") == first and asked == ["bundle"]
    assert bundle("2") == first and asked == ["bundle"] * 2, "other tools make something else"
    (ev.path / "answer/convex/main.ts").write_text("export {};")
    assert bundle("2") == "export {};" and asked == ["bundle"] * 3


def test_an_answer_that_cannot_start_keeps_nobody_waiting(tmp_path: Path) -> None:
    make_eval(tmp_path)
    ev = load_suite(tmp_path).evals[0]
    started: list[Sequence[int]] = []

    class Broken:
        @asynccontextmanager
        async def start(
            self, scratch: Path, network: object = None, listening: Sequence[int] = ()
        ) -> AsyncIterator[Endpoints]:
            started.append(listening)
            raise OSError("no descriptors left")
            yield Endpoints(scratch, 0, 0)

    async def ask() -> None:
        async with (
            machine_network() as network,
            answer_on_demand(ev, tmp_path, cast(Any, Broken()), tmp_path, network) as answer,
        ):
            await asyncio.sleep(0.05)
            assert started == [], "nobody has asked yet"
            reader, writer = await asyncio.open_connection("127.0.0.1", answer.port)
            with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
                await asyncio.wait_for(reader.readexactly(1), 5)
            writer.close()
            assert answer.fault is not None and "no descriptors left" in str(answer.fault)
            with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.1", answer.port), 1):
                pass

    asyncio.run(ask())


def test_a_deployment_is_asked_for_the_jobs_of_its_components(tmp_path: Path) -> None:
    class Deployment(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            has_components = asked["path"].endswith("components:list")
            value = [{"id": "one"}, {"id": "one/two"}] if has_components else [asked["path"], asked["args"]]
            body = json.dumps({"status": "success", "value": value}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None: ...

    class OverTcp(Endpoints):
        def client(self, timeout: float | None) -> httpx.AsyncClient:
            return httpx.AsyncClient(base_url=f"http://127.0.0.1:{self.port}", timeout=timeout, trust_env=False)

    with HTTPServer(("127.0.0.1", 0), Deployment) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        endpoints = OverTcp(tmp_path, server.server_port, 0)
        asyncio.run(write_facts(endpoints, PROJECT_FACTS, tmp_path / "facts.json", 5))
        server.shutdown()
    facts = json.loads((tmp_path / "facts.json").read_text())
    jobs = "_system/frontend/listCronJobs"
    assert set(facts) == {*PROJECT_FACTS, f"{jobs} one", f"{jobs} one/two"}
    assert facts[jobs] == [jobs, [{}]] and facts[f"{jobs} one/two"] == [jobs, [{"componentId": "one/two"}]]
