"""One trial in full, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from convex_evals.analysis.trial import SECTIONS, Source, Trial, unified_diff
from convex_evals.render.verdicts import verdict_text


def trial_to_text(trial: Trial, source: Source, sections: Sequence[str]) -> str:
    """The chosen sections, under headings where there are several."""
    texts = {name: _section(name, trial, source) for name in SECTIONS if name in sections}
    if len(texts) == 1:
        return "".join(texts.values())
    return "\n\n".join(f"== {name}\n{text}" for name, text in texts.items())


def _section(name: str, trial: Trial, source: Source) -> str:
    if name == "task":
        return "(not in the suite any more)" if source.task is None else source.task.rstrip()
    if name == "expected":
        return "(not in the suite any more)" if source.expected is None else _files(source.expected)
    if name == "response":
        return _response(trial)
    if name == "diff":
        if source.expected is None or not trial.files:
            return "(nothing to compare)"
        return unified_diff(source.expected, trial.files) or "(no difference)"
    verdict = trial.grade.verdict
    return f"{verdict.outcome}\n{verdict_text(verdict)}"


def _response(trial: Trial) -> str:
    generation = trial.generation
    if trial.reply is None and generation.received:
        why = f"it was pruned on {trial.pruned}" if trial.pruned else "it is missing"
        return f"{trial.place}\n(the reply is no longer here: {why}; Git may have it)"
    if trial.reply is None:
        return f"(nothing was received: {generation.fault}: {generation.reason})"
    head = [trial.place, *(f"note: {note}" for note in generation.notes)]
    if generation.fault:
        head.append(f"note: {generation.fault}: {generation.reason}")
    body = _files(trial.files) if trial.files else f"(no files in it; the reply is:)\n{trial.reply.rstrip()}"
    return "\n".join([*head, body])


def _files(files: Mapping[str, str]) -> str:
    return "\n".join(f"-- {path}\n{text.rstrip()}" for path, text in files.items())
