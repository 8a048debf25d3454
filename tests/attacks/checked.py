"""Projects that would be right if only what is checked had run: wrong code where a check may not look."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial

from tests.attacks.making import FUNCTION, Attack, Constants, Files

_MANIFEST = {"name": "attack", "private": True, "dependencies": {"convex": "1.48.0"}}
_IMPORTS = 'import { v } from "convex/values";\nimport { action } from "./_generated/server";\n'
_RUN = "export const run = action({ args: v.any(), handler: async (): Promise<string> => harmless() });\n"
_WORD = 'export const harmless = (): string => "harmless";\n'
_JS_WORD = 'export const harmless = () => "harmless";\n'
# Each is harmless when it runs, and known to a check.
_WRONG_TYPE = 'export const wrong: number = "a text";\n'
_FLOATING = "export const wrong = () => { Promise.resolve(1); };\n"
_WRONG_JS = 'export const wrong = () => "text".missing();\n'
_LOOSE = "export const size = (text) => text.length;\nexport const no: string = null;\n"
_OPTIONS = {"target": "ESNext", "module": "ESNext", "moduleResolution": "Bundler", "skipLibCheck": True}


def _importing(specifier: str, more: str = "") -> str:
    return f'{_IMPORTS}import {{ harmless }} from "{specifier}";\n{_RUN}{more}'


def _settings(**options: object) -> str:
    return json.dumps({"compilerOptions": {**_OPTIONS, "strict": True, **options}})


def _project(attack: str, more: Mapping[str, str], manifest: Mapping[str, object] | None = None) -> Files:
    return {"package.json": json.dumps({**_MANIFEST, **(manifest or {})}), "convex/attack.ts": attack, **more}


_HERE = f"{_IMPORTS}{_WORD}{_RUN}"

# Code that runs and that no check looks at.
_UNSEEN: dict[str, tuple[str, Files]] = {
    "nocheck_in_lib": (
        "`@ts-nocheck` in a separate folder that `convex/` imports",
        _project(_importing("../lib/word"), {"lib/word.ts": f"// @ts-nocheck\n{_WORD}{_WRONG_TYPE}"}),
    ),
    "nocheck_spelt_otherwise": (
        "`@TS-NoCheck`, which the compiler accepts but a lint rule may miss",
        _project(_importing("../lib/word"), {"lib/word.ts": f"// @TS-NoCheck\n{_WORD}{_WRONG_TYPE}"}),
    ),
    "nocheck_in_convex": (
        "`/// @Ts-Nocheck` in `convex/`",
        _project(f"/// @Ts-Nocheck\n{_HERE}{_WRONG_TYPE}", {}),
    ),
    "lint_in_lib": (
        "a floating promise, in a separate folder",
        _project(_importing("../lib/word"), {"lib/word.ts": f"{_WORD}{_FLOATING}"}),
    ),
    "lint_through_two_folders": (
        "the same, imported indirectly, with a module suffix",
        _project(
            _importing("../lib/word"),
            {"lib/word.ts": 'export * from "../far/away/word.mjs";\n', "far/away/word.mts": f"{_WORD}{_FLOATING}"},
        ),
    ),
    "nested_generated": (
        "the same in its own `_generated` folder",
        _project(_importing("./deep/_generated/word"), {"convex/deep/_generated/word.ts": f"{_WORD}{_FLOATING}"}),
    ),
    "generated_outside": (
        "the same in a `_generated` folder beside `convex/`",
        _project(_importing("../lib/_generated/api"), {"lib/_generated/api.ts": f"{_WORD}{_FLOATING}"}),
    ),
    "generated_component": (
        "the same in the `_generated` folder of an unused component",
        _project(
            _importing("./part/_generated/word"),
            {
                "convex/part/convex.config.ts": 'import { defineComponent } from "convex/server";\n'
                'export default defineComponent("part");\n',
                "convex/part/_generated/word.ts": f"{_WORD}{_FLOATING}",
            },
        ),
    ),
    "javascript": ("JavaScript in `convex/`", _project(_HERE, {"convex/other.js": _WRONG_JS})),
    "javascript_imported": (
        "JavaScript as `.mjs`, imported",
        _project(_importing("../lib/word.mjs"), {"lib/word.mjs": f"{_JS_WORD}{_WRONG_JS}"}),
    ),
    "javascript_nocheck": (
        "JavaScript with `@ts-nocheck`",
        _project(_HERE, {"convex/other.mjs": f"// @ts-nocheck\n{_WRONG_JS}"}),
    ),
    "javascript_lint": (
        "JavaScript with a floating promise",
        _project(_importing("../lib/word.js"), {"lib/word.js": f"{_JS_WORD}{_FLOATING}"}),
    ),
    "javascript_untyped": (
        "JavaScript with a floating promise of a value without a type",
        _project(
            _importing("../lib/word.js"),
            {"lib/word.js": f"{_JS_WORD}export const wrong = (ctx) => {{ ctx.db.get(1); }};\n"},
        ),
    ),
    "prefix_of_the_bundler": (
        "a file whose name begins as the bundler names its own modules, beside the file that the rest names",
        _project(
            _importing("../wasm-binary:word"),
            {"wasm-binary:word.ts": f"{_WORD}{_FLOATING}", "word.ts": _WORD},
        ),
    ),
    "query_that_is_a_folder": (
        "an import with a query, beside a folder that is named like both and ends like data",
        _project(
            _importing("../lib/word.ts?a.json"),
            {"lib/word.ts": f"{_WORD}{_FLOATING}", "lib/word.ts?a.json/nothing.txt": ""},
        ),
    ),
    "commonjs": (
        "CommonJS",
        _project(
            f'{_IMPORTS}import * as word from "../lib/word.cjs";\n'
            f"const harmless = (): string => String(word.harmless());\n{_RUN}",
            {"lib/word.cjs": 'exports.harmless = () => "harmless";\nexports.wrong = () => "text".missing();\n'},
        ),
    ),
    "jsx_in_a_page": (
        "JavaScript with JSX in a page",
        _project(_HERE, {"src/App.jsx": 'export default function App() { return "text".missing(); }\n'}),
    ),
    "lint_beside_a_page": (
        "what a page imports from outside of `src/`",
        _project(
            _HERE,
            {
                "src/App.ts": 'export { wrong } from "../ui/button";\n',
                "ui/button.ts": "export const wrong = (list: number[]) => { delete list[0]; };\n",
            },
        ),
    ),
    "script_of_a_page": (
        "what a page's `<script>` loads",
        _project(
            _HERE,
            {"index.html": '<script type="module" src="/app/main.ts"></script>', "app/main.ts": _WRONG_TYPE},
        ),
    ),
}

# Settings that make a check say less.
_LOOSE_SETTINGS: dict[str, tuple[str, Files]] = {
    "not_strict": (
        "a tsconfig.json without `strict`",
        _project(_HERE + _LOOSE, {"tsconfig.json": _settings(strict=False)}),
    ),
    "not_strict_in_convex": (
        "`strict`, except for the checks that matter",
        _project(
            _HERE + _LOOSE,
            {"convex/tsconfig.json": _settings(noImplicitAny=False, strictNullChecks=False)},
        ),
    ),
    "not_strict_by_extends": (
        "settings inherited from another file",
        _project(
            _HERE + _LOOSE,
            {
                "convex/tsconfig.json": '{"extends": ["../base.json", "../loose.json"]}',
                "base.json": _settings(),
                "loose.json": json.dumps({"compilerOptions": {"strict": False}}),
            },
        ),
    ),
    "not_strict_for_what_is_left_out": (
        "`exclude`, and `references` to looser settings",
        _project(
            _importing("../lib/word"),
            {
                "lib/word.ts": _WORD + _LOOSE,
                "tsconfig.json": json.dumps({"files": [], "references": [{"path": "./loose.json"}]}),
                "loose.json": json.dumps(
                    {"compilerOptions": {**_OPTIONS, "strict": False}, "include": ["convex", "lib"], "exclude": ["lib"]}
                ),
            },
        ),
    ),
    "no_resolve": (
        "`noResolve`",
        _project(
            _importing("../lib/word"), {"lib/word.ts": _WORD + _WRONG_TYPE, "tsconfig.json": _settings(noResolve=True)}
        ),
    ),
}

# Names that the bundler has for what is no file; and files that keep the list of what pages import from being made.
_MISTAKEN: dict[str, tuple[str, Files]] = {
    "virtual_name": (
        "a folder with a name that the bundler uses for virtual modules",
        _project(
            _importing("../async-hooks-shim:x/word.js"),
            {
                "async-hooks-shim:x/word.js": f"{_JS_WORD}{_WRONG_JS}",
                "async-hooks-shim:x/word.d.ts": "export function harmless(): string;\n",
            },
        ),
    ),
    "default_library": (
        "code that claims to be the standard library, which is not checked",
        _project(
            _HERE,
            {
                "convex/library.ts": '/// <reference no-default-lib="true"/>\n/// <reference lib="esnext"/>\n'
                + _WRONG_TYPE,
                "convex/tsconfig.json": _settings(skipDefaultLibCheck=True),
            },
        ),
    ),
    "beside_broken_json": (
        "what a page imports, beside another page that cannot be bundled",
        _project(
            _HERE,
            {
                "src/App.ts": 'export { wrong } from "../ui/button.js";\n',
                "ui/button.js": _WRONG_JS,
                "ui/button.d.ts": "export function wrong(): string;\n",
                "src/other.ts": "declare function require(name: string): unknown;\n"
                'export const a = require("./a.json");\n',
                "src/a.json": "{",
            },
        ),
    ),
    "beside_twins": (
        "the same, beside two pages with colliding names",
        _project(
            _HERE,
            {
                "src/App.ts": 'export { wrong } from "../ui/button.js";\n',
                "ui/button.js": _WRONG_JS,
                "ui/button.d.ts": "export function wrong(): string;\n",
                "src/a.ts": "export const a = 1;\n",
                "src/a.js": "export const a = 1;\n",
            },
        ),
    ),
}

_ANY = "export declare const actionGeneric: any;\n"
_UNKNOWN_KEY = """import { v } from "convex/values";
export const run = action({ args: { answerPort: v.number() }, handler: async () => "harmless", nonsense: 1 });
"""
_SERVER = (
    'export * from "../node_modules/convex/dist/esm/server/index.js";\n'
    'export const defineApp = () => ({ export: () => "{}" });\n'
)


# It is CommonJS: a name that it does not export is found missing when it runs.
_OTHER_MODULE = "./node_modules/convex/dist/cjs/values/index.js"


_LIMITER = "@convex-dev/rate-limiter/dist/component"
_USES_LIMITER = """import rateLimiter from "@convex-dev/rate-limiter/convex.config";
import { defineApp } from "convex/server";
const app = defineApp();
app.use(rateLimiter);
export default app;
"""


def _paths(file: str, target: str) -> str:
    return json.dumps({"compilerOptions": {"paths": {file: [target]}}})


def _elsewhere(target: str) -> str:
    return json.dumps({"compilerOptions": {"baseUrl": ".", "paths": {"convex/server": [target]}}})


_SCHEMA = """import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";
export default defineSchema({ words: defineTable({ word: v.string() }) });
"""

# Something else runs than what was checked.
_PARTED: dict[str, tuple[str, Files]] = {
    "entry_led_elsewhere": (
        "`paths` that put another file in place of `convex/schema.ts`, with types of its own",
        _project(
            _HERE,
            {
                "convex/schema.ts": _SCHEMA.replace("v.string()", "v.any()"),
                "convex/tables.ts": _SCHEMA,
                "tsconfig.json": json.dumps(
                    {"compilerOptions": {"paths": {"*/convex/schema.ts": ["./convex/tables.ts"]}}}
                ),
            },
        ),
    ),
    "style_sheet": (
        "a style sheet that is JavaScript, too, and is pushed as a module of the same name",
        _project(
            f'import "./attack.css";\n{_HERE}',
            {"convex/attack.css": "export const x = ({ isQuery: true }), end = function () { a: 1; }\n"},
        ),
    ),
    "declaration_of_a_module": (
        "a declaration file beside the JavaScript that it describes",
        _project(
            _importing("../lib/word.mjs"),
            {
                "lib/word.mjs": 'export const harmless = () => "harmless";\n',
                "lib/word.d.mts": "export function harmless(): string;\n",
            },
        ),
    ),
    "declarations_that_run": (
        "a declaration file that contains code",
        _project(_importing("../lib/word.d"), {"lib/word.d.ts": f"{_WORD}{_WRONG_TYPE}"}),
    ),
    "declarations_of_any_suffix": (
        "a declaration file of another kind that contains code",
        _project(_importing("../lib/word.d.any"), {"lib/word.d.any.ts": f"{_WORD}{_WRONG_TYPE}"}),
    ),
    "two_of_a_name": (
        "a correct `.ts` beside the wrong `.js` that runs",
        _project(_importing("../lib/word.js"), {"lib/word.ts": _WORD, "lib/word.js": f"{_JS_WORD}{_WRONG_JS}"}),
    ),
    "right_twin": (
        "a correct `.ts` beside a correct `.js` that does something else",
        _project(_importing("../lib/word.js"), {"lib/word.ts": _WORD, "lib/word.js": _JS_WORD}),
    ),
    "module_suffixes": (
        "`moduleSuffixes`",
        _project(
            _importing("../lib/word"),
            {"lib/word.ts": _WORD, "lib/word.good.ts": _WORD, "tsconfig.json": _settings(moduleSuffixes=[".good", ""])},
        ),
    ),
    "browser_field": (
        "`browser` in package.json",
        _project(
            _importing("../lib/word"),
            {"lib/word.ts": _WORD, "lib/bad.ts": _WORD},
            {"browser": {"./lib/word.ts": "./lib/bad.ts"}},
        ),
    ),
    "conditions": (
        "conditions of `imports` in package.json",
        _project(
            _importing("#word"),
            {"lib/good.ts": _WORD, "lib/bad.ts": _WORD},
            {"imports": {"#word": {"types": "./lib/good.ts", "convex": "./lib/bad.ts", "default": "./lib/good.ts"}}},
        ),
    ),
    "paths_of_a_subfolder": (
        "`paths` that only the bundler reads",
        _project(
            _importing("../lib/outer"),
            {
                "lib/outer.ts": 'export { harmless } from "word";\n',
                "lib/tsconfig.json": json.dumps({"compilerOptions": {"baseUrl": ".", "paths": {"word": ["./bad.ts"]}}}),
                "tsconfig.json": _settings(baseUrl=".", paths={"word": ["./lib/good.ts"]}),
                "lib/good.ts": _WORD,
                "lib/bad.ts": _WORD,
            },
        ),
    ),
    "own_types_of_a_package": (
        "`paths` to its own types for `convex/server`",
        _project(
            'import { actionGeneric as action } from "convex/server";\n' + _UNKNOWN_KEY,
            {
                "convex/tsconfig.json": _settings(baseUrl=".", paths={"convex/server": ["./stub"]}),
                "convex/stub.d.ts": _ANY,
            },
        ),
    ),
    "ambient_module": (
        "`declare module` in place of a package's types",
        _project(
            'import { actionGeneric as action } from "convex/server";\n' + _UNKNOWN_KEY,
            {"convex/shim.d.ts": 'declare module "convex/server" { export const actionGeneric: any; }\n'},
        ),
    ),
    "code_in_a_url": (
        "code in a `data:` URL",
        _project(
            f'{_IMPORTS}import word from "data:text/javascript,export default () => %22harmless%22";\n'
            f"const harmless = (): string => String(word());\n{_RUN}",
            {"convex/urls.d.ts": 'declare module "data:*" { const word: () => string; export default word; }\n'},
        ),
    ),
}

_DECLARED = "export function wrong(): string;\n"


def _using(specifier: str) -> str:
    return f'export {{ wrong }} from "{specifier}";\n'


_WRONG = "export const wrong = (): string => String(1);\n"

_GLOB = "declare global { interface ImportMeta { glob(pattern: string, options: object): unknown } }\nexport {};\n"

# Pages, programs and tests load files by other rules than the bundle of a deployment.
_LOADED_OTHERWISE: dict[str, tuple[str, Files]] = {
    "no_suffix": (
        "a file without a suffix that a page imports",
        _project(_HERE, {"src/App.ts": _using("./word"), "src/word": _WRONG_JS, "src/word.d.ts": _DECLARED}),
    ),
    "main_of_programs": (
        "a nested package.json with another main file for programs",
        _project(
            _HERE,
            {
                "src/run.ts": _using("../lib"),
                "lib/good.ts": _WRONG,
                "lib/bad.js": _WRONG_JS,
                "lib/package.json": json.dumps({"module": "./good.ts", "main": "./bad.js", "types": "./good.ts"}),
            },
        ),
    ),
    "imports_of_programs": (
        "an `imports` pattern in a nested package.json that resolves to another file in programs",
        _project(
            _HERE,
            {
                "src/run.ts": _using("#x/word"),
                "src/good/word.ts": _WRONG,
                "src/hidden/word.js": _WRONG_JS,
                "src/package.json": json.dumps(
                    {"imports": {"#x/*": {"node": "./hidden/*.js", "default": "./good/*.ts"}}}
                ),
            },
        ),
    ),
    "browser_of_pages": (
        "`browser` in a nested package.json that replaces a file of a page",
        _project(
            _HERE,
            {
                "src/App.ts": "export default 1;\n",
                "other/App.js": _WRONG_JS,
                "src/package.json": json.dumps({"browser": {"./App.ts": "../other/App.js"}}),
            },
        ),
    ),
    "imports_of_tests": (
        "what a test imports",
        _project(
            _HERE,
            {"convex/a.test.ts": _using("../lib/bad.mjs"), "lib/bad.mjs": _WRONG_JS, "lib/bad.d.mts": _DECLARED},
        ),
    ),
    "set_up_of_tests": (
        "files named in the test configuration",
        _project(
            _HERE,
            {
                "vitest.config.ts": 'export default { test: { setupFiles: ["./more/set_up.js"] } };\n',
                "more/set_up.js": _WRONG_JS,
            },
        ),
    ),
    "patterns_of_tests": (
        "what a test loads by a pattern (`import.meta.glob`)",
        _project(
            _HERE,
            {
                "convex/a.test.ts": f"{_GLOB}import.meta.glob('../more/*.js', {{ eager: true }});\n",
                "more/set_up.js": _WRONG_JS,
            },
        ),
    ),
    "text_of_tests": (
        "a text that a test loads by a pattern, and that is code",
        _project(
            _HERE,
            {
                "convex/a.test.ts": f"{_GLOB}import.meta.glob('../more/*.md', {{ eager: true }});\n",
                "more/set_up.md": '"text".missing();\n',
            },
        ),
    ),
}

_ENDS_ITS_TYPE = (
    'a" }, any> } } = anyApi as any; import { harmless } from "../../lib/hidden.js"; harmless(); '
    'export const q: { extra: { f: FunctionReference<"query", "public", { x: "b'
)


def _printed(codegen: Mapping[str, object]) -> Files:
    """A literal that the types of the generated API print as it is."""
    extra = (
        'import { v } from "convex/values";\nimport { query } from "./_generated/server";\n'
        f"const x = v.literal({json.dumps(_ENDS_ITS_TYPE)});\n"
        "export const f = query({ args: { x }, handler: async () => null });\n"
    )
    hidden = {"lib/hidden.js": f"{_JS_WORD}{_WRONG_JS}", "convex/extra.ts": extra}
    return _project(_HERE, {**hidden, "convex.json": json.dumps({"codegen": codegen})})


# Code that is in no file of the project.
_MADE_OF_TEXT: dict[str, tuple[str, Files]] = {
    "printed_literal": (
        "a literal with a quote, printed in generated TypeScript",
        _printed({"staticApi": True, "fileType": "ts"}),
    ),
    "printed_declaration": (
        "a literal with a quote, printed in generated declarations",
        _printed({"staticApi": True}),
    ),
    "eval": ("`eval`", _project(f"{_IMPORTS}const harmless = (): string => String(eval('\"harmless\"'));\n{_RUN}", {})),
    "eval_by_another_name": (
        "`eval` accessed as a property, in what a page imports",
        _project(_HERE, {"src/App.ts": 'const e = globalThis["eval"];\nexport const said: unknown = e("1");\n'}),
    ),
    "new_function": (
        "`new Function`, in Node.js",
        _project(
            f'"use node";\n{_IMPORTS}const made = new Function("return \'harmless\'");\n'
            f"const harmless = (): string => String(made());\n{_RUN}",
            {},
        ),
    ),
    "computed_import": (
        "an import with a computed name, in a program",
        _project(
            _HERE,
            {
                "src/run.ts": 'const name: string = ["../lib", "bad.js"].join("/");\nvoid import(name);\nexport {};\n',
                "lib/bad.js": _WRONG_JS,
            },
        ),
    ),
}


# The definition of an app without one of its own is made of `convex/server`: here, of another.
_LED_ELSEWHERE: dict[str, tuple[str, Files]] = {
    "jsconfig": (
        "`jsconfig.json` that redirects `convex/server`",
        _project(_HERE, {"jsconfig.json": _elsewhere("./vendor/server.ts"), "vendor/server.ts": _SERVER}),
    ),
    "jsconfig_in_convex": (
        "`convex/jsconfig.json` that does so, in JavaScript",
        _project(_HERE, {"convex/jsconfig.json": _elsewhere("../vendor/server.js"), "vendor/server.js": _SERVER}),
    ),
    "jsconfig_extends": (
        "`extends` of `jsconfig.json`",
        _project(
            _HERE,
            {
                "jsconfig.json": '{"extends": "./more.json"}',
                "more.json": _elsewhere("./vendor/server.ts"),
                "vendor/server.ts": _SERVER,
            },
        ),
    ),
    # What follows is made of packages alone: nothing of the project seems to be in it.
    "package_by_jsconfig": (
        "`jsconfig.json` that redirects `convex/server` to another module of a package",
        _project(_HERE, {"jsconfig.json": _elsewhere(_OTHER_MODULE)}),
    ),
    "package_by_its_entry": (
        "`tsconfig.json` that puts another file of a component's package in place of one",
        _project(
            _HERE,
            {
                "convex/convex.config.ts": _USES_LIMITER,
                "tsconfig.json": _paths(f"*/{_LIMITER}/lib.js", f"./node_modules/{_LIMITER}/time.js"),
            },
            {"dependencies": {"convex": "1.48.0", "@convex-dev/rate-limiter": "^0.4.0"}},
        ),
    ),
    "package_by_jsconfig_in_convex": (
        "`convex/jsconfig.json` that does so for its own files",
        _project(_HERE, {"convex/jsconfig.json": _elsewhere(f".{_OTHER_MODULE}")}),
    ),
    "package_by_extends": (
        "`extends` of `jsconfig.json` that does so",
        _project(_HERE, {"jsconfig.json": '{"extends": ["./more.json"]}', "more.json": _elsewhere(_OTHER_MODULE)}),
    ),
    "package_by_browser": (
        "`browser` of package.json that does so",
        _project(_HERE, {}, {"browser": {"convex/server": _OTHER_MODULE}}),
    ),
    "package_by_nested_manifest": (
        "`browser` of a `convex/package.json` that does so",
        _project(_HERE, {"convex/package.json": json.dumps({"browser": {"convex/server": f".{_OTHER_MODULE}"}})}),
    ),
}

# One of each kind: others differ little from it, and are left to long runs.
_FIRST = {
    *("nocheck_in_lib", "lint_through_two_folders", "nested_generated", "javascript_imported", "jsx_in_a_page"),
    *("not_strict_by_extends", "beside_broken_json", "two_of_a_name", "ambient_module", "package_by_jsconfig"),
    *("main_of_programs", "printed_literal", "computed_import"),
}


def _attacks(table: Mapping[str, tuple[str, Files]], *, fresh: bool = False) -> Iterator[Attack]:
    for name, (what, files) in table.items():
        yield Attack(name, what, FUNCTION, partial(_made, files), any_level=True, again=name not in _FIRST, fresh=fresh)


def _made(files: Files, _: Constants) -> Files:
    return dict(files)


LED_ELSEWHERE = tuple(_attacks(_LED_ELSEWHERE, fresh=True))
_ALIKE = {**_UNSEEN, **_LOOSE_SETTINGS, **_MISTAKEN, **_PARTED, **_LOADED_OTHERWISE, **_MADE_OF_TEXT}
CHECKED = (*_attacks(_ALIKE), *LED_ELSEWHERE)
