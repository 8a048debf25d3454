from __future__ import annotations

import re
import tomllib

from packaging.requirements import Requirement

from convex_evals.cli.app import COMMANDS
from scripts.reference_docs import FILES, cli_reference, formats_reference
from tests.conftest import ROOT


def test_every_command_is_documented() -> None:
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert cli_reference() in text
    for name in COMMANDS:
        assert f"\n## cli {name}\n" in text
        assert "Example" in text.partition(f"\n## cli {name}\n")[2].partition("\n## ")[0]


def test_every_key_of_every_file_is_documented() -> None:
    text = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    assert formats_reference() in text
    for path, model in FILES.items():
        section = text.partition(f"\n## {path}\n")[2].partition("\n## ")[0]
        for name, field in model.model_fields.items():
            assert re.search(rf"^\| `{field.alias or name}` \|", section, re.MULTILINE), f"{path}: {name}"


def test_links_in_documents_lead_somewhere() -> None:
    for document in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document}: {target}"


def test_the_readme_has_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "    pip install -e . && cli run -m demo\n" in text
    assert "    pip install -e '.[dev]' && python scripts/check.py\n" in text


def test_the_lock_has_what_the_project_asks_for() -> None:
    """Where keys are in reach, packages are installed from requirements.lock."""
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    lock = dict(re.findall(r"^([a-z0-9.-]+)==(\S+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE))
    for requirement in map(Requirement, wanted):
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        assert name in lock, f"{name}: make requirements.lock anew (CONTRIBUTING.md)"
        assert requirement.specifier.contains(lock[name]), f"{name}=={lock[name]} is not {requirement.specifier}"
