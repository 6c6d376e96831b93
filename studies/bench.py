"""The bench of one-shot federated learning: every fusion over the same uploads, and twelve methods side by side.

    python studies/bench.py fusions         24 trainings on the digits, every fusion over each of them; or only RULE...
    python studies/bench.py methods ROOT    twelve methods on 2,000 images; ROOT has CIFAR-10's official files
    python studies/bench.py write           docs/bench.md from whatever is finished

Fashion-MNIST is read from where Debian's dataset-fashion-mnist puts it. Finished runs and fusions below runs/bench
are not repeated.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, stdev

from mooring import METHODS, MooringError, fuse, load, run
from mooring.fusion import FUSIONS, Dense, Fusion
from mooring.fusion.distillation.student import StudentTraining
from mooring.methods import track_of
from mooring.record import FusionRecord, RunFolder
from mooring.trees import to_tree

SEEDS = (1, 2, 3)
RUNS = Path("runs/bench")
PAGE = Path(__file__).parents[1] / "docs/bench.md"

# every fusion over the same uploads
ALPHAS = (0.05, 0.5)
TRAINED = ("v4", "v7", "v9", "v12")
DIGITS = ["data.validation=0.1", "training.snapshots=last"]

# twelve methods, equal budget: every image passes through the network 18 times, as two views or as one
TWO_VIEWS, ONE_VIEW = 9, 18
PRESETS = {
    "cifar10": ["data.source=cifar10"],
    "fashion_mnist": ["data.source=fashion_mnist"],
}
SMALL = [
    "data.limit=2000",
    "model.kind=resnet8",
    "partition.alpha=0.05",
    "training.batch_size=64",
    "training.rounds=1",
    "training.snapshots=last",
]
TWELVE = {  # method: how it is trained, and how its uploads are fused; a training is shared where only fusion differs
    "v4": ("v4", "feature-ensemble"),
    "v7": ("v7", "feature-ensemble"),
    "v9": ("v9", "feature-ensemble"),
    "v12-gamma": ("v12-gamma", "feature-ensemble"),
    "closed-form": ("closed-form", "feature-ensemble"),
    "fedavg-1": ("ensemble", "parameter-average"),
    "ensemble": ("ensemble", "output-ensemble"),
    "fedproto": ("ensemble", "nearest-prototype"),
    "dense": ("ensemble", "dense"),
    "fedetf": ("fedetf", "parameter-average"),
    "afl": ("afl", "analytic"),
    "fedcgs": ("fedcgs", "gaussian-head"),
}
# minutes at the server, not an hour
FEWER_LESSONS = Dense(lessons=10, study=StudentTraining(steps=800, lr=6e-3, sharpness=2.0))


def trained(name: str, settings: list[str]) -> Path:
    """The folder of a finished run; trains if there is none."""
    folder = RUNS / name
    (experiment,) = load(overrides=[*settings, f"out={folder}"])
    result = run(experiment)
    print(f"{name}: {result.accuracy:.3f} after {result.seconds:.0f} s", flush=True)
    return folder


def fused(folder: Path, rule: Fusion) -> FusionRecord | None:
    """One rule over the uploads of a run, unless it was done before; None where it does not apply."""
    earlier = rows_of(folder).get(rule.kind)
    if earlier is not None:
        return earlier
    try:
        (row,) = fuse(folder, [rule])
    except MooringError as error:
        print(f"  {rule.kind}: {error}", flush=True)
        return None
    print(f"  {rule.kind}: {row.accuracy:.3f} in {row.server_seconds:.1f} s", flush=True)
    return row


def rows_of(folder: Path) -> dict[str, FusionRecord]:
    """The run's own fusion and what `fusions/` holds, by rule."""
    return own_row(folder) | {row.fusion: row for row in RunFolder(folder).fusions}


def own_row(folder: Path) -> dict[str, FusionRecord]:
    """The rule that the run itself used, as `mooring fuse` would tell it."""
    if not RunFolder(folder).ended:
        return {}
    result = RunFolder(folder).result
    rule, last = METHODS[result.method].fusion, result.last
    if rule is None:
        return {}
    row = FusionRecord(
        fusion=rule.kind,
        track=track_of(rule),
        method=result.method,
        fingerprint=result.fingerprint,
        seeds=result.seeds,
        round=last.round,
        clients=tuple(result.delivered(last.round)),
        metrics=last.metrics,
        settings=to_tree(rule),
        validation_accuracy=last.validation_accuracy,
        upload_bytes=result.upload_bytes,
        server_seconds=last.server_seconds,
        passes=last.passes,
        test_images=result.test_images,
    )
    return {rule.kind: row}


def every_fusion(rules: list[str]) -> None:
    for seed in SEEDS:
        for alpha in ALPHAS:
            for method in TRAINED:
                settings = [f"method={method}", f"partition.alpha={alpha}", f"seed={seed}", *DIGITS]
                folder = trained(f"digits/{method}-{alpha}-{seed}", settings)
                for kind in rules or FUSIONS:
                    if method == TRAINED[0] or not untrained(kind):
                        fused(folder, FUSIONS[kind]())


