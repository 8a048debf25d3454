"""Finds secrets in conversations and removes them before anything of a session is written."""

from convex_evals.sessions.secrets.redaction import Finding, Redactor

__all__ = ["Finding", "Redactor"]
