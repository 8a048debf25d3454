"""Which tests `scripts/check.py --changed` runs."""

from __future__ import annotations

import pytest

from scripts.changed_tests import find_tests


@pytest.mark.full
@pytest.mark.parametrize(
    ("path", "reached", "other"),
    [
        ("convex_evals/stats/rates.py", "tests/stats/test_stats.py", "tests/process/test_process.py"),
        ("convex_evals/cli/commands/matrix.py", "tests/cli/test_matrix.py", "tests/publish/test_publish.py"),
        ("convex_evals/site/templates/run.html.j2", "tests/site/test_pages.py", "tests/publish/test_publish.py"),
        ("convex_evals/node/checker/main.ts", "tests/node/test_node.py", "tests/stats/test_stats.py"),
        ("tests/golden/pages/trials.html", "tests/site/test_routes.py", "tests/stats/test_stats.py"),
        ("tests/site/conftest.py", "tests/site/test_pages.py", "tests/cli/test_matrix.py"),
        ("scripts/check.py", "tests/repository/test_checks.py", "tests/cli/test_matrix.py"),
        ("docs/pages.md", "tests/repository/test_docs.py", "tests/stats/test_stats.py"),
    ],
)
def test_a_change_reaches_the_tests_of_what_uses_it(path: str, reached: str, other: str) -> None:
    found = find_tests([path])
    assert found is not None and reached in found and other not in found


def test_a_change_of_settings_or_a_deleted_module_reaches_everything() -> None:
    assert find_tests(["pyproject.toml"]) is None
    assert find_tests(["convex_evals/no_longer_there.py"]) is None
    assert find_tests(["LICENSE"]) == []
