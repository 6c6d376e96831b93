"""Clients in Flower's simulation, on the processes of Ray; uploads are those of the local engine, byte for byte."""

import logging
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from mooring.client import NO_STATES, ClientJob, States
from mooring.data import Site
from mooring.errors import ExtraError
from mooring.events import Emit
from mooring.schema import Checked, Count, Doc
from mooring.types import Upload

QUIET_ENVIRONMENT = {
    "FLWR_TELEMETRY_ENABLED": "0",
    "FLWR_DISABLE_UPDATE_CHECK": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_AUTO_CONNECT": "0",  # Ray begins where we begin it, and never by itself once it has ended
    "RAY_prestart_worker_first_driver": "0",  # Flower's clients live in processes that are started for them
    "RAY_worker_niceness": "0",  # Ray's own is 15: beside any other work its processes would hardly move
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # leave CUDA_VISIBLE_DEVICES alone where no GPU was asked for
}


def ready() -> None:
    """Telemetry off, warnings and errors only; a clear line where the extra is missing."""
    for name, value in QUIET_ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        import flwr.app  # noqa: F401
        import ray  # noqa: F401
    except ImportError:
        raise ExtraError("engine=flower: Flower is not installed", "pip install 'mooring[flower]'") from None
    logging.getLogger("flwr").setLevel(logging.ERROR)


@dataclass(frozen=True)
class Flower(Checked):
    """`workers` processes of Ray (default: one per core, never more than clients), one torch thread each, on the CPU.

    The events of a client are reported when it has ended or is stopped by Ctrl-C: then its state is kept, and the run
    goes on from there. After a crash it goes on with the clients that had not ended, from their beginning.
    """

    kind: ClassVar[str] = "flower"
    workers: Annotated[
        Count | None,
        Doc("Ray processes; needs the extra `flower`"),
    ] = None

    def collect(
        self, job: ClientJob, sites: Sequence[Site], emit: Emit, states: States = NO_STATES
    ) -> Iterator[Upload]:
        ready()
        from mooring.engines.flower._simulation import simulate

        workers = min(self.workers or os.cpu_count() or 1, len(sites))
        with tempfile.TemporaryDirectory(prefix="mooring-flower-", ignore_cleanup_errors=True) as folder:
            yield from simulate(Path(folder), job, sites, emit, states, workers)
