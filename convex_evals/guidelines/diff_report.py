"""What `cli diff-guidelines` found, and as data for machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from convex_evals.analysis.compare import paired_to_data, to_data
from convex_evals.analysis.compare.silent import Silence, silences, silent_line
from convex_evals.analysis.compare.tables import left_out_line, unscored_line
from convex_evals.guidelines.confirmed_tables import heading
from convex_evals.guidelines.diff import ChangeKind, GuidelineDiff, RuleChange, diff_guidelines
from convex_evals.guidelines.document import Rule
from convex_evals.guidelines.effect import ORDER, Effect, EvalEffect, ModelEffect
from convex_evals.guidelines.revisions import Version, differ
from convex_evals.models.tokens import TokenCounter, offline_counter
from convex_evals.stats import RELEVANT, Conclusion

if TYPE_CHECKING:
    # Needed only where something is to be run, or was, and bring much along.
    from convex_evals.guidelines.confirmed import Confirmed
    from convex_evals.guidelines.missing_runs import Gap
    from convex_evals.guidelines.proposal import Proposal


def changes(before: Version, after: Version) -> GuidelineDiff:
    """Return what changed, without single rules where one side has no guidelines at all: then all of them did."""
    found = diff_guidelines(before.text or "", after.text or "")
    return replace(found, changes=(), sections=()) if before.bare or after.bare else found


@dataclass(frozen=True)
class DiffReport:
    experiment: str
    before: Version
    after: Version
    diff: GuidelineDiff
    counter: TokenCounter
    effect: Effect
    gaps: Sequence[Gap]
    suite_evals: Collection[str]
    confirmed: Sequence[Confirmed] = ()  # by `cli validate-guidelines`
    proposal: Proposal | None = None

    @classmethod
    def of(
        cls,
        experiment: str,
        before: Version,
        after: Version,
        effect: Effect,
        suite_evals: Collection[str],
        gaps: Sequence[Gap] = (),
    ) -> DiffReport:
        """With the difference of both texts."""
        diff = changes(before, after)
        return cls(experiment, before, after, diff, offline_counter(), effect, gaps, suite_evals)

    @cached_property
    def tokens(self) -> tuple[int, int]:
        """Of what models get, before and after."""
        before, after = self.counter.count(self.diff.before.given, self.diff.after.given)
        return before, after

    @property
    def against_none(self) -> bool:
        """Whether one side has no guidelines at all, so that no rule of the other is told apart."""
        return bool(self.before.bare or self.after.bare)

    @property
    def prompt_changed(self) -> bool:
        """Whether the prompt around the guidelines is another one, so that runs differ by more than these."""
        return self.before.prompt != self.after.prompt

    @cached_property
    def silent(self) -> dict[str, Silence]:
        """Models with runs on both sides, of which a side has no scored trial."""
        return silences({m.model: m.comparison for m in self.effect.models})

    @property
    def models(self) -> list[ModelEffect]:
        """All others."""
        return [m for m in self.effect.models if m.model not in self.silent]

    @property
    def silent_line(self) -> str | None:
        return silent_line(self.silent, "before", "after")

    @property
    def validated(self) -> list[Confirmed]:
        """Those of which something was scored on both sides."""
        return [c for c in self.confirmed if not c.silence]

    @property
    def unvalidated_line(self) -> str | None:
        """The others, in one line."""
        return silent_line({c.model: c.silence for c in self.confirmed if c.silence}, "before", "after")

    @property
    def summary(self) -> str:
        """How the rules changed, in one line."""
        if self.diff.same_for_models:
            what = "comments alone changed" if self.diff.comments_changed else "the texts are the same"
            what = "the guidelines are empty" if self.against_none else what
            return f"No change for models: {what}."
        if self.against_none:
            rules = len(self.diff.before.rules) + len(self.diff.after.rules)
            return f"Rules: all {rules} {'added' if self.before.bare else 'removed'}."
        names = [
            (ChangeKind.ADDED, "added"),
            (ChangeKind.REMOVED, "removed"),
            (ChangeKind.CHANGED, "changed"),
            (ChangeKind.MOVED, "moved"),
        ]
        counts = [f"{n} {word}" for kind, word in names if (n := self.diff.count(kind))]
        kept = len(self.diff.after.rules) - sum(c.after is not None and c.before != c.after for c in self.diff.changes)
        found = (
            f"{', '.join(counts)}; {kept} as they were" if counts else "none changed; blank lines, titles or rulers did"
        )
        return f"Rules: {found}."

    @property
    def verdicts(self) -> str:
        """How many models got which verdict, in one line: what is confirmed, then what is only compared."""
        if not (self.effect.models or self.confirmed):
            return "" if self.diff.same_for_models else "no model has runs with both versions"
        counts = Counter(m.paired.verdict for m in self.deciding)
        words = [f"{counts[v]} {v.words}" for v in ORDER if counts[v]]
        compared = ", ".join([*words, *([f"{len(self.silent)} without a scored trial"] if self.silent else [])])
        if not self.confirmed:
            return compared
        verdicts = [c.confirmation.verdict for c in self.validated]
        validated = f"validated: {heading(verdicts, len(self.confirmed) - len(verdicts))}"
        return f"{validated}; compared: {compared}" if compared else validated

    @property
    def deciding(self) -> list[ModelEffect]:
        """The models whose own runs decide: all but those that were validated on every eval that is compared here."""
        validated: dict[str, set[str]] = {}
        for one in self.confirmed:
            validated.setdefault(one.model, set()).update(one.evals)
        return [
            m
            for m in self.models
            if m.model not in validated or not validated[m.model].issuperset(p.eval for p in m.comparison.pairs)
        ]

    @property
    def regressed(self) -> bool:
        """Whether a model, or one of its evals, is confirmed to have regressed, or a model whose own runs decide."""
        return any(c.confirmation.made_worse for c in self.confirmed) or any(
            m.paired.verdict is Conclusion.REGRESSED for m in self.deciding
        )

    @property
    def several(self) -> bool:
        return len(self.models) > 1

    @property
    def notes(self) -> list[str]:
        """What a reader has to know before the verdicts, a line each."""
        found = [f"Not in {v.label}: the file is not there." for v in (self.before, self.after) if v.is_missing]
        if self.prompt_changed:
            found.append("The prompt around the guidelines is another one too: differences may come from that.")
        return found

    @property
    def model_notes(self) -> list[str]:
        """What else there is to know of the models' runs, a line for all models alike; A is before, B after."""
        found: dict[str, list[str]] = {}
        for model in self.models:
            of = model.comparison
            lost = unscored_line("A", of.a_unscored), unscored_line("B", of.b_unscored), left_out_line(of.left_out)
            for line in [*of.notes, *filter(None, lost)]:
                found.setdefault(line, []).append(model.model)
        return [f"{', '.join(models)}: {line}" for line, models in found.items()]

    @property
    def advice(self) -> list[str]:
        """What would tell more, where a verdict says that too little was seen; a line for all models alike."""
        unclear = [m for m in self.models if m.paired.verdict is Conclusion.UNDERPOWERED]
        trials = [f"{m.model} {m.paired.more_trials}" for m in unclear if m.paired.more_trials is not None]
        evals = [m.model for m in unclear if m.paired.more_trials is None]
        few = [
            f"{m.model} {m.paired.differing}"
            for m in self.models
            if m.paired.verdict is Conclusion.TOO_FEW and m.paired.evals
        ]
        none = [m.model for m in self.models if not m.paired.evals]
        wanted = f"{RELEVANT * 100:.0f} points"
        lines = [
            (f"To detect {wanted} it takes about so many more trials per eval", trials),
            (f"To detect {wanted} it takes more evals, not more trials", evals),
            ("Fewer than six evals differ, which can be chance whatever they say", few),
            ("No eval was scored on both sides under the same rules", none),
        ]
        return [f"{what}: {', '.join(models)}" for what, models in lines if models]

    @property
    def hint(self) -> str | None:
        """What to do where nothing was compared, and nothing can be proposed."""
        if not differ(self.before, self.after) or self.effect.models or self.confirmed or self.gaps:
            return None
        return "No runs with either version; name models with -m to see what running them takes."

    def moved_from(self, change: RuleChange) -> str:
        """In words, for a rule that stands elsewhere; empty for others."""
        if not change.moved or change.before is None:
            return ""
        section = self.diff.before.section_of(change.before).name
        return f"(from line {change.before.line}, {section}) "

    def evals_of(self, change: RuleChange) -> list[tuple[str, EvalEffect | None, str]]:
        """The evals that a rule names: what they did, or why that is not known."""
        found = []
        for eval_id in change.evals:
            effect = self.effect.evals.get(eval_id)
            why = self._validated(eval_id) or "not run on both sides"
            why = "no such eval" if eval_id not in self.suite_evals else why
            found.append((eval_id, effect, "" if effect else why))
        return found

    def _validated(self, eval_id: str) -> str:
        """What the validation of each model saw of an eval; empty where there was none."""
        return ", ".join(f"{c.model} {said}" for c in self.confirmed if (said := c.said_of(eval_id)))

    def to_data(self) -> dict[str, Any]:
        """For machines, in full precision. Rates and differences are shares of 1."""
        before, after = self.tokens
        return {
            "experiment": self.experiment,
            "before": {**_version(self.before), "tokens": before},
            "after": {**_version(self.after), "tokens": after},
            "token_counter": self.counter.label,
            "same_for_models": self.diff.same_for_models,
            "comments_changed": self.diff.comments_changed,
            "prompt_changed": self.prompt_changed,
            "sections": [asdict(s) for s in self.diff.sections],
            "rules": [self._change(c) for c in self.diff.changes],
            "models": [_model(m) for m in self.effect.models],
            "confirmed": [c.record.model_dump(mode="json", by_alias=True) for c in self.confirmed],
            "regressed": self.regressed,
            "missing": [gap.to_data() for gap in self.gaps],
            "proposal": self.proposal and self.proposal.to_data(),
        }

    def _change(self, change: RuleChange) -> dict[str, Any]:
        return {
            "kind": change.kind,
            "moved": change.moved,
            "section": self.diff.section(change),
            "before": _rule(change.before),
            "after": _rule(change.after),
            "words": [asdict(span) for span in change.words] if change.kind is ChangeKind.CHANGED else None,
            "evals": [
                {
                    "eval": eval_id,
                    "total": effect.total.trials if effect else None,
                    "models": {m: p.trials for m, p in effect.by_model.items()} if effect else {},
                    "unknown": why or None,
                }
                for eval_id, effect, why in self.evals_of(change)
            ],
        }


def _version(version: Version) -> dict[str, Any]:
    return {
        "revision": version.name,
        "commit": version.commit,
        "path": None if version.bare else version.path,
        "exists": version.text is not None,
        "guidelines_sha256": version.sha256,
    }


def _rule(rule: Rule | None) -> dict[str, Any] | None:
    return None if rule is None else {"line": rule.line, "text": rule.text, "evals": list(rule.evals)}


def _model(found: ModelEffect) -> dict[str, Any]:
    return {"model": found.model, **to_data(found.comparison), "paired": paired_to_data(found.paired)}
