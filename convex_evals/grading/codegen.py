"""`_generated/` of reference answers: what Convex's own tools write, made by deploying them to a fresh backend."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from convex_evals.config import Workspace
from convex_evals.errors import UserError
from convex_evals.grading.sandbox.choice import Containment
from convex_evals.grading.service import GradingService
from convex_evals.grading.setup import ready_service
from convex_evals.inputs.confined import remove_file
from convex_evals.inputs.suite_files import refuse_links
from convex_evals.render.terminal import Display
from convex_evals.store.files import write_atomic
from convex_evals.suite.suite import Eval, read_generated


@dataclass(frozen=True)
class Generated:
    """The generated files of one answer, and how the folder differs from them. Paths are relative to `answer/`."""

    ev: Eval
    files: Mapping[str, str]
    stale: tuple[str, ...]  # changed or missing
    surplus: tuple[str, ...]  # there, and not generated
    seconds: float

    @property
    def is_current(self) -> bool:
        return not self.stale and not self.surplus

    def write(self) -> None:
        """Make the folder agree."""
        answer = self.ev.path / "answer"
        for path in [*self.stale, *self.surplus]:
            refuse_links(self.ev.root, answer / path)
        for path in self.stale:
            write_atomic(answer / path, self.files[path], self.ev.root)
        for path in self.surplus:
            remove_file(answer / path, self.ev.root)


async def generate(service: GradingService, ev: Eval) -> Generated:
    """Generate the code of the answer of `ev`. Raises `UserError` where it does not deploy."""
    start = time.monotonic()
    files, problem = await service.generated_code(ev)
    if problem:
        raise UserError(f"the answer of {ev.id} does not deploy: {problem}")
    present = read_generated(ev.path / "answer")
    stale = [path for path, text in files.items() if present.get(path) != text]
    surplus = present.keys() - files.keys()
    return Generated(ev, files, tuple(sorted(stale)), tuple(sorted(surplus)), time.monotonic() - start)


async def generate_all(
    workspace: Workspace, evals: Sequence[Eval], containment: Containment, display: Display, *, check: bool
) -> list[Generated]:
    """Generate the code of `evals`, one after the other, and write it unless this is a `check`. Raises `UserError`."""
    done = []
    async with ready_service(
        workspace.suite, workspace.config, 1, display.preparing, display.warn, containment
    ) as grader:
        display.start("generating code", len(evals))
        for ev in evals:
            generated = await generate(grader, ev)
            if not check:
                generated.write()
            display.item("passed" if generated.is_current or not check else "off", ev.id, generated.seconds)
            done.append(generated)
    return done
