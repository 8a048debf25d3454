"""What `cli validate-guidelines` found: the diff, what was asked again, and a verdict on the change as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from convex_evals.analysis.compare.silent import Silence, silences, silent_line
from convex_evals.guidelines.confirmation import Answered
from convex_evals.guidelines.confirmed_tables import (
    HEADER,
    LINES_HEADER,
    MOST,
    heading,
    lines,
    markdown_table,
    marked_row,
    row,
    verdict_line,
)
from convex_evals.guidelines.diff_markdown import LIMIT, change, changes_markdown
from convex_evals.guidelines.diff_report import DiffReport
from convex_evals.guidelines.diff_terminal import changes_text
from convex_evals.guidelines.hunks import Hunk
from convex_evals.records.validation import ValidationRecord
from convex_evals.render.markdown import code, folded, inline
from convex_evals.render.model import Column, Section, Table, apart, text_columns
from convex_evals.render.verdicts import headline
from convex_evals.stats import Confirmation
from convex_evals.text import counted


@dataclass(frozen=True)
class ValidationReport:
    diff: DiffReport  # its effect is the screening's
    trials: int  # per eval and side, of the screening
    again: int  # rounds of one trial
    answers: Sequence[Answered]  # one a model, judged together
    hunks: Sequence[Hunk] | None  # None: not asked for
    hunk_answers: Sequence[Answered] = ()  # judged together
    written: Mapping[Path, ValidationRecord] = field(default_factory=dict)  # the files of the answers, by their folders

    @property
    def regressed(self) -> bool:
        """Whether a model, or one of its evals, is confirmed to have regressed."""
        return any(a.confirmation.made_worse for a in self.answers)

    def to_section(self) -> Section:
        if not self.answers:
            return apart(changes_text(self.diff))
        return apart(changes_text(self.diff), *self._answers(), *self._hunks(), "\n".join(self.verdicts()))

    @cached_property
    def silent(self) -> dict[str, Silence]:
        """Models of which a side has no scored trial."""
        return silences({a.screened.model: a.screened.comparison for a in self.answers})

    @property
    def told(self) -> list[Answered]:
        """The answers about all others."""
        return [a for a in self.answers if a.screened.model not in self.silent]

    def verdicts(self, most: int | None = None) -> list[str]:
        """The answer, a line for each model, of `most` models; one for all of which nothing was scored."""
        silent = silent_line(self.silent, "before", "after")
        told = [f"{a.screened.model}: {verdict_line(a.confirmation)}" for a in self.told]
        return [*told[:most], *([silent] if silent else [])]

    @property
    def recipe(self) -> str:
        """What was done, in one line."""
        return (
            f"Screened with {counted(self.trials, 'trial')} per eval and side; evals that flipped by half and more "
            f"were asked again in {counted(self.again, 'round')}, a trial per side in each, and only these new trials "
            "count."
        )

    @property
    def _of_one_day(self) -> bool:
        days = [a.days for a in (*self.answers, *self.hunk_answers)]
        return any(days) and all(len(own) <= 1 for own in days)

    @property
    def notes(self) -> list[str]:
        """How to read the tables."""
        found = ["Points are of all screened evals, p of all new trials together; what did not flip is unchanged."]
        if len(self.told) > 1:
            found += [f"p and verdicts are corrected for all {len(self.told)} models and their evals."]
        if self._of_one_day:
            found += ["All rounds are of one day: what a day does to one side alone is not told from the guidelines."]
        for a in self.told:
            lost = len(a.screened.comparison.left_out)
            found += [f"{a.screened.model}: {lost} evals could not be compared."] if lost else []
            new = len(a.confirmation.flipped) - len(a.confirmation.evals)
            found += [f"{a.screened.model}: {new} evals that flipped have no new verdict on both sides."] if new else []
        return found

    def _answers(self) -> Iterator[str | Section | Table]:
        yield self.recipe
        if self.told:
            yield Section.of(Table.of(text_columns(HEADER, left=(0, 1)), [_row(a) for a in self.told]), *self.notes)
        for a in self.told:
            if a.confirmation.evals:
                asked = Column("eval", f"{a.screened.model}: asked again")
                columns = [Column("model", None), asked, *text_columns(LINES_HEADER, left=(3,))]
                yield Table.of(columns, [[a.screened.model, *line] for line in _lines(a)])

    def _hunks(self) -> Iterator[str | Section]:
        if self.hunks is None:
            return
        rules = [f"  {hunk.name}: {_headline(hunk)}" for hunk in self.hunks]
        yield "\n".join(["Hunks, each alone on top of the old text:", *rules])
        if not self.hunk_answers:
            yield "The one hunk is the whole change: its verdict is that of the change."
            return
        rows = [[f"hunk {a.screened.question.hunk}", *_row(a), _names(a.confirmation)] for a in self._told_of_hunks]
        columns = text_columns(["hunk", *HEADER, "confirmed evals"], left=(0, 1, 2, 9))
        yield Section.of(Table.of(columns, rows), self._together)

    @property
    def _told_of_hunks(self) -> list[Answered]:
        return [a for a in self.hunk_answers if a.screened.model not in self.silent]

    @property
    def _together(self) -> str:
        return f"p and verdicts of hunks are corrected for all {len(self._told_of_hunks)} of them and their evals."

    def to_markdown(self) -> str:
        """At most 60,000 bytes, the verdict first."""
        if not self.answers:
            return f"### Guidelines: no change for models\n\n{self._title()}\n\n{changes_markdown(self.diff, LIMIT)}\n"
        verdicts = heading([a.confirmation.verdict for a in self.told], len(self.silent))
        parts = [f"### Guidelines, validated: {verdicts}", self._title(), inline(self.recipe)]
        parts += ["\n".join(f"- **{inline(line)}**" for line in self.verdicts(MOST))]
        if self.told:
            parts.append(markdown_table(HEADER, [_marked(a) for a in self.told], range(2, 8)))
            parts.append("\n".join(f"- {inline(note)}" for note in self.notes[:MOST]))
        parts += self._markdown_hunks()
        for a in self.told:
            if a.confirmation.evals:
                body = markdown_table(["asked again", *LINES_HEADER], _lines(a), range(1, 4))
                found = a.confirmation
                counts = f"asked again: {len(found.evals)}, confirmed: {len(found.improved) + len(found.regressed)}"
                parts.append(folded(counts, body, title=a.screened.model))
        while len("\n\n".join(parts).encode()) > LIMIT * 2 // 3:
            parts.pop()
        text = "\n\n".join(parts)
        return f"{text}\n\n{changes_markdown(self.diff, LIMIT - len(text.encode()) - 3)}\n"

    def _title(self) -> str:
        return f"{code(self.diff.after.path)}, {change(self.diff)} · experiment {code(self.diff.experiment)}"

    def _markdown_hunks(self) -> Iterator[str]:
        if self.hunks is None:
            return
        yield "#### Hunks, each alone on top of the old text"
        yield "\n".join(f"- **{hunk.name}**: {inline(_headline(hunk))}" for hunk in self.hunks[:MOST])
        if not self.hunk_answers:
            yield "The one hunk is the whole change: its verdict is that of the change."
            return
        rows = [[f"hunk {a.screened.question.hunk}", *_marked(a), _names(a.confirmation)] for a in self._told_of_hunks]
        yield markdown_table(["hunk", *HEADER, "confirmed evals"], rows, range(3, 9))
        yield self._together

    def to_data(self) -> dict[str, Any]:
        """For machines, in full precision. Rates and differences are shares of 1."""
        diff = self.diff.to_data()
        names = ("experiment", "before", "after", "same_for_models", "prompt_changed", "sections", "rules")
        return {
            **{name: diff[name] for name in names},
            "recipe": {"screen_trials": self.trials, "rounds": self.again},
            "models": [_data(a) for a in self.answers],
            "hunks": None
            if self.hunks is None
            else [
                {
                    "hunk": hunk.number,
                    "rules": _headline(hunk),
                    "models": [_data(a) for a in self.hunk_answers if a.screened.question.hunk == hunk.number],
                }
                for hunk in self.hunks
            ],
            "regressed": self.regressed,
        }


def _names(found: Confirmation) -> str:
    """Of the evals that are confirmed to have changed, with the direction."""
    signs = [(f"+{e.pair.eval}" if e in found.improved else f"-{e.pair.eval}") for e in found.evals if e.confirmed]
    return ", ".join(signs) or "none"


def _headline(hunk: Hunk) -> str:
    """The rules that it touches."""
    words = [f"{c.kind} line {c.rule.line}: {headline(c.rule.headline)}" for c in hunk.diff.changes]
    return "; ".join(words) or "titles, rulers or blank lines"


def _row(answer: Answered) -> list[str]:
    return row(answer.screened.model, answer.confirmation)


def _marked(answer: Answered) -> list[str]:
    return marked_row(answer.screened.model, answer.confirmation)


def _lines(answer: Answered) -> list[list[str]]:
    return lines(answer.confirmation, answer.screened.by_eval)


def _data(answer: Answered) -> dict[str, Any]:
    found, screened = answer.confirmation, answer.screened
    runs = {"screening": [run.plan.run_id for run in screened.runs]}
    runs["confirmation"] = [run.plan.run_id for sides in answer.rounds for run in sides]
    return {
        "model": screened.model,
        "verdict": found.verdict.value,
        "words": found.verdict.words,
        "difference": found.difference,
        "interval": found.interval,
        "p": found.p,
        "whole": found.whole
        and {
            "p": found.whole.p,
            "corrected": found.whole.corrected,
            "confirmed": found.whole.verdict.value if found.whole.verdict else None,
        },
        "detectable": found.detectable,
        "screened": found.screened,
        "flipped": list(found.flipped),
        "evals": [
            {
                "eval": e.pair.eval,
                **e.pair.trials,
                "screening": screened.by_eval[e.pair.eval].trials,
                "p": e.p,
                "corrected": e.corrected,
                "confirmed": e.verdict.value if e.verdict else None,
            }
            for e in found.evals
        ],
        "left_out": [asdict(x) for x in screened.comparison.left_out],
        "runs": runs,
    }
