"""Where files of a project say that they belong."""

from __future__ import annotations

from random import Random

from tests.attacks.making import Files

_PARTS = (
    *(
        "..",
        ".",
        "",
        " ",
        "~",
        "-",
        "con",
        "NUL.txt",
        "aux",
        "com1",
        "LPT9.ts",
        "a.",
        "a ",
        "a\\b",
        "C:",
        "a:b",
        "\u202e",
    ),
    *(
        "_generated",
        "_Generated",
        "＿generated",
        "_generated ",
        "_generated.",
        "_ɡenerated",
        "_generated\u200b",
        "node_modules",
    ),
    *(
        "NODE_MODULES",
        "node_modules\u200d",
        ".git",
        ".GIT",
        ".ssh",
        "convex",
        "Convex",
        "CONVEX",
        "ﬀ",
        "ﬁle",
        "é",
        "e\u0301",
        "ß",
        "SS",
    ),
    *(
        "İ",
        "i̇",
        "\ud800",
        "\x00",
        "\n",
        "\x1b[2J",
        "%2e%2e",
        "&#46;",
        "a" * 201,
        "a" * 255,
        "🚀",
        "$HOME",
        "`id`",
        "${x}",
        "*",
        "?",
        "|",
    ),
    *("__proto__", "constructor", "hasOwnProperty", "index.html", "proc", "self", "fd", "etc", "dev"),
)
_ENDS = (
    *(
        "notes.ts",
        "notes.js",
        "notes.tsx",
        "notes.mts",
        "notes.cjs",
        "notes.d.ts",
        "Notes.ts",
        "notes.TS",
        "schema.js",
        "schema.ts",
    ),
    *(
        "api.js",
        "api.d.ts",
        "server.js",
        "server.ts",
        "server.d.ts",
        "dataModel.d.ts",
        "package.json",
        "index.js",
        "a.txt",
    ),
    *(
        "http.ts",
        "http.js",
        "crons.ts",
        "auth.config.ts",
        "convex.config.ts",
        "convex.config.js",
        "env.d.ts",
        "global.d.ts",
    ),
    *(".ts", "..ts", "a.b.c.ts", "a.test.ts", "a.wasm", "a.json", "a.node", "a.css", "a.html", "a" * 190 + ".ts"),
)
_TEXTS = (
    "export {};\n",
    "",
    "throw new Error('planted');\n",
    "module.exports = new Proxy({}, { get: () => () => 1 });\n",
    "declare module 'convex/values' { export const v: any; }\nexport {};\n",
    "declare global { interface Array<T> { evil: T } }\nexport {};\n",
    "declare module '*' { const x: any; export = x; }\n",
    "export const query = (x: any) => x, mutation = query, action = query;\n",
    '{"name": "convex", "main": "../../evil.js"}',
    "\0asm\x01\0\0\0",
)


def path(rng: Random, files: Files) -> Files:
    """A file at an odd place, with something in it."""
    parts = [rng.choice(_PARTS) for _ in range(rng.choice([0, 1, 1, 2, 3, 25]))]
    start = rng.choice(
        ["", "convex/", "convex/", "src/", "/", "convex/_generated/", "convex/lib/_generated/", "convex/a/../"]
    )
    name = start + "/".join([*parts, rng.choice(_ENDS)])
    return {**files, name: rng.choice(_TEXTS)} if name not in files else files


def many(rng: Random, files: Files) -> Files:
    """Many files, or large ones."""
    number, size = rng.choice([(60, 10), (1_100, 10), (3, 600_000), (1, 1_100_000), (30, 20_000)])
    letter = rng.choice(["x", "é", "[", "\n", "```\n", "# "])
    return {**files, **{f"data/{n}.txt": letter * (size // len(letter.encode())) for n in range(number)}}
