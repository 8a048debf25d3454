"""One hostile project per attack."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable

from convex_evals.errors import UserError
from convex_evals.grading.backends import ADMIN_KEY
from convex_evals.records.eval_config import Timeouts
from tests.attacks.checked import CHECKED
from tests.attacks.forged import FORGED
from tests.attacks.graders import GRADERS
from tests.attacks.kernel_memory import KERNEL_MEMORY
from tests.attacks.making import (
    ACTION,
    FUNCTION,
    PLAIN,
    PROGRAM,
    TIMEOUTS,
    Attack,
    Constants,
    Files,
    in_a_function,
    in_a_program,
    project,
)
from tests.attacks.stateful import STATEFUL

__all__ = ["ATTACKS", "FUNCTION", "KNOWN", "PROGRAM", "Attack", "choose_attacks"]

_QUERY = """import { v } from "convex/values";
import { api } from "./_generated/api";
import { action, query } from "./_generated/server";
export const inner = query({ args: {}, returns: v.string(), handler: async (): Promise<string> => { %s } });
export const run = action({
  args: v.any(),
  handler: async (ctx): Promise<string> => await ctx.runQuery(api.attack.inner, {}),
});
"""
_WITH_ADMIN_KEY = f"""import {{ v }} from "convex/values";
import {{ action }} from "./_generated/server";
export const run = action({{
  args: v.any(),
  handler: async (): Promise<string> => {{
    const headers = {{ authorization: "Convex {ADMIN_KEY}" }};
    try {{
      const answer = await fetch(`${{process.env.CONVEX_CLOUD_URL}}/api/check_admin_key`, {{ headers }});
      return `${{answer.ok ? "PWNED, it is an administrator" : "refused"}}: ${{answer.status}}`;
    }} catch (error) {{
      return `not reached: ${{String(error)}}`;
    }}
  }},
}});
"""
_WRONG_TYPE = f"""{ACTION}export const run = action({{ args: v.any(), handler: async () => "harmless" }});
export const wrong: number = "a text";
"""
_TYPE_BOMB = """
type Pair<T> = [T, T];
type Deep<T, N extends unknown[]> = N["length"] extends 9 ? T : Deep<{ a: T; b: Pair<T> }, [...N, 0]>;
type Digit = "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9";
type Many = `${Digit}${Digit}${Digit}${Digit}`;
type Sum<A extends string, B extends string> = A extends `${infer H}${infer T}` ? `${H}${Sum<T, B>}${Sum<T, B>}` : B;
type Grow<N extends 0[], M extends 0[]> = N["length"] extends 990
  ? M
  : Grow<[...N, 0], [...M, ...(M["length"] extends 9000 ? [] : [0])]>;
