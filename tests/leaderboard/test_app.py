"""The leaderboard's app over HTTP: what is shown, and what is refused."""

from __future__ import annotations

import math
import secrets
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import httpx
import pytest

from convex_evals.grading.toolchain import locate_toolchain
from convex_evals.stats import Rate, Tally, wilson
from tests.leaderboard.sent import PLAN, mint, send
from tests.publish.deployed import LEADERBOARD, Deployment, RefusedError

pytestmark = pytest.mark.grading


def test_calls_may_be_repeated_and_change_nothing(board: Deployment) -> None:
    mint(board)
    sent = send(board)
    before = board.everything()
    sent.repeat()
    mint(board)
    assert board.everything() == before
    sent.repeat()


def test_what_contradicts_an_earlier_call_is_refused(board: Deployment) -> None:
    mint(board)
    sent = send(board, complete=False)
    with pytest.raises(RefusedError, match="was started with another plannedEvals"):
        send(board, plannedEvals=PLAN[:1])
    with pytest.raises(RefusedError, match="was minted with other evals or models"):
        mint(board, evals=1)
    eval_id = next(args["evalId"] for function, args, _ in sent.calls if function == "completeEval")
    with pytest.raises(RefusedError, match="Eval is already passed"):
        board.mutation("completeEval", evalId=eval_id, status={"kind": "passed", "durationMs": 2})
    board.mutation("recordStep", evalId=eval_id, name="tests", status={"kind": "running"})  # late, and without effect
    with pytest.raises(RefusedError, match="Step is already skipped"):
        board.mutation("recordStep", evalId=eval_id, name="tests", status={"kind": "passed", "durationMs": 1})
    board.mutation("completeRun", runId=sent.run, status={"kind": "completed", "durationMs": 1})
    for function, args in (
        ("completeRun", {"runId": sent.run, "status": {"kind": "completed", "durationMs": 2}}),
        ("recordStep", {"evalId": eval_id, "name": "tsc", "status": {"kind": "skipped"}}),
    ):
        with pytest.raises(RefusedError, match="Run is already completed"):
            board.mutation(function, **args)


def test_a_run_is_shown_once_it_is_complete(board: Deployment) -> None:
    mint(board)
    sent = send(board, complete=False)
    shown = ("runs:listRuns", "runs:listExperiments", "runs:leaderboardScores")
    assert [board.query(name) for name in shown] == [[], [], []]
    assert board.query("runs:leaderboardModelHistory", model="acme/m") == []
    details = board.query("runs:getRunDetails", runId=sent.run)
    assert details["status"] == {"kind": "running"} and len(details["evals"]) == len(PLAN)
    board.mutation("completeRun", runId=sent.run, status={"kind": "completed", "durationMs": 1})
    assert [len(board.query(name)) for name in shown] == [1, 1, 1]
    (listed,) = board.query("runs:listRuns")
    assert listed["model"] == "acme/m" and listed["evalCounts"] == {"total": 4, "passed": 4, "failed": 0, "pending": 0}


def test_a_run_that_lacks_an_eval_cannot_be_completed(board: Deployment) -> None:
    model = board.mutation("ensureModelFromSlug", slug="acme/m", formattedName="M")
    run = board.mutation("startRun", modelId=model, provider="acme", plannedEvals=PLAN)
    with pytest.raises(RefusedError, match="4 of 4 planned evals are not complete"):
        board.mutation("completeRun", runId=run, status={"kind": "completed", "durationMs": 1})


