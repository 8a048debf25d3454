"""`cli run --sessions`, resolved: which sessions are asked again, what is sent, and how replies are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from convex_evals.config import Workspace
from convex_evals.errors import UserError
from convex_evals.models import Solver
from convex_evals.models.reference import ReferenceSolver
from convex_evals.models.solvers import SolverFactory
from convex_evals.records import ComparisonMethod, ComparisonRules
from convex_evals.records.session import SessionStatus
from convex_evals.runs.options import RunOptions
from convex_evals.runs.plan import RunRequest
from convex_evals.runs.request import (
    NOTHING,
    Resolved,
    make_request,
    of_one_name,
    options_of,
    planned_request,
    under_experiments,
    without_repeated,
)
from convex_evals.runs.session_judges import make_judge
from convex_evals.sessions.agreement import LEAST_KAPPA, find_opinions, labelled_replies, measured
from convex_evals.sessions.asking import AskedSession, asked_session, session_id_of
from convex_evals.sessions.exporting import labelled
from convex_evals.sessions.index import SessionFilter, open_index
from convex_evals.sessions.opinions import ModelJudge
from convex_evals.sessions.store import SESSIONS, SessionStore
from convex_evals.store.run import Run
from convex_evals.suite.id_filter import id_filter, selection_words
from convex_evals.text import counted
from convex_evals.vcs.git import clean_commit

# Conversations are sent as they were, unless an experiment or guidelines are named.
PLAIN_EXPERIMENT = "no_guidelines"


def resolve_sessions(options: RunOptions, workspace: Workspace, solvers: SolverFactory) -> Resolved:
    """The runs that `options` mean. Raises `UserError` where they mean nothing."""
    for name in options.experiments:
        workspace.config.experiment(name)
    found = Resolved([], [])
    asked = _chosen(options, workspace, found.skipped)
    judge = make_judge(options.judge, options.rubric, workspace, solvers) if options.judge else None
    rules = comparison_rules(options, judge)
    if judge and rules.method is ComparisonMethod.JUDGE:
        refuse_untried(judge, SessionStore(workspace.suite))
    requests = _requests(options, asked, rules, workspace, solvers, found.skipped, judge=judge)
    return of_one_name(options, replace(found, requests=requests))


def resolve_planned_sessions(
    run: Run, rules: ComparisonRules, model: str | None, workspace: Workspace, solvers: SolverFactory
) -> RunRequest:
    """What `run` planned. Raises `UserError` where that is no longer possible here."""
    plan, store = run.plan, SessionStore(workspace.suite)
    gone = next((e for e in plan.evals if store.find(session_id_of(e)) is None), None)
    if gone is not None:
        raise UserError(f"{run.folder}: {gone} is no longer here; restore it from Git, or plan another run")
    asked = [asked_session(each) for each in labelled(store, map(session_id_of, plan.evals))]
    judge = make_judge(rules.judge, rules.rubric, workspace, solvers, given=False) if rules.judge else None
    now = rules.model_copy(update={"judge_sha256": judge.sha256 if judge else None})
    if judge and rules.method is ComparisonMethod.JUDGE and not run.is_complete:
        refuse_untried(judge, store)
    options = options_of(plan, model, workspace)
    requests = _requests(options, asked, now, workspace, solvers, [], judge=judge, recorded=True)
    return planned_request(run, model, requests)


def refuse_untried(judge: ModelJudge, store: SessionStore) -> None:
    """Raise `UserError` where it is not known that a judge agrees with people, who have labelled replies."""
    found = measured(judge, labelled_replies(store), find_opinions(store.root, judge))
    if found.may_decide:
        return
    number = counted(found.agreement.number, "labelled reply", "labelled replies")
    shown = f" ({found.words})" if found.words else ""
    raise UserError(
        f"--judge {judge.model}: may not decide yet: it was measured on {number}{shown}, and kappa's interval has to "
        f"begin at {LEAST_KAPPA:g} or above; label replies, then `cli sessions judge -m {judge.model} --budget USD`, "
        "or leave out `--compare judge` to have its opinion beside the similarity"
    )


def comparison_rules(options: RunOptions, judge: ModelJudge | None = None) -> ComparisonRules:
    usual = ComparisonRules()
    return ComparisonRules(
        method=ComparisonMethod(options.compare) if options.compare else usual.method,
        threshold=usual.threshold if options.threshold is None else options.threshold,
        judge=judge.model if judge else None,
        judge_sha256=judge.sha256 if judge else None,
        rubric=options.rubric,
    )


def _chosen(options: RunOptions, workspace: Workspace, skipped: list[str]) -> list[AskedSession]:
    """The sessions that are asked again, by id. `skipped` gets a line for each that cannot be."""
    store = SessionStore(workspace.suite)
    names = id_filter(options.patterns)
    status = SessionStatus(options.status) if options.status else None
    wanted = SessionFilter(status=status, tags=options.tags, ready=True)
    with open_index(store) as index:
        skipped += index.problems
        ids = sorted(entry.id for entry in index.find(wanted) if names.matches(f"{SESSIONS}/{entry.id}"))
    if not ids:
        index.refuse_problems()
        chosen_by = {"-f": options.patterns, "--status": [status.value] if status else [], "--tag": options.tags}
        which = f" that matches {words}" if (words := selection_words(chosen_by)) else ""
        raise UserError(
            f"{store.root / SESSIONS}: no session{which} is marked as an eval; `cli sessions list --eval-ready` shows "
            "those that are, `cli sessions mark ID --ready` marks one"
        )
    asked, problems = list[AskedSession](), list[str]()
    for each in labelled(store, ids):
        try:
            asked.append(asked_session(each))
        except UserError as error:
            problems.append(str(error))
    if not asked:
        raise UserError(problems[-1])
    skipped += [f"skipped: {problem}" for problem in problems]
    if in_part := [each for each in asked if each.left_out]:
        skipped.append(
            f"{counted(len(in_part), 'session')} with images or files, which are left out: models are asked in text"
        )
    if refused := [each for each in asked if each.is_refused]:
        skipped.append(
            f"{counted(len(refused), 'session')} labelled incorrect, without an expected output: replies are compared "
            f"with a wrong one; `cli sessions label {refused[0].session_id[:8]} --expected FILE` says what is right"
        )
    return asked


def _requests(
    options: RunOptions,
    asked: Sequence[AskedSession],
    rules: ComparisonRules,
    workspace: Workspace,
    solvers: SolverFactory,
    skipped: list[str],
    *,
    judge: ModelJudge | None = None,
    recorded: bool = False,
) -> list[RunRequest]:
    commit = clean_commit(workspace.suite)
    if not (options.experiments or options.guidelines):
        options = replace(options, experiments=(PLAIN_EXPERIMENT,))
    requests: list[RunRequest] = []
    for name in dict.fromkeys(options.models):
        stand_in = solvers.synthetic(name)
        if stand_in is not None:
            requests.append(_stand_in(options, stand_in, asked, commit))
            continue
        for solver, source, given in under_experiments(name, options, workspace, solvers, skipped, recorded):
            prompts = {each.id: each.given(source.given) for each in asked}
            # The template is of tasks: a conversation is sent as it is.
            sent = replace(given, prompt_sha256=None)
            requests.append(make_request(options, solver, asked, prompts, sent, commit))
    return [replace(request, comparison=rules, judge=judge) for request in without_repeated(requests)]


def _stand_in(options: RunOptions, solver: Solver, asked: Sequence[AskedSession], commit: str | None) -> RunRequest:
    if not isinstance(solver, ReferenceSolver):
        raise UserError(f"-m {solver.model}: has no replies to sessions; give a model, or `reference`")
    nothing = replace(NOTHING, experiment=PLAIN_EXPERIMENT)
    return make_request(options, solver, asked, {each.id: each.prompt for each in asked}, nothing, commit)
