"""Whether the components that Convex publishes deploy to the embedded backend, and answer a call.

    python scripts/try_components.py            as a table
    python scripts/try_components.py --write    and write docs/components.json, from which the documentation has it

The components, their versions and the apps that use them are in convex_evals/node/backend/clients/components/table.ts.
Packages are installed once, into the cache.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import TypedDict

from convex_evals.config import cache_dir
from convex_evals.errors import InfrastructureError
from convex_evals.grading.npm import npm
from convex_evals.grading.once import make_once
from convex_evals.grading.toolchain import Toolchain, ensure_toolchain
from convex_evals.records.hashes import sha256_parts

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from scripts.command import start  # noqa: E402

RESULTS = ROOT / "docs" / "components.json"
_PROGRAM = "backend/clients/components/main.ts"
_FLAGS = ("--experimental-vm-modules", "--disable-warning=ExperimentalWarning")
_INSTALL_SECONDS, _TRY_SECONDS = 300.0, 300


class Tried(TypedDict):
    """What came of one component; `problem` is None where it deployed and answered."""

    package: str
    version: str
    problem: str | None


def table(results: list[Tried]) -> str:
    rows = ["| package | version | deploys and answers |", "|---|---|---|"]
    return "\n".join([*rows, *(f"| `{r['package']}` | {r['version']} | {r['problem'] or 'yes'} |" for r in results)])


def written_table() -> str:
    """The table, from what was written last."""
    return table(json.loads(RESULTS.read_text(encoding="utf-8")))


async def try_components() -> list[Tried]:
    """Raises `InfrastructureError` where the packages cannot be installed."""
    toolchain = await ensure_toolchain(cache_dir(), lambda what, done, total: None)
    wanted = json.loads(_run(toolchain))
    target = cache_dir() / "components" / sha256_parts([json.dumps(wanted, sort_keys=True)])[:16]
    await make_once(target, lambda folder: _install(toolchain, folder, wanted))
    return [json.loads(line) for line in _run(toolchain, target / "node_modules").splitlines()]


async def _install(toolchain: Toolchain, folder: Path, wanted: dict[str, str]) -> None:
    (folder / "package.json").write_text(json.dumps({"name": "components", "private": True, "dependencies": wanted}))
    # Most ask for what only pages need of them: React Native, editors.
    arguments = ["install", "--legacy-peer-deps"]
    failure = await npm(toolchain.node, arguments, cwd=folder, timeout=_INSTALL_SECONDS, bounded=folder)
    if failure:
        raise InfrastructureError(f"npm install failed: {failure.advice(folder)}")


def _run(toolchain: Toolchain, *arguments: Path) -> str:
    argv = [str(toolchain.node.executable), *_FLAGS, str(toolchain.script(_PROGRAM)), *map(str, arguments)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=_TRY_SECONDS, check=False)
    if done.returncode != 0:
        raise InfrastructureError(f"{_PROGRAM}: {done.stderr.strip()[-2000:]}")
    return done.stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write docs/components.json")
    parser.add_argument("--json", action="store_true", help="as JSON instead of a table")
    arguments = parser.parse_args()
    results = asyncio.run(try_components())
    if arguments.write:
        RESULTS.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(results, indent=2) if arguments.json else table(results))
    return 1 if any(result["problem"] for result in results) else 0


if __name__ == "__main__":
    start(main)
