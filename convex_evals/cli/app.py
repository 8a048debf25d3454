"""The command line: lazy commands, one error boundary."""

from __future__ import annotations

import gc
import importlib
import io
import sys
from typing import NoReturn

import click

from convex_evals import __version__
from convex_evals.errors import ExitCode, InfrastructureError, UserError, bug_line, first_cause
from convex_evals.render.output import complain, say
from convex_evals.text import printable

# What `cli --help` says of a command, in 80 columns. A command is imported when it is used, so that help stays fast.
COMMANDS = {
    "run": "Ask models, grade their code, write results to runs/.",
    "plan": "Write the plans that the shards of a run share.",
    "due": "List the models that should be asked again.",
    "finish": "Write the summary of a run that shards have completed.",
    "validate": "Check that graders tell right code from wrong code.",
    "codegen": "Generate `_generated/` for reference answers.",
    "new-eval": "Create an eval that validates, to start from.",
    "models": "List models and their keys; show or check a model.",
    "status": "Show the progress of the last run, or of RUN.",
    "regrade": "Grade stored replies again with today's graders.",
    "prune": "Delete the raw replies of old runs.",
    "delete": "Delete runs and what the journal has of them.",
    "list": "List runs (newest first) or evals.",
    "show": "Show a run, or one eval of it in detail.",
    "export": "Write trials for Inspect, DeepEval, CI and notebooks.",
    "compare": "Compare two runs, or two selections of runs.",
    "history": "Show a model's pass rate over time.",
    "diff-guidelines": "Show what a guideline change did to each model.",
    "validate-guidelines": "Decide whether a guideline change helps, with new runs.",
    "guidelines": "Inspect the guidelines; make files for editors.",
    "report": "Write a report on a run's failures for review.",
    "leaderboard": "Rank models by pass rate.",
    "leaderboard-app": "Check the leaderboard's app before it is deployed.",
    "benchmark": "Name what scores are of; list, show, compare.",
    "publish": "Send committed runs to a Convex leaderboard.",
    "unpublish": "Delete runs from a Convex leaderboard.",
    "sessions": "Make datasets of conversations with coding agents.",
    "keys": "Make and revoke keys of the export API.",
    "matrix": "Show each eval's pass rate for each model.",
    "view": "Browse runs, models and reports in the browser.",
    "open": "Open the page on a run or an eval in the browser.",
    "site": "Write all pages as static files.",
    "doctor": "Check this machine, and install what is missing.",
    "init": "Create a new repository with one eval.",
    "completion": "Let the shell complete commands on Tab.",
}


class LazyGroup(click.Group):
    """A group that imports a command when it is asked for, and lists them in the order of use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        module = importlib.import_module(f"convex_evals.cli.commands.{name}")
        command: click.Command = getattr(module, f"{name}_" if name in ("list", "open") else name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f"did you mean '{near[0]}'?" if near else "`cli --help` lists the commands"
            ctx.fail(f"no command '{args[0]}'; {hint}")
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option("-C", "suite", metavar="DIR", help="Use the suite in DIR, read-only. Default: the current folder.")
@click.version_option(__version__, prog_name="convex-evals")
@click.pass_context
def cli(ctx: click.Context, suite: str | None) -> None:
    """How well do LLMs write Convex code, and do the guidelines help?

    \b
    Examples:
      cli init my-evals             begin in an empty folder
      cli run -m demo               grade recorded replies, results in runs/; needs no key
      cli validate                  check that the graders tell right from wrong
      cli show last                 show the results of the last run
      cli leaderboard               rank the models
      cli -C ../other-suite validate
    """
    ctx.obj = suite


def main() -> NoReturn:
    """Run the command line and exit. No traceback reaches the user: a bug leaves a log file."""
    # Records are many objects and no garbage: by default a third of the time is spent on looking through them.
    gc.set_threshold(50_000, 50, 50)
    try:
        status = cli.main(standalone_mode=False)
        sys.exit(status if isinstance(status, int) else ExitCode.OK)
    except click.exceptions.Exit as error:
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        say("interrupted", err=True)
        sys.exit(ExitCode.INTERRUPTED)
    except click.ClickException as error:
        _show_usage(error)
        sys.exit(ExitCode.USAGE)
    except Exception as error:
        cause = first_cause(error)
        if isinstance(cause, (UserError, InfrastructureError)):
            complain(str(cause))
            sys.exit(ExitCode.USER_ERROR)
        complain(bug_line(cause, log_bug(error)))
        sys.exit(ExitCode.BUG)


def _show_usage(error: click.ClickException) -> None:
    told = io.StringIO()
    error.show(file=told)
    say(told.getvalue(), err=True, end="")


def log_bug(error: BaseException) -> str:
    """Write down where it happened; the name of that file, or why there is none."""
    import tempfile
    import traceback

    text = printable("".join(traceback.format_exception(error)))
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", prefix="convex-evals-bug-", suffix=".log", delete=False
        ) as file:
            file.write(text)
        return file.name
    except OSError as reason:
        return f"no file: {reason.strerror}"
