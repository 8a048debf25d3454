"""One program that a grader starts: what was asked for, what its folders are called, and how it is launched."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from convex_evals.errors import ProcessFault
from convex_evals.grading.npm import remove_tree
from convex_evals.grading.sandbox.base import Launch, Level, Network, Sandbox

# Descriptors: 3 its files, 4 what it wrote, 5 to 7 its own 0 to 2, 8 its messages. Our complaints go to 2.
_RUN = """
base=$1 tar=$2 results=$3 cwd=$4
shift 4
"$tar" -xmof - -C "$base" <&3 2>/dev/null || exit 125
exec 3<&-
cd "$cwd" || exit 126
[ -n "$results" ] || exec "$@" <&5 >&6 2>&7 4>&- 5<&- 6>&- 7>&-
"$@" <&5 >&6 2>&7 4>&- 5<&- 6>&- 7>&-
status=$?
exec 5<&- 6>&- 7>&- 8<&-
"$tar" -cf - --exclude=node_modules -C "$base" $results >&4 2>/dev/null
exit $status
"""
_CHANNEL_FD = 8
_MOST_PORTS = 64


@dataclass(frozen=True)
class ProgramEnvironment:
    """Where a grader's programs run, and what they may use."""

    sandbox: Sandbox
    project: Path
    scratch: Path  # the grader's own folder, beside the project's
    readable: Sequence[Path]
    network: Network | None
    ports: Sequence[int]

    @property
    def base(self) -> Path:
        return self.project.parent

    def given(self, reached: Sequence[int] | None) -> list[int]:
        """The ports that a program gets, of those that it is to reach: never one that is the tester's alone."""
        if reached is None:
            return list(self.ports)
        may = {*self.ports, *(self.network.server_ports if self.network else ())}
        return [port for port in dict.fromkeys(reached) if port in may][:_MOST_PORTS]


@dataclass(frozen=True)
class Start:
    """What the tester asks for."""

    argv: list[str]
    cwd: str
    env: dict[str, str]
    stdin: bool
    ipc: bool
    results: bool
    timeout: float | None  # seconds
    reached: list[int] | None  # the ports that it is given; None: all that the project reaches

    @classmethod
    def parse(cls, payload: bytes) -> Start:
        """Raises `ValueError`, `KeyError` or `TypeError` where it is nothing of the kind."""
        said = json.loads(payload)
        env = dict(pair.split("=", 1) for pair in said["env"] if "=" in pair)
        words = [*said["argv"], said["cwd"], *env, *env.values()]
        if not said["argv"] or not all(isinstance(word, str) and "\0" not in word for word in words):
            raise ValueError("no command")
        seconds = float(said["timeout"]) / 1000 if said["timeout"] is not None else None
        reached = None if said["reached"] is None else [int(port) for port in said["reached"]]
        return cls(said["argv"], said["cwd"], env, said["stdin"], said["ipc"], said["results"], seconds, reached)


@dataclass(frozen=True)
class Names:
    """Where the sandbox cannot give a program's folders the names that the tester knows, both names of them."""

    known: str
    actual: str

    def there(self, text: str) -> str:
        return text.replace(self.known, self.actual)


@dataclass
class Back:
    """A program's words with the names of folders that the tester knows, though they come in pieces."""

    names: Names
    _kept: bytes = b""

    def feed(self, data: bytes, *, last: bool = False) -> bytes:
        actual, known = self.names.actual.encode(), self.names.known.encode()
        if actual == known:
            return data
        whole = (self._kept + data).replace(actual, known)
        ends = (n for n in range(len(actual) - 1, 0, -1) if whole.endswith(actual[:n]))
        cut = len(whole) - (0 if last else next(ends, 0))
        self._kept = whole[cut:]
        return whole[:cut]


@asynccontextmanager
async def open_names(place: ProgramEnvironment) -> AsyncIterator[Names]:
    """What a program's folders are called: with mounts of its own, as the tester calls them."""
    if place.sandbox.level is Level.STRICT:
        yield Names(str(place.base), str(place.base))
        return
    actual = Path(tempfile.mkdtemp(prefix="program-", dir=place.base))
    try:
        for folder in (place.project, place.scratch):
            (actual / folder.name).mkdir()
        yield Names(str(place.base), str(actual))
    finally:
        await asyncio.to_thread(remove_tree, actual)


def launch_of(place: ProgramEnvironment, start: Start, names: Names, descriptors: Sequence[int]) -> Launch:
    base = Path(names.actual)
    folders = [base / folder.name for folder in (place.project, place.scratch)]
    tar = shutil.which("tar")
    if tar is None:
        raise ProcessFault("tar is not on PATH: programs that a grader starts need it")
    results = " ".join(folder.name for folder in folders) if start.results else ""
    words = [names.there(word) for word in (start.cwd, *start.argv)]
    env = {name: names.there(value) for name, value in start.env.items()}
    return Launch(
        ["/bin/sh", "-c", _RUN, "sh", str(base), tar, results, *words],
        folders[0],
        {**env, **({"NODE_CHANNEL_FD": str(_CHANNEL_FD)} if start.ipc else {})},
        readable=place.readable,
        fresh=folders if base == place.base else [base],
        pass_fds=descriptors,
        network=place.network,
        ports=place.given(start.reached),
        alone=start.reached is not None,
        project_code=True,
        together=str(place.scratch),
    )
