"""Every fusion over the very same uploads: 24 trainings on the digits."""

from collections.abc import Iterator
from itertools import product
from statistics import fmean

from bench_tables.runs import SEEDS, found, fused, size, spread, trained, upload_of
from mooring.fusion import FUSIONS
from mooring.methods import track_of

ALPHAS = (0.05, 0.5)
TRAINED = ("v4", "v7", "v9", "v12")
DIGITS = ["data.validation=0.1", "training.snapshots=last"]


def every_fusion(rules: list[str]) -> None:
    """All rules, or those named."""
    for seed, alpha, method in product(SEEDS, ALPHAS, TRAINED):
        settings = [f"method={method}", f"partition.alpha={alpha}", f"seed={seed}", *DIGITS]
        folder = trained(f"digits/{method}-{alpha}-{seed}", settings)
        for kind in rules or FUSIONS:
            if folder is not None and (method == TRAINED[0] or not untrained(kind)):
                fused(folder, FUSIONS[kind]())


def table() -> Iterator[str]:
    """Rules over trained clients, by alpha and method, the best first."""
    columns = list(product(ALPHAS, TRAINED))
    lines = []
    for kind in FUSIONS:
        by_column = [found(f"digits/{method}-{alpha}-{{seed}}", kind) for alpha, method in columns]
        rows = [row for rows in by_column for row in rows]
        if rows and not untrained(kind):
            cells = [spread([row.accuracy for row in rows]) for rows in by_column]
            lines.append((-fmean(row.accuracy for row in rows), f"| {kind} | {' | '.join(cells)} |"))
    if lines:
        yield "| fusion | " + " | ".join(f"{method}, {alpha}" for alpha, method in columns) + " |"
        yield "|---" * (len(columns) + 1) + "|"
        yield from (line for _, line in sorted(lines))


def statistics_table() -> Iterator[str]:
    """Rules over statistics, which no training changes, by alpha."""
    lines = []
    for kind in filter(untrained, FUSIONS):
        by_alpha = [found(f"digits/{TRAINED[0]}-{alpha}-{{seed}}", kind) for alpha in ALPHAS]
        if any(by_alpha):
            cells = [spread([row.accuracy for row in rows]) for rows in by_alpha]
            upload = size(fmean(upload_of(row) for rows in by_alpha for row in rows))
            lines.append(f"| {kind} | {' | '.join(cells)} | {upload} |")
    if lines:
        yield f"| fusion | {' | '.join(f'alpha {alpha}' for alpha in ALPHAS)} | upload per client |"
        yield "|---" * (len(ALPHAS) + 2) + "|"
        yield from lines


def untrained(kind: str) -> bool:
    return track_of(FUSIONS[kind]()) != "trained from scratch"
