"""Where the command `mooring` begins: Ctrl-C is one line from the first moment on, in the middle of an import too."""

import os
import sys
from typing import NoReturn

INTERRUPTED = 130


def program() -> NoReturn:
    try:
        from mooring.cli import program as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.stderr.flush()
        os._exit(INTERRUPTED)


if __name__ == "__main__":
    program()
