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


def table(alpha: float, statistics: bool) -> Iterator[str]:
    """Rules over trained clients, by method; or rules over statistics, which no training changes."""
    methods = TRAINED[:1] if statistics else TRAINED
    lines = []
    for kind in FUSIONS:
        by_method = {method: found(f"digits/{method}-{alpha}-{{seed}}", kind) for method in methods}
        rows = [row for found_rows in by_method.values() for row in found_rows]
        if not rows or untrained(kind) != statistics:
            continue
        cells = [spread([row.accuracy for row in by_method[method]]) for method in methods]
        upload = fmean(upload_of(row) for row in rows)
        cost = [size(upload), f"{fmean(row.server_seconds or 0 for row in rows):.2f}", str(rows[0].passes)]
        lines.append((fmean(row.accuracy for row in rows), f"| {kind} | " + " | ".join([*cells, *cost]) + " |"))
    if lines:
        headings = ["accuracy"] if statistics else methods
        yield "| fusion | " + " | ".join(headings) + " | upload per client | server seconds | passes |"
        yield "|---|" + "---|" * (len(headings) + 3)
        yield from (line for _, line in sorted(lines, reverse=True))


def untrained(kind: str) -> bool:
    return track_of(FUSIONS[kind]()) != "trained from scratch"


def beating() -> Iterator[str]:
    """Do the sound fusions beat the published one on the same trained V7 clients?"""
    for alpha in ALPHAS:
        base = {row.seeds.training: row.accuracy for row in found(f"digits/v7-{alpha}-{{seed}}", "feature-ensemble")}
        for kind in ("count-weighted", "class-expert"):
            rows = found(f"digits/v7-{alpha}-{{seed}}", kind)
            gains = [row.accuracy - base[row.seeds.training] for row in rows if row.seeds.training in base]
            if not gains:
                continue
            word = "in every seed" if min(gains) > 0 else "in the mean" if fmean(gains) > 0 else "not at all"
            told = ", ".join(f"{gain:+.3f}" for gain in gains)
            yield f"- alpha {alpha}: `{kind}` beats `feature-ensemble` **{word}**: {told} (mean {fmean(gains):+.3f})."
