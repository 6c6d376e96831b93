"""Clients on this machine: one process per worker, one torch thread each."""

import os
import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from queue import Empty
from types import ModuleType
from typing import Any, ClassVar

import torch
from safetensors.torch import load
from torch import multiprocessing

from mooring.client import ClientJob, run_client
from mooring.data.clients import Federation
from mooring.engines.memory import keep_freed_memory
from mooring.engines.worker import work
from mooring.errors import MooringError, TrainingError
from mooring.types import Count, Emit, Event, Payload

POLL_SECONDS = 0.5


@dataclass(frozen=True)
class Local:
    """`workers` processes (default: one per core, never more than clients); one worker runs in this process."""

    kind: ClassVar[str] = "local"
    workers: Count | None = None

    def collect(self, job: ClientJob, federation: Federation, emit: Emit) -> Iterator[Payload]:
        sizes = federation.partition.sizes
        clients = sorted(range(federation.clients), key=lambda client: -sizes[client])  # longest first
        workers = min(self.workers or os.cpu_count() or 1, len(clients))
        if workers == 1 or b"__main__" in pickle.dumps(job):  # a part written in the user's script lives only here
            return self._here(job, federation, clients, emit)
        return self._spread(job, federation, clients, workers, emit)

    @staticmethod
    def _here(job: ClientJob, federation: Federation, clients: list[int], emit: Emit) -> Iterator[Payload]:
        torch.set_num_threads(1)
        keep_freed_memory()
        for client in clients:
            try:
                yield from run_client(job, federation.shard(client), client, emit)
            except MooringError as error:
                emit(Event("failed", {"client": client, "problem": error.problem, "remedy": error.remedy}))

    @staticmethod
    def _spread(
        job: ClientJob, federation: Federation, clients: list[int], workers: int, emit: Emit
    ) -> Iterator[Payload]:
        context = multiprocessing.get_context("spawn")
        tasks, home = context.Queue(), context.Queue()
        for client in clients:
            tasks.put(client)
        federation.train.images.share_memory_()
        federation.train.labels.share_memory_()
        arguments = (job, federation, tasks, home)
        processes = [context.Process(target=work, args=arguments, daemon=True) for _ in range(workers)]
        with without_main():
            for process in processes:
                process.start()
        try:
            yield from _receive(home, processes, emit)
        finally:
            for process in processes:
                process.terminate()
                process.join()


@contextmanager
def without_main() -> Iterator[None]:
    """Start processes that do not run the caller's script again: no `if __name__ == "__main__"` is needed."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


def _receive(home: Any, processes: list[Any], emit: Emit) -> Iterator[Payload]:
    """Messages of all workers until each has said that it is at its end."""
    ended = 0
    while ended < len(processes):
        try:
            what, content = home.get(timeout=POLL_SECONDS)
        except Empty:
            dead = [process.exitcode for process in processes if process.exitcode]
            if dead:
                raise TrainingError(f"a worker process died (exit code {dead[0]})", "lower engine.workers") from None
            continue
        if what == "event":
            emit(content)
        elif what == "upload":
            client, round_, samples, data = content
            yield Payload(client, round_, samples, load(data))
        elif what == "crash":
            raise RuntimeError(f"in a worker process:\n{content}")
        else:
            ended += 1
