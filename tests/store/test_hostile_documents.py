"""Files of runs and of settings that are no documents, or too large ones."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.conftest import Invoke
from tests.factories import edit_json
from tests.store.hostile import EVAL, READS, refused, run_command, run_folder

pytestmark = pytest.mark.full

DEEP = "[" * 100_000 + "]" * 100_000
BROKEN: dict[str, bytes] = {
    "empty": b"",
    "cut off": b'{"kind": "run", "schema": 1, "run_i',
    "deep": DEEP.encode(),
    "deep inside": b'{"kind": "run", "schema": 1, "x": ' + DEEP.encode() + b"}",
    "deep objects": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    "long number": b'{"kind": "run", "schema": ' + b"9" * 10_000 + b"}",
    "long number in exponent": b'{"kind": "run", "schema": 1, "trials": 1e999999}',
    "not a number": b'{"kind": "run", "schema": 1, "trials": NaN}',
    "infinite": b'{"kind": "run", "schema": 1, "trials": -Infinity}',
    "twice": b'{"kind": "run", "kind": "run", "schema": 1}',
    "UTF-16": '{"kind": "run"}'.encode("utf-16"),
    "Latin-1": '{"kind": "rün"}'.encode("latin-1"),
    "NULs": b"\0" * 1_000,
    "list": b"[1, 2, 3]",
    "text": b'"run"',
    "future": b'{"kind": "run", "schema": 2}',
    "true schema": b'{"kind": "run", "schema": true}',
    "negative schema": b'{"kind": "run", "schema": -1}',
    "unhashable kind": b'{"kind": ["run"], "schema": 1}',
    "huge text": b'{"kind": "run", "schema": 1, "run_id": "' + b"x" * 20_000_000 + b'"}',
    "huge key": b'{"kind": "run", "schema": 1, "' + b"x" * 5_000_000 + b'": 1}',
    "too large": b" " * 70_000_000,
    "many values": b'{"kind": "run", "schema": 1, "x": [' + b"{}," * 1_000_000 + b"{}]}",
    "half a character": b'{"kind": "run", "schema": 1, "run_id": "\\ud800"}',
}
FILES = {
    "run.json": "run",
    "summary.json": "summary",
    f"evals/{EVAL}/generation.json": "generation",
    f"evals/{EVAL}/grade.66666666.json": "grade",
    "pruned.json": "pruned",
}


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("what", BROKEN)
def test_a_document_that_is_none_is_one_line(what: str, file: str, suite: Path, invoke: Invoke) -> None:
    path = run_folder(suite) / file
    path.write_bytes(BROKEN[what].replace(b'"kind": "run"', f'"kind": "{FILES[file]}"'.encode()))
    found = [invoke(*command, cwd=suite) for command in (READS[2], READS[3], READS[5], READS[7], READS[12])]
    assert {r.status for r in found} <= {0, 1}
    failed = [r for r in found if r.status]
    assert failed or file == "pruned.json"
    for result in failed:
        refused(result)
        assert path.name in result.err and len(result.err) < 2_000
        assert ";" in result.err or ": " in result.err


@pytest.mark.parametrize("what", BROKEN)
def test_a_journal_that_is_none_is_one_line(what: str, suite: Path, invoke: Invoke) -> None:
    folder = suite / ".cache" / "convex-evals" / "journal" / "acme+model-1+2026-01-01+default-part"
    path = folder / EVAL / "1.json"
    path.write_bytes(BROKEN[what].replace(b'"kind": "run"', b'"kind": "journal"'))
    result = invoke("status", "default-part", cwd=suite)
    refused(result)
    assert "without the file the trial is asked again" in result.err


@pytest.mark.parametrize(
    "line",
    [
        DEEP,
        '{"end": ' + DEEP + "}",
        "[]",
        '{"end": 1}',
        '{"end": {"reply": 1}}',
        '{"end": {"attempt": {}, "reply": {"usage": 1}}}',
        '{"begin": 1}',
        '{"begin": {"max_output_tokens": "x"}}',
        '{"text": 1}',
        '{"begin": {"max_output_tokens": ' + "9" * 5_000 + "}}",
        "\\ud800",
    ],
)
def test_half_a_reply_of_others_is_no_reply(line: str, tmp_path: Path) -> None:
    from convex_evals.store.replies import ReplyFile

    path = tmp_path / "1.reply.jsonl"
    path.write_text(f'{line}\n{{"text": "x"}}\n{line}\n')
    log = ReplyFile(path)
    assert not log.is_whole()
    assert log.read().text == "x"


@pytest.mark.parametrize(
    "what", ["deep", "deep inside", "deep objects", "long number", "cut off", "UTF-16", "half a character"]
)
def test_a_report_of_others_is_one_line_or_new(what: str, suite: Path, invoke: Invoke) -> None:
    assert invoke("report", "default-after", cwd=suite).status == 0
    path = suite / "reports" / "acme" / "model-1" / "default-after_2026-02-01.md"
    head = path.read_bytes().rpartition(b"<!-- report: ")[0]
    path.write_bytes(head + b"<!-- report: " + BROKEN[what] + b" -->\n")
    refused(invoke("report", "default-after", cwd=suite))
    assert invoke("report", "--index", cwd=suite).status in (0, 1)


@pytest.mark.parametrize("figure", ["usage", "duration_ms", "searches", "cost_usd"])
def test_figures_that_add_up_to_too_much_are_one_line(figure: str, suite: Path, invoke: Invoke) -> None:
    folder = run_folder(suite)
    path = folder / "evals" / EVAL / "generation.json"
    data = json.loads(path.read_text())
    most = {"usage": {"input_tokens": 10**15}, "cost_usd": 1e9}.get(figure, 10**15)
    edit_json(path, trials=[{**trial, figure: most} for trial in data["trials"]])
    (folder / "summary.json").unlink()
    for command in (["finish"], ["status"], ["report"]):
        result = invoke(*command, "default-after", cwd=suite)
        assert result.status in (0, 1) and result.err.count("\n") <= 1, result
        if result.status:
            refused(result)


def test_a_mark_with_a_long_number_is_a_broken_one(suite: Path, invoke: Invoke) -> None:
    assert invoke("report", "default-after", cwd=suite).status == 0
    path = suite / "reports" / "acme" / "model-1" / "default-after_2026-02-01.md"
    path.write_text(re.sub(r"(?<=<!-- human: notes )(\S+) \d+", rf"\1 {'9' * 5_000}", path.read_text()))
    result = invoke("report", "default-after", cwd=suite)
    refused(result)
    assert "a broken mark of a place" in result.err
    path.rename(path.with_name("default-before_2026-01-31.md"))
    assert invoke("report", "default-after", cwd=suite).status == 0


YAML = {
    "deep": "a: " + "[" * 20_000,
    "deep blocks": "\n".join("  " * n + "a:" for n in range(2_000)),
    "laughs": "a: &a [x, x, x, x, x, x, x, x, x]\n"
    + "".join(f"{c}: &{c} [{', '.join(['*' + p] * 9)}]\n" for p, c in zip("abcdefgh", "bcdefghi", strict=True)),
    "long number": f"workers: {'9' * 10_000}",
    "not a number": "workers: .nan",
    "object": "workers: !!python/object/apply:os.system [id]",
    "two documents": "a: 1\n---\nb: 2\n",
    "no UTF-8": "a: \udcff",
    "large": "# " + "x" * 20_000_000,
    "laughs in a list": "tags: [&a [x, x, x, x, x, x, x, x, x]"
    + "".join(f", &{c} [{', '.join(['*' + p] * 9)}]" for p, c in zip("abcdefgh", "bcdefghi", strict=True))
    + "]",
    "inside of itself": "tags: &a [*a]",
    "bad date": "packages_before: 2026-99-99",
    "a tag that is not true": "tags: !!bool maybe",
    "a tag of a key": "!!bool maybe: 1",
    "a tag, spelled out": "tags: !<tag:yaml.org,2002:bool> maybe",
    "a tag behind an alias": "tags: [&a !!bool maybe, *a]",
    "an integer of nothing": 'workers: !!int ""',
    "an integer of a sign": 'workers: !!int "-"',
    "a number of nothing": 'workers: !!float ""',
    "a date of words": "packages_before: !!timestamp soon",
    "bytes": "tags: [!!binary G1szMW0=]",
}


@pytest.mark.parametrize("what", YAML)
@pytest.mark.parametrize("file", ["convex-evals.yaml", f"evals/{EVAL}/eval.yaml", "models.yaml"])
def test_yaml_of_others_is_one_line(what: str, file: str, suite: Path) -> None:
    (suite / file).write_bytes(YAML[what].encode("utf-8", "surrogateescape"))
    words = {"models.yaml": ("models", "list"), "convex-evals.yaml": ("list", "evals")}
    result = run_command(suite, *words.get(file, ("run", "-m", "reference", "--dry-run")))
    assert result.returncode == 1, result
    assert result.stderr.count("\n") == 1 and "bug in" not in result.stderr and len(result.stderr) < 2_000
