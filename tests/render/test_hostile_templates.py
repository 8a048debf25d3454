"""Templates of a suite are data: whatever they say, they read nothing, run nothing and end soon."""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path

import pytest

from convex_evals.errors import UserError
from convex_evals.render import templates
from convex_evals.render.templates import Job, Vocabulary, make_environment, render_here
from convex_evals.suite.prompt import PromptSource
from tests.conftest import Invoke
from tests.factories import make_eval, make_run, write_files

pytestmark = pytest.mark.full

SHOWN = "{% block user %}{{ task }}{% endblock %}{% block system %}"
END = "{% endblock %}"
# Each is an expression or statements that write `RAN` in a file, or show something of ours, where nothing prevents it.
COMMANDS = {
    "globals of a function": "{{ range.__init__ }}{{ self.__init__.__globals__['__builtins__']['open']('MARK', 'w') }}",
    "a class of text": "{{ ''.__class__.__mro__[1].__subclasses__() | length }}{{ cycler.__init__.__globals__ }}",
    "lipsum": "{{ lipsum.__globals__['os'].popen('touch MARK').read() }}",
    "joiner": "{{ joiner.__init__.__globals__.__builtins__.open('MARK', 'w').write('x') }}",
    "namespace": "{{ namespace.__init__.__globals__['__builtins__']['__import__']('os').system('touch MARK') }}",
    "attr filter": "{{ (lipsum | attr('__globals__'))['os'].system('touch MARK') }}",
    "map attribute": "{{ ([cycler] | map(attribute='__init__.__globals__.os') | list)[0].system('touch MARK') }}",
    "groupby": "{{ ([cycler] | groupby('__init__.__globals__.os') | list)[0][0].system('touch MARK') }}",
    "attr of a macro": "{% macro m() %}{% endmacro %}{{ m._func.__globals__['environment'].__class__ }}",
    "the environment": "{{ self._TemplateReference__context.environment.__init__.__globals__ }}",
    "context of a block": "{{ self.__dict__ }}",
    "a format string": "{{ '{0.__class__.__mro__}'.format(task) }}{{ ('%s' | format(lipsum.__globals__.keys())) }}",
    "format_map": "{{ '{t.__class__.__base__}'.format_map({'t': task}) }}",
    "an indirect format": "{% set f = '{0.__class__}'.format %}{{ ['x'] | map(f) | list }}{{ f(task) }}",
    "format by map": "{{ (['{0.__class__.__subclasses__}'] | map('attr', 'format') | list)[0](task) }}",
    "unicode in a name": "{{ lipsum['__glo' ~ 'bals__']['o' ~ 's'].system('touch MARK') }}",
}
OUTSIDE = {
    "include of a file": "{% include '/etc/passwd' %}",
    "include of a neighbour": "{% include '../secret.txt' %}",
    "include of a link": "{% include 'linked.txt' %}",
    "import of a file": "{% import '/etc/passwd' as p %}{{ p }}",
    "from a file": "{% from '../secret.txt' import x %}",
    "a list of names": "{% include ['nope', '../../secret.txt', '/etc/passwd'] %}",
}
ENDLESS = {
    "text times a billion": "{{ 'a' * 10 ** 9 }}",
    "text times, in two steps": "{% set a = 'a' * 10 ** 5 %}{% set b = a * 10 ** 5 %}{{ b }}",
    "a power tower": "{{ 10 ** 10 ** 10 }}",
    "a power of a variable": "{% set n = task | length + 9 %}{{ n ** n ** n }}",
    "a width": "{{ '{:>3000000000}'.format(1) }}",
    "a width by percent": "{{ '%3000000000d' % 1 }}",
    "center": "{{ 'a' | center(3 * 10 ** 9) }}",
    "ljust": "{{ 'a'.ljust(3 * 10 ** 9) }}",
    "replace": "{% set a = 'a' * 10 ** 5 %}{{ a.replace('a', a) }}",
    "join": "{% set a = 'a' * 10 ** 5 %}{{ a.join(a) }}",
    "loops in loops": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "loops over text": "{% for a in 'a' * 99999 %}{% for b in 'b' * 99999 %}{% set c = a %}{% endfor %}{% endfor %}",
    "much output": "{% for a in range(99999) %}{{ 'a' * 9999 }}{% endfor %}",
    "a macro that doubles": "{% macro m(n) %}{% if n %}{{ m(n - 1) ~ m(n - 1) }}{% endif %}{% endmacro %}{{ m(40) }}",
    "a macro without end": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "a loop into itself": "{% for a in [1] recursive %}{{ loop([1]) }}{% endfor %}",
    "lists in lists": "{% set a = [range(99999) | list] * 99999 %}{{ a | sum(start=[]) | length }}",
    "batch": "{{ 'a' | batch(10 ** 9, 'x') | list | length }}",
    "slow words": "{% for i in range(99999) %}{{ ('<' * 90000) | striptags }}{% endfor %}",
    "an included self": "{% include 'prompt' %}",
    "nested brackets": "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    "nested statements": "{% if 1 %}" * 3000 + "{% endif %}" * 3000,
    "a sum of many": "{{ " + " + ".join(["'a' * 99999"] * 20000) + " }}",
}


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit that tests can wait for."""
    monkeypatch.setattr(templates, "PROCESSOR_SECONDS", 3)


def render(template: str) -> str:
    prompt = PromptSource(SHOWN + template + END, "prompt.j2", "Rules.").render("Do it.")
    return prompt.system


@pytest.mark.parametrize("name", COMMANDS)
def test_a_prompt_reaches_nothing_of_ours(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = tmp_path / "ran"
    monkeypatch.setenv("PLANTED_KEY", "planted-secret")
    try:
        shown = render(COMMANDS[name].replace("MARK", str(mark)))
    except UserError as error:
        assert "prompt.j2" in str(error) and "\n" not in str(error)
        shown = ""
    assert not mark.exists()
    assert not any(word in shown for word in ("<class", "<function", "object at", "planted", "builtins"))


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_prompt_includes_no_other_file(name: str, tmp_path: Path) -> None:
    write_files(tmp_path, {"secret.txt": "planted-secret", "suite/guidelines/prompt.j2": "x"})
    (tmp_path / "suite/guidelines/linked.txt").symlink_to("/etc/passwd")
    with pytest.raises(UserError, match=r"prompt\.j2:1: Template(s)?NotFound: ") as error:
        render(OUTSIDE[name])
    assert "root:" not in str(error.value)


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("name", ENDLESS)
def test_a_prompt_ends_soon_and_takes_little(name: str) -> None:
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    try:
        shown = render(ENDLESS[name])
    except UserError as error:
        assert str(error).startswith("prompt.j2") and "\n" not in str(error) and len(str(error)) < 600
        shown = ""
    assert len(shown) <= 4_000_000
    assert time.monotonic() - start < 60
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024


def test_a_dry_run_of_a_foreign_suite_runs_nothing(tmp_path: Path, invoke: Invoke) -> None:
    suite, mark, cwd = tmp_path / "suite", tmp_path / "ran", tmp_path / "mine"
    make_eval(suite)
    command = COMMANDS["lipsum"].replace("MARK", str(mark))
    models = "models: [{slug: acme/model, litellm: openai/gpt-4o}]\n"
    write_files(suite, {"guidelines/prompt.j2": SHOWN + command + END, "guidelines/convex.md": "x"})
    write_files(cwd, {"models.yaml": models})
    write_files(suite, {"models.yaml": models})
    for arguments, where in ((["-C", str(suite)], cwd), ([], suite)):
        result = invoke(*arguments, "run", "-m", "acme/model", "--dry-run", cwd=where)
        assert result.status == 1 and result.err.startswith(f"error: {suite}/guidelines/prompt.j2:1: "), result
        assert result.err.count("\n") == 1 and not mark.exists()


REPORTS = {
    **COMMANDS,
    "a method of the report": "{{ report.to_data.__globals__ }}",
    "a function of ours": "{{ percent.__globals__['__builtins__']['open']('MARK', 'w') }}",
    "a filter of ours": "{{ place.__closure__ }}{{ place.__globals__ }}",
    "a class behind it": "{{ report.__class__.__init__.__globals__ }}{{ report.counts.model_dump.__func__ }}",
    "fields of a record": "{{ report.counts.__pydantic_validator__ }}{{ report.counts.model_fields }}",
    "a pydantic schema": "{{ report.counts.model_json_schema() }}{{ report.counts.__class__ }}",
}


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    suite = tmp_path_factory.mktemp("reported")
    make_eval(suite)
    make_run(suite / "runs", {"000-fundamentals/000-answer": "f"})
    return suite


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_template_reaches_nothing_of_ours(name: str, reported: Path, invoke: Invoke) -> None:
    mark = reported / "ran"
    write_files(reported, {"templates/report.md.j2": "here\n" + REPORTS[name].replace("MARK", str(mark))})
    result = invoke("report", "last", "--stdout", cwd=reported)
    assert not mark.exists()
    assert result.status in (0, 1), result.err
    assert "Traceback" not in result.err and (result.status == 0 or result.err.count("\n") == 1), result.err
    assert not any(word in result.out for word in ("<class", "<function", "object at", "builtins", "FieldInfo"))


@pytest.mark.parametrize("name", [*OUTSIDE, "include of a folder's link"])
def test_a_report_template_includes_no_other_file(name: str, reported: Path, invoke: Invoke) -> None:
    secret = reported.parent / "secret.txt"
    secret.write_text("planted-secret")
    template = OUTSIDE.get(name, "{% include 'linked/passwd.j2' %}")
    write_files(reported, {"templates/report.md.j2": template})
    for link, target in (("linked.txt", secret), ("linked", Path("/etc"))):
        if not (reported / "templates" / link).is_symlink():
            (reported / "templates" / link).symlink_to(target)
    result = invoke("report", "last", "--stdout", cwd=reported)
    assert result.status == 1 and "NotFound" in result.err and result.err.count("\n") == 1, result.err
    assert "planted" not in result.out + result.err


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("name", ["loops in loops", "text times a billion", "a macro that doubles", "much output"])
def test_a_report_template_ends_soon(name: str, reported: Path, invoke: Invoke) -> None:
    write_files(reported, {"templates/report.md.j2": ENDLESS[name]})
    start = time.monotonic()
    result = invoke("report", "last", "--stdout", cwd=reported)
    assert result.status == 1 and result.err.count("\n") == 1 and time.monotonic() - start < 60, result.err


def test_one_place_makes_environments() -> None:
    """Nothing else imports what Jinja renders with."""
    package = Path(__file__).parents[2] / "convex_evals"
    makers = [
        p.name for p in package.rglob("*.py") if "import jinja2" in p.read_text() or "from jinja2" in p.read_text()
    ]
    assert makers == ["templates.py"]


def test_what_a_template_sees_is_the_sandbox_of_jinja() -> None:
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = make_environment({})
    assert isinstance(environment, ImmutableSandboxedEnvironment)
    assert sorted(environment.globals) == ["dict", "namespace", "range"]
    job = Job("x", {"x": "{% set _ = things.append(4) %}{{ things }}"}, [{"things": [1]}])
    with pytest.raises(Exception, match="SecurityError"):
        render_here(job)
    assert Vocabulary().functions == {} and os.environ.get("PLANTED_KEY") is None
