from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from convex_evals.errors import UserError
from convex_evals.grading.checker import Checker
from convex_evals.grading.sandbox.base import NoSandbox
from convex_evals.grading.sandbox.client import open_launcher
from convex_evals.grading.suite_packages import grader_packages, imported_packages, manifest_packages
from convex_evals.grading.toolchain import locate_toolchain
from tests.factories import make_eval, write_files

MANIFEST = {
    "dependencies": {"slugify": "1.6.6", "openai": "^5", "@scope/used": "^1.0.0", "local": "file:../local"},
    "devDependencies": {"vitest": "^3", "typescript": "^5", "zod": "^4", "@types/node": "^24", "@types/react": "^19"},
}


async def imported(suite: Path, toolchain: Path) -> list[str]:
    scratch = suite / "scratch"
    scratch.mkdir()
    async with (
        open_launcher() as launcher,
        Checker(locate_toolchain(toolchain), NoSandbox(launcher), scratch, scratch) as checker,
    ):
        return await imported_packages(suite, checker)


@pytest.mark.grading
def test_only_what_graders_import_is_installed_and_types(tmp_path: Path, toolchain: Path) -> None:
    grader = 'import { it } from "vitest";\nimport { x } from "../../../grader";\nimport "local";\n'
    make_eval(tmp_path, files={"grader.test.ts": grader, "answer/convex/x.ts": 'import OpenAI from "openai";'})
    write_files(
        tmp_path,
        {
            "package.json": json.dumps(MANIFEST),
            "grader/index.ts": "import ts from \"typescript\";\nexport * from '../shared/a.js';",
            "shared/a.ts": "import slugify from 'slugify';\nexport * from '../grader/deep/a';",
            "grader/deep/a.ts": 'export * from "@scope/used/sub";',
            "runner/index.ts": 'import { z } from "zod";',
        },
    )
    warnings: list[str] = []
    found = asyncio.run(imported(tmp_path, toolchain))
    wanted = grader_packages(tmp_path, manifest_packages(tmp_path), found, warnings.append)
    assert wanted == {"slugify": "1.6.6", "@scope/used": "^1.0.0", "typescript": "^5", "@types/react": "^19"}
    (warning,) = warnings
    assert "'local' does not come from the registry" in warning


def test_a_suite_with_node_modules_brings_its_own(tmp_path: Path) -> None:
    make_eval(tmp_path)
    write_files(tmp_path, {"package.json": json.dumps(MANIFEST), "node_modules/x/package.json": "{}"})
    assert manifest_packages(tmp_path) == {}


def test_a_broken_manifest_is_one_line(tmp_path: Path) -> None:
    make_eval(tmp_path)
    write_files(tmp_path, {"package.json": "{\n  oops"})
    with pytest.raises(UserError, match=r"package\.json:2: not valid JSON: .*; fix it"):
        manifest_packages(tmp_path)
