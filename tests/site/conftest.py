"""A browser, pages that are watched, and a server for them."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, Request, expect, sync_playwright

from tests import patience
from tests.conftest import ROOT
from tests.site.made import make_workspace

ASSETS = ROOT / "convex_evals" / "site" / "assets"
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "chrome")
SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)
HERE = ("127.0.0.1", "localhost", "")
KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".txt": "text/plain"}
# Also what a page does in spite of its policy, and is kept from doing.
_REPORT_VIOLATIONS = """document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`));"""
_TIMEOUT_MS = 1000 * patience.seconds(20)
expect.set_options(timeout=_TIMEOUT_MS)  # a busy machine takes longer than Playwright's five seconds

NewPage = Callable[..., Page]


def chromium() -> str | None:
    """The browser of this machine; None where it has none."""
    return next(filter(None, map(shutil.which, CHROMIUM)), None)


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with everything that pages show."""
    folder = tmp_path_factory.mktemp("suite")
    make_workspace(folder)
    return folder


@pytest.fixture(scope="session")
def _started_browser() -> Iterator[tuple[Browser, Any]]:
    """A browser, and the event loop that Playwright runs on this thread."""
    executable = chromium()
    if executable is None:
        pytest.skip("chromium is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=list(SWITCHES))
        loop = asyncio._get_running_loop()
        # Other tests start loops of their own, which is refused where one seems to run.
        asyncio._set_running_loop(None)
        yield browser, loop
        asyncio._set_running_loop(loop)
        browser.close()


@pytest.fixture
def browser(_started_browser: tuple[Browser, Any]) -> Iterator[Browser]:
    """The browser, for one test. While it has it, the test's own thread cannot call `asyncio.run`."""
    found, loop = _started_browser
    asyncio._set_running_loop(loop)
    yield found
    asyncio._set_running_loop(None)


@pytest.fixture
def problems() -> Iterator[list[str]]:
    """What pages did wrong; a test takes out what it expects, the rest fails it."""
    found: list[str] = []
    yield found
    assert found == []


@pytest.fixture
def new_page(problems: list[str], browser: Browser) -> Iterator[NewPage]:
    """Opens watched pages; it takes the options of Playwright's `new_context`."""
    contexts = []

    def make(**options: Any) -> Page:
        context = browser.new_context(**options)
        contexts.append(context)
        context.set_default_timeout(_TIMEOUT_MS)
        context.add_init_script(_REPORT_VIOLATIONS)
        page = context.new_page()
        watch(page, problems)
        return page

    yield make
    for context in contexts:
        context.close()


@pytest.fixture
def page(new_page: NewPage) -> Page:
    return new_page()


def watch(page: Page, problems: list[str]) -> None:
    """Note errors, what the policy forbids, dialogs of scripts, and requests that leave this machine."""

    def on_console(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            problems.append(f"console: {message.text}")

    def on_request(request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme not in ("http", "file", "data", "blob") or (address.hostname or "") not in HERE:
            problems.append(f"leaves the machine: {request.url}")

    def on_dialog(dialog: Dialog) -> None:
        problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    page.on("console", on_console)
    page.on("pageerror", lambda error: problems.append(f"error: {error}"))
    page.on("request", on_request)
    page.on("dialog", on_dialog)


class Site:
    """Pages by their path, with ETags, and the assets, on loopback."""

    def __init__(self) -> None:
        self.pages: dict[str, str] = {}
        self.status = 200
        self.answers: list[tuple[str, int]] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site._answer(self)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        path = urlsplit(request.path).path
        kind, body = "text/html; charset=utf-8", self.pages.get(path, "").encode()
        asset = ASSETS / path.rpartition("/")[2]
        if path.startswith("/assets/") and asset.is_file():
            kind, body = KINDS[asset.suffix], asset.read_bytes()
        etag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        known = self.status == 200 and request.headers["If-None-Match"] == etag
        status = 304 if known else self.status if body else 404
        self.answers.append((path, status))
        request.send_response(status)
        request.send_header("Content-Type", kind)
        request.send_header("ETag", etag)
        request.send_header("Content-Length", "0" if status == 304 else str(len(body)))
        request.end_headers()
        if status != 304:
            request.wfile.write(body)


@pytest.fixture
def site() -> Iterator[Site]:
    running = Site()
    yield running
    running.stop()
