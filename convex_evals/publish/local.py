"""A leaderboard on this machine: its app in an embedded backend, whose data are in a folder."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from convex_evals.config import cache_dir
from convex_evals.errors import ProcessFault, UserError
from convex_evals.grading.backends import ADMIN_KEY, Endpoints
from convex_evals.grading.backends.embedded import EmbeddedBackend, Kept
from convex_evals.grading.backends.push import DeployError, push
from convex_evals.grading.checker import Checker, CheckerError
from convex_evals.grading.npm import Progress
from convex_evals.grading.sandbox.base import NoSandbox
from convex_evals.grading.sandbox.client import open_launcher
from convex_evals.grading.toolchain import ensure_toolchain
from convex_evals.process import Child
from convex_evals.publish.deployments import DATA, LOCAL, LOCAL_LEDGERS, Deployment

_PACKAGE = Path(__file__).parents[1]
_PACKED = _PACKAGE / "leaderboard_app"  # where the package was built; else it is in a checkout
APP = _PACKED if _PACKED.is_dir() else _PACKAGE.parent / "leaderboard"
PORT = 3210  # that of a local Convex backend
_DEPLOY_SECONDS = 120.0
_CALL_SECONDS = 30.0
_STARTING_SECONDS = 60.0
_POLL_SECONDS = 0.1
_SAYS = "backend: "

Warn = Callable[[str], None]


@dataclass(frozen=True)
class Served:
    """A leaderboard that answers."""

    data: Path
    url: str
    site_url: str  # of /api/leaderboard.json and badges
    token: str
    process: Child | None = None  # that serves it, where it is our own

    async def until_it_ends(self) -> None:
        """Raises `UserError` once its process has ended, which it does only where something is wrong."""
        assert self.process is not None
        await self.process.wait()
        said = self.process.last_words().removeprefix(_SAYS)
        raise UserError(f"the leaderboard stopped: {said}; what was published until then is kept in {self.data}")

    @property
    def deployment(self) -> Deployment:
        return Deployment(LOCAL, self.url, self.token, f"{self.data / _TOKEN}", ledgers=self.data / LOCAL_LEDGERS)

    def to_data(self) -> dict[str, Any]:
        return {"data": str(self.data), "url": self.url, "site_url": self.site_url}


_TOKEN = "token"
_RUNNING = "running.json"


@asynccontextmanager
async def open_local(home: Path, progress: Progress, warn: Warn) -> AsyncIterator[Served]:
    """The leaderboard of `home`: the one that `cli leaderboard serve` runs, else one for as long as the context lasts.

    Raises `UserError`.
    """
    data = home / DATA
    try:
        async with serve(data, 0, 0, progress, warn) as served:
            yield served
            return
    except InUseError:
        pass
    yield await _running(data)


@asynccontextmanager
async def serve(data: Path, port: int, site_port: int, progress: Progress, warn: Warn) -> AsyncIterator[Served]:
    """A leaderboard with its data in `data`, until the context ends; `port` 0 is any free one.

    Raises `InUseError` where another process serves it, and `UserError`.
    """
    running = data / _RUNNING
    with lock_data(data) as lock:
        running.unlink(missing_ok=True)  # of a process that was killed
        try:
            async with open_app(APP, data, lock, (port, site_port), progress, warn) as at:
                url, site_url = f"http://127.0.0.1:{at.port}", f"http://127.0.0.1:{at.site_port}"
                served = Served(data, url, site_url, await _token(at, data, warn), at.process)
                _write(running, json.dumps(served.to_data()))
                try:
                    yield served
                finally:
                    running.unlink(missing_ok=True)
        except DeployError as error:
            raise UserError(
                f"{data}: does not fit this version of the app: {error}; delete the folder and publish again, or go "
                "back to the version that wrote it"
            ) from None


@asynccontextmanager
async def open_app(
    app: Path, data: Path, lock: int, ports: tuple[int, int], progress: Progress, warn: Warn = lambda _: None
) -> AsyncIterator[Endpoints]:
    """An app that is deployed over the data in `data`, which `lock` is held on, until the context ends.

    `warn` is told what the start cut off from the data. Raises `DeployError` where app and data do not fit each other,
    and `UserError`.
    """
    if not (app / "convex").is_dir():
        raise UserError(f"{app}: has no app, which is a folder with convex/ in it; name another one")
    toolchain = await ensure_toolchain(cache_dir(), progress)
    progress("starting the leaderboard", 0, 0)
    with tempfile.TemporaryDirectory(prefix="leaderboard-") as temporary:
        folder = Path(temporary)
        project, scratch, bundle = folder / "project", folder / "scratch", folder / "push.json"
        scratch.mkdir()
        shutil.copytree(app, project, ignore=shutil.ignore_patterns("_generated", "node_modules"))
        (project / "node_modules").symlink_to(toolchain.node_modules)
        async with open_launcher() as launcher:
            sandbox = NoSandbox(launcher)
            backend = EmbeddedBackend(toolchain, sandbox, Kept(data, *ports, lock))
            async with Checker(toolchain, sandbox, scratch, folder) as checker, _started(backend, scratch) as at:
                try:
                    await checker.request("bundle", project=project, out=bundle, timeout=_DEPLOY_SECONDS)
                except CheckerError as error:
                    raise UserError(f"{app}: cannot be bundled: {error}") from None
                for line in _complaints(at):
                    warn(line)
                await push(at, bundle, timeout=_DEPLOY_SECONDS)
                yield at


class InUseError(UserError):
    """Another process serves the folder."""


def has_data(data: Path) -> bool:
    """Whether a leaderboard has its data in this folder."""
    return any(data.glob("log-*"))


@contextmanager
def lock_data(data: Path) -> Iterator[int]:
    """A descriptor that holds the lock on `data`, which is made where it is not there."""
    try:
        (data / LOCAL_LEDGERS).mkdir(mode=0o700, parents=True, exist_ok=True)
        ignored = data / ".gitignore"
        if not ignored.exists():
            ignored.write_text("# Written by `cli leaderboard serve`.\n*\n", encoding="utf-8")
        lock = os.open(data / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise UserError(f"{data}: {error.strerror}; choose another folder with --data") from None
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InUseError(f"{data}: another process serves it; stop that one, or choose another --data") from None
        yield lock
    finally:
        os.close(lock)


@asynccontextmanager
async def _started(backend: EmbeddedBackend, scratch: Path) -> AsyncIterator[Endpoints]:
    started = backend.start(scratch)
    try:
        at = await started.__aenter__()
    except ProcessFault as error:
        said = str(error).removeprefix("the backend did not start: ").removeprefix(_SAYS)
        raise UserError(f"the leaderboard did not start: {said}") from None
    try:
        yield at
    finally:
        await started.__aexit__(None, None, None)


def _complaints(at: Endpoints) -> list[str]:
    """What the backend has said of its data until now."""
    said = at.process.stderr.text().splitlines() if at.process else []
    return [line.removeprefix(_SAYS) for line in said if line.startswith(_SAYS)]


async def _token(at: Endpoints, data: Path, warn: Warn) -> str:
    """The token that is kept beside the data; made where the leaderboard does not know one."""
    path = data / _TOKEN
    known = path.read_text(encoding="ascii").strip() if path.exists() else ""
    listed = await administrate(at, "auth:listTokens", {})
    if not listed and any((data / LOCAL_LEDGERS).iterdir()):
        shutil.rmtree(data / LOCAL_LEDGERS)
        warn(f"{data}: is empty, so what was published to it before is no longer there")
    if any(f"_{each['publicId']}_" in known and "revokedAt" not in each for each in listed):
        return known
    await administrate(at, "auth:revokeToken", {"name": LOCAL})  # its value was lost
    made = await administrate(at, "auth:createToken", {"name": LOCAL})
    value = str(made["value"])
    _write(path, f"{value}\n")
    return value


def _write(path: Path, text: str) -> None:
    try:
        path.touch(mode=0o600)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}; nothing of the leaderboard is lost") from None


async def administrate(at: Endpoints, function: str, args: dict[str, Any]) -> Any:
    """The value of an internal function."""
    body = {"path": function, "args": args, "format": "json"}
    try:
        async with at.client(_CALL_SECONDS) as client:
            answer = await client.post("/api/function", json=body, headers={"Authorization": f"Convex {ADMIN_KEY}"})
            found = answer.json()
    except (httpx.HTTPError, ValueError) as error:
        raise ProcessFault(f"the leaderboard did not answer {function}: {error!r}") from None
    if found.get("status") != "success":
        raise UserError(f"the leaderboard refused {function}: {found.get('errorMessage', found)}")
    return found["value"]


async def _running(data: Path) -> Served:
    """What another process serves; it may still be starting."""
    for _ in range(round(_STARTING_SECONDS / _POLL_SECONDS)):
        try:
            said = json.loads((data / _RUNNING).read_text(encoding="utf-8"))
            token = (data / _TOKEN).read_text(encoding="ascii").strip()
            return Served(data, said["url"], said["site_url"], token)
        except (OSError, ValueError, KeyError):
            await asyncio.sleep(_POLL_SECONDS)
    raise UserError(f"{data}: another process has it, and does not say where it listens; stop it")
