"""Packages of a registry that are up to no good: what unpacking them leaves where."""

from __future__ import annotations

import asyncio
import base64
import gzip
import hashlib
import io
import json
import os
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import pytest

from convex_evals.errors import InfrastructureError
from convex_evals.grading.node import find_node
from convex_evals.grading.packages import PackageError, PackageStore, link_packages
from tests.attacks.registry import serve_registry

pytestmark = pytest.mark.full

DAY = "2020-01-01T00:00:00.000Z"
UP = "package/" + "../" * 12


def entry(name: str, text: str = "planted", **fields: object) -> Callable[[tarfile.TarFile, Path], None]:
    """Adds a member to a package; `{outside}` in its name and its link is a folder that must stay as it is."""

    def add(archive: tarfile.TarFile, outside: Path) -> None:
        member = tarfile.TarInfo(name.format(outside=outside))
        member.size = len(text) if not fields else 0
        for key, value in fields.items():
            setattr(member, key, value.format(outside=outside) if isinstance(value, str) else value)
        archive.addfile(member, io.BytesIO(text.encode()))

    return add


# What is in a package besides its package.json, and the `bin` that it names.
HOSTILE: dict[str, tuple[list[Callable[[tarfile.TarFile, Path], None]], object]] = {
    "a path that leads out": ([entry(UP + "{outside}/planted")], None),
    "an absolute path": ([entry("/{outside}/planted"), entry("{outside}/planted")], None),
    "a path with backslashes": ([entry("package\\..\\..\\..\\planted")], None),
    "a file through a link": (
        [entry("package/way", type=tarfile.SYMTYPE, linkname="{outside}"), entry("package/way/planted")],
        None,
    ),
    "a link to a file outside": ([entry("package/index.js", type=tarfile.SYMTYPE, linkname="{outside}/kept")], None),
    "a hard link to a file outside": ([entry("package/a", type=tarfile.LNKTYPE, linkname="{outside}/kept")], None),
    "a neighbour's folder": ([entry("package/../../other/index.js"), entry("package/node_modules/convex/a.js")], None),
    "a device and a pipe": (
        [entry("package/null", type=tarfile.CHRTYPE), entry("package/pipe", type=tarfile.FIFOTYPE)],
        None,
    ),
    "programs from elsewhere": ([], {"node": "../../../../../bin/sh", "../planted": "x.js", "tsc": "/{outside}/kept"}),
    "a program that is a link": ([entry("package/run", type=tarfile.SYMTYPE, linkname="/bin/sh")], {"run": "run"}),
}


@contextmanager
def registry(name: str, outside: Path) -> Iterator[str]:
    """A registry with one package, `evil`."""
    members, programs = HOSTILE[name]
    manifest = {"name": "evil", "version": "1.0.0", **({"bin": programs} if programs else {})}
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        entry("package/package.json", json.dumps(manifest).replace("{outside}", str(outside)))(archive, outside)
        for add in members:
            add(archive, outside)
    tarball = gzip.compress(packed.getvalue(), mtime=0)

    def answer(path: str, origin: str) -> bytes:
        return tarball if path.endswith(".tgz") else packument(origin, manifest, tarball)

    with serve_registry(answer) as address:
        yield address


def packument(origin: str, manifest: dict[str, object], tarball: bytes) -> bytes:
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(tarball).digest()).decode()
    version = {**manifest, "dist": {"tarball": f"{origin}/evil/-/evil.tgz", "integrity": integrity}}
    times = {"created": DAY, "modified": DAY, "1.0.0": DAY}
    whole = {"name": "evil", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}, "time": times}
    return json.dumps(whole).encode()


@pytest.mark.parametrize("name", HOSTILE)
def test_a_package_unpacks_into_its_own_folder(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside, root = tmp_path / "outside", tmp_path / "cache" / "packages"
    outside.mkdir()
    root.mkdir(parents=True)
    (outside / "kept").write_text("kept")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm"))
    store = PackageStore(root, find_node(tmp_path / "cache"), date(2026, 1, 1))
    with registry(name, outside) as address:
        monkeypatch.setenv("npm_config_registry", address)
        try:
            node_modules = asyncio.run(store.install(json.dumps({"dependencies": {"evil": "1.0.0"}}), timeout=60))
        except (PackageError, InfrastructureError):
            node_modules = None
    assert [path.name for path in outside.iterdir()] == ["kept"]
    assert ((outside / "kept").read_text(), (outside / "kept").stat().st_nlink) == ("kept", 1)
    assert {path.name for path in tmp_path.iterdir()} <= {"outside", "cache", "npm"}
    if node_modules is None:
        return
    assert {path.name for path in node_modules.iterdir()} <= {"evil", ".bin", ".package-lock.json"}
    project = tmp_path / "cache" / "project"
    project.mkdir()
    link_packages(node_modules, project)
    for folder, folders, files in os.walk(node_modules):
        for path in (Path(folder, found) for found in (*folders, *files)):
            assert path.is_symlink() or path.is_dir() or path.is_file(), path
            assert path.resolve().is_relative_to(node_modules.resolve()), path
    for path in project.rglob("*"):
        assert path.resolve().is_relative_to(tmp_path / "cache"), path
