"""`cli view` in this process, over real HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

from convex_evals.config import open_workspace
from convex_evals.site.library import Library
from convex_evals.site.server import Viewer, open_socket, serve
from tests import patience


@contextmanager
def serving(suite: Path) -> Iterator[Viewer]:
    """The pages of `suite`, in a thread of their own."""
    listening = open_socket(0)
    found = Viewer(Library(open_workspace(None, None, suite)), listening.getsockname()[1], lambda error: repr(error))
    loop = asyncio.new_event_loop()
    task = loop.create_task(serve(found, listening))

    def run() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            loop.run_until_complete(task)

    thread = threading.Thread(target=run)
    thread.start()
    yield found
    loop.call_soon_threadsafe(task.cancel)
    thread.join(10)
    loop.close()


def ask(
    viewer: Viewer,
    path: str,
    headers: dict[str, str] | None = None,
    form: Mapping[str, str | list[str]] | None = None,
    method: str | None = None,
) -> tuple[int, dict[str, str], str]:
    """Status, headers and body. Of a form, Origin is this server's unless `headers` says otherwise."""
    connection = http.client.HTTPConnection("127.0.0.1", viewer.port, timeout=patience.seconds(20))
    body = None if form is None else urlencode(form, doseq=True)
    own = (
        {"Content-Type": "application/x-www-form-urlencoded", "Origin": f"http://127.0.0.1:{viewer.port}"}
        if form
        else {}
    )
    sent = {name: value for name, value in {**own, **(headers or {})}.items() if value}
    connection.request(method or ("POST" if form is not None else "GET"), path, body, sent)
    answer = connection.getresponse()
    found = answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read().decode("utf-8", "replace")
    connection.close()
    return found
