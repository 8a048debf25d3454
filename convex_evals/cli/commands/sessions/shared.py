"""What the commands of `cli sessions` share: where sessions are, and the options that choose some of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.cli.options import STATUSES, F, sessions_home
from convex_evals.render.output import complain
from convex_evals.text import and_more

if TYPE_CHECKING:
    from convex_evals.sessions.index import Index, SessionFilter
    from convex_evals.sessions.store import SessionStore

_MOST_PROBLEMS = 10


def open_store(ctx: click.Context) -> SessionStore:
    from convex_evals.sessions.store import SessionStore

    return SessionStore(sessions_home(ctx))


def user_home() -> Path:
    """The home folder of whoever runs the command."""
    return Path(os.path.expanduser("~"))  # noqa: PTH111 - Path.home() raises where there is none


@contextmanager
def opened_index(store: SessionStore) -> Iterator[Index]:
    """With progress where many sessions have changed; files that cannot be read are told, and left out."""
    from convex_evals.render.terminal import Display
    from convex_evals.sessions.index import open_index

    with ExitStack() as stack:
        with Display() as display:
            index = open_index(store, lambda done, total: display.preparing("reading sessions", done, total))
            opened = stack.enter_context(index)
        tell(opened.problems)
        yield opened


def tell(problems: Sequence[str]) -> None:
    """As warnings, the first ones and the number of the others."""
    for at, problem in enumerate(problems[:_MOST_PROBLEMS], 1):
        more = len(problems) - at if at == _MOST_PROBLEMS else 0
        complain(problem + and_more(more, "more like it"), "warning")


@dataclass(frozen=True)
class Conditions:
    """What `filter_options` say."""

    of_status: str | None
    of_tags: tuple[str, ...]
    of_ready: bool | None
    of_model: str | None
    of_tool: str | None
    search: str | None
    since: str | None
    project: str | None

    @property
    def is_empty(self) -> bool:
        return self == Conditions(None, (), None, None, None, None, None, None)

    def filter(self, *, ready_by_default: bool = False) -> SessionFilter:
        from convex_evals.records.session import SessionStatus
        from convex_evals.sessions.index import SessionFilter

        return SessionFilter(
            status=SessionStatus(self.of_status) if self.of_status else None,
            tags=self.of_tags,
            ready=True if self.of_ready is None and ready_by_default else self.of_ready,
            model=self.of_model,
            tool=self.of_tool,
            search=self.search,
            since=self.since,
            project=self.project,
        )


def day(ctx: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """The callback of an option that takes a day."""
    from datetime import date

    try:
        return None if value is None else date.fromisoformat(value).isoformat()
    except ValueError:
        raise click.BadParameter("not a day like 2026-11-01") from None


def filter_options(prefix: str = "") -> Callable[[F], F]:
    """Which sessions are meant, as `Conditions`; `prefix` as in `--of-status`, where `--status` is another option."""

    def decorate(command: F) -> F:
        for option in reversed(_options(prefix)):
            command = option(command)
        return command

    return decorate


def _options(prefix: str) -> list[Callable[[F], F]]:
    def named(name: str) -> str:
        return f"--{prefix}{name}"

    return [
        click.option(
            named("status"), "of_status", type=click.Choice(STATUSES), metavar="STATUS", help="Only of this status."
        ),
        click.option(
            named("tag"), "of_tags", multiple=True, metavar="TAG", help="Only with this tag; repeat it for several."
        ),
        click.option(
            f"{named('eval-ready')}/--{prefix}not-ready",
            "of_ready",
            default=None,
            help="Only those that are, or are not, marked as evals.",
        ),
        click.option(named("model"), "of_model", metavar="MODEL", help="Only of a model whose name has this in it."),
        click.option(named("agent"), "of_tool", metavar="AGENT", help="Only of this agent, as in `import --from`."),
        click.option("--search", metavar="TEXT", help="Only where this was said, or is in title, tags or notes."),
        click.option("--since", metavar="DAY", callback=day, help="Only those that went on on this day or later."),
        click.option("--project", metavar="GLOB", help="Only of a folder like this: 'apps/*'."),
    ]
