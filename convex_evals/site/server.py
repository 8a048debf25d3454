"""`cli view`: pages over HTTP, for this machine alone.

Reading takes no token. Writing does: it is part of the address, and relative links keep it. Host and Origin are
checked, so that a page from elsewhere can neither read nor write through a name of its own that resolves to this
machine.
"""

from __future__ import annotations

import contextlib
import secrets
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING
from urllib.parse import unquote

from convex_evals.errors import UserError, bug_line
from convex_evals.sessions.index import open_index
from convex_evals.sessions.store import SESSIONS, SessionStore, find_home
from convex_evals.site import urls
from convex_evals.site.answers import HEADERS, HTML, Form, TooLong, answer, plain_answer, read_form, text_answer
from convex_evals.site.assets import CONTENT_TYPES, read_asset
from convex_evals.site.export_api import FOLDER, ExportApi, Refused, refusal
from convex_evals.site.html import Page, Rendition, render
from convex_evals.site.library import Library
from convex_evals.site.pages.compare import compare_page, offered
from convex_evals.site.review import Review, is_of_sessions
from convex_evals.site.routes import find_page
from convex_evals.site.writing import Conflict, save
from convex_evals.text import capitalized

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

HOST = "127.0.0.1"
_NAMES = ("127.0.0.1", "localhost")
_MOST_WORDS = 500  # characters of a selection
_QUIET_SECONDS = 0.3
_MOST_WARMED = 100  # comparisons
_FIRST = (urls.INDEX, urls.RUNS, urls.matrix("default"), urls.EVALS, urls.GUIDELINES, urls.COMPARE)


class Requests:
    """When the last one came."""

    def __init__(self) -> None:
        self._last = float("-inf")

    def came(self) -> None:
        self._last = time.monotonic()

    def wait_until_quiet(self) -> None:
        while (left := self._last + _QUIET_SECONDS - time.monotonic()) > 0:
            time.sleep(left)


