"""The draft of an eval: its files, and in them a line for each thing that a person still has to write.

Such a line begins with `DRAFT`, the session and the number of the message where it stood; `suite/drafts.py` finds it,
and `cli validate` does not grade an eval that has one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from convex_evals.errors import UserError
from convex_evals.sessions.drafting.edits import checks_of, steps
from convex_evals.sessions.drafting.project import functions_of, project_of, root_of
from convex_evals.sessions.drafting.steps import text_of
from convex_evals.sessions.drafting.tree import FileTree
from convex_evals.sessions.exchanges import Exchange, turns
from convex_evals.sessions.message import Message
from convex_evals.suite.drafts import draft_line
from convex_evals.suite.extract import files_problem
from convex_evals.suite.starter import EXAMPLE
from convex_evals.suite.suite import CONFIG_NAME, DELETE_NAME, GRADER_NAME, REASON_NAME, TASK_NAME
from convex_evals.text import and_more, read_text, shortened, spelled_out

_MOST_WRONG = 3
_MOST_CHECKS = 20
_LONGEST_LINE = 100


@dataclass(frozen=True)
class Draft:
    """Files of an eval's folder, by their paths there, and what a person should know of how they came about."""

    files: Mapping[str, str]
    notes: Sequence[str]


@dataclass(frozen=True)
class _State:
    """The project at the end of a turn."""

    turn: Exchange
    project: Mapping[str, str]


def draft_of(session_id: str, messages: Sequence[Message]) -> Draft:
    """Draft an eval of a session. Raises `UserError` where it has no Convex project."""
    tree, states = _replay(messages)
    if not states:
        lost = "".join(f"; {problem}" for problem in list(tree.problems.values())[:1])
        raise UserError(f"session {session_id[:8]}: no file below a folder convex/ is written or shown in it{lost}")
    if problem := files_problem(states[-1].project):
        raise UserError(f"the project of this session cannot be an answer: {problem}")
    last, asked = states[-1], [turn for turn in turns(messages) if turn.request.strip()]
    maker = _Maker(session_id, asked, last, tree)
    package = {} if "package.json" in last.project else {"answer/package.json": _package()}
    files = {
        TASK_NAME: maker.task(),
        CONFIG_NAME: maker.config(),
        GRADER_NAME: maker.grader(checks_of(messages)),
        **package,
        **{f"answer/{path}": text for path, text in last.project.items()},
        **maker.wrong(states[:-1]),
    }
    return Draft(files, [*maker.notes(bool(package))])


def _package() -> str:
    """That of the example which new evals begin as."""
    return read_text(EXAMPLE / "answer" / "package.json").replace("greeting", "project")


def _replay(messages: Sequence[Message]) -> tuple[FileTree, list[_State]]:
    """The files at the end, and the project after each turn that changed it."""
    everything, tree = list(steps(messages)), FileTree()
    found = turns(messages)
    snapshots, at = [], 0
    for turn, following in zip_longest(found, found[1:]):
        end = following.at if following else len(messages)
        while at < len(everything) and everything[at].message <= end:
            tree.apply(everything[at])
            at += 1
        snapshots.append((turn, tree.snapshot()))
    root = root_of(tree.written_by) or root_of(tree.files)
    states: list[_State] = []
    for turn, files in snapshots if root is not None else ():
        project = project_of(files, root or "")
        is_new = not states or project != states[-1].project
        if is_new and any(path.startswith("convex/") for path in project):
            states.append(_State(turn, project))
    return tree, states


