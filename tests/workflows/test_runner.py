"""The runner itself, with small workflows: what it lets jobs do, and what it does not."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from tests import patience
from tests.end_to_end.repositories import git
from tests.factories import make_git_repo, write_files
from tests.processes import processes_with
from tests.workflows.definition import UnsupportedWorkflow
from tests.workflows.hub import Event, Hub, hosting
from tests.workflows.inputs import InputError
from tests.workflows.interruption import Interruption
from tests.workflows.permissions import PermissionsError
from tests.workflows.runner import WorkflowRun, run_workflow
from tests.workflows.values import ExpressionError

PUSH = """
      - run: |
          git -c user.name=CI -c user.email=ci@example.org commit -q --allow-empty -m "From a job"
          git push -q origin HEAD:main
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    return make_git_repo(write_files(tmp_path / "clone", {"README.md": "Hello\n", "sub/file.txt": "x\n"}))


@pytest.fixture
def hub(tmp_path: Path, clone: Path) -> Iterator[Hub]:
    with hosting(tmp_path / "hub", clone, secrets={"KEY": "s3cret-key", "OTHER": "0ther-key"}) as hub:
        yield hub


def start(hub: Hub, text: str, event: Event | None = None, **more: object) -> WorkflowRun:
    """Run a workflow that is written here; the first line of `text` may be its only trigger."""
    path = hub.folder / "checkout" / ".github" / "workflows" / "ci.yml"
    write_files(path.parent, {"ci.yml": dedent(text)})
    return run_workflow(hub, path, event or hub.pushed(), **more)  # type: ignore[arg-type]


def test_jobs_hand_on_outputs_variables_and_files(hub: Hub) -> None:
    run = start(
        hub,
        """
        on: push
        env: {LEVEL: workflow, WORD: outer}
        jobs:
          one:
            runs-on: ubuntu-latest
            env: {LEVEL: job}
            outputs:
              list: ${{ steps.make.outputs.list }}
            steps:
              - id: make
                env: {LEVEL: step}
                run: |
                  echo "$LEVEL $WORD"
                  echo 'list=["a", "b"]' >> "$GITHUB_OUTPUT"
                  echo "LATER=from a step" >> "$GITHUB_ENV"
                  echo "# Made" >> "$GITHUB_STEP_SUMMARY"
                  mkdir "$RUNNER_TEMP/bin" && echo "$RUNNER_TEMP/bin" >> "$GITHUB_PATH"
                  printf '#!/bin/sh\\necho a tool' > "$RUNNER_TEMP/bin/tool" && chmod +x "$RUNNER_TEMP/bin/tool"
              - run: echo "$LEVEL $LATER"; tool; mkdir out; echo ${{ job.status }} > out/file
              - uses: actions/upload-artifact@v4
                with: {name: made, path: out}
          two:
            needs: one
            runs-on: ubuntu-latest
            strategy:
              fail-fast: false
              matrix:
                letter: ${{ fromJSON(needs.one.outputs.list) }}
            steps:
              - uses: actions/download-artifact@v4
                with: {name: made}
              - name: Say ${{ matrix.letter }}
                run: cat file; echo "${{ matrix.letter }} ${{ strategy.job-index }}/${{ strategy.job-total }}"
        """,
    )
    assert run.result == "success", run.report()
    one = run.job("one")
    assert one.steps[0].output == "step outer\n" and one.steps[1].output == "job from a step\na tool\n"
    assert run.summary == "# Made\n"
    a, b = run.jobs("two")
    assert (a.name, a.step("Say a").output) == ("two (a)", "success\na 0/2\n")
    assert b.step("Say b").output == "success\nb 1/2\n"


