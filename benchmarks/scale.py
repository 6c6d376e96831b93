"""What ten thousand sites cost: small statistics, each an upload on disk, through admission and one fusion."""

from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import torch

from benchmarks.process import apart
from benchmarks.table import Goal, Say, Table
from mooring import load
from mooring.client import ClientJob, run_client
from mooring.data.digits import Digits
from mooring.data.sites import InMemorySite
from mooring.evaluate import Examiner, evaluate
from mooring.events import silent
from mooring.fusion import Server
from mooring.processes import threads
from mooring.record import RunFolder, StoredUploads, UploadRecord, write_upload
from mooring.seeds import generator
from mooring.simulation import prepare

SITES = (100, 1_000, 10_000)
IMAGES = 8  # at each site, drawn from the digits
SETTINGS = ("method=mooring", "encoder.kind=pixels")


def measure(say: Say) -> Table:
    rows: list[tuple[object, ...]] = []
    peaks, each = [], []
    for sites in SITES:
        with TemporaryDirectory() as folder:
            (records, client), *_ = apart(written, Path(folder), sites)
            (accuracy, server), peak, _ = apart(fused, Path(folder), records)
        peaks.append(peak)
        each.append(server / sites)
        size = sum(record.bytes for record in records)
        rows.append((sites, client / sites * 1e3, size / 1e6, server, server / sites * 1e3, peak, accuracy))
        say(f"{sites} sites: {server:.1f} s at the server, {peak:.0f} MB")
    about = (
        f"Every site holds {IMAGES} digits and sends the moments of their pixels (`{' '.join(SETTINGS)}`): one upload, "
        "one file. The server is another process: it reads each file, checks it against its hash and at the door, adds "
        "it to what it has and lets it go; then it solves for one linear head and tests it. Processor time."
    )
    columns = (
        "sites",
        "client ms each",
        "MB at the server",
        "server s",
        "server ms each",
        "server peak MB",
        "accuracy",
    )
    goals = [
        Goal("peak memory, 10,000 sites over 100", 1.2, peaks[-1] / peaks[0], True),
        Goal("server time per upload, 10,000 sites over 1,000", 1.3, each[-1] / each[1], True),
    ]
    return Table("Scale: ten thousand uploads", about, columns, rows, goals)


def job_of_all() -> ClientJob:
    (experiment,) = load(overrides=SETTINGS)
    return prepare(experiment)[1]


def written(folder: Path, sites: int) -> tuple[tuple[UploadRecord, ...], float]:
    """The uploads of all sites, one after the other, and the processor seconds that they took."""
    job, digits, rng = job_of_all(), Digits().train(), generator(0, "sites")
    began, records = process_time(), []
    with threads(1):  # as in a worker
        for number in range(sites):
            shard = digits.select(torch.randint(len(digits), (IMAGES,), generator=rng))
            uploads = run_client(job, InMemorySite(number, shard), silent)
            records += [write_upload(folder, upload) for upload in uploads]
    return tuple(records), process_time() - began


def fused(folder: Path, records: tuple[UploadRecord, ...]) -> tuple[float, float]:
    """The accuracy of the one predictor, and the processor seconds from uploads to it."""
    (experiment,) = load(overrides=SETTINGS)
    _, job = prepare(experiment)
    assert experiment.method.fusion is not None
    uploads = StoredUploads(RunFolder(folder), records)
    server, examiner, began = Server(job.blueprint), Examiner(experiment.data), process_time()
    with threads(1):
        found = evaluate(experiment.method.fusion, uploads, server, examiner, job.sha256)
    return found.metrics.accuracy, process_time() - began
