"""The bench of one-shot federated learning: all of it, or one step.

    python studies/bench.py                     everything that is not finished, then docs/bench.md
    python studies/bench.py statistics SET...   sums over fixed features: one pass over the images, then every division
    python studies/bench.py public              an encoder that the server trains on a public tenth
    python studies/bench.py trained SET...      methods whose clients train, 10,000 images
    python studies/bench.py fusions RULE...     every fusion over the same clients, on the digits
    python studies/bench.py write               docs/bench.md from whatever is finished

Images lie where `mooring data` finds them (`mooring data fetch`, $MOORING_DATA); a set that is not there is left out,
and said. Below runs/bench nothing that is finished is repeated, so that it can be interrupted at any time.
"""

import sys

from bench_tables import public
from bench_tables.fusions import every_fusion
from bench_tables.page import write
from bench_tables.statistics import check, every_cell
from bench_tables.training import train

if __name__ == "__main__":
    match sys.argv[1:]:
        case []:
            every_cell([])
            check()
            public.train()
            train()
            every_fusion([])
            write()
        case ["statistics", *sources]:
            every_cell(sources)
            check()
        case ["public"]:
            public.train()
        case ["trained", *sources]:
            train(*sources)
        case ["fusions", *rules]:
            every_fusion(rules)
        case ["write"]:
            write()
        case _:
            sys.exit(__doc__)
