"""What the launcher keeps by hand, compared with what is published."""

from __future__ import annotations

import ast
import ctypes
import ctypes.util
import re
import sys
from pathlib import Path

import pytest

from convex_evals.grading.sandbox import launcher
from convex_evals.grading.sandbox.system_calls import system_calls
from tests.syntax import parsed

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
HEADERS = {
    "x86_64": "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
    "aarch64": "/usr/include/asm-generic/unistd.h",  # what AArch64 was made from
}


@pytest.mark.parametrize("machine", AUDIT_ARCH)
def test_the_numbers_are_libseccomps(machine: str) -> None:
    name = ctypes.util.find_library("seccomp")
    if not name:
        pytest.skip("libseccomp is not installed")
    library = ctypes.CDLL(name)
    for call, number in system_calls(machine).items():
        found = library.seccomp_syscall_resolve_name_arch(ctypes.c_uint32(AUDIT_ARCH[machine]), call.encode())
        # -1: the library is older than the call.
        assert found in (number, -1), call


@pytest.mark.parametrize("machine", AUDIT_ARCH)
def test_the_numbers_are_the_kernels(machine: str) -> None:
    header = Path(HEADERS[machine])
    if not header.is_file():
        pytest.skip(f"{header} is not installed")
    defined = re.findall(r"^#define __NR(?:3264)?_(\w+)\s+(\d+)$", header.read_text(), re.MULTILINE)
    published = {name: int(number) for name, number in defined}
    newest = max(published.values())  # headers may be older than the newest calls
    for call, number in system_calls(machine).items():
        assert number > newest or published.get(call) == number, call


def test_the_launcher_has_the_standard_library_alone() -> None:
    """It is started without any packages."""
    package = "convex_evals.grading.sandbox"
    folder = Path(launcher.__file__).parent
    seen: set[str] = set()
    left = ["launcher"]
    while left:
        module = left.pop()
        seen.add(module)
        for node in ast.walk(parsed((folder / f"{module}.py").read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                inner = name.removeprefix(f"{package}.")
                if inner != name:
                    left += [inner] if inner not in seen else []
                else:
                    assert name.partition(".")[0] in sys.stdlib_module_names, f"{module}.py imports {name}"