@pytest.mark.parametrize(
    ("rights", "persists", "pushes"),
    [("write", "true", True), ("write", "false", False), ("read", "true", False), ("read", "false", False)],
)
def test_only_a_job_with_the_right_and_the_token_pushes(hub: Hub, rights: str, persists: str, pushes: bool) -> None:
    before = hub.head()
    run = start(
        hub,
        f"""
on: push
permissions: {{}}
jobs:
  push:
    permissions: {{contents: {rights}}}
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
        with: {{persist-credentials: {persists}}}
{PUSH}
""",
    )
    assert run.result == ("success" if pushes else "failure"), run.report()
    assert (hub.head() != before) == pushes
    assert ("GITHUB_TOKEN" in run.job("push").secrets) == (persists == "true")
    if not pushes:
        assert ("403" if persists == "true" else "could not read Username") in run.report()


def test_a_token_dies_with_its_job(hub: Hub) -> None:
    text = """
        on: push
        jobs:
          one:
            permissions: {contents: write}
            runs-on: ubuntu-latest
            steps:
              - env: {TOKEN: "${{ github.token }}"}
                run: echo "$TOKEN"
        """
    token = start(hub, text).job("one").steps[0].output.strip()
    assert token.startswith("ghs_") and hub.may_push(token) is None


def test_a_secret_reaches_only_what_names_it(hub: Hub) -> None:
    hub.environments["production"] = {"DEPLOY": "d3ploy-key"}
    run = start(
        hub,
        """
        on: push
        jobs:
          one:
            environment: production
            runs-on: ubuntu-latest
            outputs: {leak: "${{ steps.a.outputs.leak }}", fine: "${{ steps.a.outputs.fine }}"}
            steps:
              - id: a
                env: {KEY: "${{ secrets.KEY }}", MISSING: "[${{ secrets.MISSING }}]"}
                run: |
                  echo "$MISSING"
                  echo "leak=$KEY" >> "$GITHUB_OUTPUT"
                  echo "fine=yes" >> "$GITHUB_OUTPUT"
              - id: b
                run: env
              - id: c
                env: {DEPLOY: "${{ secrets.DEPLOY }}"}
                run: "true"
        """,
    )
    job = run.job("one")
    assert [step.secrets for step in job.steps] == [{"KEY"}, frozenset(), {"DEPLOY"}]
    assert "key" not in job.step("b").output and job.step("a").output == "[]\n"
    assert job.outputs == {"fine": "yes"}


def test_conditions_follow_what_happened(hub: Hub) -> None:
    run = start(
        hub,
        """
        on: push
        jobs:
          fails:
            runs-on: ubuntu-latest
            steps:
              - {id: forgiven, run: exit 3, continue-on-error: true}
              - {id: after, run: "echo ${{ steps.forgiven.outcome }} ${{ steps.forgiven.conclusion }}"}
              - {id: fails, run: "false"}
              - {id: skipped, run: echo no}
              - {id: always, if: always(), run: "echo ${{ job.status }}"}
              - {id: onfail, if: "failure() && steps.fails.outcome == 'failure'", run: echo failed}
          skipped: {needs: fails, runs-on: ubuntu-latest, steps: [{run: echo no}]}
          last:
            needs: [fails, skipped]
            if: ${{ !cancelled() && needs.fails.result == 'failure' }}
            runs-on: ubuntu-latest
            steps: [{run: "echo ${{ needs.skipped.result }}"}]
          after_last: {needs: last, runs-on: ubuntu-latest, steps: [{run: echo no}]}
        """,
    )
    fails = run.job("fails")
    assert {s.id: s.outcome for s in fails.steps} == {
        "forgiven": "failure",
        "after": "success",
        "fails": "failure",
        "skipped": "skipped",
        "always": "success",
        "onfail": "success",
    }
    assert fails.step("after").output == "failure success\n" and fails.step("always").output == "failure\n"
    assert fails.step("forgiven").code == 3
    assert run.job("last").steps[0].output == "skipped\n"
    # As on GitHub: `success()` asks of all that came before, through `last`.
    assert run.results == {"fails": "failure", "skipped": "skipped", "last": "success", "after_last": "skipped"}
    assert run.result == "failure"


