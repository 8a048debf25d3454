"""Reports: what they say, what people write in them, and what hostile text cannot do to either."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convex_evals.errors import UserError
from convex_evals.records import Verdict
from convex_evals.records.grading_inputs import grade_name
from convex_evals.reports.actions import Repository
from convex_evals.reports.analyze import read_answer
from convex_evals.reports.build import build
from convex_evals.reports.classify import read_decision
from convex_evals.reports.files import Folder
from convex_evals.reports.human_sections import CLOSING, Document, SectionKey, Written, opening, parse
from convex_evals.reports.model import Report
from convex_evals.reports.relevant_lines import focus_of, focused_diff
from convex_evals.reports.render import SHIPPED, render
from convex_evals.reports.signature import gist, signature, signatures
from convex_evals.reports.sources import Sources
from convex_evals.store.run import Run
from convex_evals.store.runs import RunStore
from convex_evals.store.summary import summarize
from convex_evals.suite.suite import load_suite
from tests.conftest import Invoke
from tests.factories import make_eval, make_failure, make_git_repo, make_run, make_verdict, write_files
from tests.provider import Provider, serve
from tests.render.test_markdown import HOSTILE, TEXTS
from tests.rendering import flat, github, live, running_texts, structure
from tests.tier import examples

Golden = Callable[[str, str], None]
PASSES = "000-fundamentals/000-answer"
CRONS = "000-fundamentals/001-crons"
FILTER = "001-queries/000-filter"
PAGES = "001-queries/001-pages"
NOTES = "001-queries/002-notes"
SILENT = "002-actions/000-silent"
EVALS = (PASSES, CRONS, FILTER, PAGES, NOTES, SILENT)
ANSWER = """import { query } from "./_generated/server";
import { v } from "convex/values";

export const list = query({
  args: { status: v.string() },
  handler: async (ctx, args) => {
    return await ctx.db
      .query("tickets")
      .withIndex("by_status", (q) => q.eq("status", args.status))
      .collect();
  },
});

