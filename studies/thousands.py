"""Thousands of clients, down to one image each: time, bytes and accuracy of sums.

    python studies/thousands.py DATA[:ROOT] CLIENTS...

Data are those of studies/feature_maps.py: 10,000 training images, divided by Dirichlet (alpha 0.05, seed 1) among so
many clients, each with at least one image; 2,000 test images. Random filters, 512 numbers per image. The run lies in a
folder that is deleted afterwards; 2,000 clients take 1.5 GB of uploads while it lasts.
"""

import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from mooring import load, run_experiment

SETTINGS = (
    "method=mooring",
    "encoder={kind: random-filters}",
    "partition.alpha=0.05",
    "partition.min_size=1",
    "data.limit=10000",
    "data.test_limit=2000",
    "seed=1",
)


def row(data: str, clients: int, folder: Path) -> None:
    source, _, root = data.partition(":")
    place = [f"data.source={source}", *([f"data.root={root}"] if root else [])]
    (experiment,) = load(overrides=[*place, *SETTINGS, f"partition.clients={clients}", f"out={folder}/run"])
    result = run_experiment(experiment)
    assert result.spent is not None
    sizes, sent, own = result.partition.sizes, result.upload_bytes or 0, result.last.own_labels
    cells = [
        f"{clients:,}",
        f"{min(sizes)}, {median(sizes):g}, {max(sizes)}",
        f"{result.spent.train + result.spent.write:.0f}",
        f"{result.spent.fuse:.0f}",
        f"{sent / clients / 1e6:.2f} MB",
        f"{sent / 1e9:.2f} GB",
        f"{result.accuracy:.4f}",
        "-" if own is None else f"{own.fused:.3f}, {own.personalised:.3f}",
    ]
    print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    heads = (
        "clients",
        "images: smallest, median, largest",
        "seconds of all clients",
        "of the server",
        "upload",
        "all uploads",
        "accuracy",
        "on own labels: fused, personalised",
    )
    print(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
    for word in sys.argv[2:]:
        with TemporaryDirectory() as place:
            row(sys.argv[1], int(word), Path(place))
