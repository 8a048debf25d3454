"""`--fail-on-regression`: the table of docs/comparing.md, row by row, and what stands above what."""

from __future__ import annotations

import itertools
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from convex_evals.records.hashes import sha256_text
from convex_evals.records.validation import ValidationRecord
from convex_evals.stats import Conclusion, EvalPair
from convex_evals.store.paths import slug_folders
from convex_evals.store.validations import ValidationFolder
from convex_evals.suite.prompt import guidelines_sha256
from tests.conftest import ROOT, Invoke
from tests.factories import make_eval, make_git_repo, make_run, make_validation, write_files

Row = tuple[int, int]  # passed before and after, of ten new trials each
FILE = "guidelines/convex.md"
EVALS = [f"000-first/{n:03}-eval" for n in range(40)]
ONE = f"# Rules\n\n- Be brief.\n<!-- evals: {EVALS[0]}, {EVALS[3]} -->\n- Count from one.\n"
TWO = ONE.replace("brief", "short")
BETTER, WORSE, LITTLE_BETTER, LITTLE_WORSE = (0, 10), (10, 0), (2, 6), (6, 2)
# By what is confirmed of the whole and of single evals, as the table has it.
CASES: dict[tuple[str, str], list[Row]] = {
    ("better", "none"): [LITTLE_BETTER] * 8,
    ("better", "better"): [BETTER],
    ("none", "better"): [BETTER, *[(7, 4)] * 4],
    ("worse", "none"): [LITTLE_WORSE] * 8,
    ("worse", "worse"): [WORSE],
    ("none", "worse"): [WORSE, *[(4, 7)] * 4],
    ("better", "worse"): [WORSE, *[LITTLE_BETTER] * 9],
    ("worse", "better"): [BETTER, *[LITTLE_WORSE] * 9],
    ("none", "better and worse"): [BETTER, WORSE],
    ("better", "better and worse"): [BETTER] * 3 + [WORSE],
    ("worse", "better and worse"): [WORSE] * 3 + [BETTER],
    ("none", "none"): [(5, 6)],
}


def documented() -> dict[tuple[str, str], tuple[str, int]]:
    """Verdict and exit code by what is confirmed, from the documents."""
    text = (ROOT / "docs" / "comparing.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([a-z ]+) \| ([a-z ]+) \| ([a-z, ]+) \| (\d) \|$", text, re.MULTILINE)
    return {(whole, evals): (verdict, int(status)) for whole, evals, verdict, status in rows}


def validation(rows: list[Row], *, screened: int = len(EVALS), **changes: Any) -> ValidationRecord:
    screen = [EvalPair(e, 3 * (n >= len(rows)), 3, 3, 3) for n, e in enumerate(EVALS[:screened])]
    again = [EvalPair(e, a, 10, b, 10) for e, (a, b) in zip(EVALS, rows, strict=False)]
    return make_validation(screen, again, **changes)


def said(found: ValidationRecord) -> tuple[str, str]:
    """What is confirmed of the whole, and of single evals."""
    words = {Conclusion.IMPROVED: "better", Conclusion.REGRESSED: "worse"}
    ways = sorted({words[e.confirmed] for e in found.evals.values() if e.confirmed})
    whole = found.whole and found.whole.confirmed
    return words[whole] if whole else "none", " and ".join(ways) or "none"


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    """Guidelines ONE committed, TWO in the working tree, of a suite of 40 evals."""
    files = {
        FILE: ONE,
        ".gitignore": "runs\n",
        "models.yaml": "models: [{slug: acme/model-1, litellm: openai/x, key_env: ACME_API_KEY}]\n",
    }
    for eval_id in EVALS:
        make_eval(tmp_path, eval_id)
    make_git_repo(write_files(tmp_path, files))
    return write_files(tmp_path, {FILE: TWO})


def write(suite: Path, rows: list[Row], **changes: Any) -> Path:
    side = {"guidelines": FILE, "prompt_sha256": None}
    sides = {
        name: {**side, "guidelines_sha256": guidelines_sha256(text)} for name, text in (("before", ONE), ("after", TWO))
    }
    found = validation(rows, **{**sides, **changes})
    folder = (suite / "runs").joinpath(*slug_folders(found.model), "2026-01-31", "validation-0123456789ab")
    ValidationFolder(folder, suite / "runs").write(found)
    return folder / "validation.json"


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_the_table_of_gates(case: tuple[str, str], changed: Path, invoke: Invoke) -> None:
    assert documented().keys() == CASES.keys()
    verdict, status = documented()[case]
    path = write(changed, CASES[case])
    found = ValidationRecord.from_data(json.loads(path.read_text()))
    assert said(found) == case and found.verdict.words in verdict.split(", ")
    result = invoke("diff-guidelines", "HEAD", "--fail-on-regression", cwd=changed)
    assert result.status == status == 4 * ("worse" in " ".join(case))
    assert f"acme/model-1: {found.verdict.words}: " in result.out
    assert ("it rests on " in result.out) == (status == 4 or "better" in " ".join(case))
    assert invoke("diff-guidelines", "HEAD", cwd=changed).status == 0
    assert json.loads(invoke("diff-guidelines", "HEAD", "--json", cwd=changed).out)["regressed"] == bool(status)