export const count = query({ args: {}, handler: async (ctx) => (await ctx.db.query("tickets").collect()).length });
"""
WRITTEN = ANSWER.replace(
    """.withIndex("by_status", (q) => q.eq("status", args.status))""", """.filter((t) => t.status === args.status)"""
)
REPLY = f'# Files\n\n## package.json\n\n```json\n{{"name": "x"}}\n```\n\n## convex/main.ts\n\n```ts\n{WRITTEN}```\n'
TYPE_ERROR = "convex/main.ts:9:22 TS2345: Argument of type '(t: any) => boolean' is not assignable."
FAILURES = {
    CRONS: make_failure(
        {
            "deploy": '✘ [ERROR] No matching export in "convex/_generated/server.js" for import "cronJobs"\n\n'
            "    convex/main.ts:1:9:\n      1 │ import { cronJobs }"
        }
    ),
    FILTER: make_failure({"tsc": f"{TYPE_ERROR}\nconvex/main.ts:2:1 TS2345: Again."}, {"lists": None, "counts": None}),
    PAGES: make_failure(
        {"tsc": TYPE_ERROR, "tests": "page: expected"},
        {
            "page": "The call of `main:list` failed: [Request ID: 0123456789abcdef] Server Error\n"
            "ReturnsValidationError: Object contains extra field `pageStatus` that is not in the validator.",
            "others": None,
        },
    ),
    NOTES: make_failure(
        {"eslint": "convex/main.ts:14:1 @typescript-eslint/no-floating-promises: Promises must be awaited."},
        {"adds": None, "removes": None},
    ),
}
REPLIES = dict.fromkeys(EVALS, REPLY)


def make_suite(root: Path) -> Path:
    for eval_id in EVALS:
        make_eval(root, eval_id, {"answer/convex/main.ts": ANSWER})
    return root


def make_past(root: Path) -> Run:
    outcomes = dict(zip(EVALS, ("ppp", "pff", "ppp", "fff", "pfp", "ppp"), strict=True))
    return make_run(root / "runs", outcomes, run_id="default-before", date="2026-01-20")


def make_now(root: Path, failures: Mapping[str, Verdict] = FAILURES, reply: str = REPLY, **changes: Any) -> Run:
    outcomes = dict(zip(EVALS, ("ppp", "fff", "ffp", "fff", "pfp", "puu"), strict=True))
    replies = dict.fromkeys(EVALS, reply)
    return make_run(root / "runs", outcomes, replies=replies, failures=failures, **{"run_id": "default-now", **changes})


def sources_of(root: Path) -> Sources:
    store = RunStore(root / "runs")
    evals = {e.id: e for e in load_suite(root).evals}
    decided, _ = Folder(root / "reports").decisions()
    return Sources(store, root, root, evals, Repository(root), decided, {})


def built(root: Path, run: Run, document: Document | None = None) -> Report:
    return build(run, sources_of(root), report_path(root, run), document)


def report_path(root: Path, run: Run) -> Path:
    return Folder(root / "reports").path(run.plan)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return make_suite(tmp_path)


def fill(text: str, words: Mapping[str, str]) -> str:
    """What a person does: `words` by the beginning of a mark (`classification EVAL` or `notes EVAL`)."""
    lines = text.split("\n")
    for start, said in words.items():
        at = next(i for i, line in enumerate(lines) if line.startswith(f"<!-- human: {start} "))
        lines[at] += f"\n{said}"
    return "\n".join(lines)


# -- what a report says --


def test_a_report(suite: Path, invoke: Invoke, golden: Golden) -> None:
    past, run = make_past(suite), make_now(suite)
    result = invoke("report", "last")
    path = suite / "reports" / "acme" / "model-1" / "default-now_2026-01-31.md"
    assert (result.status, result.err) == (0, "")
    assert result.out == (
        "reports/acme/model-1/default-now_2026-01-31.md: 44% passed (7 of 16); "
        "47% without what is not the model's fault, if the proposals hold; 4 failures, 4 to be decided\n"
    )
    golden("report.md", path.read_text())
    assert invoke("report", "default-now", "--stdout").out == path.read_text()
    data = json.loads(invoke("report", "default-now", "--json").out)
    assert data["counts"] == {"passed": 7, "failed": 9, "unscored": 2}
    assert data["previous"]["run_id"] == past.plan.run_id and data["previous"]["pairs"] == 6
    assert [f["signature"]["code"] for f in data["failures"]] == [
        "No matching export",
        "TS2345",
        "TS2345",
        "@typescript-eslint/no-floating-promises",
    ]
    assert data["pass_rates"]["all"]["pass_rate"] == pytest.approx(7 / 16)
    assert data["patterns"][0]["code"] == "TS2345" and len(data["patterns"][0]["evals"]) == 2
    assert data["stability"][0]["runs"] == [[0, 3], [1, 3]]
    assert data["unscored"][0]["eval"] == SILENT
    # Again: nothing changes, nothing is written.
    before = path.stat().st_mtime_ns
    assert invoke("report", "last").status == 0 and path.stat().st_mtime_ns == before
    assert run.folder.exists() and not list(suite.rglob(".tmp-*"))


@pytest.mark.parametrize(
    ("reasons", "tests", "key", "said"),
    [
        ({"filesystem": "truncated: cut at our token limit"}, {}, "filesystem:truncated cut at our token limit", None),
        (
            {"deploy": '✘ [ERROR] Could not resolve "left-pad"\n\n    convex/a.ts:3:7:'},
            {},
            "deploy:Could not resolve:left-pad",
            'Could not resolve "left-pad"',
        ),
        (
            {"tsc": "a.ts:1:1 TS2339: Property 'foo' does not exist on type 'Bar'."},
            {},
            "tsc:TS2339:foo",
            "TS2339: Property 'foo' does not exist on type 'Bar'.",
        ),
        (
            {"tsc": "a.ts:1:1 TS2305: Module '\"convex/server\"' has no exported member 'cron'."},
            {},
            "tsc:TS2305:cron",
            None,
        ),
        ({"eslint": "a.ts:1:1 no-console: Unexpected."}, {"t": None}, "eslint:no-console", "no-console: Unexpected."),
        (
            {"tests": "t: x"},
            {"t": "The call of `a:b` failed: Could not find public function for 'a:b'."},
            "tests:function not found:a:b",
            None,
        ),
        (
            {"tests": "t: x"},
            {"ok": None, "a > t": "AssertionError: expected 1 to be 2"},
            "tests:assertion:a > t",
            "expected 1 to be 2",
        ),
        ({"tests": "t: x"}, {"t": "Waited 2000 ms for the list."}, "tests:waited in vain:the list", None),
        ({"tests": "no tests ran"}, {}, "tests:no tests ran", None),
    ],
)
def test_signatures(reasons: dict[str, str], tests: dict[str, str | None], key: str, said: str | None) -> None:
    verdict = make_failure(reasons, tests)
    assert signature(verdict).key == key and signatures(verdict)[0].key == key
    assert said is None or gist(verdict) == said


@given(text=TEXTS)
def test_any_message_has_a_signature(text: str) -> None:
    text = text.encode("utf-8", "replace").decode()  # as every file of ours is written
    for verdict in (make_failure({"deploy": text}), make_failure({"tests": text}, {text or "t": text})):
        mark = opening(SectionKey("notes", "a/b", signature(verdict).key))
        assert parse_places(f"{mark}\n{CLOSING}\n") == {SectionKey("notes", "a/b", signature(verdict).key): ""}
        assert gist(verdict) and len(gist(verdict)) <= 160


def parse_places(text: str) -> dict[SectionKey, str]:
    from convex_evals.reports.human_sections import trailer

    whole = text + trailer(text, {})
    return {place: written.text for place, written in parse(whole, "x.md").places.items()}


def test_the_diff_shows_what_matters() -> None:
    same = "".join(f"const line{n} = {n};\n" for n in range(100))
    answer = same.replace("line50 = 50", "line50 = fifty").replace("line10 = 10", "line10 = ten")
    files = {"convex/a.ts": same, "convex/b.ts": "new", "package.json": "{}"}
    expected = {"convex/a.ts": answer, "package.json": '{"a": 1}'}
    diff, note = focused_diff(expected, files, focus_of(["convex/a.ts:51:7 TS1: no"], files))
    assert "+const line50 = 50;" in diff and "-const line50 = fifty;" in diff and "line10" not in diff
    assert note == "Not shown, since nothing points there: convex/b.ts, package.json."
    diff, _ = focused_diff(expected, files, focus_of(["'line10' is off"], files))
    assert "+const line10 = 10;" in diff and "line50" not in diff
    diff, _ = focused_diff(expected, files, focus_of(["off"], files))
    assert "line10" in diff and "line50" in diff and "+++ response/convex/b.ts" in diff
    diff, note = focused_diff(expected, {"convex/a.ts": "x\n" * 100_000}, focus_of(["off"], {}))
    assert len(diff.split("\n")) <= 60 and "Shortened." in note
    assert focused_diff(None, files, focus_of(["convex/b.ts:1:1 x"], files))[0].startswith("--- /dev/null\n+++ ")
    assert focused_diff(expected, {}, focus_of([], {})) == ("", "The reply has no files.")


def test_the_diff_is_about_the_function_that_failed() -> None:
    schema = 'status: v.union(v.literal("open"))\n'
    far = "// far\n" * 12
    answer = (
        f"export const add = 1;\n{far}\nexport const list = query({{\n  a: 1,\n}});\n\n{far}function other() {{}}\n"
    )
    expected = {"convex/schema.ts": schema, "convex/tickets.ts": answer}
    written = answer.replace("a: 1", "a: 2").replace("add = 1", "add = 2").replace("other() {", "other() { ")
    files = {"convex/schema.ts": schema.replace("v.union", "union"), "convex/tickets.ts": written}
    message = (
        'The call of `tickets:list` failed: ReturnsValidationError: no\n\nObject: {status: "open", other: "other"}'
    )
    diff, note = focused_diff(expected, files, focus_of([message], files))
    assert [x for x in diff.split("\n") if x[0] in "+-" and x[1:3] not in ("--", "++")] == ["-  a: 1,", "+  a: 2,"]
    assert note == "Not shown, since nothing points there: convex/schema.ts."
    # What it names comes first, and what there is no room for is not said to have nothing to do with it.
    files["convex/tickets.ts"] = answer.replace("  a: 1", "\n".join(f"  a{n}: 1," for n in range(55)))
    names = " ".join(f"'a{n}'" for n in range(10, 55, 9))
    files["convex/schema.ts"] += "\n".join(f"tickets{n}" for n in range(20))
    diff, note = focused_diff(expected, files, focus_of([f"{names} 'tickets7' in `tickets:nope`"], files))
    assert diff.startswith("--- expected/convex/tickets.ts") and note == "Shortened."


@settings(max_examples=examples(300))
@given(*[st.lists(st.sampled_from(["a", "b", "", "  c", "});"]), max_size=40)] * 2)
def test_the_diff_makes_the_reply_of_the_answer(old: list[str], new: list[str]) -> None:
    answer, reply = ("".join(f"{line}\n" for line in lines) for lines in (old, new))
    diff, _ = focused_diff({"a.ts": answer}, {"a.ts": reply}, focus_of([], {}), limit=1_000)
    assert patched(old, diff) == new


def patched(old: list[str], diff: str) -> list[str]:
    """What the hunks of `diff` make of `old`."""
    made: list[str] = []
    at = 0
    for line in diff.split("\n")[2:]:
        if hunk := re.fullmatch(r"@@ -(\d+),\d+ \+(\d+),\d+ @@", line):
            start = int(hunk[1]) - 1
            made += old[at:start]
            at = start
            assert len(made) == int(hunk[2]) - 1
        elif line[0] == "+":
            made.append(line[1:])
        else:
            assert old[at] == line[1:]
            made += old[at : at + 1] if line[0] == " " else []
            at += 1
    return made + old[at:]


def test_a_message_full_of_names_takes_no_time() -> None:
    names = [f"n{n}" for n in range(4_000)]
    files = {"convex/a.ts": "\n".join(f"const x{n} = [{', '.join(names[n : n + 8])}]" for n in range(1_900))}
    start = time.monotonic()
    focused_diff({"convex/a.ts": ""}, files, focus_of([" ".join(f"'{n}'" for n in names)], files))
    assert time.monotonic() - start < 2


def test_what_is_not_there_any_more(suite: Path, invoke: Invoke) -> None:
    run = make_now(suite)
    for trial in (1, 2, 3):
        (run.eval_folder(CRONS) / f"{trial}.md").unlink()
    shutil.rmtree(suite / "evals" / FILTER)
    text = invoke("report", "last", "--stdout").out
    assert "The reply is no longer here." in text and f"{FILTER} is not in the suite any more" in text
    assert "Nothing to compare with: there is no earlier run of acme" in text


def test_runs_that_are_not_whole(suite: Path, invoke: Invoke) -> None:
    make_run(suite / "runs", {PASSES: "f", CRONS: ""}, run_id="half", complete=False)
    text = invoke("report", "half", "--stdout").out
    assert "the run is not complete" in text and "1 eval is missing" in text
    make_run(suite / "runs", {PASSES: "", CRONS: ""}, run_id="none", complete=False, trials=1)
    result = invoke("report", "none")
    assert result.status == 6 and "none of it is graded yet; `cli status none`" in result.err
    make_run(suite / "runs", {PASSES: "p"}, run_id="all")
    text = invoke("report", "all", "--stdout").out
    assert "Nothing failed." in text and "## Failures" not in text and "## Net impact" not in text
    assert "| 1 eval, 1 trial each |" in text
    make_run(suite / "runs", {PASSES: "u"}, run_id="unscored")
    result = invoke("report", "unscored", "all")
    assert result.status == 6 and "unscored: no trial has a verdict, so there is nothing to report" in result.err
    assert "all_2026-01-31.md: 100% passed (1 of 1)" in result.out, "it keeps no other from being reported on"
    assert not list((suite / "reports").rglob("unscored*"))


def test_against_a_run_with_other_evals(suite: Path, invoke: Invoke) -> None:
    make_past(suite)
    make_run(suite / "runs", {PASSES: "ppp"}, run_id="few")
    text = invoke("report", "few", "--stdout").out
    assert "Not compared: 5 evals, only in the earlier run" in text
    assert "**too few to tell**, 0.0 points over 1 eval: none differs" in text and "()" not in text


def test_against_a_whole_run_rather_than_a_newer_small_one(suite: Path, invoke: Invoke) -> None:
    make_past(suite)
    make_run(suite / "runs", {PASSES: "ppp"}, run_id="small", date="2026-01-25")
    make_now(suite)
    previous = json.loads(invoke("report", "default-now", "--json").out)["previous"]
    assert (previous["run_id"], previous["pairs"]) == ("default-before", 6)
    make_run(suite / "runs", {PASSES: "fff"}, run_id="tried", date="2026-02-02")
    assert json.loads(invoke("report", "tried", "--json").out)["previous"]["run_id"] == "default-now"


def test_what_failures_have_in_common(suite: Path, invoke: Invoke) -> None:
    """One failure is no pattern, however many trials it has."""
    make_now(suite)
    data = json.loads(invoke("report", "last", "--json").out)
    assert [(p["code"], p["failures"], p["trials"]) for p in data["patterns"]] == [("TS2345", [2, 3], 5)]
    assert data["single"] == 2
    assert "| tsc `TS2345` | [2](#failure-2), [3](#failure-3) | 2 | 5 |" in invoke("report", "last", "--stdout").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing argument 'RUN...'"),
        (["last", "last", "-o", "x.md"], "-o takes one RUN"),
        (["last", "--json", "--stdout"], "give only one of them"),
        (["last", "--budget", "1"], "--budget needs --analyze"),
        (["--index", "--json"], "--index writes a file"),
    ],
)
def test_wrong_usage(suite: Path, invoke: Invoke, arguments: list[str], message: str) -> None:
    make_now(suite)
    result = invoke("report", *arguments)
    assert result.status == 2 and message in result.err


# -- what was done since --


def test_actions_since_the_run(tmp_path: Path, invoke: Invoke) -> None:
    make_git_repo(make_suite(tmp_path / "repo" / "inner"))
    repo = tmp_path / "repo"
    shutil.move(repo / "inner" / ".git", repo / ".git")
    suite = repo / "inner"

    def git(*arguments: str) -> str:
        identity = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
        done = subprocess.run(["git", *identity, *arguments], cwd=repo, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    git("add", "-A")
    git("commit", "-qm", "Move")
    commit = git("rev-parse", "HEAD")
    make_now(suite, suite_commit=commit)
    for path, message in [
        (f"inner/evals/{NOTES}/grader.test.ts", "Accept notes in any order (#12) @someone"),
        (f"inner/evals/{NOTES}/wrong/x/a.ts", "Only a wrong project"),
        (f"inner/evals/{PASSES}/TASK.txt", "Of an eval that passed"),
        ("convex_evals/node/checker/rules.ts", "Drop a rule"),
    ]:
        write_files(repo, {path: message})
        git("add", "-A")
        git("commit", "-qm", message)
    data = json.loads(invoke("report", "last", "--json", cwd=suite).out)
    assert [(a["subject"], a["about"]) for a in data["actions"]] == [
        ("Drop a rule", ["lint rules"]),
        ("Accept notes in any order (#12) @someone", [f"grader of {NOTES}"]),
    ]
    assert data["actions_note"] == "" and data["actions"][0]["href"] is None
    git("remote", "add", "origin", "git@github.com:acme/evals.git")
    text = invoke("report", "last", "--stdout", cwd=suite).out
    assert f"(https://github.com/acme/evals/blob/{commit}/inner/evals/{NOTES}/grader.test.ts)" in text
    assert "- Since the run: grader of 001-queries/002-notes changed in [`" in text
    assert not live(list(running_texts(text)))
    make_now(suite, suite_commit="0" * 40, run_id="lost")
    data = json.loads(invoke("report", "lost", "--json", cwd=suite).out)
    assert data["actions_note"] == "the run's commit is not known here, so these are the commits since 2026-01-31"


# -- what people write --


def test_what_people_decide_counts(suite: Path, invoke: Invoke) -> None:
    make_now(suite)
    invoke("report", "last")
    path = report_path(suite, RunStore(suite / "runs").find("last"))
    said = {
        f"classification {NOTES}": "**Overly-strict**: the rule is no use here\nsays everybody",
        f"classification {CRONS}": "known_gap",
        f"classification {PAGES}": "- model_fault - it is wrong",
    }
    path.write_text(fill(path.read_text(), said))
    result = invoke("report", "last")
    assert "58% without what is not the model's fault; 4 failures, 1 to be decided" in result.out
    data = json.loads(invoke("report", "last", "--json").out)
    decided = {f["eval"]: f["decided"] for f in data["failures"]}
    assert decided[FILTER] is None and decided[CRONS]["classification"] == "known_gap"
    assert decided[NOTES]["reason"] == "the rule is no use here says everybody"
    assert decided[PAGES]["reason"] == "it is wrong"
    assert data["impact"]["by_class"] == {
        "model_fault": [3, 2],
        "overly_strict": [1, 0],
        "ambiguous_task": [0, 0],
        "known_gap": [3, 0],
    }
    assert data["impact"]["decided"] == {"passed": 7, "failed": 5, "unscored": 2}
    text = path.read_text()
    assert "**overly_strict**, by a person: the rule is no use here says everybody" in text
    assert "| [4](#failure-4) | `001-queries/002-notes` 1 of 3 trials | eslint |" in text


def test_decisions_feed_later_proposals(suite: Path, invoke: Invoke) -> None:
    make_now(suite)
    invoke("report", "last")
    path = report_path(suite, RunStore(suite / "runs").find("last"))
    path.write_text(
        fill(path.read_text(), {f"classification {NOTES}": "known_gap: told", f"classification {PAGES}": "known_gap"})
    )
    later = {**FAILURES, FILTER: make_failure({"eslint": "a.ts:1:1 @typescript-eslint/no-floating-promises: x"})}
    make_now(suite, failures=later, run_id="later", date="2026-02-01")
    data = json.loads(invoke("report", "later", "--json").out)
    proposed = {f["eval"]: (f["proposed"]["classification"], f["proposed"]["by"]) for f in data["failures"]}
    by = "a person, in reports/acme/model-1/default-now_2026-01-31.md"
    assert proposed == {
        CRONS: ("model_fault", "a rule"),
        FILTER: ("known_gap", by),  # another eval, where people agree
        PAGES: ("known_gap", by),
        NOTES: ("known_gap", by),
    }
    # A type error's bare code says too little to hold for another eval.
    path.write_text(fill(path.read_text(), {f"classification {FILTER}": "overly_strict"}))
    make_now(suite, failures={CRONS: FAILURES[FILTER]}, run_id="types", date="2026-02-03")
    types = json.loads(invoke("report", "types", "--json").out)["failures"]
    assert {f["proposed"]["by"] for f in types if f["eval"] == CRONS} == {"a rule"}
    reasons = {f["eval"]: f["proposed"]["reason"] for f in data["failures"]}
    assert reasons[NOTES] == "decided before: told" and reasons[FILTER] == f"decided for {NOTES} before: told"
    # A report that cannot be read is named, and the others count.
    path.write_text(path.read_text() + "an afterthought\n")
    result = invoke("report", "later", "--json")
    assert "warning: its decisions are not used" in result.err and result.status == 0
    assert {f["proposed"]["by"] for f in json.loads(result.out)["failures"]} == {"a rule"}


def test_what_nobody_passes_may_be_the_task(suite: Path, invoke: Invoke) -> None:
    for n in range(4):
        make_run(suite / "runs", {CRONS: "fff", PASSES: "ppp"}, model=f"acme/other-{n}")
    make_now(suite)
    data = json.loads(invoke("report", "default-now", "--json").out)
    crons = next(f for f in data["failures"] if f["eval"] == CRONS)
    assert crons["proposed"]["classification"] == "ambiguous_task"
    assert "none of 4 other models passed this eval" in crons["proposed"]["reason"]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("overly_strct: no", "'overly_strct:' is not a classification; did you mean 'overly_strict'?"),
        ("\n\nwhatever", "'whatever' is not a classification; write one of model_fault, overly_strict"),
        ("---", "'---' is not a classification"),
    ],
)
def test_a_word_that_is_no_classification(suite: Path, invoke: Invoke, said: str, message: str) -> None:
    run = make_now(suite)
    invoke("report", "last")
    path = report_path(suite, run)
    path.write_text(fill(path.read_text(), {f"classification {PAGES}": said}))
    before = path.read_text()
    line = next(n for n, x in enumerate(before.split("\n"), 1) if x == said.strip("\n"))
    result = invoke("report", "last")
    where = path.relative_to(suite)
    assert result.status == 1 and f"{where}:{line}: {message}" in result.err and result.err.count("\n") == 1
    assert path.read_text() == before


def test_all_wrong_decisions_are_named_at_once(suite: Path, invoke: Invoke) -> None:
    run = make_now(suite)
    make_run(suite / "runs", {PAGES: "fff"}, failures={PAGES: FAILURES[PAGES]}, run_id="default-other", model="acme/b")
    for name in ("default-now", "default-other"):
        invoke("report", name)
    path = report_path(suite, run)
    said = {"classification " + e: word for e, word in ((PAGES, "no idea"), (CRONS, "model"), (NOTES, "known_gap: x"))}
    path.write_text(fill(path.read_text(), said))
    lines = path.read_text().split("\n")
    where = [f"{path.relative_to(suite)}:{1 + lines.index(word)}: '{word.split()[0]}'" for word in ("model", "no idea")]

    own = invoke("report", "default-now")
    assert own.status == 1
    errors = own.err.splitlines()
    assert all(line.startswith(f"error: {at} is not a class") for line, at in zip(errors, where, strict=True)), errors

    other = invoke("report", "default-other")
    [warning] = other.err.splitlines()
    assert other.status == 0 and all(f"{at} is not a classification; " in warning for at in where), warning


def edit_general(text: str, replace: Callable[[str], str]) -> str:
    start = text.index("<!-- human: notes -->")
    end = text.index(CLOSING, start) + len(CLOSING)
    return text[:start] + replace(text[start:end]) + text[end:]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda t: t.replace("<!-- human: notes -->", "<!-- human: note -->"), ": a broken mark of a place; restore"),
        (lambda t: t.replace("<!-- human: notes -->", "<!--human: notes-->"), ": a broken mark of a place; restore"),
        (lambda t: edit_general(t, lambda p: p.replace(CLOSING, "<!-- /humn -->")), "begins inside of the one of line"),
        (lambda t: edit_general(t, lambda p: p.replace(CLOSING, "  <!-- /human --> x")), ": a broken mark of a place"),
        (lambda t: edit_general(t, lambda p: f"{p}\n\n{p}"), "appears twice, first in line"),
        (lambda t: edit_general(t, lambda p: p.replace(CLOSING, f"{p}\n{CLOSING}")), "begins inside of the one"),
        (lambda t: edit_general(t, lambda p: ""), "8 of 9 marked places are left"),
        (
            lambda t: t.replace("## Net impact", "## Net impact\n\nThis is what I think."),
            "edited outside of the marked",
        ),
        (lambda t: t.replace("## Net impact", "<<<<<<< HEAD\n## Net impact"), "was edited outside of the marked"),
        (lambda t: t[: t.rindex("<!-- report")], "its last line, `<!-- report: ... -->`, is not there"),
        (lambda t: t + "PS: fine\n", "its last line, `<!-- report: ... -->`, is not there"),
        (lambda t: "my own notes\n", "its last line, `<!-- report: ... -->`, is not there"),
        (lambda t: t[: t.rindex(CLOSING)] + t[t.rindex("<!-- report") :], "this marked place has no end"),
    ],
)
def test_a_report_is_never_overwritten_in_doubt(
    suite: Path, invoke: Invoke, damage: Callable[[str], str], message: str
) -> None:
    run = make_now(suite)
    invoke("report", "last")
    path = report_path(suite, run)
    before = damage(path.read_text())
    path.write_text(before)
    for arguments in ([], ["--stdout"], ["--json"]):
        result = invoke("report", "last", *arguments)
        assert result.status == 1 and message in result.err and str(path) in result.err and result.err.count("\n") <= 2
        assert "or move the file away" in result.err
    assert path.read_text() == before


def test_a_report_that_is_not_text(suite: Path, invoke: Invoke) -> None:
    run = make_now(suite)
    path = report_path(suite, run)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\xff\xfe")
    result = invoke("report", "last")
    assert result.status == 1 and "not UTF-8 text (byte 0); save it as UTF-8" in result.err


@pytest.mark.parametrize("tidy", [lambda t: t, lambda t: re.sub(r"[ \t]+\n", "\n", t), lambda t: "\ufeff" + t])
def test_editors_may_change_white_space_and_line_ends(suite: Path, invoke: Invoke, tidy: Callable[[str], str]) -> None:
    run = make_now(suite)
    invoke("report", "last")
    path = report_path(suite, run)
    filled = fill(path.read_text(), {f"notes {CRONS}": "first\n\n  second  "})
    path.write_bytes(tidy(filled).replace("\n", "\r\n").encode())
    assert invoke("report", "last").status == 0
    data = path.read_bytes()
    assert data.count(b"\r\n") == data.count(b"\n") and b"first\r\n\r\n  second" in data
    again = invoke("report", "last")
    assert again.status == 0 and path.read_bytes() == data


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[Report, Report]:
    """The same run before and after a re-grading that some failures did not survive."""
    root = make_suite(tmp_path_factory.mktemp("world"))
    run = make_now(root)
    before = built(root, run)
    regrade(run, NOTES, make_verdict())
    regrade(run, CRONS, make_failure({"tsc": TYPE_ERROR}))
    return before, built(root, run)


def regrade(run: Run, eval_id: str, verdict: Verdict) -> None:
    """As `cli regrade` does: another file of verdicts, and a summary that names it."""
    grade = run.grade(eval_id)
    key = sum(map(ord, eval_id + verdict.outcome)) % 10**8
    trials = tuple(t.model_copy(update={"verdict": verdict}) for t in grade.trials)
    other = grade.model_copy(update={"grading_key": f"{key:08}" + "0" * 56, "trials": trials})
    run.write_grade(other)
    summary = run.summary()
    counting = {e: s.grade for e, s in summary.evals.items()} if summary else {}
    run.write_summary(summarize(run, counting={**counting, eval_id: grade_name(other.grading_key)}))


WORDS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.sampled_from([h for h in HOSTILE if "human" not in h and "\ud800" not in h]),
    st.lists(
        st.sampled_from(["a", "\r\n", "\n", "\r", "\0", "1", "```", "<!--", "-->", "# b", "\x1b", " ", "\u2028"])
    ).map("".join),
)


@settings(max_examples=examples(25))
@given(data=st.data())
def test_what_people_write_survives_byte_for_byte(world: tuple[Report, Report], data: st.DataObject) -> None:
    """Whatever they write, wherever they may, however often the report is made again, with or without the failure."""
    before, after = world
    nowhere = Path("nowhere")
    text = render(before, None, nowhere, "x.md")
    crlf = data.draw(st.booleans())
    newline = "\r\n" if crlf else "\n"
    if crlf:
        text = text.replace("\n", "\r\n")
    lines = text.split("\n")
    said: dict[SectionKey, str] = {}
    for place, written in parse(text, "x.md").places.items():
        words = data.draw(WORDS)
        at = next(n for n, line in enumerate(lines) if line.rstrip() == opening(place, written.trial))
        end = next(n for n in range(at, len(lines)) if lines[n].rstrip() == CLOSING)
        lines[at + 1 : end] = words.split("\n")
        said[place] = f"{words}\n"
    text = "\n".join(lines)
    for report in (before, after, after, before, before):
        document = parse(text, "x.md")
        assert {p: w.text for p, w in document.places.items() if p in said} == said or _blank_left_out(document, said)
        for place, words in said.items():
            assert not words.strip() or document.places[place].text == words
        text = render(report, document, nowhere, "x.md")
        assert text == render(report, parse(text, "x.md"), nowhere, "x.md")
        assert text.encode().decode().endswith(f"-->{newline}")


@pytest.mark.parametrize(
    "words",
    [
        "plain", "```js\nleft open", "~~~~\nleft open", "``````\n```\n~~~", "- a\n\n  ```\n  b", "> ```\n> b",
        "   ```\nb",
        "```\nclosed\n```", "<!--", "<div>", "a `b", "1. a\n   ~~~",
    ],
)  # fmt: skip
def test_a_fence_that_is_left_open_swallows_nothing(words: str, world: tuple[Report, Report]) -> None:
    """Once the report is made again; what has no fence is a line before and a line after."""
    report = world[0]
    empty = render(report, None, Path("nowhere"), "x.md")
    assert "ends here" not in empty and not re.search(r"-->\n\s*<!-- (?!/?human)", empty)
    written = empty.replace(f"-->\n\n{CLOSING}", f"-->\n{words}\n{CLOSING}")
    text = render(report, parse(written, "x.md"), Path("nowhere"), "x.md")
    again = render(report, parse(text, "x.md"), Path("nowhere"), "x.md")
    assert written != empty and again == text
    assert (text == written) == ("```" not in words and "~~~" not in words)
    headings = [kind for kind in structure(empty) if kind.startswith("heading_open")]
    assert [kind for kind in structure(text) if kind.startswith("heading_open")] == headings
    assert structure(text)[-3:] == structure(empty)[-3:]
    shown = github().render(text)
    assert "ends here" not in re.sub(r"(?s)<!--.*?-->|<pre>.*?</pre>", "", shown) and "~~~~~" not in re.sub(
        r"(?s)<!--.*?-->|<pre>.*?</pre>", "", shown
    )


def _blank_left_out(document: Document, said: Mapping[SectionKey, str]) -> bool:
    """Only places without a word may go where their failure went."""
    return all(not said[p].strip() for p in said if p not in document.places)


def test_notes_on_what_a_regrading_removed(suite: Path, invoke: Invoke) -> None:
    run = make_now(suite)
    invoke("report", "last")
    path = report_path(suite, run)
    said = {
        f"classification {NOTES}": "overly_strict: mended since",
        f"notes {NOTES}": "I told you.",
        f"notes {CRONS}": "crons!",
        f"notes {PAGES}": "stays",
    }
    path.write_text(fill(path.read_text(), said))
    kept = path.read_text()
    invoke("report", "last")
    regrade(run, NOTES, make_verdict())
    regrade(run, CRONS, make_failure({"tsc": TYPE_ERROR}))
    assert invoke("report", "last").status == 0
    text = path.read_text()
    now, earlier = text.split("## Earlier notes")
    assert all(words in earlier for words in ("overly_strict: mended since", "I told you.", "crons!"))
    assert "stays" in now and "stays" not in earlier and "crons!" not in now
    # The failure is another one now, so nobody has decided about it.
    data = json.loads(invoke("report", "last", "--json").out)
    assert next(f for f in data["failures"] if f["eval"] == CRONS)["decided"] is None
    regrade(run, NOTES, FAILURES[NOTES])
    assert invoke("report", "last").status == 0
    assert "I told you." in path.read_text().split("## Earlier notes")[0]
    assert "I told you." in kept


# -- text of others --


def hostile_report(tmp_path: Path, text: str) -> Report:
    """A run in which `text` stands wherever a model, a task or a test could put it."""
    make_suite(tmp_path)
    for eval_id in EVALS:
        (tmp_path / "evals" / eval_id / "TASK.txt").write_text(text, encoding="utf-8", errors="replace")
    failures = {
        CRONS: make_failure({"deploy": f"✘ [ERROR] {text}"}),
        FILTER: make_failure({"tsc": f"convex/main.ts:1:1 TS1: {text}"}, {f"t {text}": text}),
        PAGES: make_failure({"tests": text}, {f"{text} t": f"AssertionError: {text}"}),
        NOTES: make_failure({"eslint": f"convex/main.ts:1:1 x: {text}", "tests": text}, {"t": text, "u": None}),
    }
    body = "\n".join(line for line in text.split("\n") if not line.lstrip().startswith(("`", "~")))
    reply = f"# Files\n\n## convex/main.ts\n\n~~~~~ts\nlet x;\n{body}\n~~~~~\n\n## package.json\n\n~~~~~\n{{}}\n~~~~~\n"
    return built(tmp_path, make_now(tmp_path, failures=failures, reply=reply))


OURS = {"<sub>", "</sub>"}


@pytest.fixture(scope="module")
def tame(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The same with words that mean nothing."""
    return render(hostile_report(tmp_path_factory.mktemp("tame"), "words"), None, Path("nowhere"), "x.md")


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_reply_is_inert(tmp_path: Path, tame: str, text: str) -> None:
    report = hostile_report(tmp_path / "hostile", text)
    markdown = render(report, None, Path("nowhere"), "x.md")
    tokens = flat(markdown)
    links = [str(t.attrs["href"]) for t in tokens if t.type == "link_open"]
    assert all(re.fullmatch(r"#failure-\d|\.\./\.\./\.\./(evals|runs)/[\w./-]+", href) for href in links)
    assert not [t for t in tokens if t.type == "image"]
    inline_html = [t.content for t in tokens if t.type == "html_inline"]
    assert all(h in OURS or re.fullmatch(r'<a id="failure-\d">|</a>', h) for h in inline_html)
    assert not live(list(running_texts(markdown)))
    blocks = [t.content for t in tokens if t.type == "html_block"]
    pattern = r"(?s)(<details( open)?><summary>[^<>]*</summary>|</details>|<!-- /?human.*?-->|<!-- report: .* -->)\n?"
    assert all(re.fullmatch(pattern, b) for b in blocks)
    # As many failures, tables, folds and places as there are with words that mean nothing.
    if not text.strip():
        return
    for kind in ("html_block ", "table_open table", "heading_open h2", "heading_open h3", "blockquote_open blockquote"):
        assert structure(markdown).count(kind) == structure(tame).count(kind), kind
    assert len(parse(markdown, "x.md").places) == len(parse(tame, "x.md").places)


