"""Where the command line begins."""

import gc
import os
import signal
from typing import NoReturn


def main() -> NoReturn:
    """While modules load, Ctrl-C simply ends the process; from then on the command answers it."""
    # Thousands of records may be read and kept, and none of them is part of a cycle: looking for those took as long as
    # reading them.
    gc.set_threshold(50_000, 20, 20)
    # Else pydantic looks for plugins in all packages that are installed, and would show them what is read.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    answered = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # not in the background of a script
    if answered:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from convex_evals.cli.app import main as run

    if answered:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


if __name__ == "__main__":
    main()
