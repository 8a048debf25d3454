"""A change of guidelines for a terminal: verdicts first, then the rules and what their evals did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from convex_evals.analysis.compare.tables import TONES, category_table, directions, flip_table, why_unsure
from convex_evals.analysis.compare.words import p_value, points, rate, span
from convex_evals.guidelines.confirmed_tables import WEAKER, confirmed_section, trials
from convex_evals.guidelines.diff import ChangeKind, RuleChange, SectionChange
from convex_evals.guidelines.diff_report import DiffReport
from convex_evals.guidelines.diff_words import Span, excerpts
from convex_evals.guidelines.effect import EvalEffect, ModelEffect
from convex_evals.render.model import Cell, Column, Row, Section, Table, apart
from convex_evals.render.verdicts import headline
from convex_evals.stats import Surety

_SIGNS = {ChangeKind.ADDED: "+", ChangeKind.REMOVED: "-", ChangeKind.CHANGED: "~", ChangeKind.MOVED: ">"}
_CONTEXT = 50  # characters of what stayed, on either side of changed words
_LONGEST = 1_000  # characters of words that came, or went, together
_MOST_FLIPS = 10
# Rates and differences are shares of 1.
_MODELS = (
    Column("verdict", "verdict"),
    Column("model", "model", is_id=True),
    Column("before", "before", right=True),
    Column("after", "after", right=True),
    Column("difference", "points", right=True),
    Column(None, "95 % interval", right=True),
    Column("interval_low", None),
    Column("interval_high", None),
    Column("p", "p", right=True, spare=1),
    Column("evals", "evals", right=True, spare=1),
    Column("detectable", "detects", right=True, spare=2),
)


def to_section(report: DiffReport) -> Section:
    """All of it, the news first."""
    details = [part for m in report.effect.models if (part := _details(m))]
    return apart(_title(report), *_effect(report), "\n".join(_rules(report)), *details)


def changes_text(report: DiffReport) -> str:
    """The guidelines and their rules, with what the rules' evals did, and no verdict."""
    return f"{_title(report)}\n\n" + "\n".join(_rules(report))


def _title(report: DiffReport) -> str:
    before, after = report.tokens
    path = report.after.path
    if report.before.path != path:
        path = f"{report.before.path} -> {path}"
    lines = [
        f"{path}  {report.experiment}",
        f"{report.before.label} -> {report.after.label}",
        f"{report.counter.label}: {before:,} -> {after:,} ({after - before:+,})",
        *report.notes,
    ]
    return "\n".join(lines)


def _effect(report: DiffReport) -> Iterator[str | Table | Section]:
    if report.confirmed:
        yield confirmed_section([(c.model, c.confirmation) for c in report.validated], report.unvalidated_line)
    if report.models:
        if report.confirmed:
            yield WEAKER
        yield Table.of(_MODELS, [_row(m) for m in report.models])
        judged = f"p and verdicts are corrected for {len(report.models)} models; " if report.several else ""
        yield "\n".join(
            [
                f"{judged}detects: the points that would have been found four times out of five",
                *report.advice,
                *_model_notes(report),
            ]
        )
    if report.silent_line:
        yield report.silent_line
    for gap in report.gaps:
        who = ", ".join(gap.models)
        yield f"{' '.join(filter(None, gap.what))}: {who}\n  {gap.command}\n  {gap.price}"
    if report.hint:
        yield report.hint
    if report.proposal:
        yield f"{report.proposal.title}\n  {report.proposal.command}\n  {report.proposal.price}"


def _model_notes(report: DiffReport) -> Iterator[str]:
    if report.model_notes:
        yield "A is before, B is after"
        yield from report.model_notes


def _row(found: ModelEffect) -> Row:
    paired = found.paired
    low, high = paired.interval or (None, None)
    difference = paired.difference if paired.evals else None
    return [
        Cell(paired.verdict.words, paired.verdict.value, TONES.get(paired.verdict)),
        found.model,
        Cell(rate(paired.a_rate), paired.a_rate),
        Cell(rate(paired.b_rate), paired.b_rate),
        Cell(points(difference), difference),
        *(span(paired.interval), low, high),
        Cell(p_value(paired.p), paired.p),
        paired.evals,
        Cell(points(paired.detectable).lstrip("+"), paired.detectable),
    ]


def _rules(report: DiffReport) -> Iterator[str]:
    yield report.summary
    yield from (f"  {_section(s)}" for s in report.diff.sections)
    section = None
    for change in report.diff.changes:
        if report.diff.section(change) != section:
            section = report.diff.section(change)
            yield ""
            yield section
        yield from _change(report, change)


def _section(change: SectionChange) -> str:
    match change.kind:
        case ChangeKind.ADDED:
            return f"new section: {change.after}"
        case ChangeKind.REMOVED:
            return f"section removed: {change.before}"
        case ChangeKind.MOVED:
            return f"section moved: {change.after}"
        case _:
            return f"section renamed: {change.before} -> {change.after}"


def _change(report: DiffReport, change: RuleChange) -> Iterator[str]:
    where = f"line {change.rule.line}"
    if change.kind is ChangeKind.CHANGED:
        first, *more = marked(change.words).splitlines()
        text = "\n".join([first, *(f"      {line.strip()}" for line in more if line.strip())])
        text += "" if change.reworded else "  (line ends or marks alone)"
    else:
        lines = len(change.rule.text.splitlines())
        text = headline(change.rule.headline) + (f" (+{lines - 1} lines)" if lines > 1 else "")
    yield f"  {_SIGNS[change.kind]} {where}: {report.moved_from(change)}{text}"
    effects = report.evals_of(change)
    width = max((len(e) for e, _, _ in effects), default=0)
    for eval_id, effect, why in effects:
        yield f"      {eval_id:{width}}  {_trials(report, effect) if effect else why}"


def _trials(report: DiffReport, effect: EvalEffect) -> str:
    """Of all models together, and of those that a verdict is about."""
    judged = [m.model for m in report.effect.models if m.paired.verdict.shown and m.model in effect.by_model]
    own = ", ".join(f"{model} {trials(effect.by_model[model])}" for model in judged)
    return f"{trials(effect.total)}{f'  ({own})' if own else ''}"


def marked(words: Sequence[Span]) -> str:
    """What went and came in marks, as `git diff --word-diff` has them; what stayed only near to it."""
    found = []
    for part in excerpts(words, _CONTEXT):
        if part.kind == "same":
            found.append(part.text)
        else:
            text = part.text if len(part.text) <= _LONGEST else f"{part.text[:_LONGEST]}…"
            found.append(f"[-{text}-]" if part.kind == "removed" else f"{{+{text}+}}")
    return "".join(found).strip()


def _details(found: ModelEffect) -> Section | None:
    """By category and eval, of a model whose verdict says that something changed, or where an eval surely did."""
    shown = found.paired.verdict.shown
    flips = [f for f in found.comparison.flips if shown or f.surety is Surety.SURE]
    if not (flips or shown):
        return None
    parts: list[str | Table] = [f"{found.model}: {found.paired.verdict.words}"]
    if shown and len(found.comparison.categories) > 1:
        parts.append(category_table(found.comparison.categories, found.model))
    for name, part in directions(flips).items():
        if part:
            parts.append(flip_table(f"{name}: {len(part)}", part[:_MOST_FLIPS], found.model))
            if len(part) > _MOST_FLIPS:
                parts.append(f"and {len(part) - _MOST_FLIPS} more, less sure; --format json has all")
    if why := why_unsure(flips):
        parts.append(why)
    return Section(tuple(parts))
