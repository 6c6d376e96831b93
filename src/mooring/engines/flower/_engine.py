"""Clients in Flower's simulation, on the processes of Ray; uploads are those of the local engine, byte for byte."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from mooring.client import NO_STATES, ClientJob, States
from mooring.data import Site
from mooring.engines.flower._settings import ready
from mooring.events import Emit
from mooring.schema import Checked, Count, Doc
from mooring.types import Upload


@dataclass(frozen=True)
class Flower(Checked):
    """`workers` processes of Ray (default: one per core, never more than clients), one torch thread each, on the CPU.

    The events of a client are reported when it has ended or is stopped by Ctrl-C: then its state is kept, and the run
    goes on from there. After a crash it goes on with the clients that had not ended, from their beginning.
    """

    kind: ClassVar[str] = "flower"
    workers: Annotated[
        Count | None,
        Doc("processes of Ray in Flower's simulation (extra `flower`); `null` is one per core; the bytes of `local`"),
    ] = None

    def collect(
        self, job: ClientJob, sites: Sequence[Site], emit: Emit, states: States = NO_STATES
    ) -> Iterator[Upload]:
        ready()
        from mooring.engines.flower._simulation import simulate

        workers = min(self.workers or os.cpu_count() or 1, len(sites))
        with tempfile.TemporaryDirectory(prefix="mooring-flower-", ignore_cleanup_errors=True) as folder:
            yield from simulate(Path(folder), job, sites, emit, states, workers)
