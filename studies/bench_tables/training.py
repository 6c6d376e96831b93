"""Methods whose clients train, under one budget: 10,000 real images, 25 epochs, alpha 0.05, five clients, three seeds.

Every training is fused by every rule that trains nothing at the server. Methods that differ only in their fusion share
a training, and trainings that a study has already finished are read from its folder.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from statistics import fmean, stdev

from bench_tables.runs import RUNS, SEEDS, fused, rows_of, size, spread, trained, upload_of
from mooring import METHODS
from mooring.fusion import FUSIONS, TRAINS_AT_SERVER, Dense, StudentTraining
from mooring.record import FusionRecord, RunFolder
from mooring.sweeps import half_width

SOURCES = ("svhn", "cifar10")
STUDIES = Path("runs/studies")
SETTINGS = [
    "data.limit=10000",
    "data.test_limit=5000",
    "model.kind=resnet8_half",
    "partition.clients=5",
    "partition.alpha=0.05",
    "training.batch_size=32",
    "training.precision=bfloat16",
    "training.rounds=25",
    "training.local_epochs=1",
    "method.client.views.augment.crop=0.5",
]
LEARNED = ["sigma.lr=0.005", "sigma.start.kind=entropy"]
# what the notes used on each set: lambda of V7, largest lambda of V9 and of the start of V12
STRENGTH = {"svhn": (10.0, 20.0), "cifar10": (5.0, 10.0)}
ROWS = {  # method: how it is trained, and its own fusion; most wanted first
    "v4": ("v4", "feature-ensemble"),
    "fedsra": ("fedsra", "standardised-sum"),
    "ensemble": ("ensemble", "output-ensemble"),
    "fedavg-1": ("ensemble", "parameter-average"),
    "dense": ("ensemble", "dense"),
    "v12": ("v12", "feature-ensemble"),
    "v7": ("v7", "feature-ensemble"),
    "v9": ("v9", "feature-ensemble"),
    "v12-gamma": ("v12-gamma", "feature-ensemble"),
    "closed-form": ("closed-form", "feature-ensemble"),
    "centralised": ("centralised", "feature-ensemble"),
}
TRAININGS = tuple(dict.fromkeys(training for training, _ in ROWS.values()))
# rules that train nothing at the server; `calibrated` changes no prediction, `trained-and-sums` needs another upload
RULES = tuple(
    kind
    for kind, rule in FUSIONS.items()
    if rule.cost != TRAINS_AT_SERVER
    and rule.group != FUSIONS["linear-head"].group
    and kind not in ("calibrated", "trained-and-sums")
)
IN_STUDIES = {  # the same settings, trained by a study at scale cpu
    ("svhn", "v4"): "4-cpu/others/runs/v4",
    ("svhn", "v7"): "4-cpu/others/runs/v7",
    ("svhn", "closed-form"): "4-cpu/others/runs/closed-form",
    ("cifar10", "v4"): "2-cpu/rules/runs/v4",
    ("cifar10", "v7"): "2-cpu/rules/runs/v7",
    ("cifar10", "v9"): "2-cpu/rules/runs/v9",
}
# minutes at the server, not an hour
FEWER_LESSONS = Dense(lessons=10, study=StudentTraining(steps=800, lr=6e-3, sharpness=2.0))


def train(*sources: str) -> None:
    """Each training with its fusions, on all sets and seeds, before the next one; fusions that train come last."""
    for step in steps(sources or SOURCES):
        step()


def steps(sources: tuple[str, ...]) -> Iterator[Callable[[], object]]:
    for training, seed, source in product(TRAININGS, SEEDS, sources):
        yield partial(one_training, source, training, seed)
        for kind in RULES:
            yield partial(one_fusion, source, training, seed, kind)
    for source, seed in product(sources, SEEDS):
        yield partial(one_fusion, source, "ensemble", seed, "dense")


def one_training(source: str, training: str, seed: int) -> None:
    if RunFolder(folder_of(source, training, seed)).ended:
        return
    own = [f"method={training}", f"data.source={source}", f"seed={seed}", "training.snapshots=last"]
    trained(f"{source}/{training}-{seed}", [*own, *SETTINGS, *strength(source, training)])


def strength(source: str, training: str) -> list[str]:
    value, most = STRENGTH[source]
    return {
        "v7": [f"weight.base.value={value}"],
        "v9": [f"weight.base.maximum={most}"],
        "v12": [*LEARNED, f"sigma.start.maximum={most}"],
        "v12-gamma": [*LEARNED, f"sigma.start.maximum={most}"],
    }.get(training, [])


def one_fusion(source: str, training: str, seed: int, kind: str) -> None:
    folder = folder_of(source, training, seed)
    if RunFolder(folder).ended:
        fused(folder, FEWER_LESSONS if kind == "dense" else FUSIONS[kind]())


def folder_of(source: str, training: str, seed: int) -> Path:
    """Of the training: of a study that has it, or of this bench."""
    studied = IN_STUDIES.get((source, training))
    if studied is not None and RunFolder(STUDIES / f"{studied}-seed{seed}").ended:
        return STUDIES / f"{studied}-seed{seed}"
    return RUNS / source / f"{training}-{seed}"


def found(source: str, training: str, kind: str) -> list[FusionRecord]:
    """The rows of one rule over the seeds that are finished."""
    rows = [rows_of(folder_of(source, training, seed)).get(kind) for seed in SEEDS]
    return [row for row in rows if row is not None]


def table() -> Iterator[str]:
    """One row per set and method under its own fusion, the best first; nothing where nothing is finished."""
    lines = []
    for source, (method, (training, kind)) in product(SOURCES, ROWS.items()):
        rows = found(source, training, kind)
        if not rows:
            continue
        cells = [
            source,
            f"`{method}`",
            kind,
            spread([row.accuracy for row in rows]),
            str(len(rows)),
            size(fmean(upload_of(row) for row in rows)),
        ]
        lines.append((SOURCES.index(source), -fmean(row.accuracy for row in rows), "| " + " | ".join(cells) + " |"))
    if lines:
        heads = ["images", "method", "fusion", "accuracy", "n", "upload per client"]
        yield from markdown_head(heads)
        yield from (line for _, _, line in sorted(lines))


def fusions_table() -> Iterator[str]:
    """Fusions by rows, trainings by columns: the same uploads, fused in every way, the best first."""
    federated = [training for training in TRAININGS if METHODS[training].shards != "pooled"]
    runs = [
        (source, training)
        for source, training in product(SOURCES, federated)
        if any(found(source, training, kind) for kind in RULES)
    ]
    lines = []
    for kind in RULES:
        by_run = [[row.accuracy for row in found(source, training, kind)] for source, training in runs]
        if any(by_run):
            cells = [spread_of(values) for values in by_run]
            lines.append((-fmean(max(values, default=0.0) for values in by_run), f"| {kind} | {' | '.join(cells)} |"))
    if lines:
        yield from markdown_head(["fusion", *(f"`{training}`, {source}" for source, training in runs)])
        yield from (line for _, line in sorted(lines))


def spread_of(values: list[float]) -> str:
    """Mean and deviation, with n if it is not that of all seeds."""
    return spread(values) + (f" (n = {len(values)})" if 0 < len(values) < len(SEEDS) else "")


def advantage_table() -> Iterator[str]:
    """Accuracy of `familiarity` minus that of each other rule, paired by seed, with a 95 % interval (Student's t)."""
    differences = {
        (source, training, kind): interval
        for source, training, kind in product(SOURCES, TRAININGS, RULES)
        if kind != "familiarity" and (interval := advantage(source, training, kind))
    }
    runs = list(dict.fromkeys((source, training) for source, training, _ in differences))
    if runs:
        yield from markdown_head(["compared with", *(f"`{training}`, {source}" for source, training in runs)])
    for kind in dict.fromkeys(kind for _, _, kind in differences):
        yield f"| {kind} | {' | '.join(differences.get((*run, kind), '-') for run in runs)} |"


def advantage(source: str, training: str, kind: str) -> str | None:
    """One difference with its interval; nothing before all seeds are finished."""
    by_seed = [rows_of(folder_of(source, training, seed)) for seed in SEEDS]
    both = [found for found in by_seed if {"familiarity", kind} <= found.keys()]
    pairs = [found["familiarity"].accuracy - found[kind].accuracy for found in both]
    if len(pairs) < len(SEEDS):
        return None
    mean, half = fmean(pairs), half_width(stdev(pairs), len(pairs))
    return f"{mean:+.3f} [{mean - half:+.3f}, {mean + half:+.3f}]"


def markdown_head(heads: list[str]) -> Iterator[str]:
    yield "| " + " | ".join(heads) + " |"
    yield "|---" * len(heads) + "|"
