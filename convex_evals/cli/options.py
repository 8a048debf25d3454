"""Options that several commands share."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from convex_evals.render.output import say, say_json, say_markdown
from convex_evals.runs.options import RunOptions
from convex_evals.runs.shard import Shard, parse_shard

if TYPE_CHECKING:
    from convex_evals.grading.sandbox.choice import Containment
    from convex_evals.runs.delivery import Delivery

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")


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


def filter_options(command: F) -> F:
    command = click.option(
        "-c",
        "--category",
        "categories",
        multiple=True,
        metavar="NAME",
        help="Only this category (`002-queries` or `queries`); repeatable.",
    )(command)
    return click.option("-f", "--filter", "pattern", metavar="REGEX", help="Only evals whose id matches.")(command)


def workers_option(command: F) -> F:
    return click.option(
        "-w",
        "--workers",
        type=click.IntRange(1, 64),
        metavar="N",
        help="Projects graded at the same time. Default: the cores.",
    )(command)


def containment_options(command: F) -> F:
    """How the code that is graded is contained."""
    command = click.option(
        "--unsafe-no-sandbox",
        is_flag=True,
        help="Run model-written code without a sandbox, where none works: it can do what you can.",
    )(command)
    return click.option(
        "--sandbox",
        type=click.Choice(["strict", "landlock", "container"]),
        metavar="LEVEL",
        help="Insist on a sandbox: strict, landlock or container. Default: the best that works; see `cli doctor`.",
    )(command)


@dataclass(frozen=True)
class GradingOptions:
    """What `workers_option` and `containment_options` say."""

    workers: int | None
    sandbox: str | None
    unsafe_no_sandbox: bool

    def containment(self, *, reviewed: bool = False) -> Containment:
        """Raises `click.UsageError`."""
        return containment_of(self.sandbox, self.unsafe_no_sandbox, reviewed=reviewed)


def containment_of(sandbox: str | None, unsafe: bool, *, reviewed: bool = False) -> Containment:
    """Raises `click.UsageError` where the options contradict each other."""
    from convex_evals.grading.sandbox.base import Level
    from convex_evals.grading.sandbox.choice import Containment

    if sandbox and unsafe:
        raise click.UsageError("--sandbox and --unsafe-no-sandbox: give one of them")
    return Containment(Level(sandbox) if sandbox else None, unsafe, reviewed)


def runs_dir_option(command: F) -> F:
    return click.option(
        "--runs-dir",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="Where results stand. Default: runs/.",
    )(command)


def json_option(command: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, nothing else, on stdout.")(
        command
    )


def format_option(command: F) -> F:
    """As `form`; `--json` says the same as `--format json`."""
    command = click.option(
        "--json", "form", flag_value="json", help="The same as --format json: the result, nothing else, on stdout."
    )(command)
    return click.option(
        "--format",
        "form",
        type=click.Choice(["terminal", "markdown", "json"]),
        default="terminal",
        show_default=True,
        help="`markdown` is for a comment on GitHub.",
    )(command)


def show(form: str, data: Callable[[], Any], markdown: Callable[[], str], text: Callable[[], str]) -> None:
    """Print one of these, as `format_option` asked."""
    from convex_evals.records import dump_json

    if form == "json":
        say_json(dump_json(data()))
    elif form == "markdown":
        say_markdown(markdown())
    else:
        say(text())


def suite_path(ctx: click.Context) -> Path | None:
    """What `-C` said."""
    return Path(ctx.obj) if ctx.obj else None


def model_options(command: F) -> F:
    """Who is asked, and how."""
    command = click.option(
        "-e",
        "--experiment",
        "experiments",
        multiple=True,
        metavar="NAME",
        help="How it is asked: default, no_guidelines, web_search, web_search_no_guidelines, or one of "
        "convex-evals.yaml; repeatable.  [env: EVALS_EXPERIMENT]",
    )(command)
    return click.option(
        "-m",
        "--model",
        "models",
        multiple=True,
        metavar="MODEL",
        help="Who answers: a model of models.yaml, `demo` (recorded replies, good and bad), `reference` (the "
        "suite's own answers), or `replay:PATH`; repeatable.  [env: MODELS, comma-separated]",
    )(command)


def trial_options(command: F) -> F:
    """What is asked, how often, and as which run."""
    options = [
        filter_options,
        click.option(
            "--trials", type=click.IntRange(1, 100), default=1, show_default=True, metavar="K", help="Per eval."
        ),
        click.option(
            "--guidelines",
            metavar="PATH",
            help="Other guidelines than the experiment's; `path@REV` reads them from Git.  "
            "[env: CUSTOM_GUIDELINES_PATH]",
        ),
        click.option("--run-id", metavar="ID", help="Name of the run, so that several processes make the same one."),
        click.option(
            "--date",
            "day",
            type=click.DateTime(["%Y-%m-%d"]),
            callback=_iso_day,
            help="UTC day of planning, with --run-id. Default: today.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def shard_option(command: F) -> F:
    return click.option(
        "--shard",
        metavar="I/N",
        callback=_shard,
        help="Only the I-th of N shares of the evals, with an N-th of the budget.",
    )(command)


def _iso_day(_ctx: click.Context, _option: click.Parameter, value: datetime | None) -> str | None:
    return value.date().isoformat() if value else None


def _shard(_ctx: click.Context, _option: click.Parameter, value: str | None) -> Shard | None:
    """Raises `UserError`."""
    return parse_shard(value) if value else None


def on_terminal() -> bool:
    """Whether somebody is there to be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def pass_run_options(command: Callable[[RunOptions], R]) -> Callable[..., R]:
    """Call `command` with all options of the command line; they are fields of `RunOptions`."""

    @wraps(command)
    def call(**parameters: Any) -> R:
        return command(RunOptions(suite=suite_path(click.get_current_context()), **parameters))

    return call


