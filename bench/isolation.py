"""What keeping the tester apart from the backend's process costs. docs/adr/0002 quotes the output.

    python bench/isolation.py [--launches N]

Starts a server in a sandbox, then launches Node several times: bare, in a sandbox of its own, and in a sandbox that
shares nothing with the server's but the network namespace, which a third process holds. Checks that the
last can talk to the server and sees neither its files nor its processes. Needs Linux, bubblewrap and util-linux.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from convex_evals.config import cache_dir
from convex_evals.grading.node import find_node
from scripts.command import start

SERVER = """
const server = require("node:http").createServer((request, response) => response.end("hello"));
server.listen(0, "127.0.0.1", () => require("node:fs").writeSync(1, server.address().port + "\\n"));
"""
HOLDER = """
import fcntl, socket, struct, sys
with socket.socket() as s:  # bring the loopback device up
    fcntl.ioctl(s, 0x8914, struct.pack("16sh", b"lo", 0x1 | 0x40))
print("ready", flush=True)
sys.stdin.read()
"""
CLIENT = """
const fs = require("node:fs");
const hidden = !fs.existsSync(process.argv[2]);
const alone = fs.readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name)).length <= 2;
fetch("http://127.0.0.1:" + process.argv[1]).then(async (response) => {
  process.exit(hidden && alone && (await response.text()) === "hello" ? 0 : 1);
}).catch(() => process.exit(2));
"""


def sandboxed(node: Path, folder: Path, *, join: int | None) -> list[str]:
    """The command line that puts `node` into namespaces of its own; its network is that of process `join`, if given."""
    enter = ["nsenter", f"--target={join}", "--user", "--preserve-credentials", "--net"] if join else []
    network = ["--share-net"] if join else []
    folders = [path for path in ("/usr", "/lib", "/lib64", "/bin") if Path(path).exists()]
    return [
        *enter,
        *("bwrap", "--unshare-all", *network, "--die-with-parent", "--clearenv", "--new-session"),
        *(word for path in folders for word in ("--ro-bind", path, path)),
        *("--ro-bind", str(node), "/node", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"),
        *("--bind", str(folder), "/work", "--chdir", "/work", "/node"),
    ]


def launch_ms(argv: list[str], launches: int) -> float:
    """Median wall-clock milliseconds of running `argv` to its end."""
    times = []
    for _ in range(launches):
        start = time.perf_counter()
        status = subprocess.run(argv, check=False).returncode
        times.append((time.perf_counter() - start) * 1000)
        if status != 0:
            sys.exit(f"isolation does not hold: {argv[0]} ended with {status}")
    return statistics.median(times)


def piped(argv: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--launches", type=int, default=20)
    launches: int = parser.parse_args().launches
    missing = [tool for tool in ("bwrap", "nsenter", "unshare") if shutil.which(tool) is None]
    if missing:
        sys.exit(f"not on PATH: {', '.join(missing)} (Debian: apt-get install bubblewrap util-linux)")
    node = find_node(cache_dir()).executable
    with tempfile.TemporaryDirectory() as backend_folder, tempfile.TemporaryDirectory() as tester_folder:
        secret = Path(backend_folder) / "secret"
        secret.write_text("of the backend")
        # Entering the network through a process that holds nothing else works without being root, too.
        holder = piped(["unshare", "--map-root-user", "--net", sys.executable, "-I", "-c", HOLDER])
        assert holder.stdout is not None
        holder.stdout.readline()
        server = piped([*sandboxed(node, Path(backend_folder), join=holder.pid), "-e", SERVER])
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        try:
            bare = launch_ms([str(node), "-e", "0"], launches)
            own = launch_ms([*sandboxed(node, Path(tester_folder), join=None), "-e", "0"], launches)
            joined_argv = sandboxed(node, Path(tester_folder), join=holder.pid)
            joined = launch_ms([*joined_argv, "-e", "0"], launches)
            launch_ms([*joined_argv, "-e", CLIENT, "--", port, str(secret)], 3)
        finally:
            for process in (server, holder):
                process.kill()
                process.wait()
    print(f"median of {launches} launches of `node -e 0`")
    print(f"bare                                   {bare:6.1f} ms")
    print(f"own sandbox                            {own:6.1f} ms   +{own - bare:.1f} ms, x{own / bare:.2f}")
    print(f"own sandbox, network of the backend's  {joined:6.1f} ms   +{joined - bare:.1f} ms, x{joined / bare:.2f}")
    print("holds: reaches the backend's port; sees neither its files nor its processes")


if __name__ == "__main__":
    start(main)
