"""`cli sessions to-eval`"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.cli.commands.sessions.shared import open_store
from convex_evals.cli.numbers import Number
from convex_evals.cli.options import output_option, own_workspace, print_result

if TYPE_CHECKING:
    from convex_evals.config import Workspace
    from convex_evals.render.model import Section
    from convex_evals.sessions.drafting.draft import Draft
    from convex_evals.sessions.message import Message
    from convex_evals.suite.suite import Eval

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
@click.option("--with", "model", metavar="MODEL", help="Have a model draft task, grader and further projects.")
@click.option("--budget", type=Number(0), metavar="USD", help="Hard limit on spending; needed by --with.")
@output_option
@click.pass_context
def to_eval(
    ctx: click.Context, name: str, target: str | None, model: str | None, budget: float | None, form: str
) -> None:
    """Draft an eval of a session: what was asked, the files that came of it, and a skeleton of its grader.

    TASK.txt gets what the person asked, answer/ the project as it was at the end, wrong/ the states that the person had
    something to say about, and grader.test.ts a test for each public function. Lines that begin with DRAFT say what you
    still have to write, and at which message of the session it stood; `cli validate` lists them, and grades the eval
    when none is left.

    --with sends the project and what was said to a model, which drafts task, grader, and further projects under wrong/
    and accept/. Each of its files has a DRAFT line, too, until you have read it.

    \b
    Examples:
      cli sessions to-eval 3fa1
      cli sessions to-eval 3fa1 --name queries/recent_orders
      cli sessions to-eval 3fa1 --with claude-sonnet-5 --budget 0.50
    """
    from convex_evals.records import EvalConfig
    from convex_evals.sessions.drafting.draft import draft_of
    from convex_evals.store.files import write_atomic
    from convex_evals.suite.suite import Eval, load_suite

    if (model is None) != (budget is None):
        raise click.UsageError("--with and --budget: give both, or none")
    workspace, store = own_workspace(ctx), open_store(ctx)
    session = store.read(store.resolve(name))
    folder = _folder(workspace.suite, target, session.title or "")
    messages = list(store.messages(session.id))
    draft, cost = draft_of(session.id, messages), None
    ev = Eval(workspace.suite, folder.parent.name, folder.name, EvalConfig())
    if model is not None and budget is not None:
        draft, cost = _ask(model, budget, workspace, ev, session.id, draft, messages)
    for path, text in draft.files.items():
        write_atomic(folder / path, text, workspace.suite)
    # As a suite has it: what is wrong with its eval.yaml is one of the problems.
    [written] = [each for each in load_suite(workspace.suite).evals if each.id == ev.id]
    left = written.problems()
    print_result(
        form,
        _section(folder, ev.id, draft, left, cost),
        lambda: {
            "eval": ev.id,
            "files": sorted(draft.files),
            "left_to_write": left,
            "notes": list(draft.notes),
            "cost_usd": cost,
        },
    )


def _folder(suite: Path, target: str | None, title: str) -> Path:
    """Of the new eval, which is `target`, or named by the session's title. Raises `UserError`."""
    from convex_evals.suite.starter import free_name, new_category, new_eval_folder

    if target is None:
        category = new_category(suite, _CATEGORY)
        return new_eval_folder(suite, category, free_name(suite, category, _name_of(title)))
    category, _, own = target.rpartition("/")
    if not (category and own):
        raise click.UsageError(f"--name {target}: give CATEGORY/NAME, like queries/recent_orders")
    return new_eval_folder(suite, category, own)


def _ask(
    model: str,
    budget: float,
    workspace: Workspace,
    ev: Eval,
    session_id: str,
    draft: Draft,
    messages: Sequence[Message],
) -> tuple[Draft, float]:
    """The draft with what the model wrote, and the cost of it in dollars. Raises `UserError`."""
    import asyncio

    from convex_evals.errors import UserError
    from convex_evals.models.budget import Budget
    from convex_evals.models.faults import ModelStopped
    from convex_evals.models.solvers import refuse_without_keys
    from convex_evals.render.terminal import Display
    from convex_evals.runs.request import make_solvers
    from convex_evals.sessions.drafting.by_model import drafted_by

    solver = make_solvers(workspace, Budget(budget)).model(model, web_search=False, extra={}, at_once=True)
    refuse_without_keys([solver])
    with Display() as display:
        display.preparing(f"asking {solver.model}", 0, 0)
        try:
            found = asyncio.run(drafted_by(solver, ev, session_id, draft, messages, workspace.home, display.waiting))
        except ModelStopped as stopped:
            raise UserError(str(stopped)) from None
    return found.draft, found.generation.cost_usd


def _name_of(title: str) -> str:
    words = re.findall(r"[a-z0-9]+", title.lower())
    name = ""
    for word in words:
        if len(name) + len(word) >= _LONGEST_NAME:
            break
        name = f"{name}_{word}" if name else word
    return name or _FALLBACK


def _section(folder: Path, ident: str, draft: Draft, left: list[str], cost: float | None) -> Section:
    from convex_evals.render.model import Section
    from convex_evals.render.numbers import dollars
    from convex_evals.text import counted

    spent = "" if cost is None else f" for {dollars(cost)}"
    lines = [f"Drafted {counted(len(draft.files), 'file')}{spent} in {folder}:"]
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
