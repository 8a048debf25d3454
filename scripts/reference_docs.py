"""The generated parts of the documentation, printed by cog into docs/.

`cog -r -I . docs/*.md` regenerates them; `cog --check -I . docs/*.md` fails where they are out of date.
"""

from __future__ import annotations

import enum
import json
import re
import subprocess
import types
import typing
from pathlib import Path

import click
from pydantic.fields import FieldInfo

from convex_evals.cli.app import COMMANDS, cli
from convex_evals.config import ProjectConfig, cache_dir, open_workspace
from convex_evals.exports.columns import COLUMNS
from convex_evals.grading.node import find_node
from convex_evals.grading.toolchain import SOURCES
from convex_evals.guidelines.build import DEFAULT_OUT, OutFolder, read_build
from convex_evals.guidelines.coverage import Coverage
from convex_evals.guidelines.document import read_guidelines
from convex_evals.guidelines.editor_files import EDITOR_FILES, TOOLS
from convex_evals.models.faults import Fault
from convex_evals.records import EvalConfig, FileRecord, GenerationFile, GradeFile, Pruned, Record, RunPlan, Summary
from convex_evals.records.api_key import ApiKey
from convex_evals.records.batch import BatchFile
from convex_evals.records.benchmark import Benchmark
from convex_evals.records.journal import JournalEntry
from convex_evals.records.judge import JudgeFile
from convex_evals.records.models import ModelsFile
from convex_evals.records.publication import Publication
from convex_evals.records.session import Label, Session
from convex_evals.records.validation import ValidationRecord
from convex_evals.render.plain import plain
from convex_evals.suite.suite import Eval, load_suite

ROOT = Path(__file__).parents[1]
_LANGUAGES = {".md": "markdown", ".sql": "sql", ".ts": "ts", ".yaml": "yaml"}

FILES: dict[str, type[Record]] = {
    "convex-evals.yaml": ProjectConfig,
    "models.yaml": ModelsFile,
    "evals/CATEGORY/NAME/eval.yaml": EvalConfig,
    "runs/PROVIDER/MODEL/DATE/RUN/run.json": RunPlan,
    "runs/PROVIDER/MODEL/DATE/RUN/evals/CATEGORY/NAME/generation.json": GenerationFile,
    "runs/PROVIDER/MODEL/DATE/RUN/evals/CATEGORY/NAME/grade.KEY8.json": GradeFile,
    "runs/PROVIDER/MODEL/DATE/RUN/summary.json": Summary,
    "runs/PROVIDER/MODEL/DATE/RUN/pruned.json": Pruned,
    "runs/PROVIDER/MODEL/DATE/RUN/batches/TOKEN.json": BatchFile,
    "runs/PROVIDER/MODEL/DATE/RUN/published/DEPLOYMENT.json": Publication,
    "benchmarks/NAME.yaml": Benchmark,
    "runs/PROVIDER/MODEL/DATE/validation-ID/validation.json": ValidationRecord,
    "sessions/XX/ID/session.json": Session,
    "labels/XX/ID.yaml": Label,
    "judges/PROVIDER/MODEL-KEY8.json": JudgeFile,
    "keys/NAME.json": ApiKey,
    ".cache/convex-evals/journal/RUN/CATEGORY/NAME/TRIAL.json": JournalEntry,
}


def cli_reference() -> str:
    """The `--help` of every command, as Markdown."""
    parts = [_help("cli", cli, None)]
    with click.Context(cli, info_name="cli", **cli.context_settings) as parent:
        for name in COMMANDS:
            command = cli.get_command(parent, name)
            assert command is not None
            parts += _helps(f"cli {name}", command, parent)
    return "\n".join(parts)


def _helps(title: str, command: click.Command, parent: click.Context) -> list[str]:
    """Of a command and of those below it."""
    parts = [_help(title, command, parent)]
    if isinstance(command, click.Group):
        with click.Context(command, info_name=title.split()[-1], parent=parent) as context:
            parts += [_help(f"{title} {name}", c, context) for name, c in command.commands.items()]
    return parts


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
    if isinstance(value, Record) or (isinstance(value, dict) and value):
        return "see below"
    shown = "[]" if value == () else str(getattr(value, "value", value))
    return f"`{'null' if value is None else shown}`"


def _type(annotation: typing.Any) -> str:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return _type(arguments[0])
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


_EXPORT = re.compile(
    r"/\*\*(?P<doc>(?:(?!\*/).)*)\*/\n\s*"
    r"export (?:async )?(?P<kind>function|class|const) (?P<name>\w+)(?P<rest>[^\n]*)",
    re.DOTALL,
)
# prettier puts the parameters of a long signature on lines of their own.
_BROKEN_SIGNATURE = re.compile(r"(?P<head>^export [^\n]*\()\n(?P<parameters>(?: +[^\n]*\n)+)(?=\))", re.M)
_UNDOCUMENTED = {"closeAll"}  # for the library itself


def grader_reference() -> str:
    """What graders can import from `convex-evals/grader`, as a Markdown table: signature and first sentence."""
    library = SOURCES / "grader"
    exported = set(
        re.findall(r"\b\w+\b", " ".join(re.findall(r"^export \{(.*)\}", _read(library / "exports.ts"), re.M)))
    )
    rows = {}
    for path in sorted(library.glob("*.ts")):
        for match in _EXPORT.finditer(_BROKEN_SIGNATURE.sub(_on_one_line, _read(path))):
            if match["name"] in exported - _UNDOCUMENTED:
                rows[match["name"]] = f"| `{_signature(match)}` | {_first_sentence(match['doc'])} |"
    missing = exported - rows.keys() - _UNDOCUMENTED
    if missing:
        raise SystemExit(f"convex-evals/grader: no doc comment: {', '.join(sorted(missing))}")
    return "\n".join(["| what | does |", "|---|---|", *(rows[name] for name in sorted(rows, key=str.lower))])


