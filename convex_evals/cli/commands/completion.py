"""`cli completion`"""

from __future__ import annotations

import os
from pathlib import Path

import click

from convex_evals.render.output import say

SHELLS = ("bash", "zsh", "fish")
# Under which pip installs the command.
_NAMES = ("cli", "convex-evals")
# Beginning and end of what is ours in a file that is the user's.
_BEGIN, _END = "# >>> cli completion >>>", "# <<< cli completion <<<"


@click.group()
def completion() -> None:
    """Let the shell complete commands and options on Tab.

    \b
    Examples:
      cli completion install
      cli completion show zsh
    """


@completion.command()
@click.argument("shell", type=click.Choice(SHELLS), required=False)
def install(shell: str | None) -> None:
    """Install completion for SHELL, by default the one in $SHELL; again brings it up to date.

    Writes to ~/.bashrc or ~/.zshrc, between two marks, or to files of its own for fish. Covers both names of the
    command, cli and convex-evals.

    \b
    Examples:
      cli completion install
      cli completion install fish
    """
    from convex_evals.errors import UserError

    chosen = shell or _own_shell()
    path = _place_of(chosen)
    try:
        if chosen == "fish":
            for name in _NAMES:
                _write(path / f"{name}.fish", _script(chosen, name))
        else:
            _write(path, _installed(path, "".join(_script(chosen, name) for name in _NAMES)))
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from None
    say(f"{path}: completion for {chosen} is installed; open a new shell to use it")


@completion.command()
@click.argument("shell", type=click.Choice(SHELLS))
def show(shell: str) -> None:
    """Print what `cli completion install` installs.

    \b
    Examples:
      cli completion show bash
    """
    say("".join(_script(shell, name) for name in _NAMES), end="")


def _own_shell() -> str:
    name = Path(os.environ.get("SHELL", "")).name
    if name not in SHELLS:
        raise click.UsageError(f"$SHELL names none of {', '.join(SHELLS)}; give one: `cli completion install bash`")
    return name


def _write(path: Path, text: str) -> None:
    from convex_evals.store.files import write_atomic

    path.parent.mkdir(parents=True, exist_ok=True)
    # A dotfile may be a link into a repository of dotfiles.
    write_atomic(path.resolve(), text)


def _place_of(shell: str) -> Path:
    """The file that the shell reads when it starts; for fish, the folder with a file for each command."""
    home = Path.home()
    if shell == "fish":
        settings = os.environ.get("XDG_CONFIG_HOME")
        return (Path(settings) if settings else home / ".config") / "fish" / "completions"
    return (Path(os.environ.get("ZDOTDIR") or home) if shell == "zsh" else home) / f".{shell}rc"


def _script(shell: str, name: str) -> str:
    from click.shell_completion import get_completion_class

    from convex_evals.cli.app import cli

    found = get_completion_class(shell)
    assert found is not None
    variable = f"_{name.replace('-', '_').upper()}_COMPLETE"  # where Click looks
    return found(cli, {}, name, variable).source().rstrip() + "\n"


def _installed(path: Path, script: str) -> str:
    """The file's text with our part once, at its place or at the end. Raises `UserError` where a mark is missing."""
    from convex_evals.errors import UserError
    from convex_evals.text import read_text

    old = read_text(path) if path.exists() else ""
    ours = f"{_BEGIN}\n{script}{_END}\n"
    before, begin, rest = old.partition(f"{_BEGIN}\n")
    _, end, after = rest.partition(f"{_END}\n")
    if begin and not end:
        raise UserError(f"{path}: has '{_BEGIN}' without '{_END}'; remove that part and try again")
    if begin:
        return before + ours + after
    return f"{old}{'' if not old or old.endswith(chr(10)) else chr(10)}{ours}"
