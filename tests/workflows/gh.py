"""`gh`, as far as the workflows use it for issues and comments; whatever else it is asked is an error.

Executed in front of PATH as `python gh.py FOLDER ...`, by the text that `shim` gives; it needs nothing but the standard
library. FOLDER is the hub's: its tokens say who may do what, and `issues.json` has the state, which tests read by
`Issues`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import parse_qs, urlsplit

BOT = "github-actions[bot]"
_LONGEST_BODY = 65_536  # characters
_PAGE = 30  # comments, unless `per_page` says more


def shim(folder: Path) -> str:
    return f'#!/bin/sh\nexec "{sys.executable}" "{Path(__file__).resolve()}" "{folder}" "$@"\n'


class Issues:
    """Issues and comments by number, and labels; pull requests have comments alone."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "issues.json"
        there = json.loads(self.path.read_text()) if self.path.exists() else {}
        self.labels: list[str] = there.get("labels", [])
        self.issues: list[dict[str, Any]] = there.get("issues", [])
        self.comments: list[dict[str, Any]] = there.get("comments", [])

    def save(self) -> None:
        state = {"labels": self.labels, "issues": self.issues, "comments": self.comments}
        self.path.write_text(json.dumps(state, indent=1))

    def comment(self, number: int, body: str, login: str = BOT) -> None:
        comment = {"id": 1_000 + len(self.comments), "number": number, "user": {"login": login}, "body": body}
        self.comments.append(comment)

    def on(self, number: int) -> list[str]:
        """The comments on an issue or a pull request."""
        return [c["body"] for c in self.comments if c["number"] == number]

    def open(self) -> list[dict[str, Any]]:
        return [issue for issue in self.issues if issue["state"] == "open"]


def _fail(message: str) -> NoReturn:
    sys.exit(f"gh: {message}")


class _Gh:
    def __init__(self, folder: Path) -> None:
        self.folder, self.state = folder, Issues(folder)
        tokens = json.loads((folder / "tokens.json").read_text())
        token = os.environ.get("GH_TOKEN", "")
        if token not in tokens:
            _fail("HTTP 401: Bad credentials")
        self.rights: dict[str, str] = tokens[token]
        self.repository = os.environ.get("GH_REPO") or _fail("not in a repository, and GH_REPO is not set")

    def need(self, level: str, *scopes: str) -> None:
        levels = ("read", "write") if level == "read" else ("write",)
        if not any(self.rights.get(scope) in levels for scope in scopes):
            _fail(f"HTTP 403: Resource not accessible by integration (needs {' or '.join(scopes)}: {level})")

    # gh api

    def api(self, a: argparse.Namespace) -> None:
        url = urlsplit(a.endpoint)
        place = re.fullmatch(rf"repos/{self.repository}/issues/(\d+/comments|comments/\d+)", url.path)
        if place is None:
            _fail(f"unexpected: {a.endpoint}")
        number = int(re.sub(r"\D", "", place[1]))
        if a.method == "PATCH" and place[1].startswith("comments/"):
            self.need("write", "pull-requests", "issues")
            comment = next((c for c in self.state.comments if c["id"] == number), None) or _fail("HTTP 404")
            comment["body"] = self._field_body(a.field)
        elif a.method == "POST" and place[1].endswith("/comments"):
            self.need("write", "pull-requests", "issues")
            self.state.comment(number, self._field_body(a.field))
        elif a.method is None and a.paginate and a.slurp and not a.field:
            self.need("read", "pull-requests", "issues")
            size = int(parse_qs(url.query).get("per_page", [_PAGE])[0])
            own = [c for c in self.state.comments if c["number"] == number]
            print(json.dumps([own[at : at + size] for at in range(0, max(len(own), 1), size)]))
        else:
            _fail(f"unexpected: {a}")

    def _field_body(self, fields: list[str]) -> str:
        if len(fields) != 1 or not fields[0].startswith("body=@"):
            _fail(f"unexpected fields: {fields}")
        return self._body(fields[0].removeprefix("body=@"))

    def _body(self, path: str) -> str:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
        if len(text) > _LONGEST_BODY:
            _fail("HTTP 422: body is too long (maximum is 65536 characters)")
        return text

    # gh issue, gh label

    def list(self, a: argparse.Namespace) -> None:
        self.need("read", "issues")
        found = [i for i in self.state.open() if a.label in i["labels"]]
        print(json.dumps([{key: issue[key] for key in a.json.split(",")} for issue in found[: a.limit]]))

    def create(self, a: argparse.Namespace) -> None:
        self.need("write", "issues")
        if a.label not in self.state.labels:
            _fail(f"could not add label: '{a.label}' not found")
        number = len(self.state.issues) + 1
        issue = {"number": number, "title": a.title, "body": self._body(a.body_file), "labels": [a.label]}
        self.state.issues.append({**issue, "state": "open"})
        print(f"https://github.com/{self.repository}/issues/{number}")

    def edit(self, a: argparse.Namespace) -> None:
        self.need("write", "issues")
        self._issue(a.number)["body"] = self._body(a.body_file)

    def close(self, a: argparse.Namespace) -> None:
        self.need("write", "issues")
        self._issue(a.number)["state"] = "closed"
        self.state.comment(a.number, a.comment)

    def _issue(self, number: int) -> dict[str, Any]:
        return next((i for i in self.state.issues if i["number"] == number), None) or _fail(f"no issue {number}")

    def label(self, a: argparse.Namespace) -> None:
        self.need("write", "issues")
        if a.name not in self.state.labels:
            self.state.labels.append(a.name)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("gh", allow_abbrev=False)
    groups = parser.add_subparsers(required=True)

    def command(of: Any, name: str, do: Callable[[_Gh, argparse.Namespace], None]) -> argparse.ArgumentParser:
        found: argparse.ArgumentParser = of.add_parser(name, allow_abbrev=False)
        found.set_defaults(do=do)
        return found

    api = command(groups, "api", _Gh.api)
    api.add_argument("endpoint")
    api.add_argument("--method")
    api.add_argument("--field", action="append", default=[])
    for flag in ("--paginate", "--slurp", "--silent"):
        api.add_argument(flag, action="store_true")
    issue = groups.add_parser("issue", allow_abbrev=False).add_subparsers(required=True)
    listing = command(issue, "list", _Gh.list)
    listing.add_argument("--state", choices=["open"], required=True)
    listing.add_argument("--limit", type=int, required=True)
    for name in ("--label", "--json"):
        listing.add_argument(name, required=True)
    create = command(issue, "create", _Gh.create)
    for name in ("--title", "--label", "--body-file"):
        create.add_argument(name, required=True)
    edit, close = command(issue, "edit", _Gh.edit), command(issue, "close", _Gh.close)
    edit.add_argument("number", type=int)
    edit.add_argument("--body-file", required=True)
    close.add_argument("number", type=int)
    close.add_argument("--comment", required=True)
    label = command(groups.add_parser("label", allow_abbrev=False).add_subparsers(required=True), "create", _Gh.label)
    label.add_argument("name")
    label.add_argument("--force", action="store_true", required=True)
    for name in ("--color", "--description"):
        label.add_argument(name)
    return parser


def main(argv: list[str]) -> None:
    arguments = _parser().parse_args(argv[1:])
    gh = _Gh(Path(argv[0]))
    arguments.do(gh, arguments)
    gh.state.save()


if __name__ == "__main__":
    main(sys.argv[1:])
