"""Results with few facts, for tests of what is shown about them."""

from mooring.record import Metrics, Result, RoundRecord, Seeds
from mooring.types import PartitionSummary

FACTS = {
    "complete": True,
    "dataset": "digits",
    "test_images": 360,
    "fingerprint": "abc",
    "job_sha256": "ef",
    "upload_bytes": 100,
    "download_bytes": 0,
}


def small_result(method="v7", metrics=Metrics(0.8), partition=PartitionSummary(3, 10), **facts):
    """A run of one round and seed 1."""
    rounds = (RoundRecord(0, metrics),)
    return Result(method, metrics.accuracy, rounds, partition, Seeds(1, 1), **(FACTS | facts))
