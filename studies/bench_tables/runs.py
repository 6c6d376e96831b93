"""Runs below runs/bench: a finished one is not repeated, and other fusions of it are kept beside it."""

from pathlib import Path
from statistics import fmean, stdev

from mooring import MooringError, fuse, load, run_experiment
from mooring.config import load_experiment_of_run
from mooring.fusion import Fusion
from mooring.methods import track_of
from mooring.record import FusionRecord, RunFolder
from mooring.schema import to_tree

SEEDS = (1, 2, 3)
RUNS = Path("runs/bench")


def trained(name: str, settings: list[str]) -> Path | None:
    """The folder of a finished run; trains if there is none. None, with a line that says why, where it cannot."""
    folder = RUNS / name
    try:
        (experiment,) = load(overrides=[*settings, f"out={folder}"])
        result = run_experiment(experiment)
    except MooringError as error:
        print(f"{name}: {error}", flush=True)
        return None
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
    """The run's own fusion and what `fusions/` holds of the last round, by rule."""
    if not RunFolder(folder).ended:
        return {}
    last = RunFolder(folder).result.last.round
    return own_row(folder) | {row.fusion: row for row in RunFolder(folder).fusions if row.round == last}


def own_row(folder: Path) -> dict[str, FusionRecord]:
    """The rule that the run itself used, in the form that `mooring fuse` gives it."""
    result = RunFolder(folder).result
    rule, last = load_experiment_of_run(folder).method.fusion, result.last
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


def found(pattern: str, kind: str) -> list[FusionRecord]:
    """The rows of one rule over the seeds that are finished."""
    rows = [rows_of(RUNS / pattern.format(seed=seed)).get(kind) for seed in SEEDS]
    return [row for row in rows if row is not None]


def upload_of(row: FusionRecord) -> float:
    """Bytes of one client."""
    return (row.upload_bytes or 0) / len(row.clients)


def spread(values: list[float]) -> str:
    if not values:
        return "-"
    return f"{fmean(values):.3f}" + (f"±{stdev(values):.3f}" if len(values) > 1 else "")


def size(nbytes: float) -> str:
    return f"{nbytes / 1e6:.2f} MB" if nbytes >= 1e5 else f"{nbytes / 1e3:.1f} kB"
