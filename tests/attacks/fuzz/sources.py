"""Tricks of source code: what is written before, after and beside the functions of a project."""

from __future__ import annotations

import json
from random import Random

from tests.attacks.making import Files

_OBJECTS = (
    *(
        "Object.prototype",
        "Array.prototype",
        "Function.prototype",
        "Promise.prototype",
        "String.prototype",
        "Map.prototype",
    ),
    *(
        "globalThis",
        "JSON",
        "Object",
        "Reflect",
        "Symbol",
        "Math",
        "Error",
        "console",
        "process",
        "Promise",
        "RegExp.prototype",
    ),
)
_MEMBERS = (
    *(
        "then",
        "toJSON",
        "map",
        "push",
        "call",
        "apply",
        "constructor",
        "stringify",
        "parse",
        "defineProperty",
        "freeze",
    ),
    *(
        "get",
        "set",
        "value",
        "__proto__",
        "toString",
        "valueOf",
        "length",
        "resolve",
        "now",
        "log",
        "exit",
        "env",
        "isQuery",
    ),
    *(
        "_handler",
        "exportArgs",
        "invokeQuery",
        "isPublic",
        "args",
        "name",
        "type",
        "Symbol.iterator",
        "prepareStackTrace",
    ),
)
_VALUES = (
    *(
        "1",
        "null",
        "undefined",
        "() => 1",
        "() => { throw 1; }",
        "function () { return this; }",
        "new Proxy({}, {})",
        "[]",
    ),
    *("{ get() { return 1; } }", "(...a: any[]) => a[0]", "class {}", "async () => 1", "Symbol('x')", "10n ** 10000n"),
    *(
        "() => new Promise(() => {})",
        "{ then: (f: any) => f(1) }",
        "new Error('x'.repeat(1e6))",
        "(r: any) => r('three')",
    ),
)
_STATEMENTS = (
    "(globalThis as any).constructor.constructor('return process')().exit(0);",
    "(console.log as any).constructor('return this')().x = 1;",
    "void (async () => {}).constructor('return 1')();",
    "eval('1');",
    "new Function('while (0) {}')();",
    "Promise.reject(new Error('nobody waits'));",
    "void (async () => { throw new Error('nobody waits'); })();",
    "setTimeout(() => { throw new Error('late'); }, 1);",
    "setInterval(() => {}, 1);",
    "queueMicrotask(() => { throw 1; });",
    "process.exit(0);",
    "process.kill(process.ppid, 'SIGUSR1');",
    "process.on('exit', () => { process.exitCode = 0; });",
    "process.emitWarning('x');",
    "process.stdout.write('{\"ok\": true}\\n');",
    "process.stderr.write('\\u001b[2J::error::x\\n');",
    "console.log('::set-output name=a::b', '\\u001b]0;x\\u0007');",
    "for (let n = 0; n < 3000; n++) console.log('x'.repeat(1000));",
    "throw new Error('planted');",
    "throw { toString() { throw 1; } };",
    "throw null;",
    "throw Object.create(null);",
    "throw new Proxy({}, { get() { throw 1; } });",
    "Error.stackTraceLimit = 1e9;",
    "(Error as any).prepareStackTrace = () => ({ toString() { throw 1; } });",
    "Object.freeze(Object.prototype);",
    "Object.setPrototypeOf(globalThis, null);",
    "delete (globalThis as any).Promise;",
    "void import('node:fs');",
    "await import('./notes');",
    "await new Promise((r) => setTimeout(r, 10));",
    "await 1;",
    "require('node:child_process').execSync('id');",
    "debugger;",
    "with ({}) {}",
    "new SharedArrayBuffer(1e9);",
    "new ArrayBuffer(4e8);",
    "new WebAssembly.Memory({ initial: 30000 });",
    "fetch('http://127.0.0.1:1/');",
    "structuredClone(globalThis);",
    "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);",
    "'x'.repeat(2 ** 29);",
    "/(a+)+$/.test('a'.repeat(24) + 'b');",
    "export const then = (resolve: any) => resolve({ default: 1 });",
    "export default { get then() { return (r: any) => r(1); } };",
    "export default new Proxy(function () {}, { get: () => { throw new Error('no'); } });",
    "export const toJSON = () => ({});",
    "export const isQuery = true, isPublic = true;",
    "export const __esModule = true;",
    "const odd = 1; export { odd as __proto__ };",
    "const odd = 1; export { odd as 'a b' };",
    "const odd = 1; export { odd as constructor, odd as hasOwnProperty, odd as prototype };",
    "export const handler = { isQuery: true, exportArgs() { throw 1; }, invokeQuery() { return '\"x\"'; } };",
    "export const proxied = new Proxy({ isQuery: true, isPublic: true, exportArgs: () => '{' }, {});",
    "export const lazy = { get isMutation() { throw new Error('looked'); } };",
    "export const forged = Object.assign(() => {}, { isAction: true, exportArgs: () => ({}), exportReturns: 5 });",
    "export * from './notes';",
    "export * from './_generated/server';",
    "export * as all from './_generated/api';",
    "export * from '../package.json';",
    "import '../evil.js';",
    "import './missing';",
    "import fs from 'node:fs';",
    "import 'convex/cli';",
    "import 'data:text/javascript,throw 1';",
    "import 'https://127.0.0.1:1/x.js';",
    "import '/etc/passwd';",
    "import text from '../../../../../../etc/passwd';",
    "import data from '../package.json' with { type: 'json' };",
    "export type { Id } from './_generated/dataModel';",
    "declare global { interface Number { evil: string } }",
    "declare module 'convex/server' { interface QueryCtx { evil: string } }",
    "namespace Evil { export const a = 1; }",
    "enum Evil { A = 'x'.length, B = 1 << 31 }",
    "abstract class Evil<T extends Evil<T>> { declare a: T; }",
    "type Loop<T> = T extends string ? Loop<Loop<T>> : T; export type Looped = Loop<'a'>;",
    "type Deep = { [K in 'a' | 'b']: Deep }; export const deep = null as unknown as Deep;",
    "type D = 0 | 1 | 2 | 3 | 4; export type Many = `${D}${D}${D}${D}${D}${D}`;",
    "export const nested = " + "[" * 2_000 + "]" * 2_000 + ";",
    "export const sum = " + "1+" * 3_000 + "1;",
    "export const chained = 'a'" + ".trim()" * 800 + ";",
    "export const literal = '" + "x" * 200_000 + "';",
    "export const text = `" + "${1}" * 2_000 + "`;",
    "if (0) " * 800 + ";",
    "{" * 1_000 + "}" * 1_000,
    "export const bytes = [" + "0," * 50_000 + "];",
    "label: " * 300 + ";",
    "const a1 = " + "() => " * 1_000 + "1;",
)
_HEADS = (
    *(
        '"use node";',
        "'use node';",
        '"use strict";',
        '"use client";',
        "// @ts-nocheck",
        "/* @ts-nocheck */",
        "/* eslint-disable */",
    ),
    *(
        "// @ts-ignore",
        "// @ts-expect-error",
        '/// <reference path="../../../../etc/passwd" />',
        '/// <reference types="node" />',
    ),
    *(
        '/// <reference no-default-lib="true"/>',
        '/// <reference lib="dom" />',
        "/** @jsx evil */",
        "// @flow",
        "#!/usr/bin/env node",
    ),
    *(
        "//# sourceMappingURL=file:///etc/passwd",
        "//# sourceURL=/etc/passwd",
        "// prettier-ignore",
        "/* global Promise:writable */",
    ),
    *(
        "\ufeff",
        "\ufeff\ufeff",
        "\u2028",
        "\x0c",
        "\0",
        "<!--",
        "-->",
        "\ud800",
        "\u202e",
        "// \x1b[2J",
        "/* istanbul ignore file */",
    ),
)
_NUISANCES = (
    "while (true) {}",
    "for (;;) await 1;",
    "const hog: number[][] = []; for (;;) hog.push(new Array(1e6).fill(1));",
)


