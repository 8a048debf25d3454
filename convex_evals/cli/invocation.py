"""What `cli run` and `cli plan` are told: their options, read into `RunOptions` and checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from datetime import datetime
from functools import wraps
from typing import Any

import click

from convex_evals.cli.numbers import Number, WholeNumber
from convex_evals.cli.options import STATUSES, F, R, filter_options, read_names, suite_path
from convex_evals.runs.options import RunOptions
from convex_evals.runs.shard import Shard, parse_shard
from convex_evals.runs.stage import Stage


def model_options(command: F) -> F:
    """Which models, under which experiments."""
    command = click.option(
        "-e",
        "--experiment",
        "experiments",
        multiple=True,
        callback=read_names,
        metavar="NAME",
        help="Experiment: default, no_guidelines, web_search, web_search_no_guidelines, or one from "
        "convex-evals.yaml; several with commas, or repeated.  [env: EVALS_EXPERIMENT]",
    )(command)
    return click.option(
        "-m",
        "--model",
        "models",
        multiple=True,
        callback=read_names,
        metavar="MODEL",
        help="Model to run: one of `cli models list`, provider/name, `demo` (recorded replies, good and bad), "
        "`reference` (the suite's own answers), or `replay:PATH`; several with commas, or repeated.  [env: MODELS]",
    )(command)


def trial_options(command: F) -> F:
    """Which evals, how often, and as which run."""
    options = [
        filter_options,
        click.option(
            "--trials", type=WholeNumber(1, 100), default=1, show_default=True, metavar="K", help="Trials per eval."
        ),
        click.option(
            "--guidelines",
            metavar="PATH",
            help="Guidelines to use instead of the experiment's; `path@REV` reads them from Git.  "
            "[env: CUSTOM_GUIDELINES_PATH]",
        ),
        click.option("--run-id", metavar="ID", help="Name of the run, so that several processes can work on it."),
        click.option(
            "--date",
            "day",
            type=click.DateTime(["%Y-%m-%d"]),
            callback=_iso_day,
            help="UTC date of the plan, with --run-id. Default: today.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


METHODS = ("exact", "normalised", "similarity", "judge")


_OF_SESSIONS = ("status", "compare", "threshold", "judge", "rubric")


def session_options(command: F) -> F:
    """Sessions instead of evals."""
    options = [
        click.option(
            "--sessions",
            is_flag=True,
            help="Ask again what imported sessions asked last, and compare the replies with what was expected. Results "
            "go to session-runs/. Then -f and --tag choose sessions.",
        ),
        click.option("--status", type=click.Choice(STATUSES), help="With --sessions: only those of this status."),
        click.option(
            "--compare",
            type=click.Choice(METHODS),
            help="With --sessions: when a reply passes: the same text, the same but for case and blanks, as alike as "
            "--threshold says (default), or acceptable to --judge.",
        ),
        click.option(
            "--threshold",
            type=Number(0, 1),
            metavar="S",
            help="With --sessions: the least similarity of a pass, 0 to 1 (ROUGE-L of words). Default: 0.75.",
        ),
        click.option(
            "--judge",
            metavar="MODEL",
            help="With --sessions: ask this model for its opinion of each reply. It decides with --compare judge, once "
            "`cli sessions judge` has shown that it agrees with people.",
        ),
        click.option("--rubric", metavar="PATH", help="What the judge decides by; `path@REV` from Git. Default: ours."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def request_options(command: F) -> F:
    """How a provider is asked."""
    command = click.option(
        "--timeout",
        type=Number(1, 86_400),
        metavar="SECONDS",
        help="Give up a request to which nothing comes for so long, and send it again. Default: 300 before the first "
        "word, 120 between words.",
    )(command)
    return click.option(
        "--concurrency", type=WholeNumber(1, 1000), metavar="N", help="Concurrent requests per provider."
    )(command)


def shard_option(command: F) -> F:
    return click.option(
        "--shard",
        metavar="I/N",
        callback=_shard,
        help="Run only shard I of N: 1/N of the evals, with 1/N of the budget.",
    )(command)


def only_option(*stages: Stage) -> Callable[[F], F]:
    concluding = ", or only conclude from verdicts that are here (neither)" if Stage.CONCLUDE in stages else ""
    return click.option(
        "--only",
        type=click.Choice([stage.value for stage in stages]),
        callback=_stage,
        help="Only ask (needs keys, executes nothing that models wrote), or only grade replies that are here (needs no "
        f"keys){concluding}.",
    )


def _stage(_ctx: click.Context, _option: click.Parameter, value: str | None) -> Stage | None:
    return Stage(value) if value else None


def _iso_day(_ctx: click.Context, _option: click.Parameter, value: datetime | None) -> str | None:
    return value.date().isoformat() if value else None


def _shard(_ctx: click.Context, _option: click.Parameter, value: str | None) -> Shard | None:
    """Raises `UserError`."""
    return parse_shard(value) if value else None


def pass_run_options(command: Callable[..., R]) -> Callable[..., R]:
    """Call `command` with the options that are fields of `RunOptions` as one, and with all others by their names."""
    names = {field.name for field in fields(RunOptions)}

    @wraps(command)
    def call(**parameters: Any) -> R:
        own = {name: value for name, value in parameters.items() if name in names}
        others = {name: value for name, value in parameters.items() if name not in names}
        return command(RunOptions(suite=suite_path(click.get_current_context()), **own), **others)

    return call


def complete_run_options(options: RunOptions, *, menu: bool = False) -> RunOptions:
    """With the environment; with `menu`, the model may be left open.

    Raises `click.UsageError` where options contradict each other.
    """
    import os
    import re

    if options.shard and not (options.runs or options.run_id):
        raise click.UsageError(
            "--shard needs --run RUN, or --run-id and --date, so that all shards work on the same run"
        )
    if options.only is Stage.ASK and (options.commit or options.push):
        raise click.UsageError("--only ask writes no results that could be committed; leave out --commit and --push")
    if options.only and options.due:
        raise click.UsageError("--only takes planned runs: `cli plan --due`, then `cli run --run RUN --only ask`")
    _refuse_mixed(options)
    if options.due:
        _refuse_chosen()
        return replace(options, fresh=True)  # old replies say nothing about the model as it is now
    if options.runs:
        _refuse_settled(options)
        return options
    options = options.with_environment(os.environ)
    if not options.models and not menu:
        raise click.UsageError("Missing option '-m' / '--model'; `-m demo` shows a run that needs no key")
    if options.run_id is not None and not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,59}", options.run_id):
        raise click.UsageError(
            f"--run-id {options.run_id}: use lower-case letters, digits, '_' and '-', at most 60 characters"
        )
    if options.day is not None and options.run_id is None:
        raise click.UsageError("--date needs --run-id: together they name a run")
    return options


def _refuse_mixed(options: RunOptions) -> None:
    """Raises `click.UsageError` for options of sessions without sessions, and of evals with them."""
    given = _typed(*_OF_SESSIONS)
    if given and not options.sessions:
        raise click.UsageError(f"{', '.join(given)}: only with --sessions")
    if options.sessions and options.categories:
        raise click.UsageError("-c chooses evals; choose sessions with --status, --tag and -f")
    if options.threshold is not None and options.compare not in (None, "similarity"):
        raise click.UsageError(f"--threshold needs --compare similarity, not {options.compare}")
    if options.judge is None and (options.compare == "judge" or options.rubric is not None):
        raise click.UsageError(f"{'--compare judge' if options.rubric is None else '--rubric'} needs --judge MODEL")


def _refuse_chosen() -> None:
    """Raises `click.UsageError` for options that say what the schedule says."""
    said = _typed(
        *("runs", "models", "experiments", "patterns", "categories", "tags"),
        *("guidelines", "run_id", "day", "shard", "sessions"),
    )
    if said:
        raise click.UsageError(f"--due takes models and experiments from the schedule; leave out {', '.join(said)}")


def _refuse_settled(options: RunOptions) -> None:
    """Raises `click.UsageError` for options that the plans of `--run` have settled."""
    settled = _typed(
        *("experiments", "patterns", "categories", "tags", "trials", "guidelines", "run_id", "day"),
        *_OF_SESSIONS,
    )
    if settled:
        raise click.UsageError(f"--run takes these from the plan; leave out {', '.join(settled)}")
    if len(options.models) > 1 or (options.models and len(options.runs) > 1):
        raise click.UsageError("with --run, -m says where the recorded replies of a run are; give one --run and one -m")


def _typed(*names: str) -> list[str]:
    """Those of the parameters `names` that stand on the command line, as they are written there."""
    ctx = click.get_current_context()
    typed = click.core.ParameterSource.COMMANDLINE
    return [
        max(p.opts, key=len)
        for p in ctx.command.params
        if p.name in names and p.name is not None and ctx.get_parameter_source(p.name) is typed
    ]
