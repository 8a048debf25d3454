"""Attacks on what judges, by what it starts: programs, and React apps that get out of their page."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.attacks.making import PROGRAM, Attack, Constants, Files, in_a_program, script

BESIDE_SUITE, PAGE = "000-attacks/003-programs_beside_suite", "000-attacks/004-page"
HELD_LINE = "000-attacks/006-held_line"
_PAGE_MANIFEST = (Path(__file__).parent / "evals" / PAGE / "answer" / "package.json").read_text()
_WRITE = """
await attack(WORLD);
const found = fs.lstatSync("result.txt", { throwIfNoEntry: false });
if (!found) fs.writeFileSync("result.txt", lines.join("\\n") || "nothing");
"""
# What looks like a browser is no boundary: from there Node.js can be reached.
_ESCAPE = """// @ts-nocheck
const process = console.log.constructor("return process")();
const node = (name) => process.getBuiltinModule(`node:${name}`);
const { execFileSync, spawn, spawnSync } = node("child_process");
const [crypto, dgram, dns, fs, net, os, path] = ["crypto", "dgram", "dns", "fs", "net", "os", "path"].map(node);
const { fetch, WebSocket, AbortSignal } = process.getBuiltinModule("node:vm").runInThisContext("globalThis");
"""
_SHOW = """
import { useEffect, useState } from "react";
export default function App() {
  const [shown, show] = useState("");
  useEffect(() => {
    attack(WORLD).catch((error) => note(error.stack)).then(() => show(lines.join("; ") || "nothing"));
  }, []);
  return <p>{shown}</p>;
}
"""


def _writing(name: str) -> Callable[[Constants], Files]:
    """The attack as a program that leaves a file for the grader."""

    def files(constants: Constants) -> Files:
        made = in_a_program(name)(constants)
        return {**made, "attack.test.mjs": script(name, constants) + _WRITE}

    return files


# Beside a program that is held back: it answers on the loopback of the trial, and could pass on what it is sent.
_RELAY = """"use node";
import { action } from "./_generated/server";
import dgram from "node:dgram";
import net from "node:net";
export const listen = action({
  args: {},
  handler: async () => {
    net.createServer((socket) => void socket.on("error", () => {}).end("relay")).on("error", () => {}).listen(8123);
    const udp = dgram.createSocket("udp4", (_, from) => udp.send("relay", from.port, from.address));
    udp.on("error", () => {}).bind(8123);
    await new Promise((resolve) => setTimeout(resolve, 300));
  },
});
"""


def _past_the_line(make: Callable[[Constants], Files]) -> Callable[[Constants], Files]:
    return lambda constants: {**make(constants), "convex/relay.ts": _RELAY}


def _in_a_page(name: str) -> Callable[[Constants], Files]:
    """The attack as a React app."""

    def files(constants: Constants) -> Files:
        lines = script(name, constants).splitlines()
        body = "\n".join(line for line in lines if not line.startswith("import "))
        made = in_a_program(name)(constants)
        return {
            "package.json": _PAGE_MANIFEST,
            "convex/ping.ts": made["convex/ping.ts"],
            "src/App.tsx": f"{_ESCAPE}{body}{_SHOW}",
            "tsconfig.json": json.dumps({"compilerOptions": {"jsx": "react-jsx"}}),
        }

    return files


_BODIES = [
    ("inspect_others", "open and use the inspector of the process that started it"),
    ("hidden_ports", "scan its loopback for the answer's port"),
    ("suite_on_disk", "find the suite through mounts, `/proc/*/root`, command lines"),
    ("use_others", "use the memory, environment and descriptors of the process that started it"),
]

GRADERS: tuple[Attack, ...] = (
    *(Attack(f"{name}-program", f"{what}, from a program", PROGRAM, in_a_program(name)) for name, what in _BODIES),
    *(
        Attack(f"{name}-beside_suite", f"{what}, from a program of a grader that reads the suite", BESIDE_SUITE, make)
        for name, what, make in (
            ("suite_on_disk", _BODIES[2][1], _writing("suite_on_disk")),
            ("inspect_others", _BODIES[0][1], _writing("inspect_others")),
        )
    ),
    *(
        Attack(f"{name}-page", f"{what}, from a page", PAGE, _in_a_page(name))
        for name, what in (*_BODIES, ("admin_key", "use the well-known admin key on its own deployment"))
    ),
    *(
        Attack(f"past_the_line-{place}", f"get past a connection that is held, from a {place}", HELD_LINE, make)
        for place, make in (
            ("program", _past_the_line(in_a_program("past_the_line"))),
            ("page", _past_the_line(_in_a_page("past_the_line"))),
        )
    ),
    Attack("planted_links", "leave links to the suite for the grader to read", BESIDE_SUITE, _writing("planted_links")),
    Attack("planted_folders", "leave links in place of folders", BESIDE_SUITE, _writing("planted_folders")),
    Attack("left_daemon", "leave a daemon and files for the next program", BESIDE_SUITE, _writing("left_daemon")),
)