def test_pipes_fail_only_where_bash_is_named(hub: Hub) -> None:
    run = start(
        hub,
        """
        on: push
        defaults: {run: {working-directory: sub}}
        jobs:
          one:
            runs-on: ubuntu-latest
            steps:
              - uses: actions/checkout@v4
              - {id: plain, run: "false | cat; pwd"}
              - {id: bash, shell: bash, working-directory: ., run: "pwd; false | cat; echo no"}
        """,
    )
    job = run.job("one")
    assert job.step("plain").outcome == "success" and job.step("plain").output.endswith("/sub\n")
    assert job.step("bash").outcome == "failure" and job.step("bash").output.endswith("/evals\n")


@pytest.mark.parametrize("here", [".", "$"])
def test_called_workflows_get_inputs_secrets_and_rights(hub: Hub, here: str) -> None:
    called = """
        on:
          workflow_call:
            inputs: {count: {type: number, default: 2}, fresh: {type: boolean}}
            secrets: {TOKEN: {required: true}}
            outputs: {said: {value: "${{ jobs.inner.outputs.said }}"}}
        jobs:
          inner:
            runs-on: ubuntu-latest
            permissions: {contents: %s}
            outputs: {said: "${{ steps.say.outputs.said }}"}
            steps:
              - id: say
                env: {TOKEN: "${{ secrets.TOKEN }}", KEY: "${{ secrets.KEY }}"}
                run: echo "said=${{ inputs.count }} ${{ inputs.fresh && 'yes' || 'no' }}" >> "$GITHUB_OUTPUT"
        """
    text = """
        on: push
        permissions: {contents: read}
        jobs:
          outer:
            uses: HERE/.github/workflows/called.yml
            with: {fresh: true}
            secrets: {TOKEN: "${{ secrets.KEY }}"}
          after: {needs: outer, runs-on: ubuntu-latest, steps: [{run: "echo ${{ needs.outer.outputs.said }}"}]}
        """
    folder = hub.folder / "checkout" / ".github" / "workflows"
    write_files(folder, {"called.yml": dedent(called % "read")})
    text = text.replace("HERE", here)
    run = start(hub, text)
    assert run.job("after").steps[0].output == "2 yes\n", run.report()
    assert run.job("outer/inner").steps[0].secrets == {"TOKEN"}
    write_files(folder, {"called.yml": dedent(called % "write")})
    with pytest.raises(PermissionsError, match="outer/inner requests contents: write"):
        start(hub, text)


def test_a_lost_machine_and_the_run_again(hub: Hub) -> None:
    text = """
        on: push
        jobs:
          plan: {runs-on: ubuntu-latest, steps: [{run: echo planned}]}
          shard:
            needs: plan
            runs-on: ubuntu-latest
            strategy: {fail-fast: false, matrix: {n: [1, 2]}}
            steps:
              - id: work
                run: |
                  setsid sleep 300 & echo begun > begun
                  if [ "$GITHUB_RUN_ATTEMPT" = 1 ] && [ ${{ matrix.n }} = 2 ]; then sleep 300; fi
              - {if: always(), run: echo never on a lost machine}
          finish: {needs: shard, if: always(), runs-on: ubuntu-latest, steps: [{run: "echo ${{ needs.shard.result }}"}]}
        """
    gone = Interruption("shard", "work", lambda workspace: (workspace / "begun").exists(), {"n": 2})
    start_time = time.monotonic()
    run = start(hub, text, interruption=gone)
    assert time.monotonic() - start_time < 60
    whole, killed = run.jobs("shard")
    assert (whole.result, len(whole.steps)) == ("success", 2)
    assert (killed.result, [s.code for s in killed.steps]) == ("failure", [None])
    assert all(not processes_with(job.steps[0].env["RUNNER_TRACKING_ID"]) for job in (whole, killed))
    assert run.job("finish").steps[0].output == "failure\n"
    again = run.rerun_failed()
    assert again.result == "success" and again.job("finish").steps[0].output == "success\n"
    assert again.jobs("plan") == run.jobs("plan") and again.jobs("shard")[0] is whole, "kept from the first attempt"


