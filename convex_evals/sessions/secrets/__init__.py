"""Finds secrets in conversations and removes them before anything of a session is written."""

from convex_evals.sessions.secrets.redaction import Redactor, SecretCount

__all__ = ["Redactor", "SecretCount"]