def twelve(root: str) -> None:
    for seed in SEEDS:
        for source, preset in PRESETS.items():
            place = [f"data.root={root}"] if source == "cifar10" else []
            for training in dict.fromkeys(training for training, _ in TWELVE.values()):
                views = METHODS[training].client.views.count
                epochs = f"training.local_epochs={TWO_VIEWS if views == 2 else ONE_VIEW}"
                settings = [f"method={training}", f"seed={seed}", *preset, *place, *SMALL, epochs]
                folder = trained(f"{source}/{training}-{seed}", settings)
                for method, (shared, kind) in TWELVE.items():
                    if shared == training and METHODS[method].fusion is not None:
                        fused(folder, FEWER_LESSONS if kind == "dense" else FUSIONS[kind]())


def spread(values: list[float]) -> str:
    if not values:
        return "-"
    return f"{fmean(values):.3f}" + (f" ± {stdev(values):.3f}" if len(values) > 1 else "")


def size(nbytes: float) -> str:
    return f"{nbytes / 1e6:.2f} MB" if nbytes >= 1e5 else f"{nbytes / 1e3:.1f} kB"


def upload_of(row: FusionRecord) -> float:
    """Bytes of one client."""
    return (row.upload_bytes or 0) / len(row.clients)


def found(pattern: str, kind: str) -> list[FusionRecord]:
    """The rows of one rule over the seeds that are finished."""
    rows = [rows_of(RUNS / pattern.format(seed=seed)).get(kind) for seed in SEEDS]
    return [row for row in rows if row is not None]


def fusion_table(alpha: float, statistics: bool) -> Iterator[str]:
    """Rules over trained clients, by method; or rules over statistics, which no training changes."""
    methods = TRAINED[:1] if statistics else TRAINED
    headings = ["accuracy"] if statistics else methods
    yield "| fusion | " + " | ".join(headings) + " | upload per client | server seconds | passes |"
    yield "|---|" + "---|" * (len(headings) + 3)
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
    yield from (line for _, line in sorted(lines, reverse=True))
    yield ""


def untrained(kind: str) -> bool:
    return track_of(FUSIONS[kind]()) != "trained from scratch"


def missing() -> Iterator[str]:
    """What this page should hold and does not yet."""
    rules = [kind for kind in FUSIONS if not untrained(kind)]
    patterns = [f"digits/{method}-{alpha}-{{seed}}" for method in TRAINED for alpha in ALPHAS]
    lacking = [kind for kind in rules if any(len(found(pattern, kind)) < len(SEEDS) for pattern in patterns)]
    short = [
        f"{method} on {source} (n = {len(found(f'{source}/{training}-{{seed}}', kind))})"
        for source in PRESETS
        for method, (training, kind) in TWELVE.items()
        if len(found(f"{source}/{training}-{{seed}}", kind)) < len(SEEDS)
    ]
    if lacking or short:
        yield f"**Not measured yet, or with fewer than three seeds:** {', '.join([*lacking, *short])}.\n"


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


def method_table(source: str) -> Iterator[str]:
    yield "| track | method | fusion | accuracy | upload per client | client seconds | server seconds | passes |"
    yield "|---|---|---|---|---|---|---|---|"
    lines = []
    for method, (training, kind) in TWELVE.items():
        rows = found(f"{source}/{training}-{{seed}}", kind)
        if not rows:
            continue
        seconds = [seconds_of(RUNS / f"{source}/{training}-{row.seeds.training}") for row in rows]
        cells = [
            METHODS[method].track,
            method,
            kind,
            f"{spread([row.accuracy for row in rows])} (n = {len(rows)})",
            size(fmean(upload_of(row) for row in rows)),
            f"{fmean(seconds):.0f}",
            f"{fmean(row.server_seconds or 0 for row in rows):.2f}",
            str(rows[0].passes),
        ]
        lines.append((METHODS[method].track, -fmean(row.accuracy for row in rows), "| " + " | ".join(cells) + " |"))
    yield from (line for _, _, line in sorted(lines))
    yield ""


def seconds_of(folder: Path) -> float:
    """What all clients together spent training."""
    return sum(client.seconds for client in RunFolder(folder).record.clients)


def write() -> None:
    page = (Path(__file__).parent / "bench.md").read_text()
    parts = {
        "ALPHA005": "\n".join(fusion_table(0.05, statistics=False)),
        "ALPHA05": "\n".join(fusion_table(0.5, statistics=False)),
        "STATISTICS005": "\n".join(fusion_table(0.05, statistics=True)),
        "STATISTICS05": "\n".join(fusion_table(0.5, statistics=True)),
        "MISSING": "\n".join(missing()),
        "BEATING": "\n".join(beating()),
        "FASHION": "\n".join(method_table("fashion_mnist")),
        "CIFAR10": "\n".join(method_table("cifar10")),
    }
    for name, text in parts.items():
        page = page.replace(f"@{name}@", text)
    PAGE.write_text(page)
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["fusions", *rules]:
            every_fusion(rules)
        case ["methods", root]:
            twelve(root)
        case ["write"]:
            write()
        case _:
            sys.exit(__doc__)