def test_somebody_cancels(hub: Hub) -> None:
    text = """
        on: push
        jobs:
          one:
            runs-on: ubuntu-latest
            steps:
              - {id: long, run: sleep 300}
              - {id: plain, run: echo no}
              - {id: cleanup, if: always(), run: echo cleaned}
          two: {needs: one, runs-on: ubuntu-latest, steps: [{run: echo no}]}
          last: {needs: one, if: always(), runs-on: ubuntu-latest, steps: [{run: echo last}]}
        """
    run = start(hub, text, interruption=Interruption("one", "long", lost=False))
    assert run.results == {"one": "cancelled", "two": "cancelled", "last": "success"}
    assert [s.outcome for s in run.job("one").steps] == ["cancelled", "skipped", "success"]
    after = start(hub, text.replace("sleep 300", "true"), stop_after="one")
    assert after.results == {"one": "success", "two": "cancelled", "last": "success"}


def test_an_interruption_that_cannot_happen_is_an_error(hub: Hub) -> None:
    text = "on: push\njobs: {one: {runs-on: ubuntu-latest, steps: [{run: 'true'}]}}\n"
    with pytest.raises(AssertionError, match="ended before"):
        start(hub, text, interruption=Interruption("one", "Run", lambda workspace: False))


def test_a_group_has_one_run_at_a_time_and_one_that_waits(hub: Hub, tmp_path: Path) -> None:
    text = f"""
        on: push
        concurrency: all
        jobs:
          one:
            runs-on: ubuntu-latest
            steps:
              - run: |
                  echo $GITHUB_RUN_ID >> {tmp_path}/began
                  until [ -e {tmp_path}/go ]; do sleep 0.05; done
        """
    runs: dict[int, WorkflowRun] = {}
    threads = []
    for n in range(3):
        threads.append(threading.Thread(target=lambda n=n: runs.update({n: start(hub, text)})))
        threads[-1].start()
        deadline = time.monotonic() + patience.seconds(30)
        while hub.groups.arrived("all") < n + 1:
            assert time.monotonic() < deadline
            time.sleep(0.02)
    (tmp_path / "go").touch()
    for thread in threads:
        thread.join(60)
    assert [runs[n].result for n in range(3)] == ["success", "cancelled", "success"]


PULL = """
    on: pull_request
    permissions: {}
    jobs:
      one:
        permissions: {contents: read, pull-requests: write}
        runs-on: ubuntu-latest
        steps:
          - uses: actions/checkout@v4
            with: {fetch-depth: 0, persist-credentials: false}
          - id: look
            env: {KEY: "${{ secrets.KEY }}", PLACE: "${{ vars.PLACE }}"}
            run: |
              echo "$KEY|$PLACE|$GITHUB_BASE_REF|$GITHUB_REF"
              git diff --name-only "origin/$GITHUB_BASE_REF..."
    """


@pytest.mark.parametrize("fork", [False, True])
def test_a_pull_request_is_checked_out_merged_and_a_fork_gets_nothing(hub: Hub, clone: Path, fork: bool) -> None:
    hub.vars["PLACE"] = "here"
    git(clone, "checkout", "-q", "-b", "change")
    write_files(clone, {"new.txt": "new\n"})
    git(clone, "add", "-A")
    git(clone, "-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-q", "-m", "Add")
    run = start(hub, PULL, hub.pull_request(clone, fork=fork))
    job = run.job("one")
    seen = "||" if fork else "s3cret-key|here|"
    assert job.step("look").output == f"{seen}main|refs/pull/1/merge\nnew.txt\n", run.report()
    assert job.rights == ({"contents": "read", "pull-requests": "read"} if fork else {**job.rights})
    assert job.rights["pull-requests"] == ("read" if fork else "write")


