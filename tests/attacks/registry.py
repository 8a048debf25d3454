"""A package registry whose packages are up to no good."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread


@contextmanager
def evil_registry(outside: Path) -> Iterator[str]:
    """The address of a registry with packages `evil-NONCE`, which leave NONCE in `outside` when they may."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.strip("/").partition("/")[0]
            if not name.startswith("evil-"):
                self._send(404, b"{}")
                return
            tarball = _tarball(name, f"touch {outside}/{name.removeprefix('evil-')}")
            if self.path.endswith(".tgz"):
                self._send(200, tarball)
                return
            address = f"http://{self.headers['host']}/{name}/-/{name}.tgz"
            self._send(200, json.dumps(_packument(name, address, tarball)).encode())

        def _send(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


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
