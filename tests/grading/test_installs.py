"""Packages that cannot be installed: whose fault that is."""

from __future__ import annotations

import asyncio
import base64
import errno
import gzip
import hashlib
import io
import json
import tarfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import date
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, cast

import pytest

from convex_evals.grading import npm as npm_module
from convex_evals.grading import packages as packages_module
from convex_evals.grading.gate import Gate
from convex_evals.grading.node import find_node
from convex_evals.grading.packages import PackageError, PackageStore, parse_dependencies
from convex_evals.grading.pipeline import Tools
from convex_evals.grading.service import GradingService, Worker
from convex_evals.records import Outcome, StepName, Verdict
from convex_evals.suite.suite import Eval, load_suite
from tests.factories import make_eval
from tests.loopback import serving

pytestmark = pytest.mark.full

_INSTALL_SECONDS = 8.0
_DAY = "2020-01-01T00:00:00.000Z"


def _tarball(name: str, content: bytes) -> bytes:
    packed = io.BytesIO()
    manifest = json.dumps({"name": name, "version": "1.48.0"}).encode()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path, data in (("package/package.json", manifest), ("package/index.js", content)):
            entry = tarfile.TarInfo(path)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return gzip.compress(packed.getvalue(), mtime=0)


def _manifest(name: str, origin: str, tarball: bytes, dependencies: dict[str, str]) -> bytes:
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(tarball).digest()).decode()
    dist = {"tarball": f"{origin}/{name}/-/{name}.tgz", "integrity": integrity}
    version = {"name": name, "version": "1.48.0", "dependencies": dependencies, "dist": dist}
    times = {"created": _DAY, "modified": _DAY, "1.48.0": _DAY}
    packument = {"name": name, "dist-tags": {"latest": "1.48.0"}, "versions": {"1.48.0": version}, "time": times}
    return json.dumps(packument).encode()


# What packages of this registry depend on.
_DEPENDENCIES = {
    "by-url": {"x": "http://127.0.0.1:1/x.tgz"},
    "by-git": {"x": "git+http://127.0.0.1:1/x.git"},
    "by-folder": {"x": "file:../../../.."},
    "by-file": {"x": "file:/srv/not-for-you/x.tgz"},
}


@contextmanager
def registry(*, slow: tuple[str, ...] = (), broken: tuple[str, ...] = (), size: int = 10) -> Iterator[str]:
    """A registry that knows every package; some keep one waiting, some are answered with an error."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.strip("/").partition("/")[0]
            if name in slow:
                time.sleep(_INSTALL_SECONDS * 3)
            if name in broken:
                self.send_error(500)
                return
            tarball = _tarball(name, b"/" * size)
            origin = f"http://{self.headers['host']}"
            wanted = _DEPENDENCIES.get(name, {})
            body = tarball if self.path.endswith(".tgz") else _manifest(name, origin, tarball, wanted)
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None: ...

    with serving(Handler) as port:
        yield f"http://127.0.0.1:{port}/"


@pytest.fixture
def store(tmp_path: Path) -> PackageStore:
    packages = tmp_path / "cache" / "packages"
    packages.mkdir(parents=True)
    return PackageStore(packages, find_node(tmp_path / "cache"), date(2026, 1, 1))


@pytest.fixture
def ev(tmp_path: Path) -> Eval:
    make_eval(tmp_path / "suite", files={"eval.yaml": f"timeouts:\n  install: {_INSTALL_SECONDS}\n"})
    return load_suite(tmp_path / "suite").evals[0]


def grade(ev: Eval, store: PackageStore, folder: Path, dependencies: dict[str, str]) -> Verdict:
    """The verdict of a service that has packages, and nothing to deploy with."""
    tools = cast(Any, Tools)(None, None, store, None, None, None)

    async def run() -> Verdict:
        workers: asyncio.Queue[Worker] = asyncio.Queue()
        workers.put_nowait(Worker(cast(Any, None), ()))
        parts = {"packages": store, "folder": folder, "workers": workers, "gate": Gate(1)}
        nothing = dict.fromkeys(("toolchain", "backend", "tester", "prepared", "suite_checker"))
        service = cast(Any, GradingService)(**nothing, **parts, fresh=lambda: nullcontext(tools))
        return cast(Verdict, await service.grade(ev, {"package.json": json.dumps({"dependencies": dependencies})}))

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("dependencies", "slow", "broken"),
    [
        ({"heavy": "*"}, ("heavy",), ()),
        ({"torn": "^1.0.0"}, (), ("torn",)),
    ],
)
def test_a_project_whose_packages_alone_cannot_be_installed_has_failed(
    dependencies: dict[str, str],
    slow: tuple[str, ...],
    broken: tuple[str, ...],
    ev: Eval,
    store: PackageStore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with registry(slow=slow, broken=broken) as address:
        monkeypatch.setenv("npm_config_registry", address)
        monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm"))
        verdict = grade(ev, store, tmp_path, dependencies)
    assert (verdict.outcome, verdict.caught_by) == (Outcome.FAILED, StepName.INSTALL), verdict
    assert "twice, while a canary project passed" in str(verdict.steps[1].reason)
    assert not list(store.root.glob("*tmp-*")), "nothing of an installation is left"


@pytest.mark.parametrize("name", sorted(_DEPENDENCIES))
def test_a_package_cannot_lead_out_of_the_registry(
    name: str, ev: Eval, store: PackageStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with registry() as address:
        monkeypatch.setenv("npm_config_registry", address)
        monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm"))
        verdict = grade(ev, store, tmp_path, {name: "*"})
    assert (verdict.outcome, verdict.caught_by) == (Outcome.FAILED, StepName.INSTALL), verdict
    assert not [path for path in store.root.rglob("*") if path.is_symlink() and ".bin" not in path.parts]


def test_npms_word_for_a_missing_permission_is_not_taken(
    ev: Eval, store: PackageStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package may name a place for which there is none."""
    failure = npm_module.NpmFailure("EACCES", "permission denied")

    async def npm(*args: object, cwd: Path, **_: object) -> npm_module.NpmFailure | None:
        (cwd / "node_modules").mkdir(exist_ok=True)
        return None if "convex" in (cwd / "package.json").read_text() else failure

    monkeypatch.setattr(packages_module, "npm", npm)
    verdict = grade(ev, store, tmp_path, {"evil": "*"})
    assert (verdict.outcome, verdict.caught_by) == (Outcome.FAILED, StepName.INSTALL), verdict


