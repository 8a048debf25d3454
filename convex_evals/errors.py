"""What can go wrong, and the exit code that says so."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    OK = 0
    USER_ERROR = 1
    USAGE = 2
    BUG = 3
    EVALS_FAILED = 4
    INTERRUPTED = 130


class UserError(Exception):
    """Something the user can fix. The message is one line: where, what, and what to do."""


class InfrastructureError(Exception):
    """Something of ours, or of the machine, failed. A trial that meets it is never counted against a model."""


class ProcessFault(InfrastructureError):
    """A process that handled a project died, or did not answer in time.

    The project may have caused it: the grading is repeated beside a canary before anybody is blamed.
    """


class InstallFault(ProcessFault):
    """A project's packages could not be installed, or not in time; a canary's installation tells whose fault it is."""


def first_cause(error: BaseException) -> BaseException:
    """What went wrong first inside of exception groups; the error itself where it is none."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