def test_the_confirmed_verdict_stands_above_the_weaker_one(changed: Path, invoke: Invoke) -> None:
    rows = dict(zip(EVALS, itertools.repeat("p"), strict=False)), dict(zip(EVALS, itertools.repeat("f"), strict=False))
    for text, row in zip((ONE, TWO), rows, strict=True):
        digest = guidelines_sha256(text)
        make_run(changed / "runs", row, run_id=f"default-{digest[:8]}", guidelines=FILE, guidelines_sha256=digest)
    gate = ("diff-guidelines", "HEAD", "--fail-on-regression")
    assert invoke(*gate, cwd=changed).status == 4
    path = write(changed, [BETTER])
    out = invoke(*gate, cwd=changed).out
    order = [out.index(part) for part in ("Confirmed by new", "says less than what is confirmed", "regressed  ")]
    assert order == sorted(order)
    assert invoke(*gate, cwd=changed).status == 0, "the same evals, and more is known of them"
    markdown = invoke(*gate, "--format", "markdown", cwd=changed).out
    assert markdown.startswith("### Guidelines: validated: 🟢 improved\n")
    assert markdown.index("#### Confirmed by new trials") < markdown.index("🔴 regressed")
    # A validation of a part of what is compared decides on that part alone.
    found = json.loads(path.read_text())
    found["unchanged"] = found["unchanged"][:5]
    path.write_text(json.dumps(found))
    result = invoke(*gate, "--format", "markdown", cwd=changed)
    title = "### Guidelines: validated: 🟢 improved; compared: 1 regressed\n"
    assert result.status == 4 and result.out.startswith(title)


def test_what_the_changed_rules_name_is_proposed(changed: Path, invoke: Invoke) -> None:
    out = invoke("diff-guidelines", "HEAD", cwd=changed).out
    pattern = f"'^({EVALS[0]}|{EVALS[3]})$'"
    assert (
        "The changed rules name 2 evals; to validate the change on them alone:\n"
        f"  cli validate-guidelines HEAD -m MODEL -f {pattern}\n"
        "  12 calls for one model, and 20 for each eval that flips\n"
    ) in out
    words = ("diff-guidelines", "HEAD...", "-m", "acme/model-1", "--format", "markdown")
    assert f"cli validate-guidelines HEAD... -m acme/model-1 -f {pattern}" in invoke(*words, cwd=changed).out
    write(changed, [BETTER])
    out = invoke("diff-guidelines", "HEAD", cwd=changed).out
    assert "validate-guidelines HEAD" in invoke("diff-guidelines", "HEAD", "--runs-dir", "other", cwd=changed).out
    assert "validate-guidelines HEAD -m" not in invoke("diff-guidelines", "HEAD", "-m", "acme/model-1", cwd=changed).out
    assert f"{EVALS[0]}  acme/model-1 0/10 -> 10/10 in new trials, improved" in out
    assert f"{EVALS[3]}  acme/model-1 did not flip" in out


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"verdict": "regressed"}, "its verdict is not what its lines say; restore it from Git"),
        ({"verdict": "underpowered"}, "its verdict is not what its lines say; restore it from Git"),
        ({"model": "acme/model-2"}, "which is another folder"),
        ({"schema": 2}, "schema 2 is newer than 1; upgrade convex-evals"),
        ({"verdict": "fine"}, "verdict: "),
    ],
)
def test_a_damaged_verdict_is_one_line(change: dict[str, Any], says: str, changed: Path, invoke: Invoke) -> None:
    path = write(changed, [BETTER])
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    result = invoke("diff-guidelines", "HEAD", cwd=changed)
    assert result.status == 1 and says in result.err and result.err.count("\n") == 1


@pytest.mark.parametrize("form", ["terminal", "markdown"])
def test_validated_models_without_a_scored_trial_are_on_one_line(form: str, changed: Path, invoke: Invoke) -> None:
    write(changed, [BETTER])
    for model in ("acme/b", "acme/c"):
        lost = dict.fromkeys(EVALS, "no scored trial in A and B (3 x auth)")
        write(changed, [], model=model, left_out=lost, screened=0)
    out = invoke("diff-guidelines", "HEAD", "--format", form, cwd=changed).out
    assert out.count("No scored trial of: acme/b, acme/c (auth)") == 1 and "too few" not in out
    if form == "markdown":
        assert out.startswith("### Guidelines: validated: 🟢 improved (1), ⚪ no scored trial (2)\n")
    shutil.rmtree(changed / "runs" / "acme" / "model-1")
    out = invoke("diff-guidelines", "HEAD", "--format", form, cwd=changed).out
    assert "No scored trial of: acme/b, acme/c (auth)" in out and "verdict " not in out


def test_another_prompt_is_another_change(changed: Path, invoke: Invoke) -> None:
    path = write(changed, [BETTER])
    assert "Confirmed by new trials" in invoke("diff-guidelines", "HEAD", cwd=changed).out
    found = json.loads(path.read_text())
    found["after"]["prompt_sha256"] = sha256_text("another")
    path.write_text(json.dumps(found))
    assert "Confirmed by new trials" not in invoke("diff-guidelines", "HEAD", cwd=changed).out


def test_nothing_is_read_through_a_link(
    changed: Path, tmp_path_factory: pytest.TempPathFactory, invoke: Invoke
) -> None:
    path = write(changed, [BETTER])
    outside = tmp_path_factory.mktemp("outside") / "validation.json"
    path.rename(outside)
    path.symlink_to(outside)
    assert "Confirmed by new trials" not in invoke("diff-guidelines", "HEAD", cwd=changed).out
    path.unlink()
    path.parent.rmdir()
    path.parent.symlink_to(outside.parent)
    assert "Confirmed by new trials" not in invoke("diff-guidelines", "HEAD", cwd=changed).out