type A1 = { [K in Many]: { [L in Many as `${K}${L}`]: Deep<K, []> } };
const one: A1 = null!;
const two: { [K in keyof A1]: { [L in keyof A1[K]]: Sum<`${K}`, string> } } = null!;
export const three: typeof one = two;
export const four = null as unknown as Grow<[], []>;
"""


def _executes(constants: Constants) -> str:
    """JavaScript that leaves a mark outside and says that all is well."""
    mark = json.dumps(f"{constants['outside']}/{constants['nonce']}")
    return f'require("node:fs").writeFileSync({mark}, "executed");\n'


def _mark(constants: Constants) -> str:
    return f"touch {constants['outside']}/{constants['nonce']}"


def _module(constants: Constants) -> str:
    made = 'import { createRequire } from "node:module";\nconst require = createRequire(import.meta.url);\n'
    return f"{made}{_executes(constants)}export default {{}};\n"


def _own_typescript(c: Constants) -> Files:
    package = {
        "package.json": '{"name": "typescript", "version": "5.9.9", "main": "index.js", "bin": {"tsc": "index.js"}}',
        "index.js": f"{_executes(c)}process.exit(0);\n",
    }
    more = {f"vendor/typescript/{k}": v for k, v in package.items()}
    more |= {"typescript.js": package["index.js"], "tsc": f"#!/bin/sh\n{_mark(c)}\n"}
    more["tsconfig.json"] = json.dumps({"compilerOptions": {"paths": {"typescript": ["./vendor/typescript"]}}})
    return project(
        _WRONG_TYPE, more, {"bin": {"tsc": "tsc"}, "imports": {"#typescript": "./vendor/typescript/index.js"}}
    )


_STATIC: dict[str, tuple[str, Callable[[Constants], Files]]] = {
    "postinstall_of_the_project": (
        "`postinstall` and similar scripts in package.json",
        lambda c: project(
            PLAIN,
            {".npmrc": "ignore-scripts=false\n"},
            {"scripts": dict.fromkeys(("preinstall", "install", "postinstall", "prepare", "test"), _mark(c))},
        ),
    ),
    "npmrc": (
        "`.npmrc` that overrides the registry, scripts and the shell",
        lambda c: project(
            PLAIN,
            dict.fromkeys(
                (".npmrc", "npmrc", "convex/.npmrc"),
                f"registry=http://127.0.0.1:{c['tcpPort']}/{c['nonce']}/\nignore-scripts=false\n"
                "script-shell=/bin/sh\nnode-options=--import=./evil.mjs\n",
            )
            | {"evil.mjs": _module(c)},
            # A set that is in no store: npm has to run.
            {"dependencies": {"convex": "1.48.0", f"absent-{c['nonce']}": "1.0.0"}},
        ),
    ),
    "bunfig": (
        "`bunfig.toml` with a preload",
        lambda c: project(
            PLAIN,
            {
                "bunfig.toml": 'preload = ["./evil.mjs"]\n[install]\nregistry = "http://127.0.0.1:1/"\n',
                "evil.mjs": _module(c),
            },
        ),
    ),
    "vitest_config": (
        "`vitest.config.ts`, `vite.config.ts` and set-up files that run code",
        lambda c: project(
            PLAIN,
            {
                f"{name}.config.{end}": _module(c)
                for name in ("vitest", "vite", "vitest.workspace")
                for end in ("ts", "mjs")
            }
            | {
                "vitest.setup.ts": _module(c),
                "evil.test.ts": 'import { test } from "vitest"; test("is harmless", () => {});',
            },
        ),
    ),
    "tsconfig_plugins": (
        "`tsconfig.json` with plugins, paths outside and `noCheck`",
        lambda c: project(
            _WRONG_TYPE,
            {
                name: json.dumps(
                    {
                        "extends": f"{c['home']}/notes.txt",
                        "compilerOptions": {
                            "plugins": [{"name": "./evil.cjs", "transform": "./evil.cjs"}],
                            "noCheck": True,
                            "outDir": c["outside"],
                            "tsBuildInfoFile": f"{c['outside']}/{c['nonce']}",
                            "incremental": True,
                            "typeRoots": [c["home"]],
                        },
                        "files": [f"{c['home']}/notes.txt"],
                        "ts-node": {"require": ["./evil.cjs"]},
                    }
                )
                for name in ("tsconfig.json", "convex/tsconfig.json")
            }
            | {"evil.cjs": _executes(c)},
        ),
    ),
    "eslint_config": (
        "`eslint.config.mjs` and `.eslintrc.js` that run code and disable rules",
        lambda c: project(
            PLAIN,
            {name: _module(c) for name in ("eslint.config.mjs", "eslint.config.js", "eslint.config.ts")}
            | {".eslintrc.js": _executes(c), ".eslintrc.cjs": _executes(c)},
        ),
    ),
    "package_json_tricks": (
        "`imports`, `exports`, `type`, `main`, `convex` settings in package.json",
        lambda c: project(
            f'import "#evil";\nimport "attack/evil";\n{PLAIN}',
            {"evil.cjs": _executes(c), "convex.json": '{"functions": "../../..", "node": {"externalPackages": ["*"]}}'},
            {
                "type": "commonjs",
                "main": f"{c['home']}/notes.txt",
                "imports": {"#evil": f"../../../../../..{c['home']}/notes.txt", "#*": "./evil.cjs"},
                "exports": {"./evil": "../../../../../../etc/passwd"},
                "eslintConfig": {"root": True, "extends": ["./evil.cjs"]},
                "prettier": "./evil.cjs",
            },
        ),
    ),
    "own_typescript": ("its own `typescript` that accepts everything", _own_typescript),
    "file_dependency": (
        "dependencies by `file:`, `link:`, git and URL",
        lambda c: project(
            PLAIN,
            {},
            {
                "dependencies": {
                    "convex": "1.48.0",
                    "a": f"file:{c['home']}",
                    "b": f"http://127.0.0.1:{c['tcpPort']}/{c['nonce']}.tgz",
                }
            },
        ),
    ),
    "imports_from_outside": (
        "imports of files outside of the project into its bundle",
        lambda c: project(
            f'import key from "../../../../../../../../..{c["home"]}/keys.json";\n'
            f"{PLAIN.replace(chr(34) + 'planted' + chr(34), 'JSON.stringify(key)')}"
        ),
    ),
    "quotes_from_outside": (
        "error messages that quote files outside of the project",
        lambda c: project(
            f'import key from "../../../../../../../../..{c["home"]}/broken.json";\n{PLAIN}console.log(key);\n'
        ),
    ),
    "paths_outside": (
        "files with paths that lead out of the project",
        lambda c: project(PLAIN, {f"../../../../../../../../..{c['outside']}/{c['nonce']}": "x"}),
    ),
    "exit_in_module_scope": (
        "`process.exit(0)` when a module is loaded",
        lambda c: project(f"{ACTION}process.exit(0);\n{PLAIN.removeprefix(ACTION)}"),
    ),
    "loop_in_module_scope": (
        "an endless loop when a module is loaded",
        lambda c: project(f"{PLAIN.removeprefix(ACTION).join((ACTION, ''))}while (Date.now() > 0) {{}}\n"),
    ),
    "loop_in_a_query": ("an endless loop in a query", lambda c: project(_QUERY % 'for (;;) {} return "";')),
    "regex_in_a_query": (
        "a regular expression in a query that never terminates",
        lambda c: project(_QUERY % 'return String(/^(a+)+$/.test("a".repeat(60) + "b"));'),
    ),
    "admin_key_by_fetch": (
        "use the well-known admin key on its own deployment, by `fetch` in Convex's own runtime",
        lambda c: project(_WITH_ADMIN_KEY),
    ),
    "memory_in_a_query": (
        "a query that uses all memory",
        lambda c: project(_QUERY % "const a: number[][] = []; for (;;) a.push(new Array<number>(1e6).fill(1));"),
    ),
    "type_bomb": ("types that take forever to check", lambda c: project(f"{PLAIN}{_TYPE_BOMB}")),
    "escapes_in_errors": (
        "terminal escapes and workflow commands in error messages",
        lambda c: project(
            f'{ACTION}throw new Error("\\u001b]0;title\\u0007\\u001b[2J\\r\\n::set-output name=x::y\\n::add-mask::a");'
        ),
    ),
    "postinstall_of_a_dependency": (
        "`postinstall` of a dependency",
        lambda c: project(PLAIN, {}, {"dependencies": {f"evil-{c['nonce']}": "1.0.0"}}),
    ),
}
_IN_THE_BACKEND = (
    "exit_in_module_scope",
    "loop_in_module_scope",
    "loop_in_a_query",
    "regex_in_a_query",
    "memory_in_a_query",
    "admin_key_by_fetch",
)
_READ_BY_THE_CHECKER = ("tsconfig_plugins", "package_json_tricks", "eslint_config", "own_typescript")
_SHORT = Timeouts(install=60, deploy=6, tsc=6, eslint=6, tests=6)
_TIMEOUTS_OF = {"loop_in_module_scope": _SHORT, "type_bomb": Timeouts(install=60, deploy=20, tsc=4, eslint=4, tests=16)}

# Name of the code: what it is, where it runs, whether it uses something up, whether it is tame.
_BODIES: list[tuple[str, str, str, bool, bool]] = [
    ("environment", "read its environment", "both", False, True),
    ("environments_of_others", "read `/proc/*/environ`", "both", False, True),
    ("command_lines", "read the command lines of other processes", "both", False, True),
    ("home", "read home and system folders", "both", False, True),
    ("ssh_keys", "read ssh keys, also through a link and `cat`", "function", False, True),
    ("other_trials", "read and write other trials", "both", False, True),
    ("grader_and_answer", "read grader and answer", "both", False, True),
    ("write_outside", "write, rename and remove files outside of its folder", "both", False, False),
    ("symlink", "write outside through symbolic links", "both", False, True),
    ("package_store", "write to the package store, also through a hard link", "both", False, False),
    ("loopback", "connect to a port of the parent on loopback", "both", False, True),
    ("other_backend", "connect to another trial's backend", "both", False, True),
    ("answer_port", "query the answer's backend", "function", False, True),
    ("admin_key", "use the well-known admin key on its own deployment", "both", False, True),
    ("unix_socket", "connect to a Unix socket by path", "both", False, True),
    ("abstract_socket", "connect to an abstract Unix socket", "both", False, True),
    ("udp", "send UDP", "both", False, True),
    ("dns", "query a name server", "function", False, True),
    ("network", "connect to a non-loopback address of the machine", "both", False, True),
    ("strange_sockets", "open packet, raw, vsock, CAN, ALG sockets; TCP fast open", "both", False, True),
    ("fork_bomb", "fork bomb", "both", True, False),
    ("memory_in_one_process", "10 GB in one process", "both", True, False),
    ("memory_in_many_processes", "10 GB in many processes", "program", True, False),
    ("memory_in_files", "10 GB in memory-only files (`memfd_create`)", "program", True, False),
    ("shared_memory", "10 GB of shared memory that is no longer mapped", "program", True, False),
    ("one_big_file", "fill the disk with one file", "program", True, False),
    ("many_files", "fill the disk with many files, everywhere", "function", True, False),
    ("unlinked_files", "fill the disk with unlinked files", "program", True, False),
    ("daemon", "leave a daemon that outlives the trial", "both", False, False),
    ("kill_everybody", "kill, limit and slow down other processes, then all of its own", "both", True, False),
    ("kill_tester", "kill the tester that started it", "program", False, False),
    ("stop_tester", "stop the tester that started it", "program", False, False),
    ("trace", "ptrace, `/proc/*/mem`, `process_vm_readv`, `pidfd_getfd`", "both", False, False),
    ("tester_memory", "read the tester's memory, environment and descriptors", "program", False, False),
    ("forged_verdict", "write a forged verdict to every accessible descriptor", "both", False, False),
    ("forged_files", "write forged result files", "both", False, False),
    ("kernel_calls", "io_uring, bpf, userfaultfd, keyrings, new mount calls", "both", False, False),
    ("processors", "leave its share of processors (`sched_setaffinity`)", "both", False, True),
    ("namespaces", "new namespaces, mounts, set-uid programs", "both", False, False),
    ("left_behind", "leave System V shared memory behind", "both", False, False),
    ("prototype_pollution", "pollute shared prototypes", "both", False, True),
    ("patched_expect", "patch `expect` and vitest", "both", False, True),
    ("exit_zero", "`process.exit(0)` before any output", "program", False, True),
    ("terminal_escapes", "terminal escapes and workflow commands in its output", "both", False, True),
    ("large_output", "endless output", "program", True, True),
    ("large_result", "return a string of hundreds of MB", "function", True, True),
    ("log_lines", "log millions of lines", "both", True, True),
    ("slow_regex", "a regular expression that never terminates", "program", False, True),
    ("endless_loop", "an endless loop in an action", "function", False, True),
]
_WHERE = {"function": (FUNCTION, in_a_function), "program": (PROGRAM, in_a_program)}
_TEST_SECONDS = {
    "memory_in_many_processes": 26.0,
    "stop_tester": 6.0,
    "kill_tester": 8.0,
    "slow_regex": 8.0,
    "endless_loop": 8.0,
}


def _bodies() -> list[Attack]:
    found = []
    for name, what, places, beside, tame in _BODIES:
        for place in ("function", "program") if places == "both" else (places,):
            eval_id, make = _WHERE[place]
            timeouts = TIMEOUTS.model_copy(update={"tests": _TEST_SECONDS.get(name, TIMEOUTS.tests)})
            shown = f"{what}, from a {place}" if places == "both" else what
            found.append(
                Attack(
                    f"{name}-{place}",
                    shown,
                    eval_id,
                    make(name),
                    beside,
                    timeouts,
                    tame,
                    again=shown != what and place == "function",
                )
            )
    return found


ATTACKS: tuple[Attack, ...] = (
    *KERNEL_MEMORY,
    *_bodies(),
    *(
        Attack(
            name,
            what,
            FUNCTION,
            make,
            timeouts=_TIMEOUTS_OF.get(name, TIMEOUTS),
            beside=name in ("type_bomb", "memory_in_a_query"),
            tame="memory" not in name,
            any_level=name not in _IN_THE_BACKEND,
            fresh=name in _READ_BY_THE_CHECKER,
        )
        for name, (what, make) in _STATIC.items()
    ),
    *CHECKED,
    *FORGED,
    *STATEFUL,
    *GRADERS,
)

# Level and attack (docs/security.md says so): without root, the launcher cannot find files that have no name, and
# cannot tell a launch's sockets from the user's own.
_UNSEEN = ("unlinked_files-program", "sockets_unix-function", "sockets_unix-program", "sockets_in_flight-program")
KNOWN = {("landlock", name) for name in _UNSEEN if os.getuid() != 0}


def choose_attacks(pattern: str) -> list[Attack]:
    """Attacks whose names match a regular expression. Raises `UserError` where there is none."""
    try:
        found = [attack for attack in ATTACKS if re.search(pattern, attack.name)]
    except re.error as error:
        raise UserError(f"--attacks {pattern!r}: not a regular expression: {error}") from None
    if not found:
        there = ", ".join(attack.name for attack in ATTACKS)
        raise UserError(f"--attacks {pattern!r}: no attack matches; available: {there}")
    return found
