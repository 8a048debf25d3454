"""Configuration files and package.json, out of what tools read and what breaks readers."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from tests.attacks.making import Files

_PLACES = ("", "convex/", "src/", "convex/lib/", "../", "node_modules/convex/")
_NAMES = (
    *("tsconfig.json", "jsconfig.json", "convex.json", ".npmrc", ".env", ".env.local", "bunfig.toml", ".babelrc"),
    *("pnpm-workspace.yaml", "vitest.config.ts", "vitest.workspace.ts", "vite.config.mjs", "eslint.config.mjs"),
    *(".eslintrc.js", ".eslintrc.json", "package-lock.json", "npm-shrinkwrap.json", ".yarnrc.yml", "deno.json"),
    *(
        ".swcrc",
        "babel.config.js",
        "postcss.config.js",
        ".browserslistrc",
        ".git/config",
        ".gitattributes",
        ".node-version",
    ),
)
# Options that lead readers elsewhere, switch checks off, or change what a file means; with values for each.
_OPTIONS: dict[str, tuple[object, ...]] = {
    "paths": (
        {"convex/server": ["./node_modules/convex/dist/cjs/values/index.js"]},
        {"convex/*": ["./evil/*"]},
        {"*": ["./evil.js", "../../*", "/etc/*"]},
        {"./_generated/server": ["./evil.ts"]},
        {"convex/values": []},
        {"": [""]},
    ),
    "baseUrl": (".", "..", "/", "./node_modules", "convex/_generated", "\0"),
    "strict": (False, True, "no", None),
    "strictNullChecks": (False,),
    "noImplicitAny": (False,),
    "skipLibCheck": (True, False),
    "noCheck": (True,),
    "checkJs": (False, True),
    "allowJs": (False, True),
    "types": ([], ["node"], ["./evil"], ["../../../../etc/passwd"], ["vitest/globals"]),
    "typeRoots": (["."], ["/"], ["./convex"]),
    "lib": ([], ["es5"], ["nonsense"], ["ES2023", "DOM"]),
    "target": ("ES3", "ESNext", "es5", 7),
    "module": ("commonjs", "nodenext", "none", "preserve"),
    "moduleResolution": ("classic", "node", "nodenext", "bundler"),
    "jsx": ("preserve", "react", "react-jsx"),
    "jsxFactory": ("evil", "a.b;c"),
    "jsxImportSource": ("../evil", "convex"),
    "plugins": ([{"name": "./evil.cjs"}], {"name": 1}),
    "rootDir": ("/", "convex"),
    "rootDirs": ([".", "/"], []),
    "outDir": ("/tmp", "convex"),
    "incremental": (True,),
    "composite": (True,),
    "tsBuildInfoFile": ("/tmp/x", "convex/x"),
    "isolatedModules": (False,),
    "verbatimModuleSyntax": (True,),
    "useDefineForClassFields": (False,),
    "experimentalDecorators": (True,),
    "preserveSymlinks": (True,),
    "resolvePackageJsonExports": (False,),
    "customConditions": (["browser", "evil"],),
    "moduleSuffixes": ([".evil", ""], [""]),
    "disableSourceOfProjectReferenceRedirect": (True,),
    "maxNodeModuleJsDepth": (99999,),
    "noErrorTruncation": (True,),
    "noLib": (True,),
    "emitDeclarationOnly": (True,),
    "alwaysStrict": (False,),
    "charset": ("utf7",),
}
_TOP: dict[str, tuple[object, ...]] = {
    "extends": ("./tsconfig.json", "../tsconfig.json", "/etc/passwd", ["a", "b"], "convex", "./evil.json", 5),
    "include": ([], ["/"], ["nothing"], ["**/*"], "convex"),
    "exclude": (["convex"], ["**/*"], ["convex/notes.ts"]),
    "files": ([], ["/etc/passwd"], ["missing.ts"], ["convex/notes.ts"]),
    "references": ([{"path": "."}], [{"path": "/"}]),
    "compileOnSave": (True,),
    "ts-node": ({"require": ["./evil.cjs"]},),
    "functions": ("../", "convex/../..", "/etc", "src", "convex/", ""),
    "node": ({"externalPackages": ["*"]}, {"externalPackages": ["convex"]}, {"nodeVersion": "99"}),
    "generateCommonJSApi": (True,),
    "codegen": ({"staticApi": True, "staticDataModel": True}, {"fileType": "js/dts"}),
    "authInfo": ([{"applicationID": "x", "domain": "http://127.0.0.1:1"}],),
    "$schema": ("file:///etc/passwd",),
}
_FIELDS: dict[str, tuple[object, ...]] = {
    "type": ("commonjs", "module", "evil", 7, {}),
    "main": ("../../../../etc/passwd", "convex/notes.ts", ""),
    "browser": ({"convex/server": "./evil.js", "convex/values": False}, "./evil.js"),
    "module": ("./evil.js",),
    "imports": ({"#*": "./evil.js"}, {"#evil": "../../../etc/passwd"}),
    "exports": ({"./*": "./*"}, "./evil.js"),
    "sideEffects": (False, ["*"]),
    "bin": ({"node": "./evil.js", "tsc": "./evil.js"},),
    "scripts": ({"preinstall": "touch /tmp/x", "postinstall": "exit 1", "prepare": "exit 1"},),
    "workspaces": (["."], ["/"], {"packages": ["../*"]}),
    "overrides": ({"convex": "0.0.1"}, {"*": "file:/etc"}, {"convex": {".": "1.0.0"}}),
    "resolutions": ({"**": "1.0.0"},),
    "bundledDependencies": (["convex"], True),
    "bundleDependencies": (True,),
    "engines": ({"node": "<1"}, {"npm": ">=99"}),
    "engineStrict": (True,),
    "os": (["win32"],),
    "cpu": (["!x64"],),
    "packageManager": ("pnpm@9", "evil@file:/etc"),
    "publishConfig": ({"registry": "http://127.0.0.1:1"},),
    "config": ({"registry": "http://127.0.0.1:1"},),
    "eslintConfig": ({"rules": {"no-undef": "off"}, "extends": ["./evil.cjs"]},),
    "typesVersions": ({"*": {"*": ["./evil.d.ts"]}},),
    "types": ("./evil.d.ts",),
    "name": ("convex", "../../evil", "", "__proto__", "a" * 300, 5),
    "version": ("", "not one", "1.0.0"),
    "private": (False, "yes"),
    "dependenciesMeta": ({"convex": {"injected": True}},),
    "convex": ({"functions": "../"},),
    "__proto__": ({"dependencies": {}},),
}
_ODD_NAMES = (
    *("hasOwnProperty", "__proto__", "constructor", "toString", "prototype", "node_modules", "favicon.ico", ".bin"),
    *("..", ".", "_a", "a/b", "@", "@a", "@a/", "@/a", "@a/b/c", "A", "a b", "a\n", "é", "convex/../x", "%2e%2e", "-"),
    *("fs", "http", "convex ", "a" * 215, "~", "a~b", "valueOf", "length", "convex\u0000", "ⓒonvex", "then"),
)
_ODD_SPECS = (
    *("npm:convex@.", "npm:convex@", "npm:@", "npm:.", "npm:..@1", "npm:npm:convex@1", "npm:convex@file:..", "npm:"),
    *("file:.", "link:..", "git+ssh://a", "a/b", "github:a/b", "http://127.0.0.1:1/a.tgz", "workspace:*", "portal:.."),
    *(".", "..", "/etc", "~/x", "~", "^", "*", "", "latest", "hasOwnProperty", "__proto__", "1.0.0 - .", "=.", ">=.."),
    *(
        "v" * 5_000,
        "1 || " * 200 + "2",
        ">1 " * 300,
        "99999999999999999999.0.0",
        "1.x.y",
        "<0.0.0-0",
        "catalog:",
        "\u202e1",
    ),
    *(
        "patch:convex@npm:1#x",
        "jsr:@a/b",
        "bitbucket:a/b",
        "gist:1",
        "file:../../../../etc",
        "$convex",
        "npm:@a/b@npm:c",
    ),
)


def _manifest(files: Files) -> dict[str, Any]:
    """package.json, or another one where an earlier mutation made it something else."""
    try:
        data = json.loads(files["package.json"])
    except (ValueError, RecursionError):
        data = None
    return data if isinstance(data, dict) else {"dependencies": {"convex": "1.48.0"}}


def _odd_json(rng: Random, valid: object) -> str:
    """Some text in place of `valid` as JSON, mostly close to it."""
    text = json.dumps(valid)
    odd = [
        text,
        text,
        text,
        text,
        "\ufeff" + text,
        text.replace("{", "{/* a */ // b\n", 1).replace("}", ",}", 1),
        text[: len(text) // 2],
        "[" * rng.choice([100, 5_000, 200_000]) + "]" * rng.choice([0, 100]),
        '{"a":' * rng.choice([100, 20_000]) + "1",
        "null",
        "[]",
        '"text"',
        "1e999",
        "9" * rng.choice([400, 5_000]),
        f'{text[:-1]}, "a": {"9" * 4_500}}}',
        text.replace('"', '"\\u0000', 1),
        f'{{"__proto__": {text}, "constructor": {{"prototype": {text}}}}}',
        "",
        "\0" * 50,
        text + text,
    ]
    return rng.choice(odd)


def setting(rng: Random, files: Files) -> Files:
    """A configuration file more, or another one."""
    name = rng.choice(_NAMES[:3]) if rng.random() < 0.6 else rng.choice(_NAMES)
    place = "" if rng.random() < 0.6 else rng.choice(_PLACES)
    options = {key: rng.choice(_OPTIONS[key]) for key in rng.sample(sorted(_OPTIONS), rng.randint(0, 4))}
    top = {key: rng.choice(_TOP[key]) for key in rng.sample(sorted(_TOP), rng.randint(0, 2))}
    text = _odd_json(rng, {**top, "compilerOptions": options})
    if name.endswith((".ts", ".mjs", ".js")):
        text = rng.choice(["process.exit(0);", "throw 1;", "while (true) {}", "module.exports = {};", text])
    elif not name.endswith(".json"):
        text = rng.choice(["ignore-scripts=false\nregistry=http://127.0.0.1:1/\n", "A=${HOME}\nPATH=/evil\n", text])
    return {**files, f"{place}{name}": text, "evil.js": "export default {};\n"}


def manifest(rng: Random, files: Files) -> Files:
    """package.json with fields that mean something to somebody."""
    data = _manifest(files)
    data |= {key: rng.choice(_FIELDS[key]) for key in rng.sample(sorted(_FIELDS), rng.randint(1, 5))}
    return {**files, "package.json": _odd_json(rng, data), "evil.js": "export default {};\n"}


def dependency(rng: Random, files: Files) -> Files:
    """A dependency under an odd name, of an odd version, or both."""
    data = _manifest(files)
    section = rng.choice(["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"])
    name = rng.choice(_ODD_NAMES) if rng.random() < 0.5 else rng.choice(["convex", f"absent-{rng.randrange(50)}"])
    spec: object = (
        rng.choice(_ODD_SPECS) if rng.random() < 0.8 else rng.choice([None, 1, {}, [], True, {"version": "1"}])
    )
    odd: list[object] = [[], "a", 1, None]
    before = data.get(section)
    wanted = {**(before if isinstance(before, dict) else {}), name: spec}
    data[section] = wanted if rng.random() < 0.95 else rng.choice(odd)
    return {**files, "package.json": json.dumps(data)}


def harmless_setting(rng: Random, files: Files) -> Files:
    """What no step looks at: a right project stays right."""
    data = _manifest(files)
    data["scripts"] = {"postinstall": "exit 1", "test": "exit 1"}
    more = {
        ".npmrc": "ignore-scripts=false\nregistry=http://127.0.0.1:1/\n",
        ".env.local": "CONVEX_URL=http://127.0.0.1:1\nNODE_OPTIONS=--require=/evil.js\n",
        "bunfig.toml": 'preload = ["./evil.mjs"]\n',
        "README.md": "# Files\n\n## convex/notes.ts\n\n```ts\nthrow 1;\n```\n",
        "docs/é.txt": "\u202e\u0000\u001b[2J",
        "pnpm-workspace.yaml": "packages: ['/*']\n",
        "package.json": json.dumps(data),
    }
    chosen = rng.sample(sorted(more), rng.randint(1, len(more)))
    return {**files, **{name: more[name] for name in chosen}}
