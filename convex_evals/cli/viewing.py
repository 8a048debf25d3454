"""Serving pages until Ctrl-C, for the commands that do."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TypeVar

import click

from convex_evals.cli.numbers import WholeNumber
from convex_evals.cli.options import on_terminal, print_lines
from convex_evals.cli.serving import until_stopped
from convex_evals.config import Workspace
from convex_evals.render.output import say

F = TypeVar("F", bound=Callable[..., object])
_PORT = 8420


def viewing_options(command: F) -> F:
    """As `port` and `opens`."""
    command = click.option(
        "--open/--no-open",
        "opens",
        default=None,
        help="Open the browser, or do not. Default: on a terminal with a display.",
    )(command)
    return click.option(
        "--port",
        type=WholeNumber(0, 65_535),
        default=_PORT,
        show_default=True,
        metavar="N",
        help="Port on this machine; where it is taken, the next one that is free. 0: any.",
    )(command)


def serve_pages(workspace: Workspace, port: int, opens: bool | None, form: str, place: str = "") -> None:
    """Serve the pages of `workspace`, and open the one at `place`. Raises `UserError`."""
    import asyncio

    from convex_evals.cli.app import log_bug
    from convex_evals.render.model import Column, Table
    from convex_evals.site import urls
    from convex_evals.site.library import Library
    from convex_evals.site.server import Viewer, open_socket, serve

    listening = open_socket(port)
    viewer = Viewer(Library(workspace), listening.getsockname()[1], log_bug)
    reading, writing = (f"{address}{urls.href(place)}" for address in (viewer.address, viewer.writing_address))
    columns = [Column("url", None), Column("writing_url", None)]
    lines = [
        f"Serving {workspace.runs_dir} until Ctrl-C.",
        f"  read    {reading}",
        f"  write   {writing}   (reports, sessions; keep this address to yourself)",
    ]

    async def run() -> None:
        # Said where asyncio answers signals: whoever reads the address may send one at once.
        print_lines(form, lines, Table.of(columns, [[reading, writing]]))
        if can_open() if opens is None else opens:
            _open(reading)  # arguments of a process are seen by everyone on the machine: not the token
        await serve(viewer, listening)

    with until_stopped():
        asyncio.run(run())
    say("Stopped.", err=True)


def can_open() -> bool:
    """Whether a page that opens would be seen: on a terminal with a display."""
    has_display = sys.platform in ("darwin", "win32") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
    return on_terminal() and has_display and not os.environ.get("CI")


def _open(address: str) -> None:
    import webbrowser

    try:
        opened = webbrowser.open(address)
    except webbrowser.Error:
        opened = False
    if not opened:
        say(f"No browser was found; open {address}", err=True)
