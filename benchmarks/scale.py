"""What ten thousand sites cost: small statistics, each an upload on disk, through admission and one fusion."""

from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import NamedTuple

import torch

from benchmarks.process import apart
from benchmarks.table import Goal, Say, Table
from mooring import load
from mooring.client import ClientJob, run_client
from mooring.data import Digits, InMemorySite
from mooring.evaluate import Examiner, evaluate
from mooring.events import silent
from mooring.execution import prepare
from mooring.fusion import Server
from mooring.processes import threads
from mooring.record import RunFolder, StoredUploads, Unsynced, UploadRecord, write_upload
from mooring.seeds import generator

IMAGES = 8  # at each site, drawn from the digits


class Kind(NamedTuple):
    """What sites send, and how many of them there are."""

    name: str
    settings: tuple[str, ...]
    sites: tuple[int, ...]


PIXELS = Kind("moments of pixels", ("method=mooring", "encoder.kind=pixels"), (100, 1_000, 10_000))
FEATURES = Kind("moments of the default's features", ("method=mooring",), (10, 100))
NETWORKS = Kind(
    "a trained network, averaged", ("method=fedavg-1", "training.rounds=1", "training.local_epochs=1"), (100, 1_000)
)


def measure(say: Say) -> Table:
    rows: list[tuple[object, ...]] = []
    peaks: dict[tuple[Kind, int], float] = {}
    each: dict[tuple[Kind, int], float] = {}
    for kind in (PIXELS, FEATURES, NETWORKS):
        for sites in kind.sites:
            with TemporaryDirectory() as folder:
                (records, client), *_ = apart(written, Path(folder), sites, kind.settings)
                (accuracy, server), peak, _ = apart(fused, Path(folder), records, kind.settings)
            peaks[kind, sites], each[kind, sites] = peak, server / sites
            size = sum(record.bytes for record in records)
            rows.append((kind.name, sites, client / sites * 1e3, size / 1e6, server, peak, accuracy))
            say(f"{kind.name}, {sites} sites: {server:.1f} s at the server, {peak:.0f} MB")
    told = "; ".join(f"{kind.name}: `{' '.join(kind.settings)}`" for kind in (PIXELS, FEATURES, NETWORKS))
    about = (
        f"Every site holds {IMAGES} digits and sends one file ({told}). The server checks each file and adds it to the "
        "sum. Processor time. Moments and `parameter-average` stream, so memory does not grow with the number of "
        "sites; other rules read all uploads. 100,000 sites were not run, nor 1,000 over Flower's network."
    )
    columns = (
        "upload",
        "sites",
        "client ms each",
        "MB at the server",
        "server s",
        "server peak MB",
        "accuracy",
    )
    few, some, many = PIXELS.sites
    goals = [
        Goal(f"peak memory, {many:,} sites over {few}", 1.2, peaks[PIXELS, many] / peaks[PIXELS, few], True),
        Goal(
            f"server time per upload, {many:,} sites over {some:,}", 1.3, each[PIXELS, many] / each[PIXELS, some], True
        ),
        Goal(
            "peak memory, a thousand networks over a hundred", 1.2, peaks[NETWORKS, 1_000] / peaks[NETWORKS, 100], True
        ),
    ]
    return Table("Scale: ten thousand uploads", about, columns, rows, goals)


def job_of_all(settings: tuple[str, ...]) -> ClientJob:
    (experiment,) = load(overrides=settings)
    return prepare(experiment)[1]


def written(folder: Path, sites: int, settings: tuple[str, ...]) -> tuple[tuple[UploadRecord, ...], float]:
    """The uploads of all sites, one after the other, and the processor seconds that they took."""
    job, digits, rng = job_of_all(settings), Digits().train(), generator(0, "sites")
    began, records, unsynced = process_time(), [], Unsynced()
    with threads(1):  # as in a worker
        for number in range(sites):
            shard = digits.select(torch.randint(len(digits), (IMAGES,), generator=rng))
            uploads = run_client(job, InMemorySite(number, shard), silent)
            records += [write_upload(folder, upload, unsynced) for upload in uploads]
        unsynced.sync()
    return tuple(records), process_time() - began


def fused(folder: Path, records: tuple[UploadRecord, ...], settings: tuple[str, ...]) -> tuple[float, float]:
    """The accuracy of the one predictor, and the processor seconds from uploads to it."""
    (experiment,) = load(overrides=settings)
    _, job = prepare(experiment)
    assert experiment.method.fusion is not None
    uploads = StoredUploads(RunFolder(folder), records)
    server, examiner, began = Server(job.blueprint), Examiner(experiment.data), process_time()
    with threads(1):
        found = evaluate(experiment.method.fusion, uploads, server, examiner, job.sha256)
    return found.metrics.accuracy, process_time() - began
