"""`cli completion`"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, Invoke

# As pip installs the command.
NAMES = ("cli", "convex-evals")
FUNCTIONS = {"cli": "_cli_completion", "convex-evals": "_convex_evals_completion"}
MAIN = "from convex_evals.cli.app import main; main()"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("ZDOTDIR", raising=False)
    return folder


@pytest.mark.parametrize(("shell", "name"), [("bash", ".bashrc"), ("zsh", ".zshrc")])
def test_completion_is_installed_once(
    shell: str, name: str, home: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", f"/usr/bin/{shell}")
    (home / name).write_text("alias ll='ls -l'")
    result = invoke("completion", "install")
    assert result.out == f"{home / name}: completion for {shell} is installed; open a new shell to use it\n"
    first = (home / name).read_text()
    assert invoke("completion", "show", shell).out in first
    assert first.startswith("alias ll='ls -l'\n# >>> cli")
    with (home / name).open("a") as file:
        file.write("# mine\n")
    assert invoke("completion", "install", shell).status == 0
    assert (home / name).read_text() == first + "# mine\n"


def test_fish_looks_for_a_file_of_each_name(home: Path, invoke: Invoke) -> None:
    folder = home / ".config" / "fish" / "completions"
    for _ in range(2):
        result = invoke("completion", "install", "fish")
        assert result.out == f"{folder}: completion for fish is installed; open a new shell to use it\n"
    texts = [(folder / f"{name}.fish").read_text() for name in NAMES]
    assert "".join(texts) == invoke("completion", "show", "fish").out
    for name, text in zip(NAMES, texts, strict=True):
        assert f"--command {name} " in text


def test_bash_completes_both_names(home: Path, invoke: Invoke) -> None:
    invoke("completion", "install", "bash")
    for name in NAMES:
        (home / "bin").mkdir(exist_ok=True)
        program = home / "bin" / name
        program.write_text(f"#!/bin/sh\nexec {sys.executable} -c 'import sys; sys.argv[0] = \"{name}\"; {MAIN}'\n")
        program.chmod(0o755)
        ask = f'COMP_WORDS=({name} mat); COMP_CWORD=1; {FUNCTIONS[name]} {name}; echo "${{COMPREPLY[@]}}"'
        script = f"source {home / '.bashrc'}; complete -p {name}; {ask}"
        env = {**os.environ, "PATH": f"{home / 'bin'}:/usr/bin:/bin", "PYTHONPATH": str(ROOT)}
        done = subprocess.run(["bash", "--norc", "-c", script], env=env, capture_output=True, text=True, check=False)
        rule, *found = done.stdout.splitlines()
        assert rule == f"complete -o nosort -F {FUNCTIONS[name]} {name}" and found == ["matrix"], done


def test_an_unknown_shell_is_asked_for(home: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/dash")
    result = invoke("completion", "install")
    assert result.status == 2 and "give one: `cli completion install bash`" in result.err
    assert list(home.iterdir()) == []


def test_a_damaged_part_is_left_alone(home: Path, invoke: Invoke) -> None:
    (home / ".bashrc").write_text("# >>> cli completion >>>\nhalf\n")
    result = invoke("completion", "install", "bash")
    assert result.status == 1 and "remove that part and try again" in result.err
    assert (home / ".bashrc").read_text() == "# >>> cli completion >>>\nhalf\n"
