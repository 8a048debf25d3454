"""Options that several commands share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import click

from convex_evals.cli.numbers import WholeNumber
from convex_evals.render.formats import DEFAULT, FORMATS, Result
from convex_evals.render.output import complain

if TYPE_CHECKING:
    from convex_evals.config import Workspace
    from convex_evals.grading.sandbox.choice import Containment
    from convex_evals.render.model import Section, Table
    from convex_evals.runs.delivery import Delivery
    from convex_evals.store.runs import RunStore

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")
STATUSES = ("golden", "correct", "incorrect", "needs_review")  # of sessions


def collect(name: str, kind: type[Any]) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Pass the options that are fields of the dataclass `kind` as one argument `name`."""
    names = [option.name for option in fields(kind)]

    def decorate(command: Callable[..., R]) -> Callable[..., R]:
        @wraps(command)
        def call(*arguments: Any, **parameters: Any) -> R:
            group = kind(**{option: parameters.pop(option) for option in names})
            return command(*arguments, **parameters, **{name: group})

        return call

    return decorate


_NAMED = {"-m": "a model", "-e": "an experiment"}
_WHOLE = "replay:"  # begins a path, which may have commas


def read_name(ctx: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """The callback of `-m` and `-e` where they take one name. Raises `click.UsageError`."""
    return value if value is None else _filled([value], option, ctx)[0]


def read_names(ctx: click.Context, option: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """The callback of `-m` and `-e` where they take several names: repeated, or with commas between them.

    Raises `click.UsageError`.
    """
    split = ([value] if value.startswith(_WHOLE) else value.split(",") for value in values)
    return tuple(name for names in split for name in _filled(names, option, ctx))


def _filled(names: Sequence[str], option: click.Parameter, ctx: click.Context) -> list[str]:
    """Those that are not blank, of which there must be one."""
    found = [name.strip() for name in names if name.strip()]
    if not found:
        flag = option.opts[0]
        raise click.UsageError(f"{flag} needs the name of {_NAMED[flag]}", ctx)
    return found


def filter_options(command: F) -> F:
    """As `patterns`, `categories` and `tags`; `Suite.select` takes them."""
    command = click.option(
        "--tag",
        "tags",
        multiple=True,
        metavar="TAG",
        help="Only evals with this tag; repeatable, and each must be there.",
    )(command)
    command = click.option(
        "-c",
        "--category",
        "categories",
        multiple=True,
        metavar="NAME",
        help="Only this category (`002-queries` or `queries`); repeatable.",
    )(command)
    return pattern_option(command)


def pattern_option(command: F) -> F:
    """As `patterns`; `id_filter` reads them."""
    return click.option(
        "-f",
        "--filter",
        "patterns",
        multiple=True,
        metavar="REGEX",
        help="Only evals whose id matches; `-f '!REGEX'` leaves out those that match; repeatable.",
    )(command)


def workers_option(command: F) -> F:
    return click.option(
        "-w",
        "--workers",
        type=WholeNumber(1, 64),
        metavar="N",
        help="Projects graded in parallel. Default: the number of cores.",
    )(command)


def containment_options(command: F) -> F:
    """How the code that is run is contained."""
    command = click.option(
        "--unsafe-no-sandbox",
        is_flag=True,
        help="Run code of suites and models without a sandbox if none works. It can do whatever you can.",
    )(command)
    return click.option(
        "--sandbox",
        type=click.Choice(["strict", "landlock", "container"]),
        metavar="LEVEL",
        help="Require this sandbox: strict, landlock or container. Default: the best that works; see `cli doctor`.",
    )(command)


@dataclass(frozen=True)
class GradingOptions:
    """What `workers_option` and `containment_options` say."""

    workers: int | None
    sandbox: str | None
    unsafe_no_sandbox: bool

    def containment(self) -> Containment:
        """Raises `click.UsageError`."""
        return containment_of(self.sandbox, self.unsafe_no_sandbox)


def containment_of(sandbox: str | None, unsafe: bool) -> Containment:
    """The containment for the command under way, whose last line says so if code ran without a sandbox.

    Raises `click.UsageError` where the options contradict each other.
    """
    from convex_evals.grading.sandbox.base import Level
    from convex_evals.grading.sandbox.choice import AFTER, Containment

    if sandbox and unsafe:
        raise click.UsageError("--sandbox and --unsafe-no-sandbox: give only one of them")
    level = Level(sandbox) if sandbox else None
    found = Containment(level, unsafe, confirm=_run_without_sandbox if on_terminal() else None)

    def tell() -> None:
        if found.uncontained:
            complain(AFTER, "warning")

    click.get_current_context().call_on_close(tell)
    return found


def _run_without_sandbox(problem: str) -> bool:
    """Ask the person at the terminal. Raises `click.Abort`."""
    from convex_evals.cli.questions import interrupting
    from convex_evals.render.terminal import undisturbed

    with undisturbed(), interrupting():
        complain(problem, "warning")
        return click.confirm("Code of suites and models can do whatever you can. Run it without a sandbox?", err=True)


TO_HELP = "Deployment of convex-evals.yaml, its URL, or `local`. Default: the only one."


def deployment_option(command: F) -> F:
    """As `to`; `open_deployment` reads it."""
    return click.option("--to", metavar="NAME|URL", help=TO_HELP)(command)


def calls_option(command: F) -> F:
    """As `concurrency`."""
    return click.option(
        "--concurrency",
        type=WholeNumber(1, 64),
        default=8,
        show_default=True,
        metavar="N",
        help="Calls to the deployment at the same time, at most.",
    )(command)


def runs_dir_option(command: F) -> F:
    return click.option(
        "--runs-dir",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="Folder of the results. Default: runs/.",
    )(command)


def only_experiment_option(command: F) -> F:
    return click.option(
        "-e",
        "--experiment",
        callback=read_name,
        metavar="NAME",
        help="Only this experiment. Default: all, one after the other.",
    )(command)


def site_address(ctx: click.Context, option: click.Parameter, url: str | None) -> str | None:
    """Where `cli site` stands, with a slash at its end. The callback of an option."""
    if url is None:
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    is_site = parts.scheme in ("http", "https") and parts.netloc and not parts.query and not parts.fragment
    if not (is_site and url.isprintable()):
        raise click.BadParameter("not an address like https://example.org/evals/")
    return url if url.endswith("/") else f"{url}/"


def suite_path(ctx: click.Context) -> Path | None:
    """What `-C` said."""
    return Path(ctx.obj) if ctx.obj else None


def own_workspace(ctx: click.Context) -> Workspace:
    """The workspace of a suite that may be written to. Raises `UserError` for one that -C names."""
    from convex_evals.config import open_workspace
    from convex_evals.errors import UserError

    workspace = open_workspace(suite_path(ctx), None, Path.cwd())
    if not workspace.is_own:
        raise UserError("-C: a suite named by it is only read; go into its folder")
    return workspace


def sessions_home(ctx: click.Context) -> Path:
    """The folder that -C names, else the nearest one that has sessions, a suite or a repository. Raises `UserError`."""
    from convex_evals.errors import UserError
    from convex_evals.sessions.store import find_home

    given = suite_path(ctx)
    if given is not None and not given.is_dir():
        raise UserError(f"{given}: no such folder; -C takes the folder that sessions/ is in")
    return given.absolute() if given else find_home(Path.cwd())


def own_home(ctx: click.Context) -> Path:
    """The user's own folder, which says where tokens go: what is named with -C does not. Raises `UserError`."""
    return Path.cwd() if suite_path(ctx) else sessions_home(ctx)


def formats_option(formats: Sequence[str], more: str = "") -> Callable[[F], F]:
    """As `form`: which format files are written in."""
    return click.option(
        "--format",
        "form",
        required=True,
        type=click.Choice(formats),
        metavar="FORMAT",
        help=f"One of {', '.join(formats)}.{more}",
    )


def guidelines_experiment_option(command: F) -> F:
    return click.option(
        "-e",
        "--experiment",
        default="default",
        show_default=True,
        callback=read_name,
        metavar="NAME",
        help="Experiment to take the guidelines from.",
    )(command)


def on_terminal() -> bool:
    """Whether there is a user who can answer questions."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def delivery_options(command: F) -> F:
    """`open_delivery` reads them."""
    command = click.option("--push", is_flag=True, help="Commit and push, even while others push to the same branch.")(
        command
    )
    return click.option(
        "--commit", is_flag=True, help="Commit the run's files and nothing else, even if other files are staged."
    )(command)


def from_option(command: F) -> F:
    """`collect` reads it."""
    return click.option(
        "--from",
        "source",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        metavar="DIR",
        help="First take in results that other machines made: DIR has runs/, or folders that each have one.",
    )(command)


def open_delivery(folder: Path, commit: bool, push: bool) -> Delivery | None:
    """Where results in `folder` are committed, None where they are not. Refuses early what Git would refuse late."""
    if not (commit or push):
        return None
    from convex_evals.runs.delivery import Delivery
    from convex_evals.vcs.commits import open_branch

    return Delivery(open_branch(folder, push=push), push)


def output_option(command: F) -> F:
    """As `form`; `print_result` reads it."""
    command = click.option(
        "--json", "form", flag_value="json", help="The same as --format json: the result, nothing else, on stdout."
    )(command)
    return click.option(
        "--format",
        "form",
        type=click.Choice(list(FORMATS)),
        default=DEFAULT,
        show_default=True,
        metavar="FORMAT",
        help=f"One of {', '.join(FORMATS)}. `markdown` is for a comment on GitHub, `csv` is the first table alone.",
    )(command)


def print_result(
    form: str,
    section: Section,
    data: Callable[[], Any] | None = None,
    markdown: Callable[[], str] | None = None,
) -> None:
    """Print a result as `output_option` asks; `data` and `markdown` are for what is more than its tables."""
    FORMATS[form].show(Result(section, data, markdown))


_MOST_LEFT_OUT = 5


def tell_left_out(store: RunStore) -> int:
    """Name the runs that could not be read, on stderr, and return the exit code that says whether there were some."""
    from convex_evals.errors import ExitCode
    from convex_evals.text import and_more

    lines = store.left_out or []
    for n, line in enumerate(lines[:_MOST_LEFT_OUT], 1):
        more = and_more(len(lines) - n, "more like it") if n == _MOST_LEFT_OUT else ""
        complain(f"left out: {line}{more}")
    return ExitCode.USER_ERROR if lines else ExitCode.OK


def print_lines(form: str, lines: Iterable[str], table: Table, data: Callable[[], Any] | None = None) -> None:
    """`print_result` of a table that a terminal shows as `lines`."""
    from convex_evals.render.markdown import to_markdown
    from convex_evals.render.model import Section

    section = Section((*lines, table.for_machines()))
    print_result(form, section, data, lambda: to_markdown(Section.of(table)))
