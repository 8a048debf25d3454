"""Whether our way judges every project of the suite as the official tools do, in the same words.

    python bench/same_verdicts.py --kept cold.jsonl [--filter REGEX] [--workers 2] [--only cold|ours]

Grades answers, wrong and accepted projects both ways, in an order that mixes evals. The official tools take ten times
as long, so their verdicts are kept in a file, a line each, and not asked for again: a run that was stopped goes on, and
after a change to our side only that side is graded again. Delete the file after a change of the toolchain's packages.
Exits with 1 where a verdict or a message differs (ids, times and ports aside, which differ from run to run). Some
mistakes are races, and fail in other words each time: where messages alone differ, both ways grade again, and what
differs from itself as well is named and not counted.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from bench.cold_pipeline import differences
from bench.pipeline import ROOT, Case, Grade, cases_of, grade_cold, opened
from convex_evals.grading.sandbox.base import Level
from convex_evals.grading.sandbox.choice import Containment
from convex_evals.records import Outcome, Verdict
from convex_evals.records.hashes import sha256_files, sha256_parts
from convex_evals.suite.suite import load_suite
from scripts.command import start

_AGAIN = 3  # times


def key_of(case: Case) -> str:
    """What the official tools' verdict on a project depends on, but for the toolchain and the graders' library."""
    grader = case.ev.grader.read_text(encoding="utf-8")
    return sha256_parts([case.ev.id, grader, sha256_files(case.ev.answer().files), sha256_files(case.files)])


def read_kept(file: Path) -> dict[str, Verdict]:
    """Verdicts by key. A last line that was cut off by a kill is left out."""
    found: dict[str, Verdict] = {}
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else []:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        found[entry["key"]] = Verdict.model_validate(entry["verdict"])
    return found


async def grade_all(cases: list[Case], workers: int, grade: Grade, show: str) -> dict[str, Verdict]:
    """Verdicts by name of the project, `workers` at a time."""
    verdicts: dict[str, Verdict] = {}
    waiting = iter(cases)

    async def work() -> None:
        for case in waiting:
            verdicts[case.name] = await grade(case)
            if sys.stderr.isatty() or len(verdicts) % 20 == 0:
                print(f"{show}: {len(verdicts)} of {len(cases)}", file=sys.stderr, flush=True)

    await asyncio.gather(*(work() for _ in range(workers)))
    return verdicts


async def add_cold(cases: list[Case], workers: int, kept: Path) -> None:
    """Add the verdicts of the official tools that `kept` does not have."""
    known = read_kept(kept)
    missing = [case for case in cases if key_of(case) not in known]
    async with opened(workers, Containment(Level.NONE)) as service:
        with kept.open("a", encoding="utf-8") as file:
            file.write("\n" if known else "")

            async def grade(case: Case) -> Verdict:
                verdict = await grade_cold(service, case.ev, case.files)
                if verdict.outcome is Outcome.UNSCORED:
                    return verdict
                entry = {
                    "key": key_of(case),
                    "project": case.name,
                    "verdict": verdict.model_dump(mode="json", by_alias=True),
                }
                print(json.dumps(entry), file=file, flush=True)
                return verdict

            await grade_all(missing, workers, grade, "official tools")


@dataclass
class Comparison:
    """Of projects that were graded both ways."""

    graded: int
    differences: dict[str, list[str]]  # by project
    random: list[str]  # projects whose words differ each time


async def compared(cases: list[Case], workers: int, kept: Path) -> Comparison:
    """Grades our way what `kept` has the official tools' verdicts on."""
    known = read_kept(kept)
    both = [case for case in cases if key_of(case) in known]
    colds = {case.name: known[key_of(case)] for case in both}
    async with opened(workers, Containment()) as service:
        verdicts = await grade_all(both, workers, lambda case: service.grade(case.ev, case.files), "ours")
        lines = {name: differences(verdict, colds[name]) for name, verdict in verdicts.items()}
        found = Comparison(len(both), {name: said for name, said in lines.items() if said}, [])
        suspects = [c for c in both if c.name in found.differences and same_outcomes(verdicts[c.name], colds[c.name])]
        await acquit(found, suspects, verdicts, lambda case: service.grade(case.ev, case.files))
    suspects = [case for case in suspects if case.name in found.differences]
    if suspects:
        async with opened(workers, Containment(Level.NONE)) as service:
            await acquit(found, suspects, colds, lambda case: grade_cold(service, case.ev, case.files))
    return found


async def acquit(found: Comparison, cases: list[Case], verdicts: Mapping[str, Verdict], grade: Grade) -> None:
    """Move those to `found.random` whose own way, asked again, says something else than in `verdicts`.

    First alone, then several at a time: a race may end alike while nothing disturbs it.
    """
    for case in cases:
        again = [await grade(case), *await asyncio.gather(*(grade(case) for _ in range(_AGAIN)))]
        if any(differences(verdict, verdicts[case.name]) for verdict in again):
            found.random.append(case.name)
            del found.differences[case.name]


def same_outcomes(ours: Verdict, cold: Verdict) -> bool:
    """Whether at most the words differ."""
    steps = [[step.outcome for step in verdict.steps] for verdict in (ours, cold)]
    return (ours.outcome, ours.caught_by) == (cold.outcome, cold.caught_by) and steps[0] == steps[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kept", type=Path, required=True, help="file for the official tools' verdicts")
    parser.add_argument("--filter", action="append", default=[], help="only evals whose id matches")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", choices=("cold", "ours"), help="grade one way; `ours` compares what is kept so far")
    options = parser.parse_args()
    cases = cases_of(load_suite(ROOT).select(options.filter), None)
    cases.sort(key=lambda case: crc32(case.name.encode()))
    if options.only != "ours":
        asyncio.run(add_cold(cases, options.workers, options.kept))
    if options.only != "cold":
        found = asyncio.run(compared(cases, options.workers, options.kept))
        lines = [f"{name}: {line}" for name, said in found.differences.items() for line in said]
        lines += [f"{name}: in other words each time" for name in found.random]
        lines.append(f"{found.graded} of {len(cases)} projects graded both ways, {len(found.differences)} differ")
        print("\n".join(lines))
        sys.exit(bool(found.differences))


if __name__ == "__main__":
    start(main)
