"""The generated parts of the documentation, printed by cog into docs/.

`cog -r -I . docs/*.md` regenerates them; `cog --check -I . docs/*.md` fails where they are out of date.
"""

from __future__ import annotations

import enum
import json
import subprocess
import types
import typing
from pathlib import Path

import click
from pydantic.fields import FieldInfo

from convex_evals.app import COMMANDS, cli
from convex_evals.config import ProjectConfig, cache_dir
from convex_evals.grade.node import find_node
from convex_evals.grade.toolchain import SOURCES
from convex_evals.records import EvalConfig, FileRecord, GenerationFile, GradeFile, Record, RunPlan, Summary
from convex_evals.records.journal import JournalEntry

FILES: dict[str, type[Record]] = {
    "convex-evals.yaml": ProjectConfig,
    "evals/CATEGORY/NAME/eval.yaml": EvalConfig,
    "runs/PROVIDER/MODEL/DATE/RUN/run.json": RunPlan,
    "runs/PROVIDER/MODEL/DATE/RUN/evals/CATEGORY/NAME/generation.json": GenerationFile,
    "runs/PROVIDER/MODEL/DATE/RUN/evals/CATEGORY/NAME/grade.KEY8.json": GradeFile,
    "runs/PROVIDER/MODEL/DATE/RUN/summary.json": Summary,
    ".cache/convex-evals/journal/RUN/CATEGORY/NAME/TRIAL.json": JournalEntry,
}


def cli_reference() -> str:
    """The `--help` of every command, as Markdown."""
    parts = [_help("cli", cli, None)]
    with click.Context(cli, info_name="cli", **cli.context_settings) as parent:
        for name in COMMANDS:
            command = cli.get_command(parent, name)
            assert command is not None
            parts.append(_help(f"cli {name}", command, parent))
    return "\n".join(parts)


def _help(title: str, command: click.Command, parent: click.Context | None) -> str:
    settings = {**cli.context_settings, "terminal_width": 100}
    context = click.Context(command, info_name=title.split()[-1], parent=parent, **settings)
    return f"## {title}\n\n```\n{command.get_help(context)}\n```\n"


def formats_reference() -> str:
    """Every key of every file, as Markdown tables."""
    return "\n".join(_file(path, model) for path, model in FILES.items())


def _file(path: str, model: type[Record]) -> str:
    parts = [f"## {path}\n", f"{_first_paragraph(model)}\n", _table(model)]
    parts += [
        f"### {inner.__name__}\n\n{_first_paragraph(inner)}\n\n{_table(inner)}" for inner in _inner_records(model)
    ]
    return "\n".join(parts)


def _first_paragraph(model: type[Record]) -> str:
    own = model.__doc__ if model.__doc__ != Record.__doc__ and model.__doc__ != FileRecord.__doc__ else None
    return " ".join((own or "").split("\n\n")[0].split())


def _table(model: type[Record]) -> str:
    rows = [
        f"| `{field.alias or name}` | {_type(field.annotation)} | {_default(field)} | {_meaning(name, field)} |"
        for name, field in model.model_fields.items()
    ]
    return "\n".join(["| key | type | default | meaning |", "|---|---|---|---|", *rows]) + "\n"


def _meaning(name: str, field: FieldInfo) -> str:
    return field.description or {"kind": "what this file is"}[name]


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.default
    if isinstance(value, Record):
        return "see below"
    shown = "[]" if value == () else str(getattr(value, "value", value))
    return f"`{'null' if value is None else shown}`"


def _type(annotation: typing.Any) -> str:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(_type(a) for a in arguments)
    if origin is typing.Literal:
        return " or ".join(f"`{a}`" for a in arguments)
    if origin is tuple:
        return f"list of {_type(arguments[0])}"
    if origin is dict:
        return f"map of {_type(arguments[1])}"
    if annotation is type(None):
        return "null"
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return " or ".join(f"`{member.value}`" for member in annotation)
    names = {str: "text", int: "integer", float: "number", bool: "true or false"}
    return names.get(annotation, getattr(annotation, "__name__", str(annotation)))


def _inner_records(model: type[Record]) -> list[type[Record]]:
    found: list[type[Record]] = []
    for field in model.model_fields.values():
        for inner in _records_in(field.annotation):
            found += [r for r in [inner, *_inner_records(inner)] if r not in found]
    return found


def _records_in(annotation: typing.Any) -> list[type[Record]]:
    if isinstance(annotation, type) and issubclass(annotation, Record):
        return [annotation]
    return [r for argument in typing.get_args(annotation) for r in _records_in(argument)]


def lint_reference() -> str:
    """The lint rules that were considered, kept and dropped, as Markdown tables."""
    code = "import(process.argv[1]).then((m) => console.log(JSON.stringify(m.RULES)))"
    argv: list[str | Path] = [find_node(cache_dir()).executable, "-e", code, SOURCES / "checker" / "rules.ts"]
    rules = json.loads(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)
    kept = [f"| `{r['name']}` | {r['scope']} | {r['reason']} |" for r in rules if r["scope"] != "never"]
    dropped = [f"| `{r['name']}` | {r['reason']} |" for r in rules if r["scope"] == "never"]
    lines = [f"### Kept: {len(kept)}", "", "| rule | where | why |", "|---|---|---|", *kept, ""]
    lines += [f"### Dropped: {len(dropped)}", "", "| rule | why |", "|---|---|", *dropped, ""]
    return "\n".join(lines)
