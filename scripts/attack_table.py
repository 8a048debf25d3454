"""What came of each attack at each level of containment, as rows of a Markdown table.

    python scripts/attack_table.py                 from tests/attacks/results.json
    python scripts/attack_table.py --write         attack at every level that this machine offers, and write that file
    python scripts/attack_table.py --write --level container     at one level
    python scripts/attack_table.py --write --attacks sockets     the attacks whose names match
    python scripts/attack_table.py --write --full  in full size: 10 GB, millions of lines

Without a sandbox only attacks that harm nothing are tried, in small size.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from convex_evals.config import cache_dir
from convex_evals.errors import UserError
from convex_evals.grading.sandbox.base import Level

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from scripts.command import start  # noqa: E402
from tests.attacks.bench import FULL, NORMAL, TAME, Result, Size, run_attacks  # noqa: E402
from tests.attacks.projects import ATTACKS, KNOWN, Attack, choose_attacks  # noqa: E402

RESULTS = ROOT / "tests" / "attacks" / "results.json"
LEVELS = tuple(Level)
Outcomes = dict[str, dict[str, str]]  # by attack, by level


def table() -> str:
    """Rows of a Markdown table, from what was written last."""
    outcomes: Outcomes = json.loads(RESULTS.read_text(encoding="utf-8"))
    rows = [f"| attack | {' | '.join(LEVELS)} |", "|---" * (1 + len(LEVELS)) + "|"]
    for attack in ATTACKS:
        found = outcomes.get(attack.name, {})
        cells = [attack.what, *(found.get(level.value, "not tried") for level in LEVELS)]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows)


def measure(levels: Sequence[Level], size: Size, asked: Sequence[Attack]) -> tuple[Outcomes, list[str]]:
    """Run the attacks; problems are what should not have come of one that a level is to stop.

    Other levels, and attacks that are not asked for, keep their earlier outcomes.
    """
    before: Outcomes = json.loads(RESULTS.read_text(encoding="utf-8"))
    outcomes: Outcomes = {
        attack.name: {
            name: what
            for name, what in before.get(attack.name, {}).items()
            if attack not in asked or Level(name) not in levels
        }
        for attack in ATTACKS
    }
    problems: list[str] = []
    for level in levels:
        attacks = [a for a in asked if level is not Level.NONE or a.tame]
        folder = Path(tempfile.mkdtemp(prefix="attacks-", dir="/tmp"))
        try:
            results, left = run_attacks(level, attacks, folder, cache_dir(), TAME if level is Level.NONE else size)
        except UserError as error:
            print(f"{level}: {error}", file=sys.stderr)
            continue
        finally:
            shutil.rmtree(folder)
        for name, result in results.items():
            outcomes[name][level.value] = _outcome(result)
            if result.neighbours:
                print(f"{level} {name}: {result.neighbours.line}", file=sys.stderr)
        if level is not Level.NONE:
            for name, result in results.items():
                if (level.value, name) not in KNOWN:
                    problems += [f"{level} {name}: {problem}" for problem in result.problems]
            problems += [f"{level}: {what}" for what in left]
    return outcomes, problems


def _outcome(result: Result) -> str:
    if result.harm:
        return "succeeds"
    if result.neighbours and result.neighbours.problems:
        return "changes its neighbours"
    return "stopped" if not result.problems else f"ends {result.verdict.outcome}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="run the attacks and write the file")
    parser.add_argument("--level", type=Level, action="append", choices=LEVELS, help="only here; can be repeated")
    parser.add_argument("--attacks", default="", metavar="REGEX", help="only those whose names match")
    parser.add_argument("--full", action="store_true", help="in full size")
    arguments = parser.parse_args()
    problems: list[str] = []
    if arguments.write:
        outcomes, problems = measure(
            arguments.level or LEVELS, FULL if arguments.full else NORMAL, choose_attacks(arguments.attacks)
        )
        RESULTS.write_text(json.dumps(outcomes, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    print(table())
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    start(main)
