from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.grading.packages import PackageError, link_packages, parse_dependencies


@pytest.mark.parametrize(
    "spec", ["^1.31.2", "1.x || >=2.5.0 <3", "*", "", "latest", "~1.2", "1.2.3-beta.1", "npm:@scope/x@^1.0.0"]
)
def test_what_the_registry_has_is_accepted(spec: str) -> None:
    assert parse_dependencies(json.dumps({"dependencies": {"@a/b": spec}}))["dependencies"] == {"@a/b": spec}


@pytest.mark.parametrize(
    "spec",
    ["file:../../etc", "link:../x", "git+https://example.org/x.git", "git@example.org:x", "user/repo", "https://example.org/x.tgz",
     "workspace:*", "../x", "npm:../x", "github:a/b", "portal:x", "1.0.0; rm"],
)  # fmt: skip
def test_anything_else_is_refused(spec: str) -> None:
    with pytest.raises(PackageError, match="does not name a version in the registry"):
        parse_dependencies(json.dumps({"devDependencies": {"x": spec}}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not valid JSON"),
        ("[]", "not a JSON object"),
        ('{"dependencies": []}', None),
        ('{"dependencies": "x"}', "'dependencies' is not an object"),
        ('{"dependencies": {"../x": "1"}}', "is not a package name"),
        ('{"dependencies": {".bin": "1"}}', "is not a package name"),
        ('{"dependencies": {"x": 1}}', "the version of 'x' is not text"),
        ("[" * 100_000, "not valid JSON"),
    ],
)
def test_package_json_is_the_models_text(text: str, message: str | None) -> None:
    if message is None:
        assert not any(parse_dependencies(text).values())
        return
    with pytest.raises(PackageError, match=message):
        parse_dependencies(text)


def test_dependencies_win_over_dev_dependencies() -> None:
    text = json.dumps(
        {"devDependencies": {"a": "1"}, "peerDependencies": {"a": "3", "b": "4"}, "dependencies": {"a": "2"}}
    )
    assert parse_dependencies(text) == {"dependencies": {"a": "2", "b": "4"}, "optionalDependencies": {}}


def test_optional_dependencies_stay_optional() -> None:
    text = json.dumps({"optionalDependencies": {"a": "1", "b": "2"}, "dependencies": {"a": "3"}})
    assert parse_dependencies(text) == {"dependencies": {"a": "3"}, "optionalDependencies": {"b": "2"}}


@given(st.text())
def test_no_text_crashes(text: str) -> None:
    with contextlib.suppress(PackageError):
        parse_dependencies(text)


def test_linking(tmp_path: Path) -> None:
    store, project = tmp_path / "store", tmp_path / "project"
    for package in ("a", "@s/b", ".bin"):
        (store / package).mkdir(parents=True)
    (store / "a" / "cli.js").write_text("")
    (store / ".bin" / "a").symlink_to("../a/cli.js")
    (store / ".package-lock.json").write_text("{}")
    project.mkdir()
    link_packages(store, project)
    assert (project / "node_modules" / "@s" / "b").resolve() == store / "@s" / "b"
    assert (project / "node_modules" / ".bin" / "a").resolve() == store / "a" / "cli.js"
    assert sorted(p.name for p in (project / "node_modules").iterdir()) == [".bin", "@s", "a"]
    shutil.rmtree(project)
    assert (store / "a" / "cli.js").is_file()