def test_a_score_is_the_mean_of_runs_with_its_spread_and_its_interval(board: Deployment) -> None:
    mint(board)
    for n, letters in enumerate(("pppp", "ppff", "pffu")):
        send(board, letters, runId=f"2026-11-01/run/{n}")
    (score,) = board.query("runs:leaderboardScores")
    rates = [1, 0.5, 1 / 3]
    mean = sum(rates) / 3
    assert score["totalScore"] == pytest.approx(mean)
    assert score["totalScoreErrorBar"] == pytest.approx((sum((r - mean) ** 2 for r in rates) / 3) ** 0.5)
    these = score["intervalTheseEvals"]
    assert (these["low"], these["high"]) == pytest.approx(wilson(7, 11))
    rate = Rate.of([Tally(3, 3), Tally(3, 3), Tally(1, 3), Tally(0, 2)])
    assert (score["interval"]["low"], score["interval"]["high"]) == pytest.approx(rate.interval)
    assert score["ranks"] == [1, 1] and score["isProvisional"]
    # The letters alternate between the categories; the last of the third run does not count.
    assert score["scores"] == pytest.approx({"000-fundamentals": (1 + 0.5 + 0.5) / 3, "001-queries": (1 + 0.5 + 0) / 3})
    assert score["averageRunCostUsd"] == 1 and score["averageRunDurationMs"] == 4000
    assert score["averageEvalDurationMs"] == 1000 and score["runCount"] == 3
    history = board.query("runs:leaderboardModelHistory", model="acme/m")
    assert [each["totalScore"] for each in history] == pytest.approx(rates[::-1])
    model = score["modelId"]
    summary = {"runCount": 3, "experimentCount": 1, "totalEvals": 12, "passedEvals": 7, "passRate": 7 / 12}
    assert board.query("runs:getModelSummary", modelId=model) == pytest.approx(summary)
    stats = board.query("modelScores:getSchedulingStats", modelId=model)
    assert stats == {"latestRunTime": score["latestRunTime"], "averageRunCostUsd": 1}


@pytest.mark.full
def test_only_the_last_ten_runs_of_a_minted_version_count(board: Deployment) -> None:
    mint(board)
    send(board, "ffff", runId="old")
    for n in range(10):
        send(board, "pppp", runId=f"new/{n}")
    send(board, "ffff", runId="other", benchmarkVersion="never minted")
    (score,) = board.query("runs:leaderboardScores")
    assert (score["totalScore"], score["runCount"]) == (1, 10)
    (across,) = board.query("runs:leaderboardScores", benchmarkVersion="all")
    assert across["runCount"] == 10 and across["scoreBenchmarkVersion"] == "all"
    assert board.query("runs:leaderboardScores", benchmarkVersion="never minted") == []


@pytest.mark.full
def test_the_trials_of_a_run_count_as_one_run(board: Deployment) -> None:
    """As `cli leaderboard` pools them: the last ten runs with all of their trials."""
    mint(board)
    for trial in (1, 2):
        send(board, "ffff", runId=f"2026-11-01/default-old/{trial}")
    for n in range(10):
        for trial, letters in enumerate(("pppp", "ppff"), 1):
            send(board, letters, runId=f"2026-11-02/default-{n:08}/{trial}")
    (score,) = board.query("runs:leaderboardScores")
    assert (score["totalScore"], score["runCount"], score["passed"], score["scored"]) == (0.75, 20, 60, 80)


def test_a_version_that_is_minted_after_its_runs_is_scored_then(board: Deployment) -> None:
    for n in range(3):
        send(board, model=f"acme/{n}", runId=str(n))
    assert board.query("runs:leaderboardScores") == []
    mint(board)
    scores = _eventually(lambda: board.query("runs:leaderboardScores"), 3)
    assert {score["model"] for score in scores} == {"acme/0", "acme/1", "acme/2"}


def test_equal_scores_share_a_rank_and_earlier_versions_can_stand_in(board: Deployment) -> None:
    mint(board)
    mint(board, "v2")
    for model, letters, version in (("a", "pppf", "v2"), ("b", "fppp", "v2"), ("c", "pfff", "v2"), ("d", "pppp", "v1")):
        send(board, letters, model=model, runId=model, benchmarkVersion=version)
    ranks = {score["model"]: score["rank"] for score in board.query("runs:leaderboardScores")}
    assert ranks == {"a": 1, "b": 1, "c": 3}
    both = board.query("runs:leaderboardScores", includeRecentPreviousBenchmarks=True)
    assert [(score["model"], score["matchesSelectedBenchmark"]) for score in both] == [
        ("d", False),
        ("a", True),
        ("b", True),
        ("c", True),
    ]
    assert len(board.query("runs:leaderboardScores", limit=1)) == 1
    assert board.query("runs:leaderboardVersions") == ["v2", "v1"]
    board.mutation("nameBenchmark", version="v2", name="November")
    assert board.query("runs:leaderboardScores")[0]["scoreBenchmarkName"] == "November"
    for name in ("November", "v2"):
        with pytest.raises(RefusedError, match=f"{name} is another benchmark, v2"):
            board.mutation("nameBenchmark", version="v1", name=name)


