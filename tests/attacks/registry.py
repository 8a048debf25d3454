"""A package registry whose packages are up to no good."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from tests.loopback import serving


@contextmanager
def serve_registry(answer: Callable[[str, str], bytes | None]) -> Iterator[str]:
    """The address of a registry that says what `answer` does to a path and its own address; None: there is no such."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = answer(self.path, f"http://{self.headers['host']}")
            self.send_response(404 if body is None else 200)
            body = b"{}" if body is None else body
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None: ...

    with serving(Handler) as port:
        yield f"http://127.0.0.1:{port}/"


@contextmanager
def evil_registry(outside: Path) -> Iterator[str]:
    """The address of a registry with packages `evil-NONCE`, which leave NONCE in `outside` when they may."""

    def answer(path: str, origin: str) -> bytes | None:
        name = path.strip("/").partition("/")[0]
        if not name.startswith("evil-"):
            return None
        tarball = _tarball(name, f"touch {outside}/{name.removeprefix('evil-')}")
        if path.endswith(".tgz"):
            return tarball
        return json.dumps(_packument(name, f"{origin}/{name}/-/{name}.tgz", tarball)).encode()

    with serve_registry(answer) as address:
        yield address


def _scripts(command: str) -> dict[str, str]:
    return dict.fromkeys(("preinstall", "install", "postinstall"), command)


def _tarball(name: str, command: str) -> bytes:
    manifest = json.dumps({"name": name, "version": "1.0.0", "scripts": _scripts(command)}).encode()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path, data in (("package/package.json", manifest), ("package/index.js", b"module.exports = 1;\n")):
            entry = tarfile.TarInfo(path)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return gzip.compress(packed.getvalue(), mtime=0)


def _packument(name: str, address: str, tarball: bytes) -> dict[str, object]:
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(tarball).digest()).decode()
    version = {
        "name": name,
        "version": "1.0.0",
        "hasInstallScript": True,
        "dist": {"tarball": address, "integrity": integrity},
    }
    day = "2020-01-01T00:00:00.000Z"
    return {
        "name": name,
        "dist-tags": {"latest": "1.0.0"},
        "versions": {"1.0.0": version},
        "time": {"created": day, "modified": day, "1.0.0": day},
    }
