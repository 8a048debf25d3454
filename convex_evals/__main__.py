"""Where the command line begins."""

import signal
from typing import NoReturn


def main() -> NoReturn:
    """While modules load, Ctrl-C simply ends the process; from then on the command answers it."""
    answered = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # not in the background of a script
    if answered:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from convex_evals.cli.app import main as run

    if answered:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


if __name__ == "__main__":
    main()