def test_models_are_listed_page_by_page_the_newest_first(board: Deployment) -> None:
    """As Convex's `usePaginatedQuery` asks for them."""
    for n in range(5):
        board.mutation("ensureModelFromSlug", slug=f"acme/{n}", formattedName=f"M {n}")
    slugs, cursor, is_done = [], None, False
    while not is_done:
        options = {"numItems": 2, "cursor": cursor, "id": 0}
        found = board.query("models:listModels", paginationOpts=options)
        slugs.append([model["slug"] for model in found["page"]])
        cursor, is_done = found["continueCursor"], found["isDone"]
    assert [slug for page in slugs for slug in page] == [f"acme/{n}" for n in reversed(range(5))]
    assert max(map(len, slugs)) == 2
    with pytest.raises(RefusedError, match="paginationOpts"):
        board.query("models:listModels")


def test_an_experiment_names_its_models(board: Deployment) -> None:
    def named() -> dict[str, list[str]]:
        found = board.query("runs:listExperiments")
        for each in found:
            assert len(each["models"]) == len(each["modelIds"]) == each["modelCount"]
            slugs = [next(m["slug"] for m in board.everything()["models"] if m["_id"] == i) for i in each["modelIds"]]
            assert slugs == each["models"]
        assert [each["latestRun"] for each in found] == sorted((each["latestRun"] for each in found), reverse=True)
        return {each["name"]: each["models"] for each in found}

    runs = [send(board, model=f"acme/{n}", runId=str(n)) for n in range(3)]
    send(board, model="acme/1", runId="again")
    send(board, model="acme/1", runId="other", experiment="agents_md")
    both = {"default": ["acme/2", "acme/1", "acme/0"], "agents_md": ["acme/1"]}
    assert named() == both
    board.administrate("inspect:forgetModels")
    assert named() == both
    for sent in runs[1:]:
        board.mutation("deleteRun", runId=sent.run)
    assert named() == {"default": ["acme/1", "acme/0"], "agents_md": ["acme/1"]}


def test_a_deleted_run_leaves_nothing(board: Deployment) -> None:
    mint(board)
    kept, gone = send(board, runId="kept"), send(board, "ffff", runId="gone", model="acme/other")
    for _ in range(2):
        board.mutation("deleteRun", runId=gone.run)
    there = board.everything()
    assert {each["_id"] for each in there["runs"]} == {kept.run}
    assert {each["runId"] for each in there["evals"]} == {kept.run} and len(there["steps"]) == len(PLAN)
    assert [score["model"] for score in board.query("runs:leaderboardScores")] == ["acme/m"]
    (experiment,) = board.query("runs:listExperiments")
    assert (experiment["runCount"], experiment["modelCount"], experiment["totalEvals"]) == (1, 1, 4)


def test_the_cron_ends_what_was_left_and_it_can_be_sent_again(board: Deployment) -> None:
    mint(board)
    left = send(board, complete=False)
    board.administrate("runs:failUnfinished")
    assert board.query("runs:getRunDetails", runId=left.run)["status"] == {"kind": "running"}
    board.fail_unfinished()
    details = board.query("runs:getRunDetails", runId=left.run)
    assert details["status"]["kind"] == "failed" and details["evals"] == []
    assert board.everything()["steps"] == []
    board.mutation("deleteRun", runId=left.run)
    send(board)
    assert len(board.query("runs:leaderboardScores")) == 1


def _token(board: Deployment, name: str | None = None, **more: Any) -> str:
    return str(board.administrate("auth:createToken", name=name or secrets.token_hex(8), **more)["value"])


