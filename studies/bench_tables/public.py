"""A public tenth of the images trains an encoder at the server; clients send sums over its features."""

from collections.abc import Iterator
from statistics import fmean

from bench_tables.runs import RUNS, SEEDS, found, size, spread, trained, upload_of
from mooring.record import RunFolder

NAME = "cifar10/public-encoder-{seed}"
SETTINGS = [
    "method=public-encoder",
    "data.source=cifar10",
    "data.public_ratio=0.1",
    "model.kind=resnet8",
    "partition.clients=5",
    "partition.alpha=0.05",
    "training.snapshots=last",
]


def train() -> None:
    for seed in SEEDS:
        trained(NAME.format(seed=seed), [*SETTINGS, f"seed={seed}"])


def table() -> Iterator[str]:
    rows = found(NAME, "linear-head")
    if rows:
        results = [RunFolder(RUNS / NAME.format(seed=row.seeds.training)).result for row in rows]
        cells = [
            "`public-encoder`",
            f"{spread([row.accuracy for row in rows])} ({len(rows)})",
            size(fmean(upload_of(row) for row in rows)),
            size(fmean(result.download_bytes or 0 for result in results)),
            f"{fmean(result.seconds for result in results):.0f}",
        ]
        yield "| method | alpha 0.05, K = 5 (n) | upload per client | download per client | seconds |"
        yield "|---" * len(cells) + "|"
        yield "| " + " | ".join(cells) + " |"
