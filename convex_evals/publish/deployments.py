"""Which deployment is meant, and with which token it is spoken to."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from convex_evals.config import CONFIG_NAME, DeploymentSettings, load_config
from convex_evals.errors import UserError

URL_VARIABLE = "CONVEX_EVAL_URL"
TOKEN_VARIABLE = "CONVEX_AUTH_TOKEN"
LOCAL = "local"  # what `--to` calls the leaderboard on this machine
DATA = ".leaderboard"  # folder of the leaderboard on this machine
LOCAL_LEDGERS = "ledgers"  # in its data


@dataclass(frozen=True)
class Deployment:
    """A leaderboard's deployment."""

    name: str  # of its ledgers
    url: str  # without a path
    token: str = field(repr=False)
    token_variable: str
    guard: str | None = None
    ledgers: Path | None = None  # their folder, where they are not kept with each run

    @property
    def known_as(self) -> str:
        """What its ledgers are about. On this machine ports change, and the folder stays."""
        return self.url if self.ledgers is None else LOCAL


def find_deployment(home: Path, to: str | None, environment: Mapping[str, str] = os.environ) -> Deployment:
    """The one that `--to` names, else the only one of convex-evals.yaml, else that of the environment.

    `home` is the user's own folder: a suite that is named by -C says nothing about where tokens go. Raises `UserError`.
    """
    known = load_config(home).deployments
    named = _named(known, to, environment.get(URL_VARIABLE))
    if isinstance(named, str):
        settings = known[named]
        name, variable = named, settings.token_env
    else:
        settings, variable = named, TOKEN_VARIABLE
        name = _name_of(settings.url)
        if name in known:
            raise UserError(
                f"{settings.url}: would be called '{name}' like another deployment in {home / CONFIG_NAME}; "
                "add it there under a name of its own"
            )
    token = environment.get(variable, "").strip()
    if not token:
        raise UserError(f"{variable} is not set: {name} takes a token; set it in your shell or in .env")
    return Deployment(name, settings.url, token, variable, settings.guard)


def _named(
    known: Mapping[str, DeploymentSettings], to: str | None, from_environment: str | None
) -> str | DeploymentSettings:
    """A name of the settings, or what stands for an URL that is not there."""
    if to is None and len(known) == 1:
        return next(iter(known))
    if to is None and len(known) > 1:
        raise UserError(f"several deployments are known: {', '.join(known)}; choose one with --to NAME")
    if to is None and not from_environment:
        raise UserError(
            f"no deployment to publish to; add one below `deployments:` in {CONFIG_NAME}, or set {URL_VARIABLE} and "
            f"{TOKEN_VARIABLE}; `--to {LOCAL}` is the leaderboard on this machine"
        )
    where = to if to is not None else from_environment or ""
    if where in known:
        return where
    if "://" not in where:
        names = list(dict.fromkeys([*known, LOCAL]))
        near = difflib.get_close_matches(where, names, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"known: {', '.join(names)}"
        raise UserError(f"--to {where}: no such deployment in {CONFIG_NAME}, and no URL; {hint}")
    try:
        own = DeploymentSettings(url=where)
    except ValueError as error:
        said = str(error).partition("Value error, ")[2].partition(" [type=")[0]
        raise UserError(f"{'--to' if to is not None else URL_VARIABLE} {where}: {said}") from None
    return next((name for name, settings in known.items() if settings.url == own.url), own)


def _name_of(url: str) -> str:
    """`happy-otter-123` for https://happy-otter-123.convex.cloud, host and port of others."""
    place = urlsplit(url).netloc.removesuffix(".convex.cloud")
    return re.sub(r"[^a-z0-9]+", "-", place.lower()).strip("-")[:60].strip("-") or "deployment"