def test_caches_are_kept_by_key_and_branch(hub: Hub) -> None:
    text = """
        on: push
        jobs:
          one:
            runs-on: ubuntu-latest
            steps:
              - id: cache
                uses: actions/cache@v4
                with: {path: "~/store", key: "a-${{ github.run_id }}", restore-keys: a-}
              - id: see
                run: |
                  echo "${{ steps.cache.outputs.cache-hit }}|$(cat ~/store/file)"
                  mkdir -p ~/store; echo $GITHUB_RUN_ID > ~/store/file
        """
    assert [start(hub, text).job("one").step("see").output.splitlines()[-1] for _ in range(3)] == [
        "|",
        "false|1",
        "false|2",
    ]
    git(hub.repository, "branch", "other", "main")
    assert "false|3" in start(hub, text, hub.pushed("other")).job("one").output
    assert "false|3" in start(hub, text).job("one").output, "not of the other branch"


def test_inputs_are_typed_and_checked(hub: Hub) -> None:
    text = """
        on:
          workflow_dispatch:
            inputs:
              level: {type: choice, options: [low, high], default: low}
              fresh: {type: boolean, default: false}
              name: {required: true}
        jobs:
          one:
            runs-on: ubuntu-latest
            steps: [{run: "echo '${{ inputs.level }} ${{ inputs.fresh && 1 || 2 }} ${{ inputs.name }}'"}]
        """
    run = start(hub, text, hub.dispatched(name="x", fresh="true"))
    assert run.job("one").steps[0].output == "low 1 x\n"
    for wrong, message in (({}, "required"), ({"name": "x", "level": "mid"}, "allowed values"), ({"nam": 1}, "nam")):
        with pytest.raises(InputError, match=message):
            start(hub, text, hub.dispatched(**wrong))


@pytest.mark.parametrize(
    ("job", "message"),
    [
        ("{runs-on: x, steps: [{uses: someone/unknown@v1}]}", "no action someone/unknown"),
        ("{runs-on: x, services: {}, steps: []}", "services"),
        ("{runs-on: x, steps: [{run: 'true', shel: bash}]}", "shel"),
        ("{runs-on: x, needs: gone, steps: []}", "needs gone"),
        ("{runs-on: x, strategy: {matrix: {a: [1]}}, steps: []}", "fail-fast"),
    ],
)
def test_what_the_runner_does_not_know_is_an_error(hub: Hub, job: str, message: str) -> None:
    with pytest.raises(UnsupportedWorkflow, match=message):
        start(hub, f"on: push\njobs: {{one: {job}}}\n")


def test_a_context_that_github_does_not_have_there_is_an_error(hub: Hub) -> None:
    with pytest.raises(ExpressionError, match="no context 'secrets'"):
        start(hub, "on: push\njobs: {one: {runs-on: x, if: secrets.KEY != '', steps: []}}\n")
    with pytest.raises(ExpressionError, match="no context 'secrets'"):
        start(hub, "on: push\njobs: {one: {runs-on: x, steps: [{if: secrets.KEY != '', run: 'true'}]}}\n")


def test_what_tests_must_not_do_is_recorded(hub: Hub) -> None:
    script = "sudo apt-get install -y -q x && pip install y && cli --version"
    text = f"on: push\njobs: {{one: {{runs-on: x, steps: [{{run: {script}}}]}}}}\n"
    assert "convex-evals" in start(hub, text).report()
    assert hub.calls() == ["sudo apt-get install -y -q x", "pip install y"]


def test_an_unknown_input_fails_its_step(hub: Hub) -> None:
    run = start(hub, "on: push\njobs: {one: {runs-on: x, steps: [{uses: actions/checkout@v4, with: {reff: x}}]}}\n")
    assert run.result == "failure" and "unexpected inputs: reff" in run.report()
