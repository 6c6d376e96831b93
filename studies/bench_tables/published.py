"""What others published, each in its own setting, beside what was measured here."""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean

from bench_tables.statistics import Way, ways

NAMES = {"cifar10": "CIFAR-10", "svhn": "SVHN", "cifar100": "CIFAR-100"}


@dataclass(frozen=True)
class Anchor:
    """A published figure for each set, in per cent; None where there is none."""

    who: str
    track: str
    setting: str
    accuracy: dict[str, float]


ANCHORS = (
    Anchor(
        "the lab notes' best",
        "trained from scratch",
        "ResNet-18, 50 or 100 epochs, K = 5, alpha 0.05",
        {"cifar10": 59.0, "svhn": 53.1, "cifar100": 40.4},
    ),
    Anchor(
        "AURORA",
        "trained from scratch",
        "ResNet-18 on GPUs, K = 5, alpha 0.05",
        {"cifar10": 68.2, "svhn": 52.9, "cifar100": 48.8},
    ),
    Anchor(
        "FedSRA, clients' own moments",
        "trained from scratch",
        "ResNet-18, 300 to 600 epochs, alpha 0.05, CIFAR-10 with K = 10",
        {"cifar10": 71.2, "cifar100": 66.1},
    ),
    Anchor("AFL", "frozen encoder", "ImageNet ResNet-18", {"cifar10": 80.8, "cifar100": 58.6}),
    Anchor("GH-OFL", "frozen encoder", "ImageNet ResNet-18", {"svhn": 62.2}),
    Anchor("SAFLe", "frozen encoder", "ImageNet ResNet-18", {"cifar10": 90.7, "cifar100": 70.6}),
)


def table() -> Iterator[str]:
    """Nothing, so that the page keeps what it has, as long as a way was measured here on some of these sets only."""
    by_name: dict[str, dict[str, Way]] = {}
    for source in NAMES:
        for way in ways(source):
            by_name.setdefault(way.name, {})[source] = way
    rows = [(anchor.track, anchor.who, anchor.setting, percent(anchor.accuracy)) for anchor in ANCHORS]
    for name, own in by_name.items():
        track = next(iter(own.values())).experiment.method.track
        here = {source: value for source, way in own.items() if (value := measured(way)) is not None}
        if here and here.keys() != own.keys():
            return
        if here:
            rows.append((track, f"**`{name}`, here**", "two CPU cores, K = 5, alpha 0.05", percent(here)))
    if len(rows) == len(ANCHORS):
        return
    yield "| track | who | setting | " + " | ".join(NAMES.values()) + " |"
    yield "|---" * (3 + len(NAMES)) + "|"
    for track, who, setting, cells in sorted(rows, key=lambda row: row[0]):
        yield f"| {track} | {who} | {setting} | {' | '.join(cells)} |"


def measured(way: Way) -> float | None:
    found = [cell.accuracy for cell in way.cells() if (cell.alpha, cell.clients) == ("0.05", 5)]
    return 100 * fmean(found) if found else None


def percent(accuracy: dict[str, float]) -> list[str]:
    return [f"{accuracy[source]:.1f}" if source in accuracy else "-" for source in NAMES]