MINTED = {"version": "v1", "evalCount": 1, "curatedModels": []}


def test_tokens_have_scopes_and_an_end(board: Deployment) -> None:
    name = secrets.token_hex(8)
    publish, admin = _token(board, name, scopes=["publish"]), _token(board, scopes=["admin"])
    expired = _token(board, expiresInDays=1e-8)
    for token, function, args, why in (
        (publish, "mintBenchmark", MINTED, "This token may not mint and name benchmarks: it lacks the scope admin"),
        (admin, "checkAssetHash", {"hash": "h"}, "This token may not publish: it lacks the scope publish"),
        (expired, "checkAssetHash", {"hash": "h"}, "Expired authentication token"),
        # Nothing is said of a token to those who do not have its secret.
        (_other_secret(expired), "checkAssetHash", {"hash": "h"}, "Invalid authentication token"),
        (_other_secret(publish), "mintBenchmark", MINTED, "Invalid authentication token"),
        ("lb_", "checkAssetHash", {"hash": "h"}, "Invalid authentication token"),
    ):
        with pytest.raises(RefusedError, match=rf"Error: {why}($|\n)"):
            board.mutation(function, **args, token=token)
    board.mutation("checkAssetHash", hash="h", token=publish)
    board.mutation("mintBenchmark", **MINTED, token=admin)
    listed = board.administrate("auth:listTokens")
    assert publish not in str(listed) and "secretHash" not in str(listed)
    assert any("lastUsedAt" in token for token in listed if token["scopes"] == ["publish"])
    assert [board.administrate("auth:revokeToken", name=name) for _ in range(2)] == [1, 0]
    for token, why in ((publish, "Revoked"), (_other_secret(publish), "Invalid")):
        with pytest.raises(RefusedError, match=f"{why} authentication token"):
            board.mutation("checkAssetHash", hash="h", token=token)


def _other_secret(token: str) -> str:
    return token[:-1] + ("0" if token[-1] != "0" else "1")


@pytest.mark.parametrize("scopes", [[], ["export"], ["publish", "admin"]])
def test_a_token_tells_what_it_may_do(board: Deployment, scopes: list[str]) -> None:
    token = _token(board, scopes=scopes)
    assert board._call("mutation", "auth:tokenScopes", {"token": token}) == {"scopes": scopes}
    with pytest.raises(RefusedError, match="Invalid authentication token"):
        board._call("mutation", "auth:tokenScopes", {"token": _other_secret(token)})


@pytest.mark.parametrize("days", [0, -1, 1e-300, 1e308])
def test_a_token_that_would_not_end_in_the_future_is_not_made(board: Deployment, days: float) -> None:
    with pytest.raises(RefusedError, match="expiresInDays must be a positive number of days"):
        _token(board, expiresInDays=days)


def test_a_name_is_of_one_token_until_it_ends(board: Deployment) -> None:
    name = secrets.token_hex(8)
    expired = _token(board, name, expiresInDays=1e-8)
    first = _token(board, name)
    with pytest.raises(RefusedError, match=f"There is a token {name} already; revoke it, or choose another name"):
        _token(board, name)
    assert board.administrate("auth:revokeToken", name=name) == 1
    second = _token(board, name)
    for token, why in ((expired, "Expired"), (first, "Revoked")):
        with pytest.raises(RefusedError, match=f"{why} authentication token"):
            board.mutation("checkAssetHash", hash="h", token=token)
    board.mutation("checkAssetHash", hash="h", token=second)


def test_refused_tokens_of_exports_are_counted(board: Deployment) -> None:
    sent = send(board)
    url = f"{board.site_url}/api/export"
    good = {"authorization": f"Bearer {_token(board, scopes=['export'])}"}
    exported = httpx.get(url, params={"run": "2026-11-01/run/1"}, headers=good, trust_env=False).json()
    assert exported["_id"] == sent.run and len(exported["evals"]) == len(PLAN)
    wrong = {"authorization": f"Bearer {board.token}"}
    said = httpx.get(url, headers=wrong, trust_env=False).json()["error"]["message"]
    assert said == "This token may not export runs: it lacks the scope export."
    statuses = [httpx.get(url, headers=wrong, trust_env=False).status_code for _ in range(80)]
    # Refusals are forgotten with time, so the last one may be let through again.
    assert set(statuses) == {401, 429} and statuses[0] == 401
    assert httpx.get(url, params={"run": "x"}, headers=good, trust_env=False).status_code == 404


