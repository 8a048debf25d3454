"""Which level of containment a command works under."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.grading.sandbox.base import Level
from convex_evals.grading.sandbox.probe import probe
from convex_evals.grading.toolchain import Toolchain

# Landlock alone leaves a few port numbers of other machines within reach (docs/security.md): only who asks gets it.
CHOSEN = (Level.STRICT, Level.CONTAINER)
INSTALL_SANDBOX = (
    "install bubblewrap (Debian, Ubuntu: apt-get install bubblewrap) where user namespaces are allowed, or podman"
)


@dataclass(frozen=True)
class Containment:
    """What the user wants, and what the code that will be executed is."""

    level: Level | None = None  # None: the best one that works
    unsafe: bool = False  # no sandbox, whatever is executed
    reviewed: bool = False  # nothing but code of the repository, which people have read

    async def choose(self, toolchain: Toolchain, cache: Path, warn: Callable[[str], None]) -> Level:
        """The level to work under. Raises `UserError` where model-written code would go without one."""
        if self.unsafe:
            warn("model-written code runs without a sandbox: it can read and send what you can (--unsafe-no-sandbox)")
            return Level.NONE
        if self.level is not None:
            return await self._insist(self.level, toolchain, cache)
        problems = []
        for level in CHOSEN:
            found = await probe(level, toolchain, cache)
            if found.contains:
                return level
            problems.append(f"{level}: {found.summary}")
        if self.reviewed:
            return Level.NONE
        weaker = await probe(Level.LANDLOCK, toolchain, cache)
        ways = ["the weaker `--sandbox landlock`"] if weaker.contains else []
        raise UserError(
            f"no sandbox works here ({'; '.join(problems)}), and model-written code is not run without one: "
            f"{', or '.join([INSTALL_SANDBOX, *ways, 'at your own risk --unsafe-no-sandbox'])}; see `cli doctor`"
        )

    async def _insist(self, level: Level, toolchain: Toolchain, cache: Path) -> Level:
        found = await probe(level, toolchain, cache)
        if not found.contains:
            raise UserError(f"--sandbox {level}: {found.summary}; see `cli doctor`")
        return level


REVIEWED = Containment(reviewed=True)