def _statement(rng: Random) -> str:
    if rng.random() < 0.004:
        return rng.choice(_NUISANCES)
    if rng.random() < 0.6:
        return rng.choice(_STATEMENTS)
    place, member, value = rng.choice(_OBJECTS), rng.choice(_MEMBERS), rng.choice(_VALUES)
    key = member if member.startswith("Symbol.") else json.dumps(member)
    forms = (
        f"({place} as any)[{key}] = {value};",
        f"Object.defineProperty({place}, {key}, {{ value: {value}, configurable: true }});",
        f"Object.defineProperty({place}, {key}, {{ get() {{ return {value}; }}, configurable: true }});",
        f"Reflect.set({place}, {key}, {value});",
        f"Object.assign({place}, {{ [{key}]: {value} }});",
        f"delete ({place} as any)[{key}];",
    )
    return rng.choice(forms)


def around(rng: Random, files: Files, source: str) -> Files:
    """Statements before, after or beside the code of `source`."""
    statements = "\n".join(_statement(rng) for _ in range(rng.randint(1, 3)))
    text = files[source]
    match rng.randrange(5):
        case 0:
            return {**files, source: f"{statements}\n{text}"}
        case 1:
            return {**files, source: f"{text}\n{statements}\n"}
        case 2:
            return {**files, source: f"import './beside';\n{text}", "convex/beside.ts": f"{statements}\nexport {{}};\n"}
        case 3:
            place = rng.choice(
                ["convex/lib/evil.ts", "lib/evil.js", "convex/_generated/evil.ts", "src/evil.tsx", "evil.mjs"]
            )
            start = "./" + place.removeprefix("convex/") if place.startswith("convex/") else f"../{place}"
            return {**files, source: f"import '{start}';\n{text}", place: f"{statements}\nexport {{}};\n"}
        case _:
            return {
                **files,
                rng.choice(["convex/other.ts", "convex/schema.ts", "convex/http.ts", "convex/crons.ts"]): statements,
            }


