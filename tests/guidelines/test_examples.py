"""The guidelines' examples type-check: each one is put into a file that declares what it refers to."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from convex_evals.grading.toolchain import Toolchain, locate_toolchain
from convex_evals.guidelines.document import Rule, read_guidelines
from tests.conftest import ROOT, clean_environment

EXAMPLES = Path(__file__).parent / "examples"
MARKER = "// example\n"
# Of any answer: these two files are the same for all apps.
GENERATED = ROOT / "evals/005-idioms/003-convex_test/answer/convex/_generated"
NO_MODULES = {"schema", "auth.config", "convex.config", "components_config", "plots.test"}
COMPONENTS = {"aggregate": "aggregate", "printQueue": "workpool", "rateLimiter": "rate-limiter"}
SETTINGS = {
    "compilerOptions": {
        "target": "ESNext",
        "module": "ESNext",
        "moduleResolution": "Bundler",
        "lib": ["ESNext", "DOM", "DOM.Iterable"],
        "jsx": "react-jsx",
        "strict": True,
        "noEmit": True,
        "skipLibCheck": True,
        "types": ["node"],
    },
    "include": ["convex", "src"],
}


def read_rules() -> tuple[Rule, ...]:
    return read_guidelines((ROOT / "guidelines" / "convex.md").read_text(encoding="utf-8")).rules


def fences(rule: Rule) -> list[str]:
    return [token.content for token in MarkdownIt().parse(rule.source) if token.type == "fence"]


def templates() -> Iterator[str]:
    for path in sorted(EXAMPLES.rglob("*.ts*")):
        if MARKER in path.read_text(encoding="utf-8"):
            yield path.relative_to(EXAMPLES).as_posix()


def examples() -> Iterator[tuple[str, str]]:
    """Of each example, the file that it is checked in, and its code."""
    for rule in read_rules():
        names = [name for note in rule.notes for name in note.examples]
        code = fences(rule)
        assert len(names) == len(code), f"guidelines/convex.md:{rule.line}: {len(code)} examples, {len(names)} files"
        yield from zip(names, code, strict=True)


def write_project(folder: Path, installed: Toolchain) -> None:
    """The files with their examples, and what Convex generates for them."""
    shutil.copytree(EXAMPLES, folder)
    for name, code in examples():
        text = (folder / name).read_text(encoding="utf-8")
        (folder / name).write_text(text.replace(MARKER, code), encoding="utf-8")
    generated = folder / "convex" / "_generated"
    generated.mkdir()
    for name in ("server.d.ts", "dataModel.d.ts"):
        shutil.copy(GENERATED / name, generated)
    (generated / "api.d.ts").write_text(api_types(folder / "convex"), encoding="utf-8")
    (folder / "tsconfig.json").write_text(json.dumps(SETTINGS), encoding="utf-8")
    (folder / "node_modules").symlink_to(installed.node_modules)


def api_types(functions: Path) -> str:
    modules = sorted(p.relative_to(functions).with_suffix("").as_posix() for p in functions.rglob("*.ts"))
    paths = [path for path in modules if path not in NO_MODULES and not path.startswith("_generated/")]
    typed = [f'"{path}": typeof import("../{path}.js");' for path in paths]
    installed = [
        f'{name}: import("@convex-dev/{package}/_generated/component.js").ComponentApi<"{name}">;'
        for name, package in COMPONENTS.items()
    ]
    return "\n".join(
        [
            'import type { ApiFromModules, FilterApi, FunctionReference } from "convex/server";',
            f"declare const fullApi: ApiFromModules<{{ {' '.join(typed)} }}>;",
            'export declare const api: FilterApi<typeof fullApi, FunctionReference<any, "public">>;',
            'export declare const internal: FilterApi<typeof fullApi, FunctionReference<any, "internal">>;',
            f"export declare const components: {{ {' '.join(installed)} }};",
        ]
    )


def test_each_example_has_a_file_of_its_own() -> None:
    assert Counter(name for name, _ in examples()) == Counter(templates())


@pytest.mark.full
@pytest.mark.grading
def test_examples_type_check(toolchain: Path, tmp_path: Path) -> None:
    installed = locate_toolchain(toolchain)
    folder = tmp_path / "project"
    write_project(folder, installed)
    argv: list[str | Path] = [installed.node.executable, installed.node_modules / "typescript/bin/tsc", "-p", folder]
    done = subprocess.run(argv, cwd=folder, env=clean_environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
