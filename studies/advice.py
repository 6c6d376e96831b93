"""How often would another fusion have helped, finding by finding? On finished runs of real images.

    python studies/advice.py RUN...

Every RUN is a finished run under `feature-ensemble`. It is examined by the doctor and fused again by every rule below.
One table per rule: for each kind of finding and each data set, how many runs have it, the mean accuracy before and
after, and in how many runs it rose. The last line of a set, `all runs`, is what the doctor's trials are made of.
"""

import sys
from collections import defaultdict
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


def main(folders: list[Path]) -> None:
    for rule, by_place in pairs(folders).items():
        print(f"\n{rule}\n\n| data | method | finding | runs | before | after | better in |")
        print("|---|---|---|---|---|---|---|")
        for (data, method, kind), own in sorted(by_place.items()):
            before, after = (fmean(values) for values in zip(*own, strict=True))
            better = sum(b > a for a, b in own)
            print(f"| {data} | {method} | {kind} | {len(own)} | {before:.3f} | {after:.3f} | {better} |")
            if kind == ALL:
                print(f"<!-- {own} -->")


if __name__ == "__main__":
    if not sys.argv[1:]:
        sys.exit(__doc__)
    main([Path(name) for name in sys.argv[1:]])