def test_a_full_disk_is_named(store: PackageStore, monkeypatch: pytest.MonkeyPatch) -> None:
    failure = npm_module.NpmFailure("ENOSPC", "no space left")
    assert failure.advice(store.root) == "npm says ENOSPC: no space left"
    monkeypatch.setattr(npm_module, "_cannot_write", lambda folder: errno.ENOSPC)
    assert "the disk is full" in failure.advice(store.root)


def test_a_registry_that_is_slow_for_everybody_is_nobodys_fault(
    ev: Eval, store: PackageStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with registry(slow=("heavy", "convex")) as address:
        monkeypatch.setenv("npm_config_registry", address)
        monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm"))
        verdict = grade(ev, store, tmp_path, {"heavy": "*"})
    assert (verdict.outcome, verdict.caught_by) == (Outcome.UNSCORED, StepName.INSTALL)


@pytest.mark.parametrize("warm", [False, True])
def test_a_machine_without_a_registry_is_nobodys_fault(
    warm: bool, ev: Eval, store: PackageStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor where npm still has all that the canary needs: it asks for it again."""
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm"))
    if warm:
        with registry() as address:
            monkeypatch.setenv("npm_config_registry", address)
            asyncio.run(store.install('{"dependencies": {"convex": "1.48.0"}}'))
    monkeypatch.setenv("npm_config_registry", address if warm else "http://127.0.0.1:1/")
    verdict = grade(ev, store, tmp_path, {"heavy": "*"})
    assert (verdict.outcome, verdict.caught_by) == (Outcome.UNSCORED, StepName.INSTALL)


def test_packages_have_an_end(store: PackageStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npm_module, "_LARGEST_BYTES", 2**20)
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm"))
    with registry(size=3 * 2**20, slow=("later",)) as address:
        monkeypatch.setenv("npm_config_registry", address)
        with pytest.raises(PackageError, match="too large"):
            asyncio.run(store.install(json.dumps({"dependencies": {f"p{n}": "*" for n in range(3)}})))


_NAMES = (
    *("hasOwnProperty", "constructor", "toString", "__proto__", "valueOf", "isPrototypeOf", "node_modules", "_x"),
    *("Node_Modules", "@../x", "@./x", "@.x/y", "@a/.bin", ".bin", "a/b", "x\n", "ſ", "x" * 215),
)
_SPECS = (
    *(".", "..", " .", "./", "npm:convex@.", "npm:convex@..", "npm:convex@ .", "npm:.bin@1", "npm:@../x@1"),
    *("npm:npm:x@1", "npm:x@npm:y@1", "npm:hasOwnProperty@1", "npm:constructor", "npm:__proto__@1", "npm:x@./y"),
    *("npm:@a/.b@1", "1 || " * 200, "é", "\uff11.0.0"),
)
_NO_REGISTRYS = (".", "..", "./", "npm:convex@.", "npm:.bin@1", "npm:npm:x@1", "npm:x@./y", "file:x", "a/b")


@pytest.mark.parametrize("name", _NAMES)
def test_names_that_npm_stumbles_over(name: str) -> None:
    with pytest.raises(PackageError, match="is not a package name"):
        parse_dependencies(json.dumps({"dependencies": {name: "1"}}))


@pytest.mark.parametrize("spec", _SPECS)
def test_versions_that_npm_stumbles_over(spec: str) -> None:
    with pytest.raises(PackageError, match="does not name a version in the registry"):
        parse_dependencies(json.dumps({"dependencies": {"x": spec}}))


def test_names_that_are_one_file_on_some_disks() -> None:
    with pytest.raises(PackageError, match="upper and lower case"):
        parse_dependencies('{"dependencies": {"JSONStream": "1"}, "optionalDependencies": {"jsonstream": "1"}}')


@pytest.mark.parametrize("spec", _NO_REGISTRYS)
def test_npm_itself_is_asked_what_a_version_is(spec: str, store: PackageStore, tmp_path: Path) -> None:
    """Where our own rules let something pass, its own reading decides."""
    (tmp_path / "package.json").write_text(json.dumps({"dependencies": {"react": "^19.0.0", "x": spec}}))
    problem = asyncio.run(npm_module.not_in_a_registry(store.node, tmp_path))
    assert problem is not None and problem.startswith("'x': ")


def test_npm_agrees_with_what_projects_ask_for(store: PackageStore, tmp_path: Path) -> None:
    specs = ["^1.31.2", "1.x || >=2.5.0 <3", "*", "", "latest", "~1.2", "1.2.3-beta.1", "npm:@scope/x@^1.0.0", "npm:x"]
    wanted = {f"@a/b{n}": spec for n, spec in enumerate(specs)}
    manifest = {"dependencies": wanted, "optionalDependencies": {"JSONStream": "1"}}
    (tmp_path / "package.json").write_text(json.dumps(manifest))
    assert asyncio.run(npm_module.not_in_a_registry(store.node, tmp_path)) is None
