"""How long `cli report` takes over 111 failures of 111 evals. Prints seconds; exit 1 where that is over the limit.

python bench/reports.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.factories import make_eval, make_failure, make_run  # noqa: E402

EVALS = 111
LINES = 150  # of each file that is compared
LIMIT = 3.0  # seconds


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make(root)
        start = time.monotonic()
        argv = [sys.executable, str(ROOT / "cli.py"), "report", "now"]
        done = subprocess.run(argv, cwd=root, capture_output=True, text=True, check=False)
        seconds = time.monotonic() - start
    print(done.stdout + done.stderr, end="")
    print(f"{seconds:.2f} s over {EVALS} failures (limit {LIMIT:.0f} s)")
    return int(done.returncode != 0 or seconds > LIMIT)


def make(root: Path) -> None:
    """A suite, an earlier run and one in which every eval failed."""
    answer = "".join(f"export const value{n} = {n} * 2; // what was expected\n" for n in range(LINES))
    written = answer.replace("what was expected", "what was written").replace("value7 ", "value_7 ")
    body = "".join(f"## convex/{name}.ts\n\n```ts\n{written}```\n\n" for name in ("main", "schema", "more"))
    evals = [f"{n // 14:03}-category/{n % 14:03}-eval" for n in range(EVALS)]
    for eval_id in evals:
        make_eval(root, eval_id, {f"answer/convex/{name}.ts": answer for name in ("main", "schema", "more")})
    kinds = [
        make_failure({"tsc": "convex/main.ts:8:14 TS2345: Argument of type 'string' is not assignable."}, {"t": None}),
        make_failure({"eslint": "convex/more.ts:90:1 no-console: Unexpected console statement."}, {"t": None}),
        make_failure({"tests": "t: expected"}, {f"t{i}": "AssertionError: expected 1 to be 2" for i in range(8)}),
        make_failure({"deploy": '✘ [ERROR] Could not resolve "left-pad"\n\n    convex/main.ts:1:9:\n'}),
    ]
    failures = {eval_id: kinds[n % len(kinds)] for n, eval_id in enumerate(evals)}
    replies = dict.fromkeys(evals, f"# Files\n\n{body}")
    make_run(root / "runs", dict.fromkeys(evals, "ppf"), run_id="before", date="2026-01-01")
    make_run(root / "runs", dict.fromkeys(evals, "fff"), run_id="now", replies=replies, failures=failures)


if __name__ == "__main__":
    sys.exit(main())
