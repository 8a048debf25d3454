"""Which level of containment a command works under: one rule for all that run code of a suite or of a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.grading.sandbox.base import Level
from convex_evals.grading.sandbox.probe import Probe, probe
from convex_evals.grading.toolchain import Toolchain

# Landlock alone leaves a few port numbers of other machines within reach (docs/security.md): it comes last.
CHOSEN = (Level.STRICT, Level.CONTAINER, Level.LANDLOCK)
INSTALL_SANDBOX = (
    "install bubblewrap (Debian, Ubuntu: apt-get install bubblewrap) where user namespaces are allowed, or podman"
)
BEFORE = "no sandbox: the code that runs now can read, change and send whatever you can"
AFTER = "this ran code without a sandbox, which could read, change and send whatever you can"


@dataclass
class Containment:
    """What the user wants, for one command; it remembers what came of that."""

    level: Level | None = None  # None: the best one that works
    unsafe: bool = False  # where none works, go without
    own_code: bool = False  # nothing of a suite or a model is executed: where none works, no harm is done
    confirm: Callable[[str], bool] | None = None  # asks whether to go without, for this reason
    uncontained: bool = False  # code was executed without a sandbox

    async def choose(self, toolchain: Toolchain, cache: Path) -> Level:
        """The level to work under. Raises `UserError` where code would go without one."""
        if self.level is Level.NONE:
            return self.level
        tried: list[Probe] = []
        for level in CHOSEN if self.level is None else [self.level]:
            found = await probe(level, toolchain, cache)
            if found.contains:
                return level
            tried.append(found)
        if self.level is not None:
            raise UserError(f"--sandbox {self.level}: {tried[0].summary}; see `cli doctor`")
        if not (self.own_code or self.unsafe or self._agreed(tried)):
            raise UserError(
                f"{_problem(tried)}, and code of suites and models is not run without one: {INSTALL_SANDBOX}, or at "
                "your own risk --unsafe-no-sandbox; see `cli doctor`"
            )
        return Level.NONE

    def _agreed(self, tried: list[Probe]) -> bool:
        """Ask once."""
        if self.confirm is not None:
            self.unsafe = self.confirm(f"{_problem(tried)}; to have one, {INSTALL_SANDBOX}")
        return self.unsafe

    def exposed(self, warn: Callable[[str], None]) -> None:
        """Code is executed without a sandbox now: say so before the first of it."""
        if not (self.own_code or self.uncontained):
            self.uncontained = True
            warn(BEFORE)


def _problem(tried: list[Probe]) -> str:
    return f"no sandbox works here ({'; '.join(f'{found.level}: {found.summary}' for found in tried)})"


def own_code() -> Containment:
    """For what executes nothing but code that comes with this package."""
    return Containment(own_code=True)
