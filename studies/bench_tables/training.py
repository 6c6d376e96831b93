"""Methods whose clients train: 5,000 images, about one minute of one core for all clients together."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from statistics import fmean

from bench_tables.runs import RUNS, SEEDS, client_seconds, found, fused, size, spread, trained, upload_of
from mooring import METHODS
from mooring.fusion import FUSIONS, Dense
from mooring.fusion.distillation.student import StudentTraining
from mooring.record import RunFolder

SOURCES = ("cifar10",)
ALPHAS = (0.05, 0.5)
SETTINGS = [
    "data.limit=5000",
    "model.kind=resnet8",
    "model.width=0.5",
    "partition.clients=5",
    "training.batch_size=64",
    "training.rounds=1",
    "training.snapshots=last",
]
# every image passes through a network twenty times, as two views or as one
TWO_VIEWS, ONE_VIEW = 10, 20
ROWS = {  # method: how it is trained, and how its uploads are fused; a training is shared where only fusion differs
    "ensemble": ("ensemble", "output-ensemble"),
    "fedavg-1": ("ensemble", "parameter-average"),
    "v4": ("v4", "feature-ensemble"),
    "v7": ("v7", "feature-ensemble"),
    "v9": ("v9", "feature-ensemble"),
    "v12-gamma": ("v12-gamma", "feature-ensemble"),
    "fedsra": ("fedsra", "standardised-sum"),
    "v4 + class-expert": ("v4", "class-expert"),
    "v7 + class-expert": ("v7", "class-expert"),
    "v9 + class-expert": ("v9", "class-expert"),
    "v12-gamma + class-expert": ("v12-gamma", "class-expert"),
    "v7 + standardised-sum": ("v7", "standardised-sum"),
    "v9 + standardised-sum": ("v9", "standardised-sum"),
    "v12-gamma + standardised-sum": ("v12-gamma", "standardised-sum"),
    "dense": ("ensemble", "dense"),
    "centralised": ("centralised", "feature-ensemble"),
}
# minutes at the server, not an hour
FEWER_LESSONS = Dense(lessons=10, study=StudentTraining(steps=800, lr=6e-3, sharpness=2.0))
TRAININGS = tuple(dict.fromkeys(training for training, _ in ROWS.values()))


def train() -> None:
    """Trainings first, one seed after the other; then what other rules make of them, the dearest last."""
    for step in steps():
        step()


def steps() -> Iterator[Callable[[], object]]:
    kinds = dict.fromkeys(kind for _, kind in ROWS.values())
    for source in SOURCES:
        for seed, alpha, training in product(SEEDS, ALPHAS, TRAININGS):
            if alpha == alpha_of(training, alpha):
                yield partial(one_training, source, training, alpha, seed)
        for kind, seed, alpha, training in product(kinds, SEEDS, ALPHAS, TRAININGS):
            if (training, kind) in ROWS.values() and alpha == alpha_of(training, alpha):
                yield partial(one_fusion, RUNS / name_of(source, training, alpha).format(seed=seed), kind)


def one_training(source: str, training: str, alpha: float, seed: int) -> None:
    epochs = TWO_VIEWS if METHODS[training].client.views.count == 2 else ONE_VIEW
    own = [f"method={training}", f"data.source={source}", f"partition.alpha={alpha}", f"seed={seed}"]
    trained(name_of(source, training, alpha).format(seed=seed), [*own, f"training.local_epochs={epochs}", *SETTINGS])


def one_fusion(folder: Path, kind: str) -> None:
    if RunFolder(folder).ended:
        fused(folder, FEWER_LESSONS if kind == "dense" else FUSIONS[kind]())


def alpha_of(training: str, alpha: float) -> float:
    """All data in one place is the same for every alpha."""
    return ALPHAS[0] if METHODS[training].shards == "pooled" else alpha


def name_of(source: str, training: str, alpha: float) -> str:
    return f"{source}/{training}-{alpha_of(training, alpha)}-{{seed}}"


def table(source: str) -> Iterator[str]:
    """One row per method, the best at alpha 0.05 first; nothing where nothing is finished."""
    lines = []
    for method, (training, kind) in ROWS.items():
        by_alpha = {alpha: found(name_of(source, training, alpha), kind) for alpha in ALPHAS}
        rows = [row for own in by_alpha.values() for row in own]
        if not rows:
            continue
        folders = [RUNS / name_of(source, training, ALPHAS[0]).format(seed=row.seeds.training) for row in rows]
        cells = [
            f"`{method}`",
            kind,
            *(f"{spread([row.accuracy for row in own])} ({len(own)})" if own else "-" for own in by_alpha.values()),
            size(fmean(upload_of(row) for row in rows)),
            f"{fmean(client_seconds(folder) for folder in folders if RunFolder(folder).ended):.0f}",
            f"{fmean(row.server_seconds or 0 for row in rows):.1f}",
            str(rows[0].passes),
        ]
        first = by_alpha[ALPHAS[0]] or rows
        lines.append((-fmean(row.accuracy for row in first), "| " + " | ".join(cells) + " |"))
    if lines:
        heads = ["method", "fusion", *(f"alpha {alpha} (n)" for alpha in ALPHAS)]
        heads += ["upload per client", "client seconds", "server seconds", "passes"]
        yield "| " + " | ".join(heads) + " |"
        yield "|---" * len(heads) + "|"
        yield from (line for _, line in sorted(lines))
