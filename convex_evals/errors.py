"""What can go wrong, and the exit code that says so."""

from __future__ import annotations

import errno
from enum import IntEnum

_WRITE_ADVICE = {
    errno.ENOSPC: "the disk is full; free some space and run the command again",
    errno.EDQUOT: "the disk quota is used up; free some space and run the command again",
    errno.EROFS: "the file system is read-only; {elsewhere}",
    errno.EACCES: "no permission to write; fix the permissions or {elsewhere}",
    errno.EPERM: "no permission to write; fix the permissions or {elsewhere}",
    errno.ENOTDIR: "a file is in the way of a folder; move it away",
    errno.EEXIST: "a file is in the way of a folder; move it away",
    errno.EISDIR: "a folder is in the way of the file; move it away",
}


class ExitCode(IntEnum):
    OK = 0
    USER_ERROR = 1
    USAGE = 2
    BUG = 3
    EVALS_FAILED = 4
    PENDING = 5
    INCOMPLETE = 6
    INTERRUPTED = 130


class UserError(Exception):
    """Something the user can fix. The message is one line: where, what, and what to do."""


class NewerFormat(UserError):
    """A record of a newer version of this tool; the others beside it can be read."""


class WrongFigures(UserError):
    """A summary whose figures its run contradicts; the runs beside it can be read."""


class InfrastructureError(Exception):
    """This tool, or the machine, failed. A trial that meets it is never counted against a model."""


class ProcessFault(InfrastructureError):
    """A process that handled a project died, or did not answer in time.

    The project may have caused it: the grading is repeated beside a canary before the project is blamed.
    """


class InstallFault(ProcessFault):
    """A project's packages could not be installed, or not in time; installing a canary's tells whose fault it is."""


def write_advice(code: int | None, elsewhere: str) -> str | None:
    """Why a write failed with this `errno`, and what to do; `elsewhere` says how to choose another folder."""
    found = _WRITE_ADVICE.get(code or 0)
    return found.format(elsewhere=elsewhere) if found else None


def first_cause(error: BaseException) -> BaseException:
    """What went wrong first inside of exception groups; the error itself where it is none."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def bug_line(error: BaseException, details: str) -> str:
    """Describe an internal error on one line; `details` is the file with its traceback."""
    what = f"{type(error).__name__}: {error}".partition("\n")[0]
    return f"this is a bug in convex-evals: {what}; details in {details}"
