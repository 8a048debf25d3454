"""What is made once: an eval's grader compiled, its answer bundled, the same files checked.

What is made of an answer is kept beside the package store, for other runs: it depends on nothing but the answer, its
packages, the toolchain and the backend.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from convex_evals.errors import InfrastructureError, InstallFault, ProcessFault
from convex_evals.grading.backends import Backend, Endpoints
from convex_evals.grading.backends.push import DeployError, push, system_query
from convex_evals.grading.checker import Checker, CheckerError
from convex_evals.grading.once import make_once
from convex_evals.grading.packages import PackageError, PackageStore, link_packages
from convex_evals.grading.scratch import write_files
from convex_evals.grading.tester import CompiledGrader
from convex_evals.records.hashes import sha256_files, sha256_parts
from convex_evals.suite.suite import Eval

_COMPILE_SECONDS = 60
_LIBRARY = "convex-evals/grader"
# What the grader library asks deployments, and what it reads of a push: node/grader/facts.ts.
_FACTS = ("_system/cli/modules:apiSpec", "_system/frontend/getSchemas")
_CRON_JOBS, _COMPONENTS = "_system/frontend/listCronJobs", "_system/frontend/components:list"
PROJECT_FACTS = (*_FACTS, _CRON_JOBS, _COMPONENTS)


@dataclass(frozen=True)
class SeenByChecker:
    """All that the checker sees of a project."""

    project: Path
    sources: Path  # which of its files run
    files_sha256: str
    generated_sha256: str
    packages: Path

    @property
    def sha256(self) -> str:
        """The same for two projects, wherever they lie, of which the checker says the same."""
        sources = self.sources.read_text(encoding="utf-8")
        return sha256_parts([self.files_sha256, self.generated_sha256, str(self.packages), sources])


@dataclass
class Prepared:
    """Files below `folder`, made when they are first asked for, with tools that have a `version`."""

    folder: Path
    version: str
    packages: PackageStore
    suite_packages: Sequence[Path]  # folders with a node_modules that graders' bare imports resolve from
    strict_types: bool = True  # false: how strictly types are checked is up to a project's tsconfig.json
    types: Sequence[Path] = ()  # folders with a node_modules that projects' packages have their types from
    _made: dict[Path, Path | None] = field(default_factory=dict)
    _self_contained: set[Path] = field(default_factory=set)
    _locks: dict[Path, asyncio.Lock] = field(default_factory=dict)
    _checks: dict[tuple[str, str], Any] = field(default_factory=dict)

    async def grader(self, ev: Eval, checker: Checker) -> CompiledGrader | None:
        """The compiled grader of `ev`; None where it needs the whole of vitest."""
        file = await self._once(ev.grader, lambda out: self._compile(ev, checker, out))
        return CompiledGrader(file, ev.grader in self._self_contained) if file else None

    async def answer(self, ev: Eval, checker: Checker) -> Path:
        """The push request of the answer of `ev`. Raises `InfrastructureError` where it cannot be bundled."""
        made = await self._once(ev.path, lambda out: self._bundle(ev, checker, out))
        assert made is not None
        return made

    async def answer_facts(self, ev: Eval, bundle: Path, backend: Backend) -> Path | None:
        """What the deployed answer says of itself, for graders that use our library; None for others."""
        if _LIBRARY not in ev.grader_text:
            return None
        return await self._once(ev.path / "facts", lambda out: self._ask(ev, bundle, backend, out))

    async def _ask(self, ev: Eval, bundle: Path, backend: Backend, out: Path) -> Path:
        async def ask() -> None:
            limit = ev.config.timeouts.deploy
            scratch = out.with_suffix("")
            scratch.mkdir()
            async with backend.start(scratch) as endpoints:
                await push(endpoints, bundle, timeout=limit)
                await write_facts(endpoints, _FACTS, out, limit)

        with blaming_the_suite(ev):
            return await self._keep(["facts", bundle.read_text(encoding="utf-8")], out, ask)

    async def checked(self, op: str, seen: SeenByChecker, checker: Checker, timeout: float) -> Any:
        """What the checker says to `op` on a project. It only reads: of the same it says the same again."""
        key = (op, seen.sha256)
        if key not in self._checks:
            self._checks[key] = await checker.request(
                op,
                project=seen.project,
                sources=seen.sources,
                strict=self.strict_types,
                types=[str(folder) for folder in self.types],
                timeout=timeout,
            )
        return self._checks[key]

    async def _once(self, key: Path, make: Callable[[Path], Awaitable[Path | None]]) -> Path | None:
        async with self._locks.setdefault(key, asyncio.Lock()):
            if key not in self._made:
                # A folder each time: what failed before may have left something.
                self._made[key] = await make(Path(tempfile.mkdtemp(dir=self.folder)) / "made.json")
            return self._made[key]

    async def _compile(self, ev: Eval, checker: Checker, out: Path) -> Path | None:
        try:
            result = await checker.request(
                "compile_grader",
                suite=ev.root,
                grader=ev.grader,
                packages=[str(p) for p in self.suite_packages],
                out=out,
                timeout=_COMPILE_SECONDS,
            )
        except ProcessFault:
            return None
        if result["reason"] is not None:
            return None
        if result["self_contained"]:
            self._self_contained.add(ev.grader)
        return out

    async def _bundle(self, ev: Eval, checker: Checker, out: Path) -> Path:
        files = ev.answer().files

        async def bundle() -> None:
            project = out.with_suffix("")
            write_files(files, project)
            link_packages(store, project)
            await checker.request("bundle", project=project, out=out, timeout=ev.config.timeouts.deploy)

        with blaming_the_suite(ev):
            store = await self.packages.install(files.get("package.json", "{}"))
            return await self._keep(["bundle", store.parent.name, sha256_files(files)], out, bundle)

    async def _keep(self, made_of: Sequence[str], out: Path, make: Callable[[], Awaitable[None]]) -> Path:
        """The file `out`, as an earlier run made it of the same things, or else by `make`."""
        kept = self.packages.root.with_name("answers") / sha256_parts([self.version, *made_of])[:32]
        if kept.is_dir():
            await asyncio.to_thread(shutil.copyfile, kept / out.name, out)
        else:
            await make()

            async def copy(folder: Path) -> None:
                await asyncio.to_thread(shutil.copyfile, out, folder / out.name)

            await make_once(kept, copy)
        return out


async def write_facts(
    endpoints: Endpoints, names: Sequence[str], out: Path, timeout: float, pushed: Mapping[str, Any] | None = None
) -> None:
    """Write what a deployment says to these system queries, as JSON, with the cron jobs of its components.

    Of the answer to the push, `pushed`, the app goes along. Raises `ProcessFault` where it says nothing.
    """
    values = await asyncio.gather(*(system_query(endpoints, name, timeout=timeout) for name in names))
    facts = dict(zip(names, values, strict=True))
    ids = [component["id"] for component in facts.get(_COMPONENTS, [])]
    jobs = await asyncio.gather(*(system_query(endpoints, _CRON_JOBS, component=i, timeout=timeout) for i in ids))
    facts |= {f"{_CRON_JOBS} {i}": found for i, found in zip(ids, jobs, strict=True)}
    if pushed is not None:
        facts["start_push"] = pushed.get("app")
    out.write_text(json.dumps(facts), encoding="utf-8")


@contextmanager
def blaming_the_suite(ev: Eval) -> Iterator[None]:
    """The answer of `ev` must deploy: where it does not, no project is at fault."""
    try:
        yield
    except InstallFault as error:
        raise InfrastructureError(f"the answer of {ev.id} cannot be installed: {error}") from None
    except ProcessFault as error:
        raise ProcessFault(f"the answer: {error}") from None
    except (PackageError, DeployError, CheckerError, InfrastructureError) as error:
        raise InfrastructureError(f"the answer of {ev.id} does not deploy: {error}") from None
