"""The leaderboard computes intervals and ranks as `cli leaderboard` does."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from random import Random
from typing import Any

import pytest

from convex_evals.grading.toolchain import locate_toolchain
from convex_evals.stats import Rate, Tally, rank_ranges
from tests.publish.deployed import LEADERBOARD

pytestmark = pytest.mark.grading

SCRIPT = """
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
const [typescript, folder] = process.argv.slice(2);
const ts = createRequire(import.meta.url)(typescript);
const load = (name) => {
  const options = { compilerOptions: { module: "ESNext", target: "ES2022" } };
  const { outputText } = ts.transpileModule(readFileSync(`${folder}/${name}.ts`, "utf8"), options);
  return import(`data:text/javascript,${encodeURIComponent(outputText)}`);
};
const [{ overEvals, wilson }, { rankRanges }] = [await load("arithmetic"), await load("ranks")];
const { models, fields } = JSON.parse(readFileSync(0, "utf8"));
const sum = (tallies, key) => tallies.reduce((total, tally) => total + tally[key], 0);
const ends = ({ low, high }) => [low, high];
console.log(JSON.stringify({
  rates: models.map((own) => [ends(overEvals(own)), ends(wilson(sum(own, "passed"), sum(own, "scored")))]),
  ranks: fields.map(rankRanges),
}));
"""
EVALS = (1, 2, 5, 6, 12, 21, 22, 40, 111)


def drawn(chance: Random, evals: int, trials: int, strength: float) -> dict[str, Tally]:
    """Evals are easy or hard for all models; one in twenty trials is unscored."""
    found = {}
    for n in range(evals):
        scored = sum(chance.random() < 0.95 for _ in range(trials)) if trials > 1 else 1
        ease = Random(n).choice((0.1, 0.5, 0.9, 1.0))
        found[f"000-a/{n:03}"] = Tally(sum(chance.random() < ease * strength for _ in range(scored)), scored)
    return found


def test_intervals_and_ranks_are_those_of_the_command(tmp_path: Path, toolchain: Path) -> None:
    chance = Random(0)
    single = [drawn(chance, evals, trials, 0.9) for evals in EVALS for trials in (1, 2, 3, 10, 25)]
    single += [{"a": Tally(3, 3), "b": Tally(3, 3)}, {"a": Tally(0, 4)}, {"a": Tally(2, 4), "b": Tally(2, 4)}]
    fields = [
        [drawn(chance, evals, trials, strength) for strength in (1.0, 0.95, 0.8, 0.5, 0.1)]
        for evals in EVALS
        for trials in (1, 3, 10)
    ]
    fields += [[], [drawn(chance, 8, 1, 1.0)]]
    found = computed(tmp_path, toolchain, single, fields)
    for tallies, (kind, these) in zip(single, found["rates"], strict=True):
        rate = Rate.of(tallies.values())
        assert kind == pytest.approx(rate.interval, abs=1e-6) and these == pytest.approx(rate.interval_these_evals)
    ranges = [[tuple(one) for one in field] for field in found["ranks"]]
    assert ranges == [rank_ranges(field) for field in fields]
    assert any(one == (1, 1) for field in ranges for one in field if len(field) > 1), "some are told apart"


def computed(tmp_path: Path, toolchain: Path, models: list[Any], fields: list[Any]) -> dict[str, Any]:
    def sent(tallies: dict[str, Tally]) -> list[dict[str, Any]]:
        return [{"evalPath": name, "passed": own.passed, "scored": own.scored} for name, own in tallies.items()]

    located = locate_toolchain(toolchain)
    script = tmp_path / "rates.mjs"
    script.write_text(SCRIPT)
    typescript = located.node_modules / "typescript" / "lib" / "typescript.js"
    given = json.dumps({"models": list(map(sent, models)), "fields": [list(map(sent, field)) for field in fields]})
    argv = [str(located.node.executable), str(script), str(typescript), str(LEADERBOARD / "convex")]
    done = subprocess.run(argv, input=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
