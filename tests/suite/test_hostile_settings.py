"""Settings, names and folders of a stranger's suite."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from convex_evals.errors import UserError
from convex_evals.suite.prompt import without_comments
from convex_evals.suite.suite import load_suite
from tests.conftest import Invoke
from tests.factories import write_files
from tests.suite.hostile import EVAL, make_suite

YAML = {
    "an alias bomb": "a: &a0 [x]\n" + "".join(f"b{n}: &a{n} [{f'*a{n - 1},' * 9}]\n" for n in range(1, 9)),
    "a bomb of merges": "a: &a {x: 1}\n"
    + "".join(
        f"b{n}: &b{n} {{<<: [*{'a' if n == 0 else f'b{n - 1}'}, *{'a' if n == 0 else f'b{n - 1}'}]}}\n"
        for n in range(40)
    ),
    "an alias to itself": "a: &a [*a]\n",
    "a map in itself": "a: &a {b: *a}\n",
    "brackets": "[" * 100_000,
    "braces": "{a: " * 50_000,
    "dashes": "- " * 50_000 + "x\n",
    "question marks": "? " * 50_000 + "x\n",
    "indents": "".join(" " * n + "a:\n" for n in range(600)),
    "a long number": f"concurrency: {'9' * 200_000}\n",
    "a long hexadecimal": f"concurrency: 0x{'f' * 200_000}\n",
    "a sexagesimal": f"concurrency: 1{':59' * 60_000}\n",
    "a long float": f"concurrency: 1.{'0' * 200_000}e9\n",
    "infinity": "concurrency: .inf\n",
    "no number": "workers: .nan\n",
    "no date": "packages_before: 2026-99-99\n",
    "a far date": "packages_before: 99999-01-01\n",
    "the same key twice": "workers: 1\nworkers: 2\n",
    "an object": "workers: !!python/object/apply:os.system ['touch ran']\n",
    "another object": "workers: !!python/name:os.system\n",
    "a tag": "workers: !evil 1\n",
    "binary": "runs_dir: !!binary '////'\n",
    "a list for a key": "? [a, b]\n: 1\n",
    "a map for a key": "? {a: b}\n: 1\n",
    "a number for a key": "1: 2\n",
    "nothing for a key": "null: 2\n",
    "half a character": 'runs_dir: "\\ud800"\n',
    "an escape": 'runs_dir: "\\e[2J"\n',
    "an escape in a key": '"\\e[2J": 1\n',
    "text that turns": 'runs_dir: "\\u202eabc"\n',
    "a set": "workers: !!set {a, b}\n",
    "two documents": "workers: 1\n---\nworkers: 2\n",
    "too long": "# " + "x" * 300_000 + "\n",
    "many keys": "".join(f"k{n}: 1\n" for n in range(15_000)),
    "a directive": "%YAML 9.9\n---\nworkers: 1\n",
    "a zero byte": "workers: 1\0\n",
}


@pytest.mark.parametrize("name", YAML)
def test_settings_of_strangers(name: str, tmp_path: Path, invoke: Invoke) -> None:
    suite = make_suite(tmp_path)
    (suite / "convex-evals.yaml").write_text(YAML[name], encoding="utf-8", errors="surrogatepass")
    start = time.monotonic()
    result = invoke("-C", suite, "list", "evals", cwd=tmp_path)
    assert result.status == 1 and result.err.startswith(f"error: {suite}/convex-evals.yaml"), result.err[:500]
    assert result.err.count("\n") == 1 and len(result.err) < 1_000 and "\x1b" not in result.err
    assert time.monotonic() - start < 20 and not (tmp_path / "ran").exists()


JSON = {
    "brackets": "[" * 100_000,
    "braces": '{"a":' * 50_000,
    "a long number": '{"tags": ' + "9" * 200_000 + "}",
    "half a character": '{"tags": ["\\ud800"]}',
    "an escape": '{"concept": "\\u001b[2J"}',
    "too long": '{"x": "' + "x" * 2_100_000 + '"}',
    "infinity": '{"timeouts": {"tests": 1e999}}',
    "no number": '{"timeouts": {"tests": NaN}}',
    "a list": "[]",
}


@pytest.mark.parametrize("name", JSON)
def test_settings_of_a_strangers_eval(name: str, tmp_path: Path, invoke: Invoke) -> None:
    suite = make_suite(tmp_path)
    write_files(suite, {f"evals/{EVAL}/eval.json": JSON[name]})
    result = invoke("-C", suite, "run", "-m", "reference", "--dry-run", cwd=tmp_path)
    assert result.status == 1 and f"{EVAL}/eval.json" in result.err and result.err.count("\n") == 1, result.err[:500]
    assert invoke("-C", suite, "list", "evals", cwd=tmp_path).status == 0


@pytest.mark.parametrize("name", ["a\nb", "\x1b[2J", "::error::x", "a" * 101, "‮abc", "a\\b", "a'b", "a;b", "a`b`"])
@pytest.mark.parametrize("place", ["evals/{}/000-x/TASK.txt", "evals/000-x/{}/TASK.txt"])
def test_odd_names(name: str, place: str, tmp_path: Path, invoke: Invoke) -> None:
    suite = make_suite(tmp_path)
    write_files(suite, {place.format(name): "x"})
    result = invoke("-C", suite, "list", "evals", cwd=tmp_path)
    assert result.status == 1 and "rename it" in result.err and result.err.count("\n") == 1, result.err
    assert "\x1b" not in result.err and "‮" not in result.err


def test_deep_and_many(tmp_path: Path, invoke: Invoke) -> None:
    suite = make_suite(tmp_path)
    deep = suite / f"evals/{EVAL}/answer" / "/".join(["d"] * 200)
    write_files(deep, {"x.ts": "1"})
    with pytest.raises(UserError, match="more than 32 deep"):
        load_suite(suite).evals[0].answer()
    many = make_suite(tmp_path / "many")
    for n in range(5_100):
        (many / f"evals/{EVAL}/answer/convex/{n}.ts").touch()
    with pytest.raises(UserError, match="more than 5,000 files"):
        load_suite(many).evals[0].answer()
    wide = make_suite(tmp_path / "wide")
    for n in range(10_100):
        (wide / "evals/000-fundamentals" / f"{n:06}").mkdir()
    result = invoke("-C", wide, "list", "evals", cwd=tmp_path)
    assert result.status == 1 and "more than 10,000 folders" in result.err and result.err.count("\n") == 1


def test_comments_without_end_take_no_time() -> None:
    start = time.monotonic()
    for text in ("<!--" * 250_000, "<!-- -->" * 100_000 + "<!--", "-->" * 300_000, "<!--" + " " * 900_000):
        without_comments(text)
    assert time.monotonic() - start < 10
    assert without_comments("a <!-- b --> \t\nc<!---->d<!-- e") == "a cd<!-- e"