def test_arguments_are_bounded(board: Deployment) -> None:
    model = board.mutation("ensureModelFromSlug", slug="acme/m", formattedName="M")
    run = {"modelId": model, "provider": "acme"}
    for function, args, why in (
        ("ensureModelFromSlug", {"slug": "x" * 201, "formattedName": "M"}, "slug must have 1 to 200 characters"),
        ("ensureModelFromSlug", {"slug": "a", "formattedName": "a\nb"}, "formattedName must be one line"),
        ("startRun", {**run, "plannedEvals": ["a/b", "a/b"]}, "planned twice"),
        ("startRun", {**run, "plannedEvals": ["a"]}, "not category/name"),
        ("startRun", {**run, "plannedEvals": [f"a/{n}" for n in range(1001)]}, "at most 1000 evals"),
        ("mintBenchmark", {"version": "v", "evalCount": -1, "curatedModels": []}, "evalCount must be a number"),
    ):
        with pytest.raises(RefusedError, match=why):
            board.mutation(function, **args)


def test_models_that_cannot_be_told_apart_share_their_ranks(board: Deployment) -> None:
    plan = [f"000-fundamentals/{n:03}-eval" for n in range(10)]
    mint(board, evals=len(plan))
    for model, letters in (("a", "pppppppppp"), ("b", "pppppppppf"), ("c", "ffffffffff")):
        for n in range(2):
            send(board, letters, plan=plan, model=model, runId=f"{model}/{n}")
    send(board, "pppppppppp", plan=plan, model="d", runId="d/0", benchmarkVersion="never minted")
    scores = board.query("runs:leaderboardScores")
    assert [(score["model"], score["rank"], score["ranks"]) for score in scores] == [
        ("a", 1, [1, 2]),
        ("b", 2, [1, 2]),
        ("c", 3, [3, 3]),
    ]
    picture = httpx.get(f"{board.site_url}/api/badge/b.svg", trust_env=False).text
    low, high = Rate.of([Tally(2, 2)] * 9 + [Tally(0, 2)]).interval or (0, 0)
    assert f"90.0 % ({math.floor(100 * low)}-{math.ceil(100 * high)} %, provisional)" in picture
    # What is deleted is compared no longer.
    for run in board.query("runs:listRuns"):
        if run["model"] == "c":
            board.mutation("deleteRun", runId=run["_id"])
    assert [score["ranks"] for score in board.query("runs:leaderboardScores")] == [[1, 2], [1, 2]]


HOSTILE = """<script>alert("1")</script>&'"""


def test_names_are_data_in_pictures_and_in_json(board: Deployment) -> None:
    mint(board)
    model = board.mutation("ensureModelFromSlug", slug="acme/<x>", formattedName=HOSTILE)
    send(board, model="acme/<x>", modelId=model)
    answer = httpx.get(f"{board.site_url}/api/badge/acme%2F%3Cx%3E.svg", trust_env=False)
    assert answer.headers["content-type"].startswith("image/svg+xml")
    picture = ElementTree.fromstring(answer.text)
    assert {element.tag.partition("}")[2] for element in picture.iter()} == {"svg", "title", "rect", "g", "text"}
    assert HOSTILE in "".join(picture.itertext()) and "100.0 %" in answer.text
    assert answer.headers["content-security-policy"] == "default-src 'none'"
    for path in ("%00%01%1F", "%EF%BF%BE%EF%BF%BF", "%22%3E%3Cscript%3E", "x" * 5000):
        unknown = httpx.get(f"{board.site_url}/api/badge/{path}.svg", trust_env=False)
        assert unknown.status_code == 200 and len(ElementTree.fromstring(unknown.text)) == 4
    assert httpx.get(f"{board.site_url}/api/badge/%FF.svg", trust_env=False).status_code == 404
    shown = httpx.get(f"{board.site_url}/api/leaderboard.json", trust_env=False).json()
    assert shown["models"][0]["formattedName"] == HOSTILE


