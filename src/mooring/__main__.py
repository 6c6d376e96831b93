"""Where the command `mooring` begins: Ctrl-C is one line from the first moment on, in the middle of an import too."""

import os
import signal
import sys
from typing import NoReturn

INTERRUPTED = 130


def program() -> NoReturn:
    signal.signal(signal.SIGINT, leave)
    from mooring.cli import program as run

    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        run()
    except KeyboardInterrupt:
        leave()


def leave(*_: object) -> NoReturn:
    """At once: an exception in the middle of an import can abort a compiled library."""
    sys.stderr.write("interrupted\n")
    sys.stderr.flush()
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    program()