@dataclass(frozen=True)
class _Maker:
    session_id: str
    asked: Sequence[Exchange]
    last: _State
    tree: FileTree

    def _todo(self, what: str, message: int | None = None) -> str:
        return draft_line(self.session_id, message, what)

    def task(self) -> str:
        """What was asked, first and later."""
        first, *later = self.asked or [self.last.turn]
        parts = [
            self._todo(
                "make a task of this: name files, functions, arguments and results, and not the way; "
                "the model sees this text alone",
                first.at + 1,
            ),
            first.request.strip("\n"),
        ]
        for turn in later:
            parts += [
                self._todo("asked or corrected later: put what of it matters into the task above", turn.at + 1),
                turn.request.strip("\n"),
            ]
        return "\n\n".join(parts) + "\n"

    def config(self) -> str:
        return f"# {self._todo('write `concept:`, the one thing that a model must know to pass, in one line')}\n"

    def grader(self, checks: Sequence[tuple[int, str, bool]]) -> str:
        """A test for each function, and what was checked in the session."""
        functions = functions_of(self.last.project)
        clients = {_client_of(kind): None for _, _, kind in functions} or {"anonymousClient": None}
        lines = [
            'import { anyApi } from "convex/server";',
            f'import {{ {", ".join(sorted(clients))} }} from "convex-evals/grader";',
            'import { expect, test } from "vitest";',
            "",
        ]
        if checks:
            lines.append("// In the session these looked at the result:")
            shown = checks[-_MOST_CHECKS:]
            lines += [f"//   message {at}: {_on_one_line(text)}{' (failed)' if bad else ''}" for at, text, bad in shown]
        lines.append(f"// {self._todo('test what the task says and nothing else, by what clients see')}")
        for path, name, kind in functions:
            module = path.removeprefix("convex/").removesuffix(".ts")
            # The tree's paths are the agent's.
            number = next((at for each, at in self.tree.written_by.items() if each.endswith(path)), None)
            call = kind.removeprefix("internal").lower()
            way = "".join(f'["{part}"]' if not part.isidentifier() else f".{part}" for part in module.split("/"))
            lines += [
                "",
                f'test("{module}:{name}", async () => {{',
                f"  // {self._todo(f'say with which arguments, and what `{name}` must return', number)}",
                f'  expect(await {_client_of(kind)}().{call}(anyApi{way}.{name}, {{}})).toEqual("what the task says");',
                "});",
            ]
        if not functions:
            lines += ["", 'test("does what the task says", async () => {', '  expect("nothing").toBe("tested");', "});"]
        return "\n".join(lines) + "\n"

    def wrong(self, earlier: Sequence[_State]) -> dict[str, str]:
        """The states after which a person asked for something else, as projects that must not pass."""
        files: dict[str, str] = {}
        for state in earlier[-_MOST_WRONG:]:
            following = next((turn for turn in self.asked if turn.at > state.turn.at), None)
            overlay = {path: text for path, text in state.project.items() if self.last.project.get(path) != text}
            gone = [path for path in self.last.project if path not in state.project and path != "package.json"]
            if following is None or not (overlay or gone):
                continue
            folder = f"wrong/before-message-{following.at + 1}"
            files |= {f"{folder}/{path}": text for path, text in overlay.items()}
            if gone:
                files[f"{folder}/{DELETE_NAME}"] = text_of(gone)
            what = "say which one mistake this is and take out what else differs from answer/, or delete this folder"
            said = _on_one_line(following.request, 300)
            reason = f"{self._todo(what, following.at + 1)}\nThe person said then: {said}\ncaught by: tests\n"
            files[f"{folder}/{REASON_NAME}"] = reason
        return files

    def notes(self, no_package: bool) -> Iterator[str]:
        """What could not be taken over as it was."""
        if no_package:
            yield "the session shows no package.json; answer/package.json depends on convex alone"
        yield from self.tree.problems.values()
        if redacted := [path for path, text in self.last.project.items() if "[REDACTED:" in text]:
            yield f"{redacted[0]}{and_more(len(redacted) - 1)}: something was redacted in it"


def _client_of(kind: str) -> str:
    return "adminClient" if kind.startswith("internal") else "anonymousClient"


def _on_one_line(text: str, most: int = _LONGEST_LINE) -> str:
    return shortened(spelled_out(" ".join(text.split())), most)
