"""What agents did to files, replayed; and the draft of an eval that is made of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.errors import UserError
from convex_evals.sessions.drafting.draft import draft_of
from convex_evals.sessions.drafting.edits import checks_of, steps
from convex_evals.sessions.drafting.patches import parse_patch
from convex_evals.sessions.drafting.project import functions_of, project_of, root_of
from convex_evals.sessions.drafting.shell import is_check, shell_edits
from convex_evals.sessions.drafting.steps import Edit, EditStep, Move, Remove, Replace, Seen, Unreplayable, Write
from convex_evals.sessions.drafting.tree import FileTree
from convex_evals.sessions.drafting.written import edits_of_text
from convex_evals.sessions.message import Message, ToolCall
from convex_evals.suite.drafts import draft_line, left_to_write

A = "convex/a.ts"
ID = "3fa1c2d4" + "0" * 12


def called(name: str, arguments: Any, result: str | None = "ok", is_error: bool = False) -> list[Message]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    found = [Message("assistant", None, tool_calls=(ToolCall("1", name, text),))]
    return found if result is None else [*found, Message("tool", result, name, tool_call_id="1", is_error=is_error)]


def edits(messages: Sequence[Message]) -> list[Edit]:
    return [step.edit for step in steps(messages)]


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("Write", {"file_path": A, "content": "x"}, [Write(A, "x")]),
        ("write_file", {"file_path": A, "content": ""}, [Write(A, "")]),
        ("create", {"path": A, "file_text": "x"}, [Write(A, "x")]),
        ("write", {"filePath": A, "content": "x"}, [Write(A, "x")]),
        ("str_replace_editor", {"command": "create", "path": A, "file_text": "x"}, [Write(A, "x")]),
        (
            "str_replace_editor",
            {"command": "str_replace", "path": A, "old_str": "x", "new_str": ""},
            [Replace(A, "x", "")],
        ),
        (
            "str_replace_editor",
            {"command": "insert", "path": A, "insert_line": 1, "new_str": "x"},
            [Unreplayable(A, "str_replace_editor")],
        ),
        ("Edit", {"file_path": A, "old_string": "x", "new_string": "y"}, [Replace(A, "x", "y")]),
        (
            "Edit",
            {"file_path": A, "old_string": "x", "new_string": "y", "replace_all": True},
            [Replace(A, "x", "y", True)],
        ),
        ("Edit", {"file_path": A, "old_string": "", "new_string": "y"}, [Write(A, "y")]),
        ("edit", {"filePath": A, "oldString": "x", "newString": "y"}, [Replace(A, "x", "y")]),
        (
            "replace",
            {"file_path": A, "old_string": "x", "new_string": "y", "expected_replacements": 2},
            [Replace(A, "x", "y", True)],
        ),
        (
            "MultiEdit",
            {"file_path": A, "edits": [{"old_string": "x", "new_string": "y"}, {"old_string": "y", "new_string": "z"}]},
            [Replace(A, "x", "y"), Replace(A, "y", "z")],
        ),
        ("edit_file", {"target_file": A, "code_edit": "whole"}, [Write(A, "whole")]),
        ("edit_file", {"target_file": A, "code_edit": "// ... existing code ...\nx"}, [Unreplayable(A, "edit_file")]),
        (
            "shell",
            {"command": ["bash", "-lc", "rm convex/a.ts && mv convex/b.ts convex/c.ts"]},
            [Remove(A), Move("convex/b.ts", "convex/c.ts")],
        ),
        ("Bash", {"command": "cat > convex/a.ts <<'EOF'\nx\nEOF\nnpx tsc"}, [Write(A, "x\n")]),
        ("apply_patch", "*** Begin Patch\n*** Delete File: convex/a.ts\n*** End Patch", [Remove(A)]),
        (
            "shell",
            {"command": ["apply_patch", "*** Begin Patch\n*** Add File: convex/a.ts\n+x\n*** End Patch"]},
            [Write(A, "x\n")],
        ),
        ("Read", {"file_path": A}, [Seen(A, "ok\n")]),
        ("Read", {"file_path": A, "limit": 3}, []),
        ("Bash", {"command": "cat convex/a.ts"}, [Seen(A, "ok\n")]),
        ("shell", {"command": ["bash", "-lc", "cd x && sed -n '1,200p' convex/a.ts"]}, [Seen(A, "ok\n")]),
        ("exec_command", {"cmd": "nl -ba convex/a.ts | sed -n '1,20p'"}, [Seen(A, "ok\n")]),
        ("exec_command", {"cmd": "sed -n 1,1p convex/a.ts"}, []),
        ("exec_command", {"cmd": "sed -n 20,40p convex/a.ts"}, []),
        ("Bash", {"command": "head -50 convex/a.ts"}, [Seen(A, "ok\n")]),
        ("Bash", {"command": "cat convex/a.ts | head"}, []),
        ("Grep", {"path": A, "pattern": "x"}, []),
        ("mcp__mail__send", {"path": A, "content": "x"}, []),
        ("Write", "{broken", []),
        ("Write", [1], []),
        ("Write", {"file_path": 3, "content": "x"}, []),
    ],
)
def test_calls_of_tools_are_edits(name: str, arguments: Any, expected: list[Edit]) -> None:
    assert edits(called(name, arguments)) == expected


UNITS = (
    *(
        "\n",
        " ",
        "<system-reminder>",
        "```\n",
        "<<<<<<< SEARCH\n",
        "cat a <<EOF\n",
        "rm a;",
        "mv a b ",
        "// convex/a.ts\n",
    ),
    *(
        "*** Update File: a\n",
        "*** Begin Patch\n",
        "(End of file",
        "a/",
        "`",
        "\n(End of file - 1)\n",
        "cat ",
        "rm -f ",
    ),
    *("DRAFT 3fa1c2d4: ", "cat > a ", "git ", "; "),
)


@pytest.mark.parametrize("unit", UNITS)
def test_the_time_for_a_text_grows_with_its_length(unit: str) -> None:
    """A square of it would take hours."""
    text = unit * (500_000 // len(unit))
    for messages in (
        [Message("assistant", text)],
        called("Read", {"file_path": A}, text),
        called("Read", {"file_path": A}, f"<file>\n{text}\n</file>"),
        called("Bash", {"command": text}),
        called("apply_patch", text),
        called("Write", {"file_path": A, "content": text}),
    ):
        tree = FileTree()
        for step in steps(messages):
            tree.apply(step)
    list(left_to_write(text))


def test_calls_that_failed_did_nothing_and_those_without_an_answer_did() -> None:
    arguments = {"file_path": A, "content": "x"}
    assert edits(called("Write", arguments, "no such folder", is_error=True)) == []
    assert edits(called("Write", arguments, None)) == [Write(A, "x")]
    assert edits([Message("user", f"`{A}`\n```ts\nx\n```")]) == []


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        ("     1→import x\n     2→\n     3→y", "import x\n\ny\n"),
        ("     1\tx\n\n<system-reminder>\nlong\n</system-reminder>\n", "x\n"),
        ("<file>\n00001| x\n00002| y\n</file>", "x\ny\n"),
        ("<file>\n00001| x\n\n(End of file - total 1 lines)\n</file>", "x\n"),
        (
            "<path>a</path>\n<content>\n1: x\n2: \n3:   y\n\n(End of file - total 3 lines)\n</content>",
            "x\n\n  y\n",
        ),
        ("x\n1 y", "x\n1 y\n"),
    ],
)
def test_a_file_is_told_from_what_agents_put_around_it(shown: str, text: str) -> None:
    assert edits(called("Read", {"file_path": A}, shown)) == [Seen(A, text)]


@pytest.mark.parametrize(
    "shown", ["x\n(File has more lines. Use 'offset')", "a\n…12 tokens truncated…\nb", "[... omitted 3 of 9 lines ...]"]
)
def test_a_file_that_was_shown_in_part_is_not_known(shown: str) -> None:
    assert edits(called("Read", {"file_path": A}, shown)) == []


PATCH = """*** Begin Patch
*** Add File: convex/new.ts
+one
++two
*** Update File: convex/a.ts
*** Move to: convex/b.ts
@@ function
 before
