"""`cli sessions import`"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from convex_evals.cli.commands.sessions.shared import day, open_store, tell, user_home
from convex_evals.cli.options import collect, on_terminal, output_option, print_result

if TYPE_CHECKING:
    from convex_evals.render.model import Section, Table
    from convex_evals.sessions.importing.importer import Import, Imported
    from convex_evals.sessions.store import SessionStore

# As in sessions/readers/registry.py, which is not imported for help; a test compares them.
AGENTS = (
    *("claude-code", "codex", "opencode", "gemini", "cursor", "droid", "aider", "copilot"),
    *("openai", "atif", "runs"),
)
_MOST_ROWS = 50


@dataclass(frozen=True)
class ImportOptions:
    """What is imported, and how."""

    paths: tuple[Path, ...]
    agent: str | None
    since: str | None
    project: str | None
    dry: bool
    again: bool
    keep_secrets: bool


@click.command("import")
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--from",
    "agent",
    type=click.Choice(AGENTS),
    metavar="AGENT",
    help=f"Whose conversations: {', '.join(AGENTS)}. Default: all that are found, told by the files.",
)
@click.option("--since", metavar="DAY", callback=day, help="Only those that went on on this day or later (UTC).")
@click.option("--project", metavar="GLOB", help="Only of a folder like this: 'shop*', '~/work/*'.")
@click.option("--dry-run", "dry", is_flag=True, help="Write nothing: only say what would be imported and redacted.")
@click.option("--again", is_flag=True, help="Also write what has not changed, as after an update of this tool.")
@click.option("--keep-secrets", is_flag=True, help="Do not remove secrets. Needs a terminal, and asks.")
@collect("options", ImportOptions)
@output_option
@click.pass_context
def import_(ctx: click.Context, options: ImportOptions, form: str) -> int:
    """Import the conversations that coding agents have kept on this machine, or those at and below PATH.

    Keys, tokens, passwords, e-mail addresses and home folders are removed from everything that is written, and what
    cannot be scanned is left out. A conversation that has gone on since the last import becomes a new revision; its
    label stays. Sessions are written to sessions/ of the nearest suite or repository.

    \b
    Examples:
      cli sessions import --dry-run
      cli sessions import --from claude-code --project 'shop*' --since 2026-11-01
      cli sessions import --from openai chats.jsonl
      cli sessions import --from runs
    """
    from convex_evals.errors import ExitCode
    from convex_evals.render.terminal import Display
    from convex_evals.sessions.importing.choice import choose
    from convex_evals.sessions.importing.importer import Import

    if options.keep_secrets:
        _confirm_secrets()
    store, home, problems = open_store(ctx), user_home(), list[str]()
    paths = options.paths or ((store.root / "runs",) if options.agent == "runs" else ())
    work = Import(
        store, home, problems.append, options.since, options.project, options.keep_secrets, options.dry, options.again
    )
    with Display() as display:
        display.preparing("looking for conversations", 0, 0)
        chosen = list(choose(paths, options.agent, home))
        display.preparing("reading files", 0, len(chosen))
        found = list(work.files(chosen, lambda done, total: display.preparing("reading files", done, total)))
    tell(problems)
    print_result(form, _section(found, store, work, bool(chosen)), lambda: _data(found, problems))
    return ExitCode.USER_ERROR if work.failed_files else ExitCode.OK


def _confirm_secrets() -> None:
    if not on_terminal():
        raise click.UsageError("--keep-secrets needs a terminal: somebody has to answer for it")
    click.confirm("Keys, passwords and addresses will be written as they stand there. Go on?", abort=True)


def _section(found: list[Imported], store: SessionStore, work: Import, any_files: bool) -> Section:
    from convex_evals.render.model import Section
    from convex_evals.sessions.importing.importer import ImportOutcome
    from convex_evals.text import counted

    outcomes = Counter(each.outcome for each in found)
    written = [each for each in found if each.outcome in (ImportOutcome.NEW, ImportOutcome.UPDATED)]
    table = _table(written[:_MOST_ROWS])
    lines = [
        f"{counted(len(written) - _MOST_ROWS, 'more session')} not shown." if len(written) > _MOST_ROWS else "",
        _outcomes_line(outcomes, dry=work.dry) if found else "",
        _sum_line("Records read", Counter[str](), written, "records"),
        _sum_line("Not understood, and kept in raw.jsonl", Counter[str](), written, "unknown"),
        _sum_line("Counted, and kept" if work.keep_secrets else "Removed", Counter[str](), written, "redacted"),
    ]
    if not found:
        lines = ["No conversations found." if any_files else "No conversations of coding agents on this machine."]
    elif written and not work.dry:
        lines.append(f"Written to {store.root / 'sessions'}; `cli sessions list` lists them.")
    return Section.of(table if written else None, *lines)


def _outcomes_line(outcomes: Counter[Any], *, dry: bool) -> str:
    words = {
        "new": "would be new" if dry else "new",
        "updated": "would be updated" if dry else "updated",
        "unchanged": "unchanged",
        "empty": "without a message",
        "left_out": "not chosen",
        "failed": "failed",
    }
    return "Sessions: " + ", ".join(f"{outcomes[key]:,} {word}" for key, word in words.items() if outcomes[key]) + "."


def _sum_line(what: str, total: Counter[str], written: list[Imported], field: str) -> str:
    for each in written:
        total.update(getattr(each.session, field))
    kinds = ", ".join(f"{number:,} {kind.replace('_', ' ')}" for kind, number in total.most_common(20))
    more = f" and {len(total) - 20} more kinds" if len(total) > 20 else ""
    return f"{what}: {kinds}{more}." if total else ""


def _table(written: list[Imported]) -> Table:
    from convex_evals.render.model import Cell, Column, Table
    from convex_evals.sessions.listing import SHORT

    columns = [
        Column("id", "session", is_id=True),
        Column("outcome", "import"),
        Column("tool", "agent"),
        Column("messages", "messages", right=True),
        Column("redacted", "redacted", right=True),
        Column("title", "title"),
    ]
    rows = []
    for each in written:
        assert each.session is not None, "a session that was written"
        session = each.session
        rows.append(
            [
                *(Cell(session.id[:SHORT], session.id), each.outcome.value, session.tool, session.messages),
                *(sum(session.redacted.values()), (session.title or "")[:60]),
            ]
        )
    return Table.of(columns, rows)


def _data(found: list[Imported], problems: list[str]) -> dict[str, Any]:
    return {
        "sessions": [
            {
                "outcome": each.outcome.value,
                "file": str(each.file),
                "session": each.session and each.session.model_dump(mode="json", by_alias=True),
            }
            for each in found
        ],
        "problems": problems,
    }