@dataclass(frozen=True)
class Viewer:
    """One `cli view`: what it shows, and the token without which it writes nothing."""

    library: Library
    port: int
    log_bug: Callable[[BaseException], str]  # the name of the file that has the details
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    requests: Requests = field(default_factory=Requests, repr=False)

    @cached_property
    def sessions(self) -> SessionStore:
        """Those beside the runs, or above them."""
        return SessionStore(find_home(self.library.workspace.home))

    @cached_property
    def api(self) -> ExportApi:
        return ExportApi(self.sessions.root, self.log_bug)

    @cached_property
    def review(self) -> Review:
        return Review(self.sessions, self.log_bug)

    @property
    def address(self) -> str:
        """Of the first page, for reading."""
        return f"http://{HOST}:{self.port}/"

    @property
    def writing_address(self) -> str:
        return f"{self.address}{self.token}/"

    def app(self) -> Starlette:
        from starlette.applications import Starlette
        from starlette.routing import Route

        return Starlette(routes=[Route("/{path:path}", self.answer, methods=["GET", "HEAD", "POST"])])

    async def answer(self, request: Request) -> Response:
        """To one request."""
        from starlette.concurrency import run_in_threadpool

        self.requests.came()
        path = unquote(request.scope["raw_path"].decode("ascii", "replace")).removeprefix("/")
        first, _, rest = path.partition("/")
        writes = secrets.compare_digest(first.encode("utf-8", "replace"), self.token.encode())
        place = (rest if writes else path) or urls.INDEX
        is_api = place.partition("/")[0] == FOLDER
        refused = self._refused(request)
        if refused:
            return refusal(Refused(403, "forbidden", refused)) if is_api else text_answer(refused, 403)
        if is_api:
            return await self.api.answer(request, place)
        if request.method == "POST" and not writes:
            return text_answer("This address only reads. `cli view` printed the one that writes.", 403)
        try:
            form = await read_form(request) if request.method == "POST" else None
        except TooLong:
            return text_answer("That is too long.", 413)
        except ValueError:  # a UnicodeDecodeError is one
            return text_answer("Not a form of these pages.", 400)
        if is_of_sessions(place):
            return await run_in_threadpool(partial(self.review.answer, request, place, form, has_token=writes))
        if form is None:
            return await run_in_threadpool(self._read, request, place, writes)
        return await run_in_threadpool(self._write, place, form)

    def warm(self) -> None:
        """Make the pages that people open first, while the browser starts; then those that take long, between requests.

        An error is shown to those who open the page.
        """
        for place in _FIRST:
            with contextlib.suppress(Exception):
                page = find_page(self.library, place)
                if page and page.is_lasting:
                    text = render(page, Rendition(live=True))
                    self.library.keep_recent(("html", place, ""), lambda text=text: text)  # type: ignore[misc]
        with contextlib.suppress(Exception):
            if (self.sessions.root / SESSIONS).is_dir():
                with open_index(self.sessions):
                    pass  # what has changed since is read now
        with contextlib.suppress(Exception):
            slow = [urls.leaderboard_of(name) for name in self.library.experiments]
            slow += [urls.comparison(a.plan, b.plan) for _, a, b in offered(self.library)[:_MOST_WARMED]]
            for place in slow:
                self.requests.wait_until_quiet()
                find_page(self.library, place)

    def _refused(self, request: Request) -> str | None:
        names = {f"{name}:{self.port}" for name in _NAMES}
        if request.headers.get("host", "").lower() not in names:
            return "Unknown host: open the address that `cli view` printed."
        origin = request.headers.get("origin")
        if origin is not None and origin.lower() not in {f"http://{name}" for name in names}:
            return "Requests of other pages are not answered."
        if request.method == "POST" and request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
            return "Requests of other pages are not answered."
        if request.method == "POST" and origin is None:
            return "Which page sends this is not known."
        return None

    def _read(self, request: Request, place: str, writes: bool) -> Response:
        folder, _, name = place.partition("/")
        if folder == urls.ASSETS:
            found = read_asset(name)
            return text_answer("No such file.", 404) if found is None else answer(request, found, CONTENT_TYPES[name])
        delivery = Rendition(live=True, writes=writes)
        try:
            text = self._text(request, place, delivery)
            if text is None:
                page = _problem_page(place, "There is no such page. The run may have gone.")
                return _html(request, render(page, delivery), 404)
            return _html(request, text)
        except UserError as error:
            problem = str(error)
        except Exception as error:
            problem = capitalized(bug_line(error, self.log_bug(error)))
        return _html(request, render(_problem_page(place, problem), delivery), 500)

    def _text(self, request: Request, place: str, delivery: Rendition) -> str | None:
        """The page as HTML, which is kept while nothing changes; None where there is none."""
        # Of lasting pages, none has a form that writes.
        key = ("html", place, request.url.query if place == urls.COMPARE else "")
        known: str | None = self.library.kept(key)
        if known is not None:
            return known
        page = self._page(request, place)
        if page is None:
            return None
        if not page.is_lasting:
            return render(page, delivery)
        return self.library.keep_recent(key, lambda: render(page, delivery))

    def _page(self, request: Request, place: str) -> Page | None:
        if place == urls.COMPARE:
            a, b = (request.query_params.get(name, "").strip()[:_MOST_WORDS] for name in ("a", "b"))
            return compare_page(self.library, a, b)
        return find_page(self.library, place)

    def _write(self, place: str, form: Form) -> Response:
        from starlette.responses import RedirectResponse

        fields = {name: values[-1] for name, values in form.items()}
        try:
            saved = save(self.library, place, fields["place"], fields["digest"], fields["text"])
        except KeyError:
            return text_answer("Not a form of these pages.", 400)
        except UserError as error:
            saved = Conflict(str(error), fields.get("text", ""), "")
        if saved is None:
            return text_answer("There is no such report.", 404)
        if isinstance(saved, Conflict):
            context = {"problem": saved.problem, "own": saved.own, "there": saved.there, "back": place}
            page = Page(place, "conflict", "Nothing was saved", "Reports", context)
            return plain_answer(render(page, Rendition(live=True, writes=True)).encode(), HTML, 409)
        target = urls.href(place, f"place-{saved}", of=place)
        return RedirectResponse(target, 303, headers=HEADERS)


def _problem_page(place: str, problem: str) -> Page:
    return Page(place, "problem", "Not shown", "", {"problem": problem})


def _html(request: Request, text: str, status: int = 200) -> Response:
    return answer(request, text.encode(), HTML, status)


def open_socket(port: int, tries: int = 20) -> socket.socket:
    """A listening socket on loopback: on `port`, or the next one that is free; 0: any. Raises `UserError`."""
    for each in range(port, port + (tries if port else 1)):
        if each > 65_535:
            break
        # With its protocol named, asyncio sends what is written at once (TCP_NODELAY); else answers of several writes
        # wait for the client, 40 ms each.
        found = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((HOST, each))
            found.listen(128)
        except OSError:
            found.close()
            continue
        return found
    raise UserError(f"--port {port}: it is taken, and so are the next {tries - 1}; name another, or 0 for any")


async def serve(viewer: Viewer, listening: socket.socket) -> None:
    """Answer requests until it is cancelled, or a signal ends it."""
    import uvicorn

    config = uvicorn.Config(
        viewer.app(),
        log_level="critical",
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    threading.Thread(target=viewer.warm, daemon=True).start()
    await uvicorn.Server(config).serve(sockets=[listening])