def _on_one_line(match: re.Match[str]) -> str:
    return match["head"] + " ".join(match["parameters"].split()).rstrip(",")


def _signature(match: re.Match[str]) -> str:
    if match["kind"] != "function":
        return match["name"]
    found = re.match(r"(?:<.*?>)?\((.*)\): .* \{$", match["rest"])
    arguments = found[1] if found else "..."
    names = [re.split(r"[?:=]", a.strip().lstrip("{ "))[0].strip(" }") for a in _split(arguments)]
    return f"{match['name']}({', '.join(n for n in names if n)})"


def _split(arguments: str) -> list[str]:
    """At the commas that are not inside of brackets."""
    depth, parts = 0, [""]
    for previous, c in zip(" " + arguments, arguments, strict=False):
        depth += (c in "([{<") - (c in ")]}" or (c == ">" and previous != "="))
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return parts


def _first_sentence(comment: str) -> str:
    text = " ".join(" ".join(line.strip().lstrip("*") for line in comment.splitlines()).split())
    return (re.split(r"(?<=[.;:]) (?=[A-Z`])", text)[0] if text else "").replace("|", "\\|")


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def suite_reference() -> str:
    """Every eval of this repository: its concept, its tags, and the mistakes that its grader is known to catch."""
    suite = load_suite(ROOT)
    wrong = [p for e in suite.evals for p in e.wrong()]
    accept = sum(len(e.accept()) for e in suite.evals)
    caught = sum(p.caught_by == "tests" for p in wrong)
    parts = [
        f"{len(suite.evals)} evals in {len(suite.categories)} categories; {len(wrong)} wrong projects, of which the "
        f"graders' tests must catch {caught}; {accept} unusual ones that must pass.",
    ]
    for category in suite.categories:
        parts.append(f"\n## {category}")
        parts += [_eval_reference(e) for e in suite.evals if e.category == category]
    return "\n".join(parts)


def _eval_reference(ev: Eval) -> str:
    lines = [
        f"\n### {ev.name}\n",
        f"[Task](../evals/{ev.id}/TASK.txt). {ev.config.concept.rstrip('.')}.\n",
        f"Tags: {', '.join(ev.config.tags)}\n",
        "| mistake | caught by |",
        "|---|---|",
    ]
    for project in ev.wrong():
        reason = " ".join((project.reason or "").strip().splitlines()[:-1]).replace("|", "\\|")
        lines.append(f"| {reason} | {project.caught_by} |")
    lines += ["\nAccepted as well:", *(f"- {_one_line(p.reason)}" for p in ev.accept())]
    return "\n".join(lines)


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())


def fault_reference() -> str:
    """What can happen to a request, as a Markdown table."""
    rows = [f"| `{f.word}` | {f.happened} | {f.meaning}{f'; {f.remedy}' if f.remedy else ''} |" for f in Fault]
    return "\n".join(["| word | what happened | what it means |", "|---|---|---|", *rows])


def export_reference() -> str:
    """The columns of `cli export --format csv` and `parquet`."""
    rows = [f"| `{column.name}` | {column.kind} | {column.about} |" for column in COLUMNS]
    return "\n".join(["| column | type | what it holds |", "|---|---|---|", *rows])


def coverage_example() -> str:
    """`cli guidelines coverage` of this repository, as if nothing had run."""
    path = ProjectConfig().experiment("default").guidelines
    assert path is not None
    found = read_guidelines((ROOT / path).read_text(encoding="utf-8"))
    section = Coverage(path, found, [e.id for e in load_suite(ROOT).evals], None).to_section()
    return f"```\n$ cli guidelines coverage\n{plain(section)}\n```"


def editors_example() -> str:
    """`cli guidelines build` of this repository, after nothing has changed."""
    workspace = open_workspace(ROOT, None, ROOT)
    section = read_build(workspace, "default", OutFolder.of(workspace, None), TOOLS).to_section()
    return f"```\n$ cli guidelines build\n{plain(section).replace(str(ROOT / DEFAULT_OUT), str(DEFAULT_OUT))}\n```"


def editor_limits() -> str:
    """The table of files for editors: front matter, and how long each may be."""
    lines = ["| file | front matter | at most | documented |", "|---|---|---|---|"]
    for file in EDITOR_FILES:
        front = ", ".join(f"`{line.partition(':')[0]}`" for line in file.front_matter) or "none"
        limit = file.limit
        most = f"{limit.most:,} {limit.unit}, {'enforced' if limit.strict else 'advised'}" if limit else "no limit"
        page = limit.page if limit else "https://llmstxt.org"
        path = file.path.format(name="NAME_rules")
        lines.append(f"| `{path}` | {front} | {most} | [{page.split('/')[2]}]({page}) |")
    return "\n".join(lines)


def example(name: str, *paths: str) -> str:
    """Return files of docs/examples/NAME, each in a block of its own below its path."""
    blocks = []
    for path in paths:
        text = (ROOT / "docs" / "examples" / name / path).read_text(encoding="utf-8").rstrip("\n")
        blocks.append(f"`{path}`\n\n```{_LANGUAGES.get(Path(path).suffix, '')}\n{text}\n```")
    return "\n\n".join(blocks)
