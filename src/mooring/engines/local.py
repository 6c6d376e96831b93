"""Clients on this machine: one process per worker, one torch thread each."""

import os
import pickle
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic
from typing import ClassVar, Literal

import torch

from mooring.bounds import Checked
from mooring.client import ClientJob, run_client
from mooring.client.checkpoint import NO_VAULT, Tensors, Vault
from mooring.client.device import CPU, Device, gpu
from mooring.data.clients import Federation
from mooring.engines.interruption import patient
from mooring.engines.memory import keep_freed_memory
from mooring.engines.pool import Pool
from mooring.engines.worker import failure, lacks_memory, out_of_memory
from mooring.errors import ConfigError, MooringError
from mooring.types import Count, Emit, Positive, Upload


@dataclass(frozen=True)
class Local(Checked):
    """`workers` processes (default: one per core, never more than clients); one worker runs in this process."""

    kind: ClassVar[str] = "local"
    workers: Count | None = None
    save_minutes: Positive = 5.0  # between states within a round; one is saved after every round anyway
    device: Literal["auto", "cpu", "cuda"] = "auto"  # auto: the GPUs if there are any, shared by the workers

    def collect(self, job: ClientJob, federation: Federation, emit: Emit, vault: Vault = NO_VAULT) -> Iterator[Upload]:
        sizes = federation.partition.sizes
        clients = sorted(range(federation.clients), key=lambda client: -sizes[client])  # longest first
        workers = min(self.workers or os.cpu_count() or 1, len(clients))
        devices = devices_for(self.device)
        if workers == 1 or b"__main__" in pickle.dumps(job):  # a part written in the user's script lives only here
            return self._here(job, federation, clients, emit, vault, devices[0])
        return Pool(job, federation, vault, emit, 60 * self.save_minutes, devices).collect(clients, workers)

    def _here(
        self,
        job: ClientJob,
        federation: Federation,
        clients: list[int],
        emit: Emit,
        vault: Vault,
        device: Device,
    ) -> Iterator[Upload]:
        torch.set_num_threads(1)
        keep_freed_memory()
        with patient() as interrupted:
            for client in clients:
                keeper = OnTheSpot(client, vault, 60 * self.save_minutes, interrupted)
                try:
                    yield from run_client(job, federation.shard(client), client, emit, keeper, device)
                except MooringError as error:
                    emit(failure(client, error))
                except (MemoryError, RuntimeError) as error:
                    if not lacks_memory(error):
                        raise
                    emit(failure(client, out_of_memory(client)))


def devices_for(wanted: str) -> list[Device]:
    """The devices that workers take in turns: several clients share a GPU when there are more workers than GPUs."""
    found = torch.cuda.device_count() if wanted != "cpu" else 0
    if wanted == "cuda" and not found:
        raise ConfigError(["engine.device=cuda: this machine has no GPU that torch can use; set engine.device=auto"])
    return [gpu(number) for number in range(found)] or [CPU]


class OnTheSpot:
    """A client's keeper in the process that also writes the run folder."""

    def __init__(self, client: int, vault: Vault, seconds: float, interrupted: threading.Event) -> None:
        self.client = client
        self.vault = vault
        self.seconds = seconds
        self.interrupted = interrupted
        self.kept = monotonic()

    def last(self) -> Tensors | None:
        return self.vault.last(self.client)

    def due(self) -> bool:
        return self.interrupted.is_set() or monotonic() - self.kept > self.seconds

    def keep(self, tensors: Tensors) -> None:
        self.vault.keep(self.client, tensors)
        self.kept = monotonic()
        if self.interrupted.is_set():
            raise KeyboardInterrupt