# -- templates, index, other places --


@pytest.mark.full
def test_a_template_of_ones_own(suite: Path, invoke: Invoke) -> None:
    run = make_now(suite)
    own = suite / "templates" / "report.md.j2"
    write_files(
        suite,
        {"templates/report.md.j2": '{% extends "shipped/report.md.j2" %}{% block title %}\n# Ours\n{% endblock %}\n'},
    )
    assert invoke("report", "last", "--stdout").out.startswith("# Ours\n\n**44% passed**")
    for broken, message in [
        ("{% if %}", ":1: Expected an expression, got 'end of statement block'"),
        ("fine\n{{ report.nope }}", ":2: UndefinedError: "),
        ("fine\n{{ 1 / 0 }}", ":2: ZeroDivisionError: division by zero"),
        ('{% extends "nope.j2" %}', "TemplateNotFound: nope.j2"),
        (
            '{{ place("note") }}',
            ':1: LookupError: no such place; write place("notes"), place("classification", failure)',
        ),
        ('{{ place("notes") }}\n{{ place("notes") }}', "shows the place for notes on the run 2 times"),
        ("\x00\x01{{", ":1: "),
    ]:
        own.write_text(broken)
        result = invoke("report", "last")
        assert result.status == 1 and result.err.startswith(f"error: {own}"), result.err
        assert message in result.err and result.err.count("\n") == 1
    own.write_text("A whole template {{ report.run_id }}\n")
    assert invoke("report", "last").status == 0 and report_path(suite, run).read_text().startswith("A whole template")
    own.unlink()
    invoke("report", "last")
    path = report_path(suite, run)
    path.write_text(fill(path.read_text(), {f"notes {CRONS}": "dear to me"}))
    before = path.read_text()
    own.write_text("no places\n")
    result = invoke("report", "last")
    assert result.status == 1 and f"shows the place for notes on {CRONS} 0 times" in result.err
    assert path.read_text() == before


