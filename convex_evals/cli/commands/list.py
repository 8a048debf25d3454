"""`cli list`"""

from __future__ import annotations

from pathlib import Path

import click

from convex_evals.cli.options import filter_options, json_option, runs_dir_option, suite_path
from convex_evals.render.output import say, say_json


@click.command("list")
@click.argument("what", type=click.Choice(["runs", "evals"]), default="runs")
@filter_options
@runs_dir_option
@json_option
@click.pass_context
def list_(
    ctx: click.Context,
    what: str,
    pattern: str | None,
    categories: tuple[str, ...],
    runs_dir: Path | None,
    as_json: bool,
) -> None:
    """List runs (newest first) or the suite's evals.

    \b
    Examples:
      cli list
      cli list evals -c queries
      cli list runs --json
    """
    from convex_evals.config import open_workspace

    if what == "runs" and (pattern or categories):
        raise click.UsageError("-f and -c choose evals: `cli list evals`")
    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    if what == "evals":
        _evals(workspace.suite, pattern, categories, as_json)
    else:
        _runs(workspace.runs_dir, as_json)


def _evals(root: Path, pattern: str | None, categories: tuple[str, ...], as_json: bool) -> None:
    import json

    from convex_evals.render.results import table
    from convex_evals.suite.suite import load_suite

    evals = load_suite(root).select(pattern, categories)
    if as_json:
        data = [
            {
                "eval": e.id,
                "pipeline": e.config.pipeline.value,
                "tags": list(e.config.tags),
                "path": str(e.path),
            }
            for e in evals
        ]
        say_json(json.dumps(data, indent=2))
        return
    rows = [
        [e.id, e.config.pipeline.value, str(len(e.wrong())), str(len(e.accept())), " ".join(e.config.tags)]
        for e in evals
    ]
    say(table(["eval", "pipeline", "wrong", "accept", "tags"], rows))


def _runs(runs_dir: Path, as_json: bool) -> None:
    import json

    from convex_evals.render.results import run_row, run_to_data, table
    from convex_evals.store.runs import RunStore

    runs = list(RunStore(runs_dir).all())
    if as_json:
        say_json(json.dumps([run_to_data(r, r.summary()) for r in runs], indent=2))
    elif runs:
        rows = [run_row(r, r.summary()) for r in runs]
        say(table(["run", "date", "model", "experiment", "evals", "passed", "pass rate"], rows))
    else:
        say(f"No runs in {runs_dir} yet; `cli run --model reference` makes one, `cli list evals` lists the evals.")
