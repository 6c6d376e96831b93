"""How often would another fusion have helped, finding by finding? On finished runs of real images.

    python studies/advice.py RUN...

Every RUN is a finished run under `feature-ensemble`. It is examined by the doctor and fused again by every rule below.
For each kind of finding, data set and method, one row: how many runs have it, their mean accuracy under the published
average, the mean change under each rule, and in how many runs it rose (a star: the rule was not run on all of them).
The doctor's trials are made of the rows `all runs`.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

from bench_tables.runs import fused, own_row
from mooring.doctor import examine, read_case
from mooring.fusion import FUSIONS
from mooring.record import RunFolder

RULES = ("familiarity", "class-expert", "count-weighted", "standardised-sum", "output-ensemble")
ALL = "all runs"
Pair = tuple[float, float]  # accuracy before and after


def pairs(folders: list[Path]) -> dict[str, dict[tuple[str, str, str], list[Pair]]]:
    """By rule; then by data set, method and kind of finding."""
    found: dict[str, dict[tuple[str, str, str], list[Pair]]] = {rule: defaultdict(list) for rule in RULES}
    for folder in folders:
        result = RunFolder(folder).result
        (before,) = own_row(folder).values()
        kinds = sorted({finding.kind for finding in examine(read_case(folder)).findings})
        for rule in RULES:
            after = fused(folder, FUSIONS[rule]())
            if after is not None:
                for kind in (*kinds, ALL):
                    place = (str(result.dataset), result.method.partition(" ")[0], kind)
                    found[rule][place].append((before.accuracy, after.accuracy))
    return found


def table(folders: list[Path]) -> Iterator[str]:
    """One row per finding, data set and method; every rule with its mean change and the number of runs it helped."""
    found = pairs(folders)
    yield "| finding | data | method | runs | published average | " + " | ".join(f"`{rule}`" for rule in RULES) + " |"
    yield "|---" * (5 + len(RULES)) + "|"
    places = sorted({place for own in found.values() for place in own}, key=lambda place: (place[2], place))
    for data, method, kind in places:
        own = {rule: found[rule][data, method, kind] for rule in RULES}
        most = max(own.values(), key=len)
        cells = [f"{fmean(before for before, _ in most):.3f}", *(change(values, len(most)) for values in own.values())]
        yield f"| {kind} | {data} | {method} | {len(most)} | {' | '.join(cells)} |"


def change(values: list[Pair], runs: int) -> str:
    if not values:
        return "-"
    better = f"{sum(after > before for before, after in values)} of {len(values)}"
    return f"{fmean(after - before for before, after in values):+.3f}, {better}" + (" *" if len(values) < runs else "")


if __name__ == "__main__":
    if not sys.argv[1:]:
        sys.exit(__doc__)
    print("\n".join(table([Path(name) for name in sys.argv[1:]])))
