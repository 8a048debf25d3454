"""What hostile projects are made of."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from convex_evals.records.eval_config import Timeouts

Constants = Mapping[str, object]
Files = dict[str, str]

FUNCTION, PROGRAM = "000-attacks/000-function", "000-attacks/001-own_tests"
_CODE = Path(__file__).parent / "code"
MANIFEST = {"name": "attack", "private": True, "dependencies": {"convex": "1.48.0"}}
_PING = """import { v } from "convex/values";
import { query } from "./_generated/server";
export const ping = query({ args: {}, returns: v.string(), handler: async () => "pong" });
"""
TIMEOUTS = Timeouts(install=60, deploy=20, tsc=20, eslint=20, tests=16)


@dataclass(frozen=True)
class Attack:
    """A project that is up to no good."""

    name: str
    what: str  # for people
    eval_id: str
    files: Callable[[Constants], Files]
    # It uses up something: a benign project is graded beside it.
    beside: bool = False
    timeouts: Timeouts = TIMEOUTS
    # May run without a sandbox, to see that it would succeed.
    tame: bool = False
    # What it attacks is the same at every level.
    any_level: bool = False
    # The same attack is made from elsewhere, too.
    again: bool = False
    # What reads projects has read nothing yet, as after a crash: what it keeps for others it learns from this one.
    fresh: bool = False


def script(name: str, constants: Constants) -> str:
    """The module that defines `attack`, and `WORLD`, which it is called with; `name` may have a folder, with tools."""
    file = _CODE / f"{name}.mjs"
    tools = [path.read_text() for path in dict.fromkeys((_CODE / "_tools.mjs", file.parent / "_tools.mjs"))]
    return f"{''.join(tools)}{file.read_text()}const WORLD = {json.dumps(constants)};\n"


def in_a_function(name: str) -> Callable[[Constants], Files]:
    """The attack as an action in Node.js: it runs in the backend's process."""

    def files(constants: Constants) -> Files:
        source = (
            f'{ACTION}import {{ attack }} from "../attack.mjs";\n'
            "export const run = action({\n  args: { answerPort: v.number() },\n  returns: v.string(),\n"
            "  handler: async (_ctx, { answerPort }) => await attack(answerPort),\n});\n"
        )
        body = script(name, constants).replace("async function attack", "async function work")
        run = (
            "export async function attack(answerPort) {\n  await work({ ...WORLD, answerPort });\n"
            '  return lines.join("\\n") || "nothing";\n}\n'
        )
        types = "export function attack(answerPort: number): Promise<string>;\n"
        return project(source, {"attack.mjs": body + run, "attack.d.mts": types})

    return files


def in_a_program(name: str) -> Callable[[Constants], Files]:
    """The attack as a program that the grader starts: it runs beside the tester."""

    def files(constants: Constants) -> Files:
        run = 'await attack(WORLD);\nconsole.log(lines.join("\\n") || "nothing");\n'
        return {
            "package.json": json.dumps(MANIFEST),
            "convex/ping.ts": _PING,
            "attack.test.mjs": f"{script(name, constants)}{run}",
        }

    return files


def project(text: str, more: Mapping[str, str] | None = None, manifest: Mapping[str, object] | None = None) -> Files:
    """A project with this `convex/attack.ts`."""
    package = json.dumps({**MANIFEST, **(manifest or {})})
    return {"package.json": package, "convex/attack.ts": text, **(more or {})}


ACTION = """"use node";
import { v } from "convex/values";
import { action } from "./_generated/server";
"""
PLAIN = f"""{ACTION}export const run = action({{ args: v.any(), handler: async (): Promise<string> => "planted" }});
"""
