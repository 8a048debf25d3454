"""Results as text: tables for people, JSON for machines. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from convex_evals.records import CategorySummary, Counts, Summary, Verdict, dump_json
from convex_evals.render.marks import MARKS
from convex_evals.stats import wilson
from convex_evals.store.runs import Run
from convex_evals.text import one_line, spelled_out

_WIDEST = 200  # columns of a cell


def percent(counts: Counts) -> str:
    rate = counts.pass_rate
    return "-" if rate is None else f"{rate:.0%}"


def table(header: list[str], rows: list[list[str]], left: Sequence[int] = (0,)) -> str:
    """Columns as wide as their widest cell, and no wider than `_WIDEST`; all but those of `left` are right-aligned.

    A cell is one line of text that is seen, whatever it was made of.
    """
    rows = [[_cell(text) for text in row] for row in rows]
    widths = [max(_width(row[i]) for row in [header, *rows]) for i in range(len(header))]
    lines = [
        "  ".join(_aligned(cell, w, i in left) for i, (cell, w) in enumerate(zip(row, widths, strict=True)))
        for row in [header, ["-" * w for w in widths], *rows]
    ]
    return "\n".join(line.rstrip() for line in lines)


def _aligned(cell: str, width: int, left: bool) -> str:
    padding = " " * (width - _width(cell))
    return cell + padding if left else padding + cell


def _cell(text: str) -> str:
    shown = spelled_out(one_line(text[: 8 * _WIDEST])).replace("\t", " ")
    if _width(shown) <= _WIDEST:
        return shown
    while _width(shown) >= _WIDEST:
        shown = shown[: _WIDEST - 1] if len(shown) >= _WIDEST else shown[:-1]
    return shown + "…"


def _width(text: str) -> int:
    """On a terminal, where a Chinese character takes two columns and a mark above a letter none."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def category_table(summary: Summary) -> str:
    """Pass rates by category, the whole at the end."""
    rows = [[name, *_cells(part)] for name, part in sorted(summary.categories.items())]
    whole = CategorySummary(**{name: getattr(summary, name) for name in CategorySummary.model_fields})
    rows.append(["all", *_cells(whole)])
    return table(
        ["category", "passed", "failed", "unscored", "pass rate", "95 % interval", "cost", "time", "tokens"], rows
    )


def _cells(part: CategorySummary) -> list[str]:
    counts = part.counts
    return [
        *(str(counts.passed), str(counts.failed), str(counts.unscored), percent(counts), interval(counts)),
        dollars(part.cost_usd),
        duration(part.generation_ms + part.grading_ms),
        f"{part.usage.input_tokens + part.usage.output_tokens:,}",
    ]


def interval(counts: Counts) -> str:
    """The 95 % interval of the pass rate, rounded outwards so that it promises no more than it holds."""
    found = wilson(counts.passed, counts.scored)
    return "-" if found is None else f"{math.floor(found[0] * 100)}-{math.ceil(found[1] * 100)}%"


def dollars(amount: float) -> str:
    return f"${amount:,.2f}" if amount >= 1 or amount == 0 else f"${amount:.4f}"


def duration(milliseconds: float) -> str:
    seconds = milliseconds / 1000
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60} h {minutes % 60:02} min" if minutes >= 60 else f"{minutes} min {rest:02} s"


def unscored_lines(summary: Summary) -> list[str]:
    """Why trials have no verdict, a line for each category that has such."""
    return [
        f"unscored in {name}: {', '.join(f'{n} x {reason}' for reason, n in part.unscored.items())}"
        for name, part in sorted(summary.categories.items())
        if part.unscored
    ]


def run_report(run: Run, summary: Summary | None, so_far: Summary | None = None, *, resume: str) -> str:
    """What came of a run, for the one who started it.

    `so_far` is what there is of one without a summary; `resume` is the command that does the rest of it.
    """
    plan = run.plan
    lines = [f"{plan.model}  {plan.experiment}{'  (synthetic: no model was asked)' if plan.synthetic else ''}"]
    if summary is None:
        if so_far and so_far.categories:
            lines += [category_table(so_far), _spent(so_far), *unscored_lines(so_far)]
        # The same command would start over with --fresh.
        how = f"`{resume}` resumes it" if plan.fresh else "run the same command again to resume"
        lines.append(f"Some trials could not be scored, or were not asked; {how}.")
        lines.append(f"How far it is: cli status {plan.run_id}")
    else:
        lines += [category_table(summary), _spent(summary)]
        lines += unscored_lines(summary)
        lines += _missing(run, summary, resume)
    known = summary or so_far
    if known and "none" in known.sandbox:
        lines.append("Sandbox: none (what was graded could do whatever you can)")
    return "\n".join([*lines, f"Results: {run.folder}", f"Look at them: cli show {plan.run_id}"])