def complete_run_options(options: RunOptions, *, menu: bool = False) -> RunOptions:
    """With the environment; with `menu`, the model may be left open.

    Raises `click.UsageError` where options contradict each other.
    """
    import os
    import re

    if options.shard and not (options.runs or options.run_id):
        raise click.UsageError("--shard needs --run RUN, or --run-id and --date, so that all shards do the same run")
    if options.runs:
        _refuse_settled(options)
        return options
    options = options.with_environment(os.environ)
    if not options.models and not menu:
        raise click.UsageError("Missing option '-m' / '--model'; `-m demo` shows a run that needs no key")
    if options.run_id is not None and not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,59}", options.run_id):
        raise click.UsageError(
            f"--run-id {options.run_id}: a name is lower-case letters, digits, '_' and '-', 60 at most"
        )
    if options.day is not None and options.run_id is None:
        raise click.UsageError("--date needs --run-id: together they name a run")
    return options


def _refuse_settled(options: RunOptions) -> None:
    """Raises `click.UsageError` for options that the plans of `--run` have settled."""
    settled = _typed("experiments", "pattern", "categories", "trials", "guidelines", "run_id", "day")
    if settled:
        raise click.UsageError(f"--run says what is planned; leave out {', '.join(settled)}")
    if len(options.models) > 1 or (options.models and len(options.runs) > 1):
        raise click.UsageError("with --run, -m says where the recorded replies of one run are; give one of each")


def _typed(*names: str) -> list[str]:
    """Those of the parameters `names` that stand on the command line, as they are written there."""
    ctx = click.get_current_context()
    typed = click.core.ParameterSource.COMMANDLINE
    return [
        max(p.opts, key=len)
        for p in ctx.command.params
        if p.name in names and p.name is not None and ctx.get_parameter_source(p.name) is typed
    ]


def delivery_options(command: F) -> F:
    """`open_delivery` reads them."""
    command = click.option("--push", is_flag=True, help="Commit, and push that commit among others who push.")(command)
    return click.option("--commit", is_flag=True, help="Commit exactly the run's files, whatever else is staged.")(
        command
    )


def open_delivery(folder: Path, commit: bool, push: bool) -> Delivery | None:
    """Where results in `folder` are committed, None where they are not. Refuses early what Git would refuse late."""
    if not (commit or push):
        return None
    from convex_evals.runs.delivery import Delivery
    from convex_evals.vcs.commits import open_branch

    return Delivery(open_branch(folder, push=push), push)
