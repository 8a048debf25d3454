"""`cli sessions to-eval`"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.cli.commands.sessions.shared import open_store
from convex_evals.cli.options import output_option, print_result, suite_path

if TYPE_CHECKING:
    from convex_evals.render.model import Section
    from convex_evals.sessions.drafting.draft import Draft

_CATEGORY = "sessions"
_LONGEST_NAME = 40
_FALLBACK = "session"


@click.command("to-eval")
@click.argument("name", metavar="ID")
@click.option(
    "--name",
    "target",
    metavar="CATEGORY/NAME",
    help="Of the new eval, as for `cli new-eval`. Default: the category `sessions`, and a name made of the title.",
)
@output_option
@click.pass_context
def to_eval(ctx: click.Context, name: str, target: str | None, form: str) -> None:
    """Draft an eval of a session: what was asked, the files that came of it, and a skeleton of its grader.

    TASK.txt gets what the person asked, answer/ the project as it was at the end, wrong/ the states that the person had
    something to say about, and grader.test.ts a test for each public function. Lines that begin with DRAFT say what you
    still have to write, and at which message of the session it stood; `cli validate` lists them, and grades the eval
    when none is left.

    \b
    Examples:
      cli sessions to-eval 3fa1
      cli sessions to-eval 3fa1 --name queries/recent_orders
    """
    from convex_evals.config import open_workspace
    from convex_evals.errors import UserError
    from convex_evals.sessions.drafting.draft import draft_of
    from convex_evals.store.files import write_atomic
    from convex_evals.suite.starter import new_category, new_eval_folder
    from convex_evals.suite.suite import load_suite

    workspace = open_workspace(suite_path(ctx), None, Path.cwd())
    if not workspace.is_own:
        raise UserError("-C: a suite named by it is only read; go into its folder")
    store = open_store(ctx)
    session = store.read(store.resolve(name))
    category, _, own = (target or "").rpartition("/")
    if target is not None and not (category and own):
        raise click.UsageError(f"--name {target}: give CATEGORY/NAME, like queries/recent_orders")
    if target is None:
        category, own = new_category(workspace.suite, _CATEGORY), _name_of(session.title or "")
    folder = new_eval_folder(workspace.suite, category, own)
    draft = draft_of(session.id, list(store.messages(session.id)))
    for path, text in draft.files.items():
        write_atomic(folder / path, text, workspace.suite)
    ident = "/".join(folder.parts[-2:])
    [drafted] = [ev for ev in load_suite(workspace.suite).evals if ev.id == ident]
    left = drafted.problems()
    print_result(
        form,
        _section(folder, ident, draft, left),
        lambda: {"eval": ident, "files": sorted(draft.files), "left_to_write": left, "notes": list(draft.notes)},
    )


def _name_of(title: str) -> str:
    words = re.findall(r"[a-z0-9]+", title.lower())
    name = ""
    for word in words:
        if len(name) + len(word) >= _LONGEST_NAME:
            break
        name = f"{name}_{word}" if name else word
    return name or _FALLBACK


def _section(folder: Path, ident: str, draft: Draft, left: list[str]) -> Section:
    from convex_evals.render.model import Section
    from convex_evals.text import counted

    lines = [f"Drafted {counted(len(draft.files), 'file')} in {folder}:"]
    lines += [f"  {path}" for path in sorted(draft.files)]
    if draft.notes:
        lines += ["Could not be taken over as it was:", *(f"  {note}" for note in draft.notes)]
    lines += ["Left for you to write:", *(f"  {line.removeprefix(f'{folder}/')}" for line in left)]
    lines += [
        "Then:",
        f"  cli codegen -f {ident}     # types of the answer's functions, for the grader",
        f"  cli validate -f {ident}    # answer passes, wrong/ is caught",
    ]
    return Section.of(*lines)
