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
    "frozen": partial(statistics.table, "frozen encoder"),
    "statistics": partial(statistics.table, "statistics only"),
    "public-cifar10": public.table,
    "trained": training.table,
    "fused": training.fusions_table,
    "advantage": training.advantage_table,
    "fusions": fusions.table,
    "sums": fusions.statistics_table,
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
