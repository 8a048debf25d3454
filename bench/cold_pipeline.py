"""Grading with the official tools alone, a new process for each step: what our way is compared with.

`convex codegen`, `convex dev --once`, `tsc`, `eslint` and `vitest run` as a person would start them, on a prepared
package store, against an embedded backend, without a sandbox. Which settings, lint rules and files count, and how a
verdict is put in words, comes from the toolchain's own sources (scripts/cold/): a comparison shows what keeping
things warm, sharing them and doing without the command line changes, and nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from convex_evals.errors import ProcessFault
from convex_evals.grading.backends import ADMIN_KEY, Endpoints
from convex_evals.grading.backends.push import DeployError
from convex_evals.grading.packages import link_packages
from convex_evals.grading.pipeline import Grading
from convex_evals.grading.scratch import write_files
from convex_evals.grading.tester import TestReport, report_of
from convex_evals.grading.toolchain import Toolchain
from convex_evals.grading.verdict import StepFailed, summarize
from convex_evals.records import StepName, Verdict

ASSETS = Path(__file__).parent / "cold"
_DIAGNOSTIC = re.compile(
    r"^(?:(?P<file>\S.*?)\((?P<line>\d+),(?P<column>\d+)\): )?error (?P<code>TS\d+): (?P<message>.*)$"
)
_NEW_IN_EVERY_RUN = [
    re.compile(r"(?<=\[Request ID: )\w+"),
    re.compile(r"\b[0-9a-z]{32}\b"),
    re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"),
    re.compile(r"\b\d{13}(\.\d+)?\b"),
    re.compile(r"(?<=127\.0\.0\.1:)\d+|(?<=localhost:)\d+"),
]
# Of the machine: ours shows paths from the project, or from the packages, on.
_FOLDERS = re.compile(r"(?:\.\.)?/[^\s,\"]*?/(?:project/|(?=node_modules/))")
_SHOWN, _LONGEST = 200, 2000  # problems, and characters of a message, as the checker


@dataclass(frozen=True)
class Done:
    """What a command printed, and how it ended."""

    status: int
    out: str
    err: str


async def command(argv: Sequence[str | Path], folder: Path, env: Mapping[str, str], limit: float) -> Done:
    """Run a command in a process group of its own. Raises `ProcessFault` where it takes longer than `limit` seconds."""
    process = await asyncio.create_subprocess_exec(
        *map(str, argv),
        cwd=folder,
        env=dict(env),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        out, err = await asyncio.wait_for(process.communicate(), limit)
    except TimeoutError:
        raise ProcessFault(f"{argv[1]} did not finish within {limit:.0f} s") from None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    return Done(process.returncode or 0, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))


@dataclass
class ColdGrading(Grading):
    """One grading of one project; checkers, pools and caches are not used."""

    settings: dict[str, Any] | None = None

    @property
    def toolchain(self) -> Toolchain:
        return self.tools.tester.toolchain

    def env(self, **more: str) -> dict[str, str]:
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        return {**self.toolchain.node.environment(home), **more}

    def installed(self, project: Path, program: str) -> Path:
        """A command line of a package: the project's own, else the toolchain's."""
        own = project / "node_modules" / program
        return own if own.exists() else self.toolchain.node_modules / program

    async def node(self, *argv: str | Path, folder: Path, limit: float, **env: str) -> Done:
        return await command([self.toolchain.node.executable, *argv], folder, self.env(**env), limit)

    async def _deploy(self, stack: AsyncExitStack) -> None:
        self.endpoints = await self._deployed(stack, self.project, "backend")

    async def _deployed(self, stack: AsyncExitStack, project: Path, name: str) -> Endpoints:
        scratch = self.folder / name
        scratch.mkdir()
        # The port of project code knows no administrator; the tester's, which does, opens with the first deployment.
        for_tester = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        starting = self.tools.backend.start(scratch, None, [for_tester.fileno()])
        endpoints = await stack.enter_async_context(starting)
        convex = self.installed(project, "convex/bin/main.js")
        limit = self.ev.config.timeouts.deploy * 4
        async with _on_a_port(endpoints.control) as port:
            where = ("--url", f"http://127.0.0.1:{port}", "--admin-key", ADMIN_KEY, "--typecheck", "disable")
            for words in (("codegen",), ("dev", "--once")):
                done = await self.node(convex, *words, *where, folder=project, limit=limit)
                if done.status:
                    raise DeployError(done.err)
        return replace(endpoints, port=for_tester.getsockname()[1])

    async def _check(self, op: str, found: str, limit: float) -> str | None:
        settings = await self._settings()
        problems = await (self._tsc(settings) if op == "typecheck" else self._eslint(settings))
        repairs = "; ".join(settings["repairs"]) if op == "typecheck" else ""
        if problems:
            raise StepFailed("\n".join([summarize(problems[:_SHOWN]), *([f"({repairs})"] if repairs else [])]))
        return repairs or None

    async def _settings(self) -> dict[str, Any]:
        if self.settings is None:
            argv = (ASSETS / "settings.mjs", self.toolchain.sources, self.project)
            done = await self.node(*argv, folder=self.project, limit=120)
            if done.status:
                raise ProcessFault(f"settings.mjs: {done.err[-2000:]}")
            self.settings = json.loads(done.out)
        return self.settings

    async def _tsc(self, settings: dict[str, Any]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for program in settings["programs"]:
            found += program["errors"]
            tsc = self.toolchain.node_modules / "typescript" / "bin" / "tsc"
            limit = self.ev.config.timeouts.tsc * 4
            done = await self.node(tsc, "--pretty", "false", "-p", program["file"], folder=self.project, limit=limit)
            judged = set(program["judged"])
            root = Path(settings["root"])
            out = _FOLDERS.sub("", done.out)
            found += [p for p in diagnostics(out) if p["file"] is None or str(root / p["file"]) in judged]
        unique = {json.dumps(problem, sort_keys=True): problem for problem in found}
        return sorted(unique.values(), key=lambda p: (p["file"] or "", p["line"] or 0, p["column"] or 0, p["code"]))

    async def _eslint(self, settings: dict[str, Any]) -> list[dict[str, Any]]:
        if not settings["linted"]:
            return []
        eslint = self.toolchain.node_modules / "eslint" / "bin" / "eslint.js"
        done = await self.node(
            *(eslint, "--config", ASSETS / "eslint.config.mjs", "--no-ignore", "--format", "json"),
            *settings["linted"],
            folder=self.project,
            limit=self.ev.config.timeouts.eslint * 4,
            COLD_SETTINGS=json.dumps(settings),
            COLD_SOURCES=str(self.toolchain.sources),
        )
        try:
            results = json.loads(done.out)
        except ValueError:
            raise ProcessFault(f"eslint: {done.err[-2000:]}") from None
        return [
            {
                "file": os.path.relpath(result["filePath"], settings["root"]),
                "line": message["line"],
                "column": message["column"],
                "rule": message["ruleId"] or "syntax",
                "message": message["message"],
            }
            for result in results
            for message in result["messages"]
            if message["severity"] == 2
        ]

    async def _tests(self) -> None:
        async with AsyncExitStack() as stack:
            env = {"MODEL_OUTPUT_DIR": str(self.project)}
            if self.endpoints is not None:
                project = self.folder / "answer"
                files = self.ev.answer().files
                write_files(files, project)
                link_packages(await self.tools.packages.install(files["package.json"]), project)
                answer = await self._deployed(stack, project, "answer-backend")
                env |= {
                    "CONVEX_PORT": str(self.endpoints.port),
                    "CONVEX_SITE_PORT": str(self.endpoints.site_port),
                    "CONVEX_ANSWER_PORT": str(answer.port),
                }
            self.report = await self._vitest(env)
        if not self.report.passed:
            raise StepFailed(self.report.reason)

    async def _vitest(self, env: Mapping[str, str]) -> TestReport:
        root, out = self.folder / "vitest", self.folder / "verdict.json"
        root.mkdir()
        limit = self.ev.config.timeouts.tests
        run = {
            "grader": str(self.ev.grader.resolve()),
            "suite": str(self.ev.root.resolve()),
            "packages": [str(folder) for folder in self.tools.tester.suite_packages],
            "timeout": int(limit * 500),
        }
        asked = json.dumps({"sources": str(self.toolchain.sources), "run": run, "root": str(root), "out": str(out)})
        vitest = self.toolchain.node_modules / "vitest" / "vitest.mjs"
        config = ASSETS / "vitest.config.mjs"
        done = await self.node(
            *(vitest, "run", "--config", config), folder=root, limit=limit * 2, COLD_RUN=asked, **env
        )
        if not out.is_file():
            raise ProcessFault(f"vitest: {(done.err or done.out)[-2000:]}")
        return report_of(json.loads(out.read_text(encoding="utf-8")))


@asynccontextmanager
async def _on_a_port(control: Path) -> AsyncIterator[int]:
    """Let the official command line reach the Unix socket that administrators use, on a port of the loopback."""

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(1 << 16):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there_writer = await asyncio.open_unix_connection(control)
        await asyncio.gather(copy(reader, there_writer), copy(there_reader, writer))

    server = await asyncio.start_server(connect, "127.0.0.1", 0)
    async with server:
        yield int(server.sockets[0].getsockname()[1])


def diagnostics(text: str) -> list[dict[str, Any]]:
    """What `tsc --pretty false` printed, as the checker gives it; continuation lines are indented."""
    found: list[dict[str, Any]] = []
    for line in text.splitlines():
        if match := _DIAGNOSTIC.match(line):
            number = {key: int(match[key]) if match[key] else None for key in ("line", "column")}
            found.append({"file": match["file"], **number, "code": match["code"], "message": match["message"]})
        elif found and line.startswith(" "):
            found[-1]["message"] += f"\n{line}"
    for problem in found:
        if len(problem["message"]) > _LONGEST:
            kept = _LONGEST // 2
            problem["message"] = f"{problem['message'][:kept]}\n…\n{problem['message'][-kept:]}"
    return found


def differences(ours: Verdict, cold: Verdict) -> list[str]:
    """Where two verdicts on one project differ in more than how long it took."""
    found = []
    if (ours.outcome, ours.caught_by) != (cold.outcome, cold.caught_by):
        found.append(f"{ours.outcome} ({ours.caught_by}) against {cold.outcome} ({cold.caught_by})")
    for mine, theirs in zip(ours.steps, cold.steps, strict=True):
        if mine.outcome is not theirs.outcome or not _same(mine.reason, theirs.reason, mine.step):
            found.append(f"{mine.step}: {mine.outcome} {mine.reason!r} against {theirs.outcome} {theirs.reason!r}")
    tests = [[(t.name, t.outcome, _comparable(t.message)) for t in verdict.tests] for verdict in (ours, cold)]
    if tests[0] != tests[1]:
        found.append(f"tests: {tests[0]} against {tests[1]}")
    return found


def _same(ours: str | None, cold: str | None, step: StepName) -> bool:
    mine, theirs = _comparable(ours), _comparable(cold)
    if step is StepName.DEPLOY and mine and theirs:
        # The command line says more around it: progress, advice, where to read on.
        return _words(mine) in _words(theirs)
    return mine == theirs


def _comparable(text: str | None) -> str | None:
    """Without what is new in every run: request ids, document ids, times, ports."""
    for pattern in _NEW_IN_EVERY_RUN:
        text = pattern.sub("…", text) if text else text
    return text


def _words(text: str) -> str:
    """Without colours and the command line's marks, and without the folders of the machine that we do not show."""
    plain = re.sub(r"\x1b\[[0-9;]*m|\\x1b\[[0-9;]*m|^✖ ", "", text, flags=re.MULTILINE)
    return " ".join(_FOLDERS.sub("", plain).split())
