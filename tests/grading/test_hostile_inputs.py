"""Projects that are built to keep the checker busy: each fails at the step that says so, and hurts no other."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping

import pytest

from convex_evals.config import ProjectConfig
from convex_evals.grading.sandbox.choice import Containment
from convex_evals.grading.setup import ready_service
from convex_evals.records import Outcome, StepName, Verdict
from convex_evals.suite.suite import load_suite
from tests.factories import PACKAGE_JSON, QUERY, make_eval

pytestmark = [pytest.mark.full, pytest.mark.grading, pytest.mark.usefixtures("toolchain")]

MAIN = "convex/main.ts"
PLAIN = {"package.json": PACKAGE_JSON, MAIN: QUERY}
TYPE_BOMB = """
type Pair<T> = { left: T; right: T };
type Grow<N extends number, T = 1, A extends 0[] = []> =
  A["length"] extends N ? T : Grow<N, Pair<T> | { a: T }, [...A, 0]>;
type Deep<T> = T extends { left: infer L; right: infer R } ? Deep<L> | Deep<R> | [Deep<L>, Deep<R>] : T;
type Bits = 0 | 1;
type Wide = `${Bits}${Bits}${Bits}${Bits}${Bits}${Bits}${Bits}${Bits}${Bits}${Bits}${Bits}${Bits}${Bits}`;
type Cross<A extends string, B extends string> =
  A extends `${infer X}${B}${infer Y}` ? [X, Y] : B extends A ? 1 : never;
export type Bomb = { [K in Wide]: { [L in Wide]: Cross<`${K}${L}`, L> } }[Wide][Wide];
export const bomb: Bomb = ["x", "y"] as unknown as Bomb;
export const grown: Deep<Grow<24>> = 1 as unknown as Deep<Grow<24>>;
"""
CIRCULAR = """
export type Loop<T> = T extends string ? Loop<Loop<T>> : T;
export const loop: Loop<"a"> = 1 as never as Loop<"a">;
export interface A extends B { a: 1 }
export interface B extends A { b: 1 }
export const a = b;
export const b = a;
"""
# What is wrong, the files, the step that must fail, and what it must say.
HOSTILE: dict[str, tuple[Mapping[str, str], StepName, str]] = {
    "type bomb": ({MAIN: QUERY + TYPE_BOMB}, StepName.TSC, "not finished within|TS2590|TS2589|heap"),
    "circular types": ({MAIN: QUERY + CIRCULAR}, StepName.TSC, "TS2310|TS7022|TS2589"),
    "10 MB in a file": ({MAIN: QUERY + "// " + "x" * 10_485_760}, StepName.FILESYSTEM, "convex/main.ts"),
    "5,000 files": ({f"convex/m{n}.ts": QUERY for n in range(5_000)}, StepName.FILESYSTEM, "5003|files"),
    "tsconfig that is no JSON": ({"tsconfig.json": '{"compilerOptions": {'}, StepName.DEPLOY, "tsconfig.json"),
    "tsconfig with nonsense": ({"tsconfig.json": '{"compilerOptions": {"strict": "perhaps"}}'}, StepName.TSC, "TS5024"),
    "tsconfig that extends itself": (
        {"tsconfig.json": '{"extends": "./tsconfig.json"}'},
        StepName.TSC,
        "tsconfig.json",
    ),
    "half a character in a type": (
        {MAIN: f'{QUERY}export const half: "\\ud800" = "\\ud801";\n'},
        StepName.TSC,
        "TS2322.*\ufffd",
    ),
    "half a character in an error": (
        {MAIN: f'{QUERY}throw new Error("half: \\ud800");\n'},
        StepName.DEPLOY,
        "half: \ufffd",
    ),
    "a thousand functions in each other": (
        {MAIN: f"{QUERY}export const nested = {'() => ' * 1_000}1;\n"},
        StepName.DEPLOY,
        "Failed to analyze main.js: .*call stack",
    ),
    "nested twenty thousand times": (
        {MAIN: f"{QUERY}export const nested: number = {'(' * 20_000}1{')' * 20_000};\n"},
        StepName.TSC,
        "call stack",
    ),
}


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Verdict, Verdict]]:
    """Of each hostile project, and of a plain one graded after it by the same checker."""
    suite = tmp_path_factory.mktemp("suite")
    limits = "timeouts: {deploy: 20, tsc: 5, eslint: 5}\n"
    make_eval(suite, files={"eval.yaml": limits})
    ev = load_suite(suite).evals[0]

    async def run() -> dict[str, tuple[Verdict, Verdict]]:
        found = {}
        async with ready_service(suite, ProjectConfig(), 1, lambda *_: None, lambda _: None, Containment()) as service:
            for name, (files, _, _) in HOSTILE.items():
                hostile = await service.grade(ev, {**PLAIN, **files})
                found[name] = hostile, await service.grade(ev, PLAIN)
        return found

    return asyncio.run(run())


@pytest.mark.parametrize("name", HOSTILE)
def test_it_fails_where_it_is_wrong(name: str, verdicts: dict[str, tuple[Verdict, Verdict]]) -> None:
    _, step, says = HOSTILE[name]
    verdict, after = verdicts[name]
    assert (verdict.outcome, verdict.caught_by) == (Outcome.FAILED, step), verdict
    reason = next(s.reason for s in verdict.steps if s.step is step)
    assert reason and re.search(says, reason), reason
    assert after.outcome is Outcome.PASSED, after