def _missing(run: Run, summary: Summary, resume: str) -> list[str]:
    if not summary.missing:
        return []
    named = ", ".join(summary.missing[:5]) + (", ..." if len(summary.missing) > 5 else "")
    return [
        f"Missing: {len(summary.missing)} of {len(run.plan.evals)} evals: {named}",
        f"Complete it: {resume}",
    ]


def share_report(run: Run, share: Summary, name: str) -> str:
    """What came of one shard; `share` is the totals of its evals."""
    plan = run.plan
    lines = [f"{plan.model}  {plan.experiment}  shard {name}: {len(share.evals)} of {len(plan.evals)} evals"]
    lines += [category_table(share), _spent(share)] if share.evals else []
    lines += [f"unscored: {n} x {reason}" for reason, n in share.unscored.items()]
    if share.missing:
        lines.append(f"Not done: {len(share.missing)} evals; run the same command again to resume.")
    lines.append(f"Results: {run.folder}")
    return "\n".join([*lines, f"Once all shards are there: cli finish {plan.run_id}"])


def _spent(summary: Summary) -> str:
    usage = summary.usage
    parts = [f"{summary.generation_ms / 1000:.0f} s of replies, {summary.grading_ms / 1000:.0f} s of grading"]
    if usage.output_tokens:
        parts.append(f"{usage.input_tokens:,} tokens in, {usage.output_tokens:,} out")
        parts.append(f"{dollars(summary.cost_usd)}{' (estimated)' if summary.cost_estimated else ''}")
    if summary.reused:
        parts.append(f"{summary.reused} replies of earlier runs")
    if summary.searches:
        parts.append(f"{summary.searches} web searches")
    return "; ".join(parts)


def run_row(run: Run, summary: Summary | None) -> list[str]:
    plan = run.plan
    model = f"{plan.model} (synthetic)" if plan.synthetic else plan.model
    if summary is None:
        return [plan.run_id, plan.date, model, plan.experiment, str(len(plan.evals)), "incomplete", ""]
    counts = summary.counts
    return [
        *(plan.run_id, plan.date, model, plan.experiment, str(len(plan.evals))),
        f"{counts.passed}/{counts.scored}",
        percent(counts),
    ]


def run_to_data(run: Run, summary: Summary | None) -> dict[str, Any]:
    """A run for machines: its plan's identity and its totals."""
    plan = run.plan
    return {
        "run_id": plan.run_id,
        "folder": str(run.folder),
        "model": plan.model,
        "experiment": plan.experiment,
        "synthetic": plan.synthetic,
        "date": plan.date,
        "complete": summary is not None and not summary.missing,
        "summary": summary.model_dump(mode="json", by_alias=True) if summary else None,
        "pass_rates": pass_rates(summary) if summary else None,
    }


def pass_rates(summary: Summary) -> dict[str, Any]:
    """Rate and 95 % interval of each category and of `all`."""
    parts = {name: part.counts for name, part in summary.categories.items()}
    return {name: rate_to_data(counts) for name, counts in {**parts, "all": summary.counts}.items()}


def rate_to_data(counts: Counts) -> dict[str, Any]:
    return {"pass_rate": counts.pass_rate, "interval": wilson(counts.passed, counts.scored)}


def run_to_json(run: Run, summary: Summary | None) -> str:
    return dump_json(run_to_data(run, summary))


# Convex's clients put this before the message of a function that threw.
_SERVER_ERROR = re.compile(r"\[Request ID: \w+\] Server Error\s*")
_LOCATION = re.compile(r"^\s*(\S+:\d+:\d+):?$")


def headline(text: str | None, width: int = 160) -> str:
    """The first line of a reason that says something, after the place that the bundler names below it."""
    lines = [line.strip() for line in _SERVER_ERROR.sub("", text or "").splitlines() if line.strip()] or [
        "no reason given"
    ]
    line = lines[0]
    if line.startswith("✘ [ERROR] "):
        place = next((m[1] for m in map(_LOCATION.match, lines[1:]) if m), None)
        line = f"{place}: {line[10:]}" if place else line[10:]
    return line if len(line) <= width else line[: width - 1] + "…"


def verdict_text(verdict: Verdict) -> str:
    """All steps and failing tests of a verdict."""
    lines = []
    for step in verdict.steps:
        reason = f"  {step.reason}" if step.reason and step.outcome.value != "failed" else ""
        lines.append(f"  {step.step:10} {step.outcome:8} {step.duration_ms:6} ms{reason}")
        if step.reason and step.outcome.value == "failed" and step.step.value != "tests":
            lines += [f"      {line}" for line in step.reason.splitlines()]
    for test in verdict.tests:
        mark = MARKS["passed" if test.outcome == "passed" else "failed"]
        lines.append(f"    {mark} {test.name} ({test.duration_ms} ms)")
        lines += [f"        {line}" for line in (test.message or "").splitlines()]
    return "\n".join(lines)
