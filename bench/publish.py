"""How long `cli publish` takes for 111 evals, against a deployment on this machine.

    python bench/publish.py [--json]

Everything is new to the deployment: 111 sources and 111 outputs are uploaded. Prints whole seconds and their ratio to
the budget; exit code 1 where the budget is exceeded.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from convex_evals.config import cache_dir  # noqa: E402
from convex_evals.errors import UserError  # noqa: E402
from convex_evals.grading.toolchain import ensure_toolchain  # noqa: E402
from scripts.command import start  # noqa: E402
from tests.publish.deployed import deployed  # noqa: E402
from tests.publish.publications import check_published, make_home  # noqa: E402

EVALS = 111
BUDGET_SECONDS = 30
OUTCOMES = {f"{n // 14:03}-category/{n % 14:03}-eval": "pf"[n % 2] for n in range(EVALS)}


def measure(folder: Path) -> float:
    """Seconds of the command, from its start to its exit."""
    (folder / "deployment").mkdir()
    with deployed(folder / "deployment", cache_dir()) as deployment:
        home = make_home(folder / "home", deployment.url, OUTCOMES)
        run = home.add_run("default-00000001", OUTCOMES)
        begin = time.monotonic()
        process = home.start(deployment.token)
        _, err = process.communicate()
        seconds = time.monotonic() - begin
        if process.returncode != 0:
            raise UserError(f"cli publish: exit code {process.returncode}: {err}")
        check_published(deployment, run)
    return seconds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true", dest="as_json")
    options = parser.parse_args()
    asyncio.run(ensure_toolchain(cache_dir(), lambda *_: None))
    os.environ["CONVEX_EVALS_CACHE"] = str(cache_dir())
    with tempfile.TemporaryDirectory() as folder:
        seconds = measure(Path(folder))
    figures = {"evals": EVALS, "seconds": round(seconds), "of_budget": round(seconds / BUDGET_SECONDS, 2)}
    if options.as_json:
        print(json.dumps(figures))
    else:
        print(f"{EVALS} evals: {seconds:.0f} s, {figures['of_budget']:.2f} of the budget of {BUDGET_SECONDS} s")
    return int(seconds > BUDGET_SECONDS)


if __name__ == "__main__":
    start(main)