def head(rng: Random, files: Files, source: str) -> Files:
    """A directive, a pragma or a strange character before the first line."""
    lines = "\n".join(rng.choice(_HEADS) for _ in range(rng.randint(1, 2)))
    return {**files, source: lines + rng.choice(["\n", ""]) + files[source]}


def moved(rng: Random, files: Files, source: str) -> Files:
    """The same code elsewhere, exported again from where it was."""
    more = dict(files)
    text = more.pop(source)
    place, start, up = rng.choice(
        [
            ("convex/lib/real.ts", "./lib/real", "../_generated"),
            ("convex/_generated/real.ts", "./_generated/real", "."),
            ("convex/lib/_generated/real.ts", "./lib/_generated/real", "../../_generated"),
            ("lib/real.ts", "../lib/real", "../convex/_generated"),
            ("lib/real.js", "../lib/real.js", "../convex/_generated"),
            ("src/real.tsx", "../src/real", "../convex/_generated"),
            ("convex/real.mts", "./real.mjs", "./_generated"),
            ("real.mjs", "../real.mjs", "./convex/_generated"),
        ]
    )
    again = rng.choice(
        [
            "export * from '{0}';\n",
            "export {{ add, list }} from '{0}';\n",
            "import * as m from '{0}';\nexport const {{ add, list }} = m;\n",
        ]
    )
    more[place] = rng.choice(["", "// @ts-nocheck\n", "/* eslint-disable */\n"]) + text.replace("./_generated", up)
    return {**more, source: again.format(start)}


def renamed(rng: Random, files: Files, source: str) -> Files:
    """The same code under another suffix."""
    more = dict(files)
    text = more.pop(source)
    return {
        **more,
        source.removesuffix(".ts") + rng.choice([".js", ".tsx", ".jsx", ".mts", ".cts", ".mjs", ".cjs", ".TS"]): text,
    }


def garbled(rng: Random, files: Files, source: str) -> Files:
    """A piece removed, doubled or replaced somewhere."""
    text = files[source]
    at = rng.randrange(len(text))
    end = min(len(text), at + rng.randint(1, 40))
    piece = rng.choice(
        ["", text[at:end] * 2, "\0", "\ud83d", "`", "*/", "/*", "}" * 40, "((((", "<T,>", "@@", "\r", "\u2029"]
    )
    return {**files, source: text[:at] + piece + text[end:]}


def harmless(rng: Random, files: Files, source: str) -> Files:
    """Other bytes, the same code."""
    text = files[source]
    changes = (
        text.replace("\n", "\r\n"),
        f"/* {'x' * 50_000} */\n{text}",
        f"{text}// \u202e\u2066 \U0001f680\n",
        f"{text}\n\n\n;\n",
        f"{text}/* eslint-disable */\n",
        f"{text}\nexport const extra = {{ then: 1, toJSON: 2, constructor: 3 }};\n",
    )
    return {**files, source: rng.choice(changes)}