-old
+new

@@
-gone
*** End of File
*** Delete File: convex/c.ts
"""


def test_a_patch_is_several_edits() -> None:
    assert list(parse_patch(PATCH)) == [
        Write("convex/new.ts", "one\n+two\n"),
        Replace(A, "before\nold\n\n", "before\nnew\n\n"),
        Replace(A, "gone\n", ""),
        Move(A, "convex/b.ts"),
        Remove("convex/c.ts"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**convex/a.ts**\n\n```ts\nx\n```", [Write(A, "x\n")]),
        ("### `convex/a.ts`\n```ts\nx\n```", [Write(A, "x\n")]),
        ("In `convex/a.ts`:\n```ts\nx\n```\nand\n```ts\ny\n```", [Write(A, "x\n")]),
        ("```ts:convex/a.ts\nx\n```", [Write(A, "x\n")]),
        ('```ts title="convex/a.ts"\nx\n```', [Write(A, "x\n")]),
        ("```ts\n// convex/a.ts\nx\n```", [Write(A, "x\n")]),
        ("Unlike `a/b.ts` and `c/d.ts`:\n```ts\nx\n```", []),
        ("```sh\nnpx convex dev\n```", []),
        ("convex/a.ts\n```ts\n// ... existing code ...\nx\n```", [Unreplayable(A, "the reply")]),
        ("convex/a.ts\n```ts\nx", [Write(A, "x\n")]),
        ("convex/a.ts\n````md\n```ts\nx\n```\n````", [Write(A, "```ts\nx\n```\n")]),
        ("convex/a.ts\n```\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n```", [Replace(A, "x\n", "y\n")]),
        ("```\nconvex/a.ts\n<<<<<<< SEARCH\n=======\ny\n>>>>>>> REPLACE\n```", [Write(A, "y\n")]),
    ],
)
def test_code_under_a_path_is_a_file(text: str, expected: list[Edit]) -> None:
    assert list(edits_of_text(text)) == expected


@given(st.text(alphabet="*`~<=>SEARCH/ .ts\nconvex+-@#P", max_size=300))
def test_no_text_is_too_odd_to_be_read(text: str) -> None:
    for found in (edits_of_text(text), parse_patch(text), shell_edits(text)):
        list(found)
    tree = FileTree()
    for message in (Message("assistant", text), *called("Bash", {"command": text}), *called("apply_patch", text)):
        for step in steps([message]):
            tree.apply(step)


@given(
    st.lists(st.text(alphabet="ab\n+-@* ", max_size=12), max_size=6),
    st.lists(st.text(alphabet="ab +-", max_size=5), max_size=4),
)
def test_what_is_written_in_a_patch_is_read_from_it(others: list[str], lines: list[str]) -> None:
    added = "".join(f"+{line}\n" for line in lines)
    [edit] = parse_patch(f"*** Begin Patch\n*** Add File: {A}\n{added}")
    assert edit == Write(A, "".join(f"{line}\n" for line in lines))


def tree_of(*found: Edit) -> FileTree:
    tree = FileTree()
    for number, edit in enumerate(found, 1):
        tree.apply(EditStep(number, edit))
    return tree


def test_edits_are_replayed() -> None:
    tree = tree_of(
        *(Seen(f"~/shop/{A}", "a\nb\na\n"), Replace(A, "b", "c"), Replace(f"./{A}", "a", "d", everywhere=True)),
        *(
            Write("convex/b.ts", "x"),
            Move("convex/b.ts", "convex/c.ts"),
            Write("convex/d.ts", "x"),
            Remove("convex/d.ts"),
        ),
        *(Replace("convex/c.ts", "x\n", "y\n"), Seen("convex/c.ts", "older")),
    )
    assert tree.files == {f"~/shop/{A}": "d\nc\nd\n", "convex/c.ts": "y"}
    assert tree.problems == {}


def test_what_cannot_be_replayed_is_told_until_the_file_is_written_again() -> None:
    tree = tree_of(Replace(A, "x", "y"), Write("b.ts", "x"), Replace("b.ts", "z", ""), Unreplayable("c.ts", "Notebook"))
    assert list(tree.problems.values()) == [
        f"message 1: {A}: a part was replaced, and the session never shows the whole",
        "message 3: b.ts: the text that was replaced is not in it",
        "message 4: c.ts: Notebook does not say the whole text",
    ]
    for edit in (Write(A, ""), Write("b.ts", ""), Remove("c.ts")):
        tree.apply(EditStep(9, edit))
    assert tree.problems == {}


def test_the_project_is_around_its_convex_folder() -> None:
    files = {
        "~/convex/shop/convex/a.ts": "a",
        "~/convex/shop/convex/_generated/api.d.ts": "g",
        "~/convex/shop/package.json": "{}",
        "~/convex/shop/src/App.tsx": "s",
        "~/convex/shop/src/app.css": "c",
        "~/convex/shop/node_modules/convex/server.ts": "n",
        "~/convex/shop/.env": "secret",
        "~/other/convex/b.ts": "b",
    }
    root = root_of(files)
    assert root == "~/convex/shop/"
    assert project_of(files, root) == {"convex/a.ts": "a", "package.json": "{}", "src/App.tsx": "s", "src/app.css": "c"}
    assert root_of(["a.ts", "convex.json"]) is None and root_of([A]) == ""
    assert project_of({"../convex/a.ts": "x", "convex/CON.ts": "x"}, "") == {}


def test_functions_are_found() -> None:
    text = (
        "export const a = query({});\nexport  const b=internalAction(\n// export const c = query(\nconst d = query({});"
    )
    assert functions_of({A: text, "src/x.ts": text}) == [(A, "a", "query"), (A, "b", "internalAction")]


def test_what_was_checked_is_told() -> None:
    messages = called("Bash", {"command": "cd x && npx convex dev --once"}, "no", is_error=True)
    assert checks_of(messages) == [(1, "cd x && npx convex dev --once", True)]
    assert is_check("pnpm run test") and not is_check("git status") and not is_check("ls latest")


def test_a_draft_holds_no_text_outside_of_its_place() -> None:
    """Whatever a session says in a line of code stays in it."""
    hostile = "x\u2028alert(1)\n*/ `${process.exit()}` \x1b[31m"
    write = {"file_path": A, "content": "export const list = query({});"}
    messages = [
        Message("user", f"Write it. {hostile}"),
        *called("Write", write),
        *called("Bash", {"command": f"npx convex run {hostile}"}),
        Message("user", hostile),
        *called("Write", {"file_path": A, "content": "export const list = query({ args: {} });"}),
    ]
    files = draft_of(ID, messages).files
    grader = files["grader.test.ts"]
    assert "\u2028" not in grader and "\x1b" not in grader
    assert all(line.startswith("//") for line in grader.split("\n") if "alert" in line)
    assert files["wrong/before-message-6/reason.txt"].count("\n") == 3
    assert files["TASK.txt"].count("DRAFT 3fa1c2d4#") == 2


def test_files_that_came_later_are_deleted_in_an_earlier_state() -> None:
    messages = [
        Message("user", "Write a.ts"),
        *called("Write", {"file_path": A, "content": "1"}),
        Message("user", "and b.ts"),
        *called("Write", {"file_path": "convex/b.ts", "content": "2"}),
        Message("user", "Thank you"),
        Message("assistant", "You are welcome."),
    ]
    files = draft_of(ID, messages).files
    assert files["wrong/before-message-4/delete.txt"] == "convex/b.ts\n"
    assert [path for path in files if path.startswith("wrong/")] == [
        "wrong/before-message-4/delete.txt",
        "wrong/before-message-4/reason.txt",
    ]


def test_a_session_without_a_project_is_refused() -> None:
    with pytest.raises(UserError, match=r"session 3fa1c2d4: no file below a folder convex/ is written or shown in it$"):
        draft_of(ID, [Message("user", "x"), *called("Write", {"file_path": "src/a.ts", "content": "1"})])
    with pytest.raises(UserError, match=r"session 3fa1c2d4: no file below a folder convex/"):
        draft_of(ID, called("Write", {"file_path": A, "content": "1"}))
    with pytest.raises(UserError, match=r"it; message 2: convex/a.ts: a part was replaced"):
        draft_of(ID, [Message("user", "x"), *called("Edit", {"file_path": A, "old_string": "a", "new_string": "b"})])


@given(st.text(max_size=80), st.one_of(st.none(), st.integers(1, 10**6)))
def test_lines_of_drafts_are_found_wherever_they_stand(what: str, message: int | None) -> None:
    line = draft_line(ID, message, "write it")
    around = "\n".join(what.splitlines())
    for sign in ("", "// ", "# ", "  // "):
        found = list(left_to_write(f"{around}\n{sign}{line}\n{around}"))
        place = "" if message is None else f", message {message}"
        assert found == [f"{around.count(chr(10)) + 2}: write it (session 3fa1c2d4{place})"]
    assert list(left_to_write(f"{around}\nA DRAFT of it")) == []
