"""Off a terminal, what is off is said on one line, wherever standard output and standard error go."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import command
from tests.factories import make_eval

pytestmark = pytest.mark.full
STATIC = {
    "eval.yaml": "pipeline: static\n",
    "grader.test.ts": 'import { expect, test } from "vitest";\ntest("one", () => expect(1).toBe(1));\n',
}


@pytest.mark.parametrize(
    ("words", "name"),
    [(["validate"], "foil/package-json"), (["codegen", "--check"], "000-fundamentals/000-answer")],
)
def test_what_is_off_is_one_line(toolchain: Path, tmp_path: Path, words: list[str], name: str) -> None:
    make_eval(tmp_path, files={**(STATIC if words == ["validate"] else {}), "answer/convex/_generated/x.ts": "// no\n"})

    def lines(*form: str) -> tuple[list[str], list[str]]:
        done = command(tmp_path, *words, *form)
        assert done.returncode == 4, done.stderr
        out, err = ([x for x in text.splitlines() if name in x] for text in (done.stdout, done.stderr))
        return out, [x for x in err if not x.startswith("pass ")]

    out, err = lines()
    assert (len(out), err) == (1, []), (out, err)
    # Where standard output is for machines, people read standard error.
    out, err = lines("--json")
    assert [x.split()[0] for x in err] == ["OFF"] and out
