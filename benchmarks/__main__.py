"""python -m benchmarks [NAME ...] [--write | --quick]: measure, print, and write docs/performance.md."""

import sys

from benchmarks.page import main

if __name__ == "__main__":
    main(sys.argv[1:])
