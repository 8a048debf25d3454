"""What verdicts on a suite's projects depend on: graders with all they import, the grader library, the toolchain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.grading.service import GraderCheck, GradingService
from convex_evals.grading.toolchain import is_built
from convex_evals.inputs.suite_files import read_inside
from convex_evals.records import BackendIdentity, ToolVersions
from convex_evals.records.grading_inputs import GradingInputs
from convex_evals.records.hashes import sha256_files, sha256_text
from convex_evals.suite.suite import Eval, read_project
from convex_evals.text import and_more

# Raised by hand when the meaning of a pass changes.
GRADING_PROTOCOL = 2
LIBRARY = "convex-evals/grader"


@dataclass(frozen=True)
class GradingRules:
    """What all evals are graded with, now."""

    backend: BackendIdentity
    toolchain: ToolVersions
    library: Mapping[str, str]  # the grader library: texts by path
    strict_types: bool

    def grading_inputs(self, ev: Eval, check: GraderCheck) -> GradingInputs:
        return GradingInputs(
            task_sha256=sha256_text(ev.task),
            grader_sha256=sha256_files(grader_closure(ev, check, self.library)),
            answer_sha256=sha256_files(ev.answer().files),
            pipeline=ev.config.pipeline,
            backend=self.backend,
            typescript=self.toolchain.typescript,
            lint_rules_sha256=self.toolchain.lint_rules_sha256,
            grading_protocol=GRADING_PROTOCOL,
            strict_types=self.strict_types,
        )


async def current_rules(service: GradingService) -> GradingRules:
    return GradingRules(
        backend=service.backend.identity,
        toolchain=await toolchain_versions(service),
        library=library_sources(service.toolchain.script("grader")),
        strict_types=service.prepared.strict_types,
    )


def library_sources(folder: Path) -> dict[str, str]:
    """The texts of the grader library by path, without what is built from them."""
    return read_project(folder, keep=lambda path: not is_built(path))


def grader_closure(ev: Eval, check: GraderCheck, library: Mapping[str, str]) -> dict[str, str]:
    """The texts of a grader and all its relative imports, and of the grader library where one of them uses it."""
    texts = {path: read_inside(ev.root, path) for path in check.inputs}
    if any(LIBRARY in text for text in texts.values()):
        texts |= {f"{LIBRARY}/{path}": text for path, text in library.items()}
    return texts


def refuse_broken_graders(checks: Mapping[str, GraderCheck]) -> None:
    """Raise `UserError` for graders that cannot be parsed: a mistake of the suite, found before any work is done."""
    errors = [line for check in checks.values() for line in check.errors]
    if errors:
        raise UserError(f"{errors[0]}; fix it{and_more(len(errors) - 1)}")


async def toolchain_versions(service: GradingService) -> ToolVersions:
    async with service.worker() as (tools, _):
        versions = await tools.checker.request("versions", timeout=60)
    return ToolVersions(
        node=service.toolchain.node.version,
        typescript=versions["typescript"],
        eslint=versions["eslint"],
        vitest=versions["vitest"],
        convex=versions["convex"],
        lockfile_sha256=service.toolchain.lockfile_sha256,
        lint_rules_sha256=versions["rules"],
    )
