"""Options that several commands share."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from convex_evals.render.output import say, say_json, say_markdown

if TYPE_CHECKING:
    from convex_evals.grading.sandbox.choice import Containment
    from convex_evals.runs.delivery import Delivery
    from convex_evals.runs.request import Order

F = TypeVar("F", bound=Callable[..., Any])


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
    """How the code that is graded is contained; `containment_of` reads it."""
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


def containment_of(sandbox: str | None, unsafe: bool, *, reviewed: bool = False) -> Containment:
    """What `containment_options` say. Raises `click.UsageError` where they contradict each other."""
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


def order_options(command: F) -> F:
    """What is asked of whom; `order_of` reads it."""
    options = [
        click.option(
            "-m",
            "--model",
            "models",
            multiple=True,
            metavar="MODEL",
            help="Who answers: a model of models.yaml, `demo` (recorded replies, good and bad), `reference` (the "
            "suite's own answers), or `replay:PATH`; repeatable.  [env: MODELS, comma-separated]",
        ),
        click.option(
            "-e",
            "--experiment",
            "experiments",
            multiple=True,
            metavar="NAME",
            help="How it is asked: default, no_guidelines, web_search, web_search_no_guidelines, or one of "
            "convex-evals.yaml; repeatable.  [env: EVALS_EXPERIMENT]",
        ),
        filter_options,
        click.option(
            "--trials", type=click.IntRange(1, 100), default=1, show_default=True, metavar="K", help="Per eval."
        ),
        click.option(
            "--guidelines",
            metavar="PATH",
            envvar="CUSTOM_GUIDELINES_PATH",
            help="Other guidelines than the experiment's; `path@REV` reads them from Git.  "
            "[env: CUSTOM_GUIDELINES_PATH]",
        ),
        click.option("--run-id", metavar="ID", help="Name of the run, so that several processes make the same one."),
        click.option(
            "--date",
            "day",
            type=click.DateTime(["%Y-%m-%d"]),
            help="UTC day of planning, with --run-id. Default: today.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def on_terminal() -> bool:
    """Whether somebody is there to be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def order_of(words: dict[str, Any], *, menu: bool = False) -> Order:
    """What `order_options` and the environment ask for; with `menu`, the model may be left open."""
    import os
    import re

    from convex_evals.runs.request import DEFAULT_EXPERIMENT, Order

    models = words["models"] or _split(os.environ.get("MODELS"))
    if not models and not menu:
        raise click.UsageError("Missing option '-m' / '--model'; `-m demo` shows a run that needs no key")
    run_id, day = words["run_id"], words["day"]
    if run_id is not None and not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,59}", run_id):
        raise click.UsageError(f"--run-id {run_id}: a name is lower-case letters, digits, '_' and '-', 60 at most")
    if day is not None and run_id is None:
        raise click.UsageError("--date needs --run-id: together they name a run")
    return Order(
        models=models,
        experiments=words["experiments"] or _split(os.environ.get("EVALS_EXPERIMENT")) or (DEFAULT_EXPERIMENT,),
        pattern=words["pattern"] or os.environ.get("TEST_FILTER"),
        categories=words["categories"],
        trials=words["trials"],
        guidelines=words["guidelines"],
        run_id=run_id,
        day=day.date().isoformat() if day else None,
    )


def given_options(ctx: click.Context, *names: str) -> list[str]:
    """Those of the parameters `names` that stand on the command line, as they are written there."""
    typed = click.core.ParameterSource.COMMANDLINE
    return [
        max(p.opts, key=len)
        for p in ctx.command.params
        if p.name in names and p.name is not None and ctx.get_parameter_source(p.name) is typed
    ]


def _split(text: str | None) -> tuple[str, ...]:
    return tuple(word.strip() for word in (text or "").split(",") if word.strip())


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
