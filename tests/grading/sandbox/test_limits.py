"""What a launch may use as a whole, also of the kernel's memory, by whatever means this machine has."""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
from dataclasses import replace

import pytest

from convex_evals.grading.sandbox.client import open_launcher
from convex_evals.grading.sandbox.request import LaunchRequest

pytestmark = pytest.mark.full

perl = shutil.which("perl") or pytest.skip("perl is not installed", allow_module_level=True)
LIMIT = 100 * 2**20
MMAP = {"x86_64": 9, "aarch64": 222}.get(platform.machine(), 222)
# 150 MiB each, held until it is ended.
PAGE_TABLES = f"""my $n = 150 * 256; my $a = syscall({MMAP}, 0, ($n + 1) << 21, 1, 0x4022, -1, 0);
for (1 .. $n) {{ my ($b) = unpack "P1", pack "J", $a + ($_ << 21) }} sleep 20"""
SOCKETS = """use Socket; use IO::Handle; my $done = 0; my @k; my $x = "x" x 65536;
while ($done < 150 << 20) { socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0); $a->blocking(0);
  while (my $n = syswrite $a, $x) { $done += $n } push @k, $a, $b } sleep 20"""
RESIDENT = "my $x = 'x' x (150 << 20); sleep 20"
DESCRIPTORS = (
    "for (1 .. 6) { next if fork; my @k; while (open(my $f, '<', '/dev/null')) { push @k, $f } sleep 20 } sleep 20"
)


def reason(program: str, *, own_network: bool = False) -> str | None:
    """Why a launch of this program was ended."""

    async def run() -> str | None:
        async with open_launcher() as launcher:
            limits = {"open_files": 1000}
            request = LaunchRequest([str(perl), "-e", program], {}, "/", memory_bytes=LIMIT, limits=limits)
            request = replace(request, own_network=own_network)
            async with await launcher.launch(request) as child:
                await asyncio.wait_for(child.wait(), 19)
                return child.reason

    return asyncio.run(run())


@pytest.mark.parametrize("program", [RESIDENT, PAGE_TABLES], ids=["resident", "page tables"])
def test_memory_of_a_launch_is_limited(program: str) -> None:
    assert reason(program) == "used more than 100 MiB of memory"


@pytest.mark.skipif(os.getuid() != 0, reason="networks are made by root here")
def test_memory_in_sockets_is_memory_of_the_launch() -> None:
    assert reason(SOCKETS, own_network=True) == "used more than 100 MiB of memory"


def test_descriptors_of_all_processes_of_a_launch_are_counted() -> None:
    assert reason(DESCRIPTORS) == "opened more than 4096 files, sockets and pipes at once"


HALF = "my $x = 'x' x (35 << 20); sleep 8"  # the text, and as much on the way to it


@pytest.mark.parametrize(("names", "ended"), [(("a", "a"), 1), (("a", "b"), 0)], ids=["shared", "apart"])
def test_launches_of_one_name_share_a_limit(names: tuple[str, str], ended: int) -> None:
    async def run() -> list[str | None]:
        async with open_launcher() as launcher:
            request = LaunchRequest([str(perl), "-e", HALF], {}, "/", memory_bytes=LIMIT)
            children = [await launcher.launch(replace(request, together=name)) for name in names]
            for child in children:
                async with child:
                    await asyncio.wait_for(child.wait(), 30)
            return [child.reason for child in children]

    reasons = asyncio.run(run())
    assert sorted(r for r in reasons if r) == ["used more than 100 MiB of memory"] * ended
