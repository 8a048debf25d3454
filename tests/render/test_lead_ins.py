"""Headlines name the cause, not what tools print before it."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from convex_evals.render.verdicts import headline
from convex_evals.reports.signature import signature
from tests.factories import make_failure

_ANALYSIS = "Hit an error while pushing:\nLoading the pushed modules encountered the following\n    error:\n"
_SENT = "✖ Error fetching POST  https://happy-cat-1.convex.cloud/api/deploy2/start_push 400 Bad Request: "
# What tools print, by the tool.
MESSAGES = {
    "convex: a module throws": (
        f"{_ANALYSIS}Failed to analyze tasks.js: Uncaught Error: no key is set\n    at x (../convex/tasks.ts:5:7)"
    ),
    "convex: a module throws another error": (
        f"{_ANALYSIS}Failed to analyze users.js: Uncaught TypeError: x is not a function"
    ),
    "convex: a schema without export": (
        "Hit an error while evaluating your schema:\nSchema file missing default export."
    ),
    "convex: a schema throws": "Hit an error while evaluating your schema:\nUncaught Error: no schema today\n    at x",
    "convex: its command line": f"{_SENT}InvalidModules: {_ANALYSIS}Failed to analyze m.js: Uncaught Error: at import",
    "convex: an index": (
        f"✖ Error: Unable to start push to https://happy-cat-1.convex.cloud\n{_SENT}IndexNotUnique: "
        'In table "tasks": two indexes are named "by_owner"'
    ),
    "convex: documents that do not fit": (
        '✖ Schema validation failed.\n\nDocument with ID "j57" in table "tasks" does not match the schema: '
        "Object is missing the required field `owner`."
    ),
    "convex: a value behind a colon is no lead-in": (
        "unique() query returned more than one result from table tasks:\n [j57, j58]"
    ),
    "tsc: through convex": (
        "✖ TypeScript typecheck via `tsc` failed.\nTo ignore failing typecheck, use `--typecheck=disable`.\n"
        "convex/tasks.ts:3:14 TS2339: Property 'owner' does not exist on type 'Doc'."
    ),
    "tsc: its count": (
        "Found 2 errors in the same file, starting at: convex/a.ts:1\n\nerror TS18003: No inputs were found."
    ),
    "esbuild: an error": '✘ [ERROR] Could not resolve "left-pad"\n\n    convex/tasks.ts:3:7:\n      3 │ import',
    "esbuild: a warning first": (
        '▲ [WARNING] Duplicate key "a" in object literal\n\n    convex/a.ts:1:1:\n      1 │ x\n\n'
        '✘ [ERROR] Could not resolve "left-pad"\n\n    convex/tasks.ts:3:7:\n'
    ),
    "esbuild: its exception": (
        'esbuild failed: Error: Build failed with 1 error:\nconvex/tasks.ts:3:7: ERROR: Could not resolve "left-pad"'
    ),
    "vitest: a suite": "⎯⎯⎯⎯ Failed Suites 1 ⎯⎯⎯⎯\n\n FAIL  grader.test.ts [ grader.test.ts ]\nError: no backend",
    "vitest: outside of tests": (
        "Vitest caught 1 unhandled error during the test run.\nThis might cause false positive tests. Resolve "
        "unhandled errors to make sure your tests are not affected.\n\n⎯⎯⎯ Unhandled Rejection ⎯⎯⎯\nError: too late"
    ),
    "npm: a code": "npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree",
    "a script's echo": "> typecheck\n> tsc --noEmit\n\nconvex/a.ts:1:1 TS1005: ';' expected.",
    "nothing but a lead-in": "Hit an error while pushing:\n",
    "nothing": "",
}


def test_headlines_name_the_cause(golden: Callable[[str, str], None]) -> None:
    lines = []
    for name, text in MESSAGES.items():
        key = signature(make_failure({"deploy": text})).key
        lines += [name, f"   80  {headline(text, 80)}", f"  120  {headline(text, 120)}", f"  key  {key}", ""]
    golden("headlines.txt", "\n".join(lines))


def test_unrelated_mistakes_have_signatures_of_their_own() -> None:
    own = ("convex: a module", "convex: a schema", "convex: an index", "convex: documents")
    alone = [name for name in MESSAGES if name.startswith(own)]
    keys = {signature(make_failure({"deploy": MESSAGES[name]})).key for name in alone}
    assert len(keys) == len(alone)


def test_the_same_mistake_in_two_modules_has_one_signature() -> None:
    texts = [f"{_ANALYSIS}Failed to analyze {name}.js: Uncaught Error: no key is set" for name in ("tasks", "users")]
    assert len({signature(make_failure({"deploy": text})).key for text in texts}) == 1


@pytest.mark.parametrize(
    "unit", ["✖", "⎯ ", "error ", "error:\n", " ", "▲ [WARNING] \n", "Failed to analyze x: ", "\\"]
)
def test_reading_takes_no_time(unit: str) -> None:
    start = time.monotonic()
    headline(unit * (40_000 // len(unit)) + "[ERROR]")
    assert time.monotonic() - start < 1
