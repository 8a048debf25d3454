"""What the token of a job may do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Rights = dict[str, str]  # scope: `read` or `write`; a scope that is not there gives nothing
SCOPES = (
    *("actions", "attestations", "checks", "contents", "deployments", "discussions", "id-token", "issues"),
    *("packages", "pages", "pull-requests", "security-events", "statuses"),
)
_LEVELS = {"none": 0, "read": 1, "write": 2}


class PermissionsError(Exception):
    """GitHub would not start the workflow."""


def parse_rights(declared: Any, default: Mapping[str, str]) -> Rights:
    """Of `permissions:`; without the key, those of the outer level, or of a repository's restricted setting."""
    if declared is None:
        return dict(default)
    if declared in ("read-all", "write-all"):
        return dict.fromkeys(SCOPES, declared.removesuffix("-all"))
    if not isinstance(declared, Mapping) or declared.keys() - set(SCOPES) or set(declared.values()) - _LEVELS.keys():
        raise PermissionsError(f"permissions: {declared!r}")
    return {scope: level for scope, level in declared.items() if level != "none"}


def cap(rights: Mapping[str, str], fork: bool) -> Rights:
    """A pull request from a fork may read what its workflow may write."""
    return dict.fromkeys(rights, "read") if fork else dict(rights)


def check_nested(rights: Mapping[str, str], outer: Mapping[str, str], name: str) -> None:
    """A workflow that is called may not have more than the job that calls it."""
    for scope, level in rights.items():
        allowed = outer.get(scope, "none")
        if _LEVELS[level] > _LEVELS[allowed]:
            raise PermissionsError(f"{name} requests {scope}: {level}, but is only allowed {scope}: {allowed}")
