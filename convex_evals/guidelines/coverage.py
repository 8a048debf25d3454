"""Which rules of the guidelines no eval exercises, which evals no rule names, and which no rule helps."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from convex_evals.analysis.compare import Side, compare
from convex_evals.config import Experiment, Workspace, bare_experiment
from convex_evals.errors import UserError
from convex_evals.guidelines.document import Guidelines, Rule, read_guidelines
from convex_evals.render.model import Column, Row, Section, Table, apart
from convex_evals.stats import EvalPair, total
from convex_evals.store.runs import RunStore
from convex_evals.suite.prompt import guidelines_sha256
from convex_evals.suite.suite import load_suite
from convex_evals.text import counted

_NOT_HELPED = (
    Column("eval", "eval", is_id=True),
    Column(None, "without", right=True),
    Column("without_passed", None),
    Column("without_scored", None),
    Column(None, "with", right=True),
    Column("with_passed", None),
    Column("with_scored", None),
)


@dataclass(frozen=True)
class Benefit:
    """What evals do without guidelines (A) and with them (B), over the models that ran both ways."""

    experiment: str
    bare: str  # the experiment that gives none, and is the same besides
    models: tuple[str, ...]
    evals: Mapping[str, EvalPair]

    @property
    def passed_anyway(self) -> list[EvalPair]:
        """Evals that always pass without guidelines."""
        return [p for p in self.evals.values() if p.a_passed == p.a_scored]

    @property
    def not_helped(self) -> list[EvalPair]:
        """Other evals that pass no more often with guidelines; the least passed first."""
        found = [p for p in self.evals.values() if p.a_passed < p.a_scored and p.difference <= 0]
        return sorted(found, key=lambda p: (p.b_passed / p.b_scored, p.eval))


def read_coverage(workspace: Workspace, experiment: str, *, with_benefit: bool = True) -> Coverage:
    """Of the guidelines that `experiment` gives; what they do to pass rates, for which runs are read, on request.

    Raises `UserError` where it gives none.
    """
    # Brings along all that a run takes.
    from convex_evals.runs.named_text import guidelines_text

    path = workspace.config.experiment(experiment).guidelines
    if path is None:
        raise UserError(f"-e {experiment}: gives no guidelines; name another experiment")
    found = read_guidelines(guidelines_text(path, workspace.suite))
    evals = [e.id for e in load_suite(workspace.suite).evals]
    store, digest = RunStore(workspace.runs_dir), guidelines_sha256(found.text)
    experiments = workspace.config.experiments
    benefit = find_benefit(store, experiments, experiment, digest) if with_benefit else None
    return Coverage(path, found, evals, benefit)


@dataclass(frozen=True)
class Coverage:
    path: str
    guidelines: Guidelines
    suite_evals: Sequence[str]
    benefit: Benefit | None  # None: no model ran both with these guidelines and without any

    @property
    def without_evals(self) -> list[Rule]:
        return [rule for rule in self.guidelines.rules if not rule.evals]

    @property
    def without_rules(self) -> list[str]:
        named = {e for rule in self.guidelines.rules for e in rule.evals}
        return [e for e in self.suite_evals if e not in named]

    @property
    def errors(self) -> list[str]:
        """Lines: comments that name what is no eval, or stand where there is no rule."""
        found = []
        for rule in self.guidelines.rules:
            for name in rule.evals:
                if name not in self.suite_evals:
                    near = difflib.get_close_matches(name, self.suite_evals, n=1)
                    hint = f"did you mean '{near[0]}'?" if near else "`cli list evals` shows them"
                    found.append(f"{self.path}:{rule.line}: the rule names '{name}', which is no eval here; {hint}")
        for comment in self.guidelines.misplaced:
            found.append(f"{self.path}:{comment.line}: names evals where no rule is above; put it after the rule")
        return found

    def to_data(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "rules": len(self.guidelines.rules),
            "evals": len(self.suite_evals),
            "rules_without_evals": [
                {"line": r.line, "section": self.guidelines.section_of(r).name, "text": r.text}
                for r in self.without_evals
            ],
            "evals_without_rules": self.without_rules,
            "benefit": self.benefit
            and {
                "experiment": self.benefit.experiment,
                "against": self.benefit.bare,
                "models": list(self.benefit.models),
                "passed_anyway": [{"eval": p.eval, **p.trials} for p in self.benefit.passed_anyway],
                "not_helped": [{"eval": p.eval, **p.trials} for p in self.benefit.not_helped],
            },
            "errors": self.errors,
        }

    def to_section(self) -> Section:
        parts: list[str | Section] = [
            f"{self.path}: {counted(len(self.guidelines.rules), 'rule')}, {counted(len(self.suite_evals), 'eval')}"
        ]
        rules = [f"  line {r.line}: {self.guidelines.section_of(r).name}: {r.headline}" for r in self.without_evals]
        parts.append(_listed("Rules that no eval exercises", rules))
        parts.append(_listed("Evals that no rule names", [f"  {e}" for e in self.without_rules]))
        parts.append(self._benefit())
        return apart(*parts)

    def _benefit(self) -> Section:
        if self.benefit is None:
            unknown = "Evals that no rule helps: not known; no model has runs with these guidelines and without any."
            return Section.of(unknown, Table.of(_NOT_HELPED, []).if_any())
        found = self.benefit
        rows: list[Row] = [
            [
                p.eval,
                *(f"{p.a_passed}/{p.a_scored}", p.a_passed, p.a_scored),
                *(f"{p.b_passed}/{p.b_scored}", p.b_passed, p.b_scored),
            ]
            for p in found.not_helped
        ]
        title = "Evals that no rule helps: no more passes with guidelines than without"
        return Section.of(
            f"{title}:" if rows else _listed(title, []),
            Table.of(_NOT_HELPED, rows).if_any(),
            f"Besides, {len(found.passed_anyway)} evals always pass without guidelines.",
            f"Passed trials of {', '.join(found.models)}: {found.experiment} against {found.bare}.",
        )


def _listed(title: str, lines: Sequence[str]) -> str:
    return "\n".join([f"{title}:", *lines]) if lines else f"{title}: none."


def find_benefit(
    store: RunStore, experiments: Mapping[str, Experiment], experiment: str, sha256: str
) -> Benefit | None:
    """Compare runs with the guidelines of this hash with runs of the same models that had all but guidelines."""
    bare_name = bare_experiment(experiments, experiment)
    if bare_name is None:
        return None
    found: dict[str, EvalPair] = {}
    models = []
    with_them = [run for run in store.given([sha256]) if run.plan.experiment == experiment]
    without = store.under(bare_name) if with_them else []
    for model in sorted({run.plan.model for run in with_them}):
        own = tuple(run for run in with_them if run.plan.model == model)
        bare = tuple(run for run in without if run.plan.model == model)
        if not bare:
            continue
        models.append(model)
        for pair in compare(Side(bare_name, bare), Side(experiment, own)).pairs:
            before = found.get(pair.eval, EvalPair(pair.eval, 0, 0, 0, 0))
            found[pair.eval] = total(pair.eval, [before, pair])
    return Benefit(experiment, bare_name, tuple(models), dict(sorted(found.items()))) if models else None
