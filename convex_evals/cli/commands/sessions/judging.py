"""`cli sessions judge`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from convex_evals.cli.commands.sessions.shared import open_store
from convex_evals.cli.numbers import Number
from convex_evals.cli.options import output_option, own_workspace, print_result, read_name
from convex_evals.render.output import complain

if TYPE_CHECKING:
    from convex_evals.render.model import Row, Section
    from convex_evals.sessions.agreement import Measured, Measurement

_MOST_SHOWN = 20


@click.command()
@click.option(
    "-m", "--model", required=True, callback=read_name, metavar="MODEL", help="The judge: one of `cli models list`."
)
@click.option("--budget", type=Number(0), required=True, metavar="USD", help="Hard limit on spending.")
@click.option("--rubric", metavar="PATH", help="What the judge decides by; `path@REV` from Git. Default: ours.")
@output_option
@click.pass_context
def judge(ctx: click.Context, model: str, budget: float, rubric: str | None, form: str) -> int:
    """Measure how far a model, as a judge of replies, agrees with what people say of them.

    The model is asked about the last reply of each session that is labelled golden, correct (people accept it) or
    incorrect (they do not), without being told the label. Cohen's kappa and its 95 % interval say how far both agree
    beyond chance. Opinions are written to judges/, and asked for once. `cli run --sessions --compare judge` lets a
    judge decide where the lower end of the interval is at least 0.4.

    \b
    Examples:
      cli sessions judge -m claude-sonnet-5 --budget 2
      cli sessions judge -m gpt-5 --rubric judges/rubric.md --budget 2 --json
    """
    import asyncio

    from convex_evals.errors import ExitCode, UserError
    from convex_evals.models.budget import Budget
    from convex_evals.models.solvers import refuse_without_keys
    from convex_evals.render.terminal import Display
    from convex_evals.runs.request import make_solvers
    from convex_evals.runs.session_judges import make_judge
    from convex_evals.sessions.agreement import Measurement, labelled_replies, measured

    workspace, store = own_workspace(ctx), open_store(ctx)
    found = make_judge(model, rubric, workspace, make_solvers(workspace, Budget(budget)))
    refuse_without_keys([found.solver])
    replies = labelled_replies(store)
    if not replies:
        raise UserError(
            f"{store.root}: no session with a reply is labelled golden, correct or incorrect; `cli sessions label ID "
            "--status golden` labels one"
        )
    with Display() as display:
        measurement = Measurement(
            store.root,
            found,
            rubric,
            lambda done, total: display.preparing(f"asking {found.model}", done, total),
            display.waiting,
        )
        opinions = asyncio.run(measurement.ask(replies))
    result = measured(found, replies, opinions)
    print_result(form, _section(measurement, result), lambda: _data(measurement, result))
    for line in measurement.stopped:
        complain(line)
    return ExitCode.USER_ERROR if measurement.stopped else ExitCode.OK


def _section(measurement: Measurement, found: Measured) -> Section:
    from convex_evals.render.model import Cell, Column, Section, Table
    from convex_evals.render.numbers import dollars
    from convex_evals.sessions.agreement import path_of
    from convex_evals.sessions.listing import SHORT
    from convex_evals.text import counted

    cells = found.agreement
    columns = [
        Column("people", "people"),
        Column("acceptable", f"{measurement.judge.model} accepts", right=True),
        Column("not_acceptable", "does not", right=True),
    ]
    rows: list[Row] = [
        ["golden or correct", cells.yes_yes, cells.yes_no],
        ["incorrect", cells.no_yes, cells.no_no],
    ]
    others = [
        Column("session", "session", is_id=True),
        Column("status", "people"),
        Column("acceptable", None),
        Column("reason", "judge"),
    ]
    shown = found.disagreements[:_MOST_SHOWN]
    disagreed: list[Row] = [
        [Cell(each.session_id[:SHORT], each.session_id), each.status.value, each.acceptable, each.reason]
        for each in shown
    ]
    more = len(found.disagreements) - len(shown)
    return Section.of(
        Table.of(columns, rows),
        _verdict(found, measurement.judge.model),
        f"Without an opinion: {counted(found.unanswered, 'session')}." if found.unanswered else None,
        *([Table.of(others, disagreed)] if disagreed else []),
        f"Not shown: {counted(more, 'other')}; --json has them." if more > 0 else None,
        f"Opinions: {path_of(measurement.root, measurement.judge)} ({dollars(measurement.cost_usd)})",
    )


def _verdict(found: Measured, model: str) -> str:
    from convex_evals.sessions.agreement import LEAST_KAPPA

    if not found.words:
        return "No kappa: label some replies golden or correct, and some incorrect."
    head = f"Agreement: {found.words}"
    if found.may_decide:
        return f"{head}. This judge may decide: cli run --sessions -m MODEL --compare judge --judge {model}"
    what = f"the interval has to begin at {LEAST_KAPPA:g} or above. Label more replies, or change the rubric"
    return f"{head}. This judge may not decide: {what}."


def _data(measurement: Measurement, found: Measured) -> dict[str, Any]:
    from convex_evals.sessions.agreement import path_of

    cells = found.agreement
    interval = cells.interval()
    return {
        "model": measurement.judge.model,
        "judge_sha256": measurement.judge.sha256,
        "file": str(path_of(measurement.root, measurement.judge)),
        "counts": {
            "both_accept": cells.yes_yes,
            "people_alone": cells.yes_no,
            "judge_alone": cells.no_yes,
            "neither": cells.no_no,
        },
        "observed": cells.observed,
        "kappa": cells.kappa(),
        "interval": list(interval) if interval else None,
        "may_decide": found.may_decide,
        "unanswered": found.unanswered,
        "disagreements": [
            {
                "session": each.session_id,
                "status": each.status.value,
                "acceptable": each.acceptable,
                "reason": each.reason,
            }
            for each in found.disagreements
        ],
        "cost_usd": round(measurement.cost_usd, 6),
        "stopped": list(measurement.stopped),
    }
