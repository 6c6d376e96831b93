"""docs/bench.md: the text of studies/bench.md, its tables from whatever is finished.

A table of which no run lies here stays as the page has it: runs are hours of work and are not kept with the code.
"""

import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from bench_tables import fusions, public, published, statistics, training

TEXT = Path(__file__).parents[1] / "bench.md"
PAGE = Path(__file__).parents[2] / "docs/bench.md"
TABLES: dict[str, Callable[[], Iterable[str]]] = {
    "published": published.table,
    **{
        f"{track.split()[0]}-{source}": partial(statistics.table, source, track)
        for track in ("frozen encoder", "statistics only")
        for source in statistics.SETS
    },
    "public-cifar10": public.table,
    **{f"trained-{source}": partial(training.table, source) for source in training.SOURCES},
    **{f"fused-{source}": partial(training.fusions_table, source) for source in training.SOURCES},
    **{f"advantage-{source}": partial(training.advantage_table, source) for source in training.SOURCES},
    **{f"fusions-{alpha}": partial(fusions.table, alpha, statistics=False) for alpha in fusions.ALPHAS},
    **{f"sums-{alpha}": partial(fusions.table, alpha, statistics=True) for alpha in fusions.ALPHAS},
    "beating": fusions.beating,
}


def write() -> None:
    earlier = tables_of(PAGE.read_text("utf-8"))
    page = TEXT.read_text("utf-8")
    for name, table in TABLES.items():
        lines = "\n".join(table()) or earlier.get(name) or "Not measured yet."
        page = page.replace(f"@{name}@", f"<!-- {name} -->\n\n{lines}\n\n<!-- end -->")
    PAGE.write_text(page, "utf-8")
    print(f"wrote {PAGE}")


def tables_of(page: str) -> dict[str, str]:
    """What stands between marks that a reader does not see."""
    return dict(re.findall(r"<!-- ([\w.-]+) -->\n\n(.*?)\n\n<!-- end -->", page, re.DOTALL))