def test_an_empty_leaderboard_says_why(board: Deployment) -> None:
    url = f"{board.site_url}/api/leaderboard.json"

    def note(**asked: str) -> str | None:
        found = httpx.get(url, params=asked, trust_env=False).json()
        assert ("note" in found) == (found["models"] == [])
        return str(found["note"]) if "note" in found else None

    assert (
        note()
        == "no benchmark is minted here, so nothing is ranked: `cli publish --mint`, or `cli benchmark publish NAME`"
    )
    mint(board)
    assert note() == "no run was published"
    send(board)
    assert note() is None
    assert (
        note(experiment="no_guidelines") == "no complete run is of the benchmark and the experiment that are asked for"
    )


def test_the_leaderboard_as_json_is_for_every_page_and_is_cached(board: Deployment) -> None:
    mint(board)
    send(board)
    url = f"{board.site_url}/api/leaderboard.json"
    answer = httpx.get(url, headers={"origin": "https://example.org"}, trust_env=False)
    assert answer.headers["access-control-allow-origin"] == "*" and answer.json()["benchmarkVersion"] == "v1"
    assert answer.json()["models"] == board.query("runs:leaderboardScores")
    same = httpx.get(url, headers={"if-none-match": answer.headers["etag"]}, trust_env=False)
    assert (same.status_code, same.content) == (304, b"")
    asked = httpx.options(url, headers={"origin": "https://example.org"}, trust_env=False)
    assert asked.status_code == 204 and asked.headers["access-control-allow-origin"] == "*"
    send(board, "ffff", runId="another")
    assert httpx.get(url, headers={"if-none-match": answer.headers["etag"]}, trust_env=False).status_code == 200
    board.mutation("nameBenchmark", version="v1", name="First")
    by_name = httpx.get(url, params={"version": "First"}, trust_env=False).json()
    assert by_name == httpx.get(url, params={"version": "v1"}, trust_env=False).json() and by_name["models"]
    assert httpx.get(url, params={"version": "all"}, trust_env=False).json()["models"]
    unknown = httpx.get(url, params={"version": "v9"}, trust_env=False)
    assert unknown.status_code == 404 and "no benchmark of this version or name" in unknown.json()["error"]["message"]
    assert unknown.headers["access-control-allow-origin"] == "*"
    wrong = httpx.get(url, params={"experiment": "nothing"}, trust_env=False)
    assert wrong.status_code == 400 and "experiment must be one of default" in wrong.json()["error"]["message"]
    unknown = httpx.get(f"{board.site_url}/api/badge/acme/unknown.svg", trust_env=False)
    assert unknown.status_code == 200 and "no score" in unknown.text


@pytest.mark.full
def test_its_types_and_its_format_are_right(running_leaderboard: Deployment, toolchain: Path) -> None:
    located = locate_toolchain(toolchain)
    for words in (
        ("typescript/bin/tsc", "-p", running_leaderboard.project / "convex"),
        ("prettier/bin/prettier.cjs", "--check", "--print-width=120", LEADERBOARD / "convex"),
    ):
        argv = [located.node.executable, located.node_modules / words[0], *words[1:]]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def _eventually(ask: Any, count: int) -> Any:
    import time

    for _ in range(100):
        found = ask()
        if len(found) == count:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{len(found)} instead of {count}")


@pytest.mark.full
def test_a_migration_computes_results_and_scores_again(board: Deployment) -> None:
    mint(board)
    for n in range(12):
        send(board, "ppff", runId=str(n), model=f"acme/{n % 3}")
    right = board.query("runs:leaderboardScores")
    board.administrate("inspect:spoilScores")
    assert board.query("runs:leaderboardScores") != right
    board.administrate("migrations:run", fn="migrations:recomputeScores", reset=True)

    def repaired() -> list[object]:
        return [score for score in board.query("runs:leaderboardScores") if score in right]

    _eventually(repaired, len(right))
