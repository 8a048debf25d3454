"""A change of guidelines as Markdown that GitHub takes as a comment: verdicts first, long parts folded."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from convex_evals.analysis.compare.tables import category_table, directions, flip_table, why_unsure
from convex_evals.analysis.compare.to_markdown import MARKS
from convex_evals.analysis.compare.words import p_value, points, rate, span
from convex_evals.guidelines.confirmed_tables import WEAKER, confirmed_markdown
from convex_evals.guidelines.diff import ChangeKind, RuleChange, SectionChange
from convex_evals.guidelines.diff_links import PageLinks, linked
from convex_evals.guidelines.diff_report import DiffReport
from convex_evals.guidelines.diff_words import Span, excerpts
from convex_evals.guidelines.effect import ModelEffect
from convex_evals.render.markdown import cell, code, fenced, folded, inline, table_lines
from convex_evals.stats import EvalPair

LIMIT = 60_000  # GitHub takes 65,536
_RESERVE = 600  # for what says that something was left out
_MOST_MODELS = 60
_FOLD_FROM = 6  # rules; more are folded
_MOST_FLIPS = 30  # of a model, in each direction
_MODELS, _EVALS = 6, 12  # named of a rule's evals, and of these
_WORDS = 2_000  # characters of one rule's wording
_CONTEXT = 100  # of what stayed, on either side of changed words, in a rule that has more
_OTHER_MARK = "⚪"


@dataclass
class _Page:
    """Parts as long as there is room, and the number of those that were left out, by what they are."""

    parts: list[str] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)
    room: int = LIMIT - _RESERVE
    links: PageLinks | None = None

    def add(self, part: str) -> bool:
        # Bytes, which are never fewer than what GitHub counts.
        size = len(part.encode()) + 2
        if size > self.room:
            return False
        self.parts.append(part)
        self.room -= size
        return True

    def add_some(self, what: str, parts: Sequence[str], share: float = 1.0, joint: str = "\n\n") -> str:
        """As many of `parts` as fit into a share of the room, as one text that is not added yet."""
        room, kept = int(self.room * share), []
        for n, part in enumerate(parts):
            room -= len(part.encode()) + len(joint)
            if room < 0:
                self.left_out[what] = self.left_out.get(what, 0) + len(parts) - n
                break
            kept.append(part)
        return joint.join(kept)


def to_markdown(report: DiffReport, links: PageLinks | None = None) -> str:
    """At most `LIMIT` bytes; what did not fit is counted at the end. Evals and models link to their pages."""
    page = _Page(links=links)
    page.add(_title(report))
    if links:
        page.add(links.line())
    confirmed = [(c.model, c.confirmation) for c in report.validated]
    if report.confirmed and not page.add(confirmed_markdown(confirmed, report.unvalidated_line)):
        page.left_out["confirmed verdicts"] = len(report.confirmed)
    _add_verdicts(page, report)
    _add_gaps(page, report)
    _add_rules(page, report)
    for found in report.effect.models:
        text = _details(page, found)
        if text and not page.add(text):
            page.left_out["models' details"] = page.left_out.get("models' details", 0) + 1
    if page.left_out:
        page.parts.append(_left_out(page))
    return "\n\n".join(page.parts) + "\n"


def changes_markdown(report: DiffReport, room: int) -> str:
    """The rules, with what their evals did, and no verdict; in at most `room` bytes."""
    page = _Page(room=room - _RESERVE)
    _add_rules(page, report)
    if page.left_out:
        page.parts.append(_left_out(page))
    return "\n\n".join(page.parts)


def _left_out(page: _Page) -> str:
    what = ", ".join(f"{n} {name}" for name, n in page.left_out.items())
    return f"_Left out, for length: {what}. `cli diff-guidelines` with the same words shows them._"


def _title(report: DiffReport) -> str:
    before, after = report.tokens
    path = code(report.after.path)
    if report.before.path != report.after.path:
        path = f"{code(report.before.path)} → {path}"
    what = report.verdicts or "no change for models"
    facts = [
        f"{path}, {change(report)}",
        f"experiment {code(report.experiment)}",
        f"{report.counter.label}: {before:,} → {after:,} ({after - before:+,})",
    ]
    lines = [f"### Guidelines: {what}", " · ".join(facts)]
    return "\n\n".join([*lines, *(f"> {inline(note)}" for note in report.notes)])


def change(report: DiffReport) -> str:
    """From which version to which."""
    return " → ".join(v.label if v.bare else code(v.label) for v in (report.before, report.after))


def _add_verdicts(page: _Page, report: DiffReport) -> None:
    models = report.models
    silent = inline(report.silent_line) if report.silent_line else ""
    if not models:
        if silent:
            page.add(silent)
        return
    if report.confirmed:
        page.add(WEAKER)
    header = "| verdict | model | before | after | points | 95 % interval | p | evals | detects |\n"
    header += "|---|---|--:|--:|--:|:-:|--:|--:|--:|"
    rows = page.add_some("models", [_row(m, page.links) for m in models[:_MOST_MODELS]], 0.3, "\n")
    if len(models) > _MOST_MODELS:
        page.left_out["models"] = len(models) - _MOST_MODELS
    page.add(f"{header}\n{rows}")
    judged = f"p and verdicts are corrected for {len(models)} models. " if report.several else ""
    notes = [f"{judged}Detects: the points that would have been found four times out of five.", *report.advice]
    notes += ["A is before, B is after.", *report.model_notes] if report.model_notes else []
    page.add(page.add_some("notes", [f"- {inline(note)}" for note in notes], 0.1, "\n"))
    if silent:
        page.add(silent)


def _row(found: ModelEffect, links: PageLinks | None) -> str:
    paired = found.paired
    verdict = f"{MARKS.get(paired.verdict, _OTHER_MARK)} {paired.verdict.words}"
    cells = [
        f"**{verdict}**" if paired.verdict.shown else verdict,
        linked(cell(found.model), links.model if links else None, found.model),
        rate(paired.a_rate),
        rate(paired.b_rate),
        points(paired.difference if paired.evals else None),
        span(paired.interval),
        p_value(paired.p).replace("<", "&lt;"),
        str(paired.evals),
        points(paired.detectable).lstrip("+"),
    ]
    return f"| {' | '.join(cells)} |"


def _add_gaps(page: _Page, report: DiffReport) -> None:
    for gap in report.gaps:
        who = ", ".join(inline(m) for m in gap.models[:20]) + (", …" if len(gap.models) > 20 else "")
        what, label = gap.what
        text = f"**{what}{f' {code(label)}' if label else ''}:** {who}\n\n{fenced(gap.command, 'sh', width=4_000)}"
        if not page.add(f"{text}\n\n{inline(gap.price)}"):
            page.left_out["commands"] = page.left_out.get("commands", 0) + 1
    if report.hint:
        page.add(f"> {inline(report.hint)}")
    if report.proposal:
        command = fenced(report.proposal.command, "sh", width=4_000)
        page.add(f"{inline(report.proposal.title)}\n\n{command}\n\n{inline(report.proposal.price)}")


def _add_rules(page: _Page, report: DiffReport) -> None:
    page.add(f"#### {inline(report.summary)}")
    sections = page.add_some("sections", [f"- {_section(s)}" for s in report.diff.sections], 0.1, "\n")
    if sections:
        page.add(sections)
    rules = [_change(report, c, page.links) for c in report.diff.changes]
    first = page.add_some("rules", rules[:_FOLD_FROM], 0.7)
    if first:
        page.add(first)
    rest = page.add_some("rules", rules[_FOLD_FROM:], 0.7) if "rules" not in page.left_out else ""
    if "rules" in page.left_out and not rest:
        page.left_out["rules"] = max(page.left_out["rules"], len(rules) - _FOLD_FROM)
    if rest:
        page.add(folded(f"{len(rules) - _FOLD_FROM - page.left_out.get('rules', 0)} more rules", rest))


def _section(change: SectionChange) -> str:
    words = {ChangeKind.ADDED: "new section", ChangeKind.REMOVED: "section removed", ChangeKind.MOVED: "section moved"}
    if change.kind in words:
        return f"{words[change.kind]}: {inline(change.after or change.before or '')}"
    return f"section renamed: {inline(change.before or '')} → {inline(change.after or '')}"


def _change(report: DiffReport, change: RuleChange, links: PageLinks | None) -> str:
    where = f"**{change.kind}** · {inline(report.diff.section(change))}, line {change.rule.line}"
    moved = report.moved_from(change).strip()
    head = f"{where} {inline(moved)}".strip()
    return "\n\n".join([head, _wording(change), *_evals(report, change, links)])


def _wording(change: RuleChange) -> str:
    """Word by word in running text; where code or a table is part of it, line by line."""
    before = change.before.text if change.before else ""
    after = change.after.text if change.after else ""
    if change.kind is ChangeKind.MOVED:
        return f"> {inline(change.rule.headline)}"
    if not re.search(r"^\s*(```|~~~|\|)", f"{before}\n{after}", re.MULTILINE):
        return f"> {_inline_words(change.words)}" + ("" if change.reworded else " _(line ends or marks alone)_")
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), n=2, lineterm=""))[2:]
    return fenced("\n".join(line for line in lines if not line.startswith("@@")), "diff", limit=60)


def _inline_words(words: Sequence[Span]) -> str:
    """`<ins>` and `<del>` are what GitHub lets through, and shows."""
    found, room = [], _WORDS
    if sum(len(part.text) for part in words) > _WORDS:
        words = list(excerpts(words, _CONTEXT))
    for part in words:
        text = re.sub(r"\s+", " ", part.text)
        if room <= 0:
            found.append(" …")
            break
        inner = inline(text, room)
        room -= len(text)
        left, right = " " * text.startswith(" "), " " * (text.endswith(" ") and bool(text.strip()))
        if not inner:
            found.append(left)
            continue
        if part.kind == "removed":
            inner = f"<del>{inner}</del>"
        elif part.kind == "added":
            inner = f"<ins><b>{inner}</b></ins>"
            # What went and what came instead of it are told apart.
            left = left or " " * bool(found and found[-1].endswith("</del>"))
        found.append(f"{left}{inner}{right}")
    return "".join(found).strip()


def _evals(report: DiffReport, change: RuleChange, links: PageLinks | None) -> Iterator[str]:
    lines = []
    for eval_id, effect, why in report.evals_of(change):
        has_page = eval_id in report.suite_evals
        name = linked(code(eval_id), links.eval if links and has_page else None, eval_id)
        if effect is None:
            lines.append(f"- {name}: {why}")
            continue
        other = [f"{inline(model)} {_trials(pair)}" for model, pair in effect.by_model.items() if pair.differs]
        models = f" ({', '.join(other[:_MODELS])}{', …' if len(other) > _MODELS else ''})" if other else ""
        lines.append(f"- {name}: {_trials(effect.total)}{models}")
    if len(lines) > _EVALS:
        lines[_EVALS:] = [f"- … and {len(lines) - _EVALS} more"]
    if lines:
        yield "\n".join(lines)


def _trials(pair: EvalPair) -> str:
    return f"{pair.a_passed}/{pair.a_scored} → {pair.b_passed}/{pair.b_scored}"


def _details(page: _Page, found: ModelEffect) -> str:
    """By category and by eval, folded."""
    body = []
    if len(found.comparison.categories) > 1:
        lines = table_lines(category_table(found.comparison.categories))
        body.append(page.add_some("categories", lines, 0.4, "\n"))
    for name, flips in directions(found.comparison.flips).items():
        if flips:
            lines = table_lines(flip_table(f"{name}: {len(flips)}", flips[:_MOST_FLIPS]))
            body.append(page.add_some("evals", lines, 0.4, "\n"))
            if len(flips) > _MOST_FLIPS:
                body.append(f"… and {len(flips) - _MOST_FLIPS} more, less sure")
    if why := why_unsure(found.comparison.flips):
        body.append(why)
    differ = f"{found.paired.verdict.words}, {len(found.comparison.flips)} evals differ"
    return folded(differ, "\n\n".join(body), title=found.model) if body else ""
