"""Reset signals that are ignored or blocked, as a script does for its background jobs, and `nohup`.

Processes that tests start would inherit that, and never end on Ctrl-C.
"""

from __future__ import annotations

import signal

_RESET = ("SIGINT", "SIGTERM", "SIGQUIT", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGCHLD")


def pytest_configure() -> None:
    """Give processes that tests start the signals of a program in the foreground."""
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for name in _RESET:
        number = getattr(signal, name)
        if signal.getsignal(number) is not signal.SIG_IGN:
            continue
        if number == signal.SIGINT:
            signal.signal(number, signal.default_int_handler)
        elif number == signal.SIGHUP:
            # `nohup` means that the tests go on; a handler, unlike ignoring, is not inherited.
            signal.signal(number, lambda *_: None)
        else:
            signal.signal(number, signal.SIG_DFL)
