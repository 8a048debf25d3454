"""How the scripts here are started and ended."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NoReturn

from convex_evals.errors import ExitCode, InfrastructureError, UserError, first_cause


def start(main: Callable[[], int | None]) -> NoReturn:
    """Run a script's `main` and exit: what its user can fix is one line, and Ctrl-C leaves no traceback."""
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(ExitCode.INTERRUPTED)
    except Exception as error:
        cause = first_cause(error)
        if not isinstance(cause, (UserError, InfrastructureError)):
            raise
        print(f"error: {cause}", file=sys.stderr)
        sys.exit(ExitCode.USER_ERROR)
