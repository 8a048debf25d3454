"""`cli completion`"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, Invoke


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("ZDOTDIR", raising=False)
    return folder


@pytest.mark.parametrize(
    ("shell", "name"), [("bash", ".bashrc"), ("zsh", ".zshrc"), ("fish", ".config/fish/completions/cli.fish")]
)
def test_completion_is_installed_once(
    shell: str, name: str, home: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", f"/usr/bin/{shell}")
    if shell != "fish":
        (home / name).write_text("alias ll='ls -l'")
    result = invoke("completion", "install")
    assert result.out == f"{home / name}: completion for {shell} is installed; open a new shell to use it\n"
    first = (home / name).read_text()
    assert invoke("completion", "show", shell).out in first
    assert shell == "fish" or first.startswith("alias ll='ls -l'\n# >>> cli")
    with (home / name).open("a") as file:
        file.write("# mine\n" if shell != "fish" else "")
    assert invoke("completion", "install", shell).status == 0
    assert (home / name).read_text() == first + ("# mine\n" if shell != "fish" else "")


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


def test_what_is_installed_completes() -> None:
    """As the installed script asks it."""
    env = {**os.environ, "_CLI_COMPLETE": "bash_complete", "COMP_WORDS": "cli mat", "COMP_CWORD": "1"}
    command = [sys.executable, "-c", "import sys; sys.argv[0] = 'cli'; from convex_evals.cli.app import main; main()"]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["plain,matrix"], done.stderr
