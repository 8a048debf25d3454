"""A bare repository over HTTP on the loopback: everybody reads, and only a token with the right to write pushes."""

from __future__ import annotations

import base64
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import urlsplit

from tests.loopback import serving

MayPush = Callable[[str], bool | None]  # of a token; None where it is not one


@contextmanager
def serve_repositories(root: Path, may_push: MayPush) -> Iterator[str]:
    """The URL below which the bare repositories below `root` are."""

    class Handler(_Handler):
        folder = root
        judge = staticmethod(may_push)

    with serving(Handler) as port:
        yield f"http://127.0.0.1:{port}"


class _Handler(BaseHTTPRequestHandler):
    """Hands what is allowed to `git http-backend`."""

    folder: Path
    judge: MayPush

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the test's output is the test's."""

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        body = self._read()
        url = urlsplit(self.path)
        pushes = url.path.endswith("/git-receive-pack") or url.query == "service=git-receive-pack"
        token = self._token()
        right = self.judge(token) if token else None
        if (token or pushes) and right is None:
            self._refuse(401, "no such token" if token else "a token is needed")
        elif pushes and not right:
            self._refuse(403, "this token may not write contents")
        else:
            self._hand_on(url.path, url.query, body)

    def _read(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        chunks = []
        while size := int(self.rfile.readline(), 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def _token(self) -> str | None:
        kind, _, value = self.headers.get("Authorization", "").partition(" ")
        if kind.lower() != "basic":
            return None
        return base64.b64decode(value).decode().partition(":")[2]

    def _refuse(self, status: int, why: str) -> None:
        self.send_response(status)
        self.send_header("WWW-Authenticate", 'Basic realm="GitHub"')
        self.send_header("Content-Length", str(len(why)))
        self.end_headers()
        self.wfile.write(why.encode())

    def _hand_on(self, path: str, query: str, body: bytes) -> None:
        env = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_COUNT": "2",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
            "GIT_CONFIG_KEY_1": "uploadpack.allowAnySHA1InWant",
            "GIT_CONFIG_VALUE_1": "true",
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "PATH_INFO": path.replace(".git/", "/", 1),
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "REMOTE_USER": "token",
        }
        done = subprocess.run(["git", "http-backend"], input=body, env=env, capture_output=True, check=False)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().splitlines() if ": " in line)
        self.send_response(int(headers.pop("Status", "200").split()[0]))
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
