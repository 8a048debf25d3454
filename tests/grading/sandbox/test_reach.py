"""What a program reaches that has a network of its own: the ports that it was given, and nobody else."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from convex_evals.grading.program_launch import ProgramEnvironment
from convex_evals.grading.sandbox.base import Launch, Level, Network, Sandbox
from convex_evals.grading.sandbox.landlocked import SERVERS
from convex_evals.grading.sandbox.levels import open_sandbox
from convex_evals.grading.sandbox.networks import PROJECT_PORTS, free_ports
from convex_evals.grading.toolchain import Toolchain
from convex_evals.process import Child

pytestmark = pytest.mark.grading

# The kernel hands out none of these: a connection from a port to the same port, where nobody listens, reaches itself.
GIVEN, OTHER, V6_ONLY, NOBODY = 8_001, 8_002, 8_003, 8_004
ECHO = """
import net from "node:net";
const serve = (port, host) => new Promise((ready) => {
  const echo = (socket) => socket.on("error", () => 0).pipe(socket);
  net.createServer({ allowHalfOpen: true }, echo).listen(port, host, ready);
});
const ask = (port, host, text) => new Promise((resolve) => {
  let heard = "";
  const socket = net.connect({ port, host, allowHalfOpen: true }, () => socket.end(text));
  socket.on("error", (error) => resolve(error.code)).on("data", (data) => (heard += data));
  socket.on("end", () => resolve(heard === text ? "echoed" : heard.length));
});
"""
SERVERS_OF_THE_TRIAL = f"""{ECHO}
for (const port of [{GIVEN}, {OTHER}]) await serve(port, "127.0.0.1");
await serve({V6_ONLY}, "::1");
console.log("ready");
"""
PROGRAM = f"""{ECHO}
const found = {{}};
const long = "x".repeat(3_000_000);
for (const host of ["127.0.0.1", "::1", "localhost"]) found[`given ${{host}}`] = await ask({GIVEN}, host, long);
const texts = Array.from({{ length: 60 }}, (_, n) => `${{n}}`.repeat(5000));
found.many = [...new Set(await Promise.all(texts.map((text) => ask({GIVEN}, "127.0.0.1", text))))].join();
found.v6 = await ask({V6_ONLY}, "localhost", "hello");
found.other = await ask({OTHER}, "127.0.0.1", "hello");
found.nobody = await ask({NOBODY}, "127.0.0.1", "hello");
await serve(3000, "127.0.0.1");
found.own = await ask(3000, "127.0.0.1", "hello");
console.log(JSON.stringify(found));
process.stdin.resume().on("end", () => process.exit());
"""
NEIGHBOUR = f"""{ECHO}
console.log(await ask(3000, "127.0.0.1", "hello"));
"""


def _launch(tools: Toolchain, work: Path, source: str, network: Network, ports: list[int] | None) -> Launch:
    argv: list[str | Path] = [tools.node.executable, "--input-type=module", "-e", source]
    alone = ports is not None
    return Launch(
        argv, work, {}, fresh=[work], network=network, ports=ports or [], alone=alone, project_code=alone, capture=True
    )


async def _line(child: Child) -> str:
    assert child.stdout
    line = await asyncio.wait_for(child.stdout.readline(), 20)
    assert line, child.last_words()
    return line.decode().strip()


def _children_of_group(group: int) -> list[int]:
    stats = [(entry, _read(entry / "stat")) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return [int(entry.name) for entry, text in stats if text and text.rpartition(")")[2].split()[2] == str(group)]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


@pytest.mark.parametrize("as_root", [True, False], ids=["as-is", "without-root"])
def test_a_network_of_its_own_has_what_was_given(
    as_root: bool, tools: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not as_root:  # then all is done in a user namespace
        monkeypatch.setattr("convex_evals.grading.sandbox.levels.is_root_with", lambda *_: False)
    if not shutil.which("bwrap"):
        pytest.skip("bubblewrap is not installed")
    tmp_path.chmod(0o755)
    (work := tmp_path / "work").mkdir(mode=0o777)

    async def look() -> tuple[Any, str, list[int]]:
        async with open_sandbox(Level.STRICT, tools, tmp_path) as sandbox, sandbox.network() as network:
            servers = await sandbox.launch(_launch(tools, work, SERVERS_OF_THE_TRIAL, network, None))
            async with servers:
                assert await _line(servers) == "ready"
                program = await sandbox.launch(_launch(tools, work, PROGRAM, network, [GIVEN, V6_ONLY, NOBODY]))
                async with program:
                    found = json.loads(await _line(program))
                    neighbour = await sandbox.launch(_launch(tools, work, NEIGHBOUR, network, []))
                    async with neighbour:
                        said = await _line(neighbour)
                    assert _children_of_group(program.pid)
                    program.stdin.close()
                    await program.wait()
                    return found, said, await _gone(program.pid)

    found, neighbour, left = asyncio.run(look())
    assert found.pop("nobody") in ("ECONNRESET", 0)
    echoed = ("given 127.0.0.1", "given ::1", "given localhost", "many", "v6", "own")
    assert found == {**dict.fromkeys(echoed, "echoed"), "other": "ECONNREFUSED"}
    assert neighbour == "ECONNREFUSED"
    assert left == []


async def _gone(group: int) -> list[int]:
    for _ in range(100):
        if not (left := _children_of_group(group)):
            break
        await asyncio.sleep(0.02)
    return left


def test_no_program_is_given_what_is_the_testers(tools: Toolchain, tmp_path: Path) -> None:
    async def given(sandbox: Sandbox, reached: list[int]) -> list[int]:
        async with sandbox.network() as network:
            hidden = [port.number for port in (network.answer, network.project, network.project_site)]
            place = ProgramEnvironment(sandbox, tmp_path, tmp_path, [], network, [40_500])
            return place.given([*hidden, *reached])

    async def look() -> list[int]:
        async with open_sandbox(Level.STRICT, tools, tmp_path) as sandbox:
            return await given(sandbox, [40_500, 41_000, 1, 0, 22, 41_000])

    if not shutil.which("bwrap"):
        pytest.skip("bubblewrap is not installed")
    assert asyncio.run(look()) == [40_500, 41_000]


def test_ports_of_servers_are_handed_out_to_nobody() -> None:
    first, last = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    found = free_ports(SERVERS)
    assert len(set(found)) == SERVERS
    assert not any(first <= port <= last for port in found)
    assert len(set(PROJECT_PORTS) & {GIVEN, OTHER, V6_ONLY, NOBODY}) == 4
