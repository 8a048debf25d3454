"""The package as newcomers have it: a wheel in an environment of its own, away from any checkout."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import httpx
import pytest
from packaging.requirements import Requirement

from convex_evals.suite.extract import render_response
from convex_evals.suite.suite import load_suite
from tests.conftest import ROOT, clean_environment
from tests.end_to_end.repositories import commit_staged, git
from tests.factories import write_files
from tests.patience import seconds
from tests.provider import Provider, models_yaml, serve

pytestmark = pytest.mark.full
REPOSITORY = "https://git.example.org/acme/convex-evals"
# Of leaderboard/, what deployments do not need.
LEFT_OUT = {"leaderboard/.gitignore", "leaderboard/tests/time.test.ts", "leaderboard/vitest.config.ts"}


@dataclass(frozen=True)
class Installed:
    """The wheel in a virtual environment, whose other packages are those that these tests run with."""

    source: Path
    wheel: Path
    venv: Path
    home: Path

    @property
    def commit(self) -> str:
        return git(self.source, "rev-parse", "HEAD")

    @property
    def environment(self) -> dict[str, str]:
        return clean_environment(PATH=f"{self.venv / 'bin'}:{os.environ['PATH']}", HOME=str(self.home))

    def cli(self, folder: Path, *words: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a command, which says nothing of where the package is."""
        done = subprocess.run(
            [str(self.venv / "bin" / "convex-evals"), *words],
            cwd=folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds(300),
        )
        said = done.stdout + done.stderr
        assert done.returncode == status, said
        assert "site-packages" not in said and str(self.venv) not in said, said
        return done


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("wheel")
    source, venv = commit_staged(folder / "source"), folder / "venv"
    git(source, "remote", "add", "origin", f"{REPOSITORY}.git")
    git(source, "update-ref", "refs/remotes/origin/main", "HEAD")
    write_files(source, {"leaderboard/.env.local": "CONVEX_DEPLOYMENT=dev:x", "leaderboard/node_modules/a/x.js": ""})
    write_files(source, {"leaderboard/convex/_generated/api.js": ""})
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    build = ["wheel", "-q", "--no-deps", "--no-index", "--no-build-isolation", "-w", str(folder / "dist"), str(source)]
    subprocess.run([*pip, *build], check=True)
    (wheel,) = (folder / "dist").glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    (packages,) = venv.glob("lib/python3*/site-packages")
    (packages / "others.pth").write_text(f"{metadata.distribution('click').locate_file('')}\n")
    install = ["--python", str(venv), "install", "-q", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([*pip, *install], check=True)
    (folder / "home").mkdir()
    return Installed(source, wheel, venv, folder / "home")


@pytest.fixture
def suite(installed: Installed, tmp_path: Path) -> Path:
    installed.cli(tmp_path, "init", "mine")
    return tmp_path / "mine"


def commit(suite: Path) -> None:
    git(suite, "init", "-q")
    git(suite, "add", "--all")
    git(suite, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "-m", "Begin")


def test_the_leaderboard_app_and_the_origin_are_in_it(installed: Installed) -> None:
    with zipfile.ZipFile(installed.wheel) as wheel:
        app = {name for name in wheel.namelist() if name.startswith("convex_evals/leaderboard_app/")}
        origin = json.loads(wheel.read("convex_evals/origin.json"))
    committed = set(git(installed.source, "ls-files", "leaderboard").splitlines())
    assert app == {f"convex_evals/leaderboard_app/{path.partition('/')[2]}" for path in committed - LEFT_OUT}
    assert origin == {"repository": REPOSITORY, "commit": installed.commit, "tag": None}


def test_what_init_writes_installs_the_same_commit_and_links_to_its_pages(installed: Installed, suite: Path) -> None:
    (line,) = [line for line in (suite / "requirements.txt").read_text().splitlines() if not line.startswith("#")]
    assert Requirement(line).url == f"git+{REPOSITORY}@{installed.commit}"
    texts = [path.read_text() for path in suite.rglob("*") if path.is_file()]
    texts.append(installed.cli(suite, "new-eval", "fundamentals", "second").stdout)
    said = "\n".join(texts)
    linked = set(re.findall(rf"{re.escape(REPOSITORY)}/blob/{installed.commit}/([\w/-]+\.md)", said))
    assert {"docs/automation.md", "docs/formats.md", "docs/schedule.md", "docs/writing-evals.md"} <= linked
    assert [path for path in linked if not (ROOT / path).is_file()] == []
    assert re.findall(r"(?<![\w/])docs/[\w-]+\.md", said) == []


@pytest.mark.grading
@pytest.mark.usefixtures("toolchain")
def test_the_first_commands_work_in_an_empty_folder(installed: Installed, tmp_path: Path) -> None:
    lost = installed.cli(tmp_path, "run", "-m", "demo", status=1)
    assert "make one with `cli init DIR`" in lost.stderr
    installed.cli(tmp_path, "init", "mine")
    suite = tmp_path / "mine"
    commit(suite)
    assert "All verdicts are as expected." in installed.cli(suite, "validate").stdout
    (demo,) = json.loads(installed.cli(suite, "run", "-m", "demo", "--trials", "2", "--json").stdout)
    trials = json.loads(installed.cli(suite, "show", "last", "greeting", "--json").stdout)["trials"]
    assert demo["synthetic"] and [trial["outcome"] for trial in trials] == ["passed", "failed"]
    installed.cli(suite, "run", "-m", "reference")
    assert "reference/answers" in installed.cli(suite, "list").stdout
    assert "Not ranked: 2 synthetic." in installed.cli(suite, "leaderboard").stdout
    compared = installed.cli(suite, "compare", "model=demo/recorded", "model=reference/answers")
    assert "too few to tell" in compared.stdout
    assert "1 failure" in installed.cli(suite, "report", Path(demo["folder"]).name).stdout
    assert "the texts are the same" in installed.cli(suite, "diff-guidelines", "HEAD").stdout
    assert "local: no run to publish: 2 synthetic" in installed.cli(suite, "publish", "--to", "local").stdout
    installed.cli(suite, "new-eval", "fundamentals", "second")
    unknown = installed.cli(suite, "run", "-m", "demo", "-f", "second", status=1)
    assert "no reply to any of these 1 evals in the demo" in unknown.stderr


@pytest.mark.grading
@pytest.mark.usefixtures("toolchain")
def test_a_run_is_published_to_the_leaderboard_on_this_machine(installed: Installed, suite: Path) -> None:
    reply = render_response(load_suite(suite).evals[0].answer().files)
    with serve(Provider(reply=reply)) as stub:
        write_files(suite, {"models.yaml": models_yaml(stub.url), ".env": "STUB_KEY=x\n"})
        commit(suite)
        (run,) = json.loads(installed.cli(suite, "run", "-m", "stub/model", "--json").stdout)
    assert run["pass_rates"]["all"]["pass_rate"] == 1
    installed.cli(suite, "benchmark", "mint", "v1")
    commit(suite)
    assert "1 trial on" in installed.cli(suite, "publish", "--mint", "--to", "local").stdout
    serving = subprocess.Popen(
        [str(installed.venv / "bin" / "convex-evals"), "leaderboard", "serve", "--port", "0", "--json"],
        cwd=suite,
        env=installed.environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert serving.stdout is not None
        told = ""
        while not told.rstrip().endswith("}"):
            line = serving.stdout.readline()
            assert line, told
            told += line
        shown = httpx.get(f"{json.loads(told)['site_url']}/api/leaderboard.json").json()
    finally:
        serving.send_signal(signal.SIGTERM)
        serving.communicate(timeout=seconds(60))
    assert [model["model"] for model in shown["models"]] == ["stub/model"], shown