def test_the_template_is_shipped() -> None:
    import tomllib

    assert (SHIPPED / "report.md.j2").is_file()
    project = tomllib.loads((SHIPPED.parents[2] / "pyproject.toml").read_text())
    assert "convex_evals" in project["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]


def test_the_index(suite: Path, invoke: Invoke, golden: Golden) -> None:
    assert invoke("report", "--index").status == 0
    make_past(suite)
    make_now(suite)
    make_run(suite / "runs", {PASSES: "p"}, model="acme/other", synthetic=True, run_id="one")
    result = invoke("report", "acme/model-1", "acme/other", "--index")
    assert result.status == 0 and result.out.count("\n") == 4 and result.out.endswith("reports/README.md\n")
    index = (suite / "reports" / "README.md").read_text()
    golden("report-index.md", index)
    links = [str(t.attrs["href"]) for t in flat(index) if t.type == "link_open"]
    assert len(links) == 3 and all((suite / "reports" / href).is_file() for href in links)
    # Nothing needs it, and a report that says nonsense is left out of it.
    (suite / "reports" / "README.md").unlink()
    path = suite / "reports" / "acme" / "other" / "one_2026-01-31.md"
    path.write_text('<!-- report: {"counts": 5} -->\n')
    assert invoke("report", "--index").status == 0
    assert "acme/other" not in (suite / "reports" / "README.md").read_text()


@pytest.mark.parametrize("said", ["# How we review\n", "{index}\nSee also our rules.\n"])
def test_an_index_of_ones_own_is_not_overwritten(suite: Path, invoke: Invoke, said: str) -> None:
    make_now(suite)
    invoke("report", "last", "--index")
    path = suite / "reports" / "README.md"
    index = path.read_text()
    for fine in (index, "<<<<<<< HEAD\n" + index + "=======\n>>>>>>> other\n", index.replace("\n", "\r\n")):
        path.write_bytes(fine.encode())
        assert invoke("report", "--index").status == 0 and path.read_text() == index
    path.write_text(said.format(index=index))
    result = invoke("report", "--index")
    assert result.status == 1 and "was not written by `cli report --index`" in result.err
    assert path.read_text() == said.format(index=index)


def test_to_another_file(suite: Path, invoke: Invoke) -> None:
    run = make_now(suite)
    assert invoke("report", "last", "-o", "here.md").out.startswith("here.md: 44% passed")
    text = (suite / "here.md").read_text()
    assert f"(runs/acme/model-1/2026-01-31/default-now/evals/{CRONS}/1.md)" in text
    assert not report_path(suite, run).exists()
    result = invoke("report", "default-now", "--runs-dir", suite / "runs", cwd=suite / "evals")
    assert result.out.startswith(str(report_path(suite, run)))
    result = invoke("report", "last", "-o", "evals")
    assert result.status == 2


def test_a_report_on_another_run_is_not_overwritten(suite: Path, invoke: Invoke) -> None:
    make_past(suite)
    make_now(suite)
    invoke("report", "default-before", "-o", "nightly.md")
    before = (suite / "nightly.md").read_text()
    result = invoke("report", "last", "-o", "nightly.md")
    assert result.status == 1 and "is the report on default-before, and what people decided there" in result.err
    assert result.err.count("\n") == 1 and (suite / "nightly.md").read_text() == before


def test_an_edit_meanwhile_is_not_lost(suite: Path) -> None:
    from convex_evals.reports.files import read, write

    path = suite / "r.md"
    found = read(path, make_now(suite).plan, suite)
    path.write_text("somebody else")
    with pytest.raises(UserError, match=r"r\.md: was edited in the meantime; run the command again"):
        write(found, "ours")
    assert path.read_text() == "somebody else"


# -- proposals of a model --


def models_yaml(root: Path, url: str) -> None:
    (root / "models.yaml").write_text(
        f"models:\n  - slug: judge/one\n    litellm: openai/one\n    base_url: {url}\n"
        "    price: {input: 1, output: 10}\n    parameters: {max_output_tokens: 8000}\n"
    )


@pytest.mark.full
def test_a_model_proposes(suite: Path, invoke: Invoke) -> None:
    run = make_now(suite)
    reason = "the @grader wants #1 ![x](http://evil.example) <b>more</b> <!-- /human -->"
    answer = "Sure:\n" + json.dumps({"classification": "ambiguous_task", "reason": reason})
    with serve(Provider(reply=answer)) as provider:
        models_yaml(suite, provider.url)
        result = invoke("report", "last", "--analyze", "one", "--budget", "1")
        assert result.status == 0 and len(provider.requests) == 4
        told = json.dumps(provider.requests[0])
        assert "classification" in told and "No matching export" in json.dumps(provider.requests)
        path = report_path(suite, run)
        text = path.read_text()
        assert "ambiguous_task, by the model judge/one: the" in text and not live(list(running_texts(text)))
        assert not [t for t in flat(text) if t.type in ("link_open", "image") and "evil" in str(t.attrs)]
        # Paid for once: neither made again nor asked again.
        assert invoke("report", "last").status == 0 and path.read_text() == text
        assert invoke("report", "last", "--analyze", "one").status == 0 and len(provider.requests) == 4
        path.write_text(fill(text, {f"classification {CRONS}": "model_fault"}))
        data = json.loads(invoke("report", "last", "--json").out)
        assert next(f for f in data["failures"] if f["eval"] == CRONS)["decided"]["classification"] == "model_fault"


@pytest.mark.full
def test_what_a_model_lets_wait_is_said(suite: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("convex_evals.render.terminal._WAITING_SECONDS", 0.0)
    make_now(suite)
    answer = json.dumps({"classification": "model_fault", "reason": "It is."})
    with serve(Provider(reply=answer, behave=lambda n, body: "rate_limit" if n < 4 else "ok")) as provider:
        models_yaml(suite, provider.url)
        result = invoke("report", "last", "--analyze", "one")
    assert result.status == 0 and "waiting: judge/one: " in result.err and "failed (rate_limit: " in result.err


def test_a_model_within_a_budget(suite: Path, invoke: Invoke) -> None:
    make_now(suite)
    with serve(Provider(reply="I think it is the model's fault.")) as provider:
        models_yaml(suite, provider.url)
        result = invoke("report", "last", "--analyze", "one", "--budget", "0.0001")
        assert result.status == 1 and provider.requests == [] and "budget" in result.err
        assert "(and 3 more); run the command again" in result.err and result.out.startswith("reports/")
        result = invoke("report", "last", "--analyze", "one")
        assert result.status == 1 and "the reply is not what was asked for" in result.err
    with serve(Provider(behave=lambda n, body: "auth")) as provider:
        models_yaml(suite, provider.url)
        result = invoke("report", "last", "--analyze", "one")
        assert result.status == 1 and "judge/one" in result.err and "planted" not in result.err
    assert "no such model; did you mean 'one'?" in invoke("report", "last", "--analyze", "onee").err


@pytest.mark.parametrize(
    "text",
    ["", "{", "{}", "[]", '{"classification": 1}', '{"classification": "fine"}', '{"classification": ["model_fault"]}'],
)
def test_replies_that_propose_nothing(text: str) -> None:
    assert read_answer(text, "m") is None


@given(text=st.text())
def test_any_decision_is_read_or_refused(text: str) -> None:
    try:
        read_decision(Written(text, 1, 1), "x.md")
    except UserError as error:
        assert str(error).startswith("x.md:") and "\n" not in str(error)
