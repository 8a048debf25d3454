"""Templates of others: the one place that makes Jinja environments.

A template may come with a suite or a pull request, so it is data: Jinja's immutable sandbox renders it, from plain data
and a few functions, in a process that has no keys and hard limits. Our own templates are rendered here, in the same
environment. Templates are found by name among texts that were read before; none is read while one renders.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from convex_evals.errors import UserError

if TYPE_CHECKING:
    import jinja2

PROCESSOR_SECONDS = 10
WALL_SECONDS = 60  # on a machine that does other things too
MEMORY = 512 * 1024 * 1024  # bytes
LONGEST_OUTPUT = 4_000_000  # characters of one text
_CHILD = Path(__file__).with_name("template_child.py")
# `lipsum`, `cycler` and `joiner` are objects with code behind them that no template here needs.
_KEPT_GLOBALS = ("range", "dict", "namespace")


@dataclass(frozen=True)
class Vocabulary:
    """What templates may call besides Jinja's own: filters and functions."""

    filters: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Job:
    """One template, rendered for several contexts of plain data."""

    name: str  # of the template among `sources`; errors begin with it
    sources: Mapping[str, str]
    contexts: Sequence[Mapping[str, Any]]
    blocks: Sequence[str] | None = None  # the texts that are wanted; None: the whole, under the name ""
    vocabulary: str | None = None  # `module:function` that makes a `Vocabulary`
    told: Sequence[Any] = ()  # plain data for each context, of which that function makes it

    def to_json(self) -> str:
        return json.dumps({name: _plain(getattr(self, name)) for name in self.__dataclass_fields__})


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value


class TemplateFault(Exception):
    """A template is at fault: what, and the line in the template `name` where that is known."""

    def __init__(self, message: str, line: int | None = None, name: str | None = None) -> None:
        super().__init__(message)
        self.message, self.line, self.name = message, line, name


def render_here(job: Job) -> list[dict[str, str]]:
    """The texts of a template by block, for each context. Raises `TemplateFault`. For templates of ours."""
    make = _vocabulary(job.vocabulary) if job.vocabulary else None
    found = []
    for at, context in enumerate(job.contexts):
        own = make(job.told[at]) if make else Vocabulary()
        environment = _kept_environment(tuple(job.sources.items()))
        environment.filters |= own.filters
        try:
            template = environment.get_template(job.name)
            found.append(_texts(template, {**own.functions, **context}, job.blocks))
        except Exception as error:
            _blame(environment, job, error)
    return found


def _vocabulary(name: str) -> Callable[[Any], Vocabulary]:
    module, _, function = name.partition(":")
    found: Callable[[Any], Vocabulary] = getattr(importlib.import_module(module), function)
    return found


def render_apart(job: Job) -> list[dict[str, str]]:
    """The same in a process of its own, which ends at its limits. Raises `TemplateFault`."""
    limits = [str(n) for n in (PROCESSOR_SECONDS, MEMORY)]
    try:
        done = subprocess.run(
            [sys.executable, "-I", str(_CHILD), *limits],
            input=job.to_json().encode("utf-8", "surrogatepass"),
            capture_output=True,
            cwd="/",
            env={"LC_ALL": "C.UTF-8"},
            timeout=WALL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise TemplateFault(f"is not rendered within {WALL_SECONDS} s") from None
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        if done.returncode < 0:
            raise TemplateFault(f"is not rendered within {PROCESSOR_SECONDS} s of processor time") from None
        raise TemplateFault(f"needs more than {MEMORY >> 20} MiB of memory to be rendered") from None
    if "fault" in answer:
        raise TemplateFault(answer["fault"], answer["line"], answer["name"])
    return list(answer["texts"])


@lru_cache(maxsize=4)
def _kept_environment(sources: tuple[tuple[str, str], ...]) -> jinja2.Environment:
    """Kept with what it compiled, which takes longer than rendering."""
    return make_environment(dict(sources))


def make_environment(sources: Mapping[str, str]) -> jinja2.Environment:
    """Jinja's immutable sandbox over `sources`: nothing else can be included, nothing can be changed."""
    import jinja2
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    def load(name: str) -> tuple[str, str, Callable[[], bool]] | None:
        return (sources[name], name, lambda: True) if name in sources else None

    environment = ImmutableSandboxedEnvironment(
        loader=jinja2.FunctionLoader(load),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals = {name: environment.globals[name] for name in _KEPT_GLOBALS}
    return environment


def page_environment(
    folder: Path, finalize: Callable[[Any], Any], functions: Mapping[str, Callable[..., Any]]
) -> jinja2.Environment:
    """For pages that ship, in `folder`: every expression is escaped, after `finalize`. Not for templates of others.

    `functions` get the template's variables before what they are called with.
    """
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.globals |= {name: jinja2.pass_context(function) for name, function in functions.items()}
    return environment


def _texts(template: jinja2.Template, context: Mapping[str, Any], blocks: Sequence[str] | None) -> dict[str, str]:
    own = template.new_context(dict(context))
    parts = {"": template.root_render_func} if blocks is None else template.blocks
    return {name: _joined(parts[name](own)) for name in (blocks or [""]) if name in parts}


def _joined(pieces: Any) -> str:
    found, length = [], 0
    for piece in pieces:
        length += len(piece)
        if length > LONGEST_OUTPUT:
            raise OverflowError(f"makes more than {LONGEST_OUTPUT:,} characters")
        found.append(piece)
    return "".join(found)


def _blame(environment: jinja2.Environment, job: Job, error: Exception) -> NoReturn:
    """Whatever a template's expressions raise is its author's to fix."""
    import jinja2

    if isinstance(error, jinja2.TemplateSyntaxError):
        raise TemplateFault(error.message or "not a template", error.lineno, error.name or job.name) from None
    try:
        environment.handle_exception()  # raises it with the template's own lines
    except Exception as rewritten:
        frames = [f for f in traceback.extract_tb(rewritten.__traceback__) if f.filename in job.sources]
        text = str(rewritten).partition("\n")[0][:400]
        what = text if isinstance(error, OverflowError) and "characters" in text else f"{type(error).__name__}: {text}"
        last = frames[-1] if frames else None
        raise TemplateFault(what, last.lineno if last else None, last.filename if last else job.name) from None
    raise AssertionError("there was an error")


def as_user_error(fault: TemplateFault, where: Callable[[str], str], default: str) -> UserError:
    """The one line for people; `where` says in which file a template stands."""
    place = where(fault.name) if fault.name else default
    return UserError(f"{place}:{fault.line}: {fault.message}" if fault.line else f"{place}: {fault.message}")
