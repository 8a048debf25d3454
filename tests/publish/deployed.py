"""A leaderboard deployment on loopback: an app in an embedded backend of its own."""

from __future__ import annotations

import asyncio
import io
import json
import shutil
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx

from convex_evals.grading.backends import ADMIN_KEY, Endpoints
from convex_evals.grading.backends.embedded import EmbeddedBackend
from convex_evals.grading.backends.push import push
from convex_evals.grading.checker import Checker
from convex_evals.grading.sandbox.base import NoSandbox
from convex_evals.grading.sandbox.client import open_launcher
from convex_evals.grading.toolchain import locate_toolchain
from tests import patience
from tests.conftest import ROOT

# As strict as a deployment may be, and without any idempotency.
APP = Path(__file__).parent / "deployment"
LEADERBOARD = ROOT / "leaderboard"
_FOR_TESTS = Path(__file__).parents[1] / "leaderboard"
_START_SECONDS = patience.seconds(120)


class RefusedError(Exception):
    """A function threw, or its arguments were refused; the message is Convex's."""


@dataclass(frozen=True)
class Deployment:
    """A running deployment, and a token that it accepts."""

    url: str
    admin_url: str  # the same deployment, where the admin key is honoured
    site_url: str  # of its HTTP actions
    app: Path  # what was deployed
    project: Path  # its code, with what is generated
    token: str = ""

    def query(self, path: str, /, **args: Any) -> Any:
        return self._call("query", path, args)

    def mutation(self, function: str, /, **args: Any) -> Any:
        """A mutation of the module `admin`, with the token unless `args` has another."""
        return self._call("mutation", f"admin:{function}", {"token": self.token, **args})

    def sessions(self, function: str, /, **args: Any) -> Any:
        """A mutation of the leaderboard's module `sessions`, with the token unless `args` has another."""
        return self._call("mutation", f"sessions:{function}", {"token": self.token, **args})

    def administrate(self, path: str, /, **args: Any) -> Any:
        """The value of an internal function."""
        return _value(self.admin_url, "function", path, args, {"Authorization": f"Convex {ADMIN_KEY}"})

    def everything(self) -> dict[str, list[dict[str, Any]]]:
        """All documents, by table; `files` are those in storage."""
        found: dict[str, list[dict[str, Any]]] = self.administrate("inspect:everything")
        return found

    def clear(self) -> None:
        """Delete everything but tokens."""
        self.administrate("inspect:clear")

    def fail_unfinished(self) -> None:
        """What the cron does to runs of three hours, done to all that are unfinished."""
        self.administrate("runs:failUnfinished", olderThanMs=0)

    def download(self, storage_id: str) -> bytes:
        url = self.query("runs:getOutputUrl", storageId=storage_id)
        return httpx.get(url, trust_env=False).raise_for_status().content

    def _call(self, kind: str, path: str, args: dict[str, Any]) -> Any:
        return _value(self.url, kind, path, args, {})


def _value(url: str, kind: str, path: str, args: dict[str, Any], headers: dict[str, str]) -> Any:
    body = {"path": path, "args": args, "format": "json"}
    answer = httpx.post(
        f"{url}/api/{kind}", json=body, headers=headers, timeout=patience.seconds(60), trust_env=False
    ).json()
    if answer.get("status") == "success":
        return answer["value"]
    raise RefusedError(answer.get("errorMessage", answer))


@asynccontextmanager
async def _deployed(folder: Path, cache: Path, app: Path) -> AsyncIterator[Deployment]:
    toolchain = locate_toolchain(cache)
    project, scratch, bundle = folder / "project", folder / "scratch", folder / "push.json"
    scratch.mkdir()
    shutil.copytree(app, project, ignore=shutil.ignore_patterns("_generated", "node_modules"))
    if app == LEADERBOARD:
        for name in ("inspect.ts", "measure.ts"):
            shutil.copy(_FOR_TESTS / name, project / "convex")
    (project / "node_modules").symlink_to(toolchain.node_modules)
    with socket.create_server(("127.0.0.1", 0)) as for_admin:
        async with open_launcher() as launcher:
            sandbox = NoSandbox(launcher)
            async with (
                Checker(toolchain, sandbox, scratch, folder) as checker,
                EmbeddedBackend(toolchain, sandbox).start(scratch, listening=[for_admin.fileno()]) as at,
            ):
                await checker.request("bundle", project=project, out=bundle, timeout=60)
                analysis = folder / "analysis.json"
                analysis.write_text(json.dumps(await push(at, bundle, timeout=60)), encoding="utf-8")
                await checker.request("codegen", project=project, response=analysis, timeout=60)
                yield _found(at, for_admin, app, project)


def _found(at: Endpoints, for_admin: socket.socket, app: Path, project: Path) -> Deployment:
    url, admin_url, site_url = (
        f"http://127.0.0.1:{port}" for port in (at.port, for_admin.getsockname()[1], at.site_port)
    )
    return Deployment(url, admin_url, site_url, app, project)


def _stacks(loop: asyncio.AbstractEventLoop) -> str:
    """Where each task of `loop` waits."""
    text = io.StringIO()
    for task in asyncio.all_tasks(loop):
        task.print_stack(file=text)
    return text.getvalue()


@contextmanager
def deployed(folder: Path, cache: Path, app: Path = APP) -> Iterator[Deployment]:
    """`app` for code that blocks: its event loop runs in a thread. `folder` is empty, for its files."""
    started: asyncio.Queue[Deployment] = asyncio.Queue()
    loop = asyncio.new_event_loop()
    end = asyncio.Event()

    async def keep() -> None:
        async with _deployed(folder, cache, app) as deployment:
            await started.put(deployment)
            await end.wait()

    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    running = asyncio.run_coroutine_threadsafe(keep(), loop)
    ready = asyncio.run_coroutine_threadsafe(started.get(), loop)
    running.add_done_callback(lambda _: ready.cancel())
    try:
        try:
            found = ready.result(_START_SECONDS)
        except BaseException:
            if running.done():
                running.result()
            raise
        yield replace(found, token=found.administrate("auth:createToken", name="tests")["value"])
    finally:
        loop.call_soon_threadsafe(end.set)
        if not running.done():
            try:
                running.result(_START_SECONDS)
            except TimeoutError:
                raise AssertionError(f"the deployment does not end:\n{_stacks(loop)}") from None
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
