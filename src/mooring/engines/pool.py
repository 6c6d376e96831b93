"""A pool of worker processes, each behind a pipe of its own: no lock is shared, so none can be left behind."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from types import ModuleType
from typing import Any

from safetensors.torch import load
from torch import multiprocessing

from mooring.client import ClientJob
from mooring.client.checkpoint import Vault
from mooring.data.clients import Federation
from mooring.engines.worker import failure, work
from mooring.errors import TrainingError
from mooring.types import Emit, Payload

LIVES = 3  # workers that may die over one client


@dataclass
class Worker:
    process: Any
    pipe: Connection
    client: int | None = None  # that it trains


@dataclass
class Pool:
    """Gives clients to workers in the order given, and hands over what they send; a worker that dies is replaced."""

    job: ClientJob
    federation: Federation
    vault: Vault
    emit: Emit
    seconds: float  # between states within a round
    waiting: list[int] = field(default_factory=list)
    deaths: dict[int, int] = field(default_factory=dict)
    workers: list[Worker] = field(default_factory=list)

    def collect(self, clients: list[int], workers: int) -> Iterator[Payload]:
        self.federation.train.images.share_memory_()
        self.federation.train.labels.share_memory_()
        self.waiting = list(clients)
        try:
            for _ in range(workers):
                self.hire()
            yield from self.receive()
        except KeyboardInterrupt:
            yield from self.stop()
            raise
        finally:
            for worker in self.workers:
                worker.process.kill()
                worker.process.join()

    def hire(self) -> None:
        """One more worker, with the next client that waits."""
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        arguments = (self.job, self.federation, self.vault, there, self.seconds)
        process = context.Process(target=work, args=arguments, daemon=True)
        with without_main():
            process.start()
        there.close()  # the worker's end lives in the worker alone: when it dies, the pipe says so
        worker = Worker(process, here)
        self.workers.append(worker)
        self.assign(worker)

    def assign(self, worker: Worker) -> None:
        worker.client = self.waiting.pop(0) if self.waiting else None
        worker.pipe.send(worker.client)  # None: go home

    def receive(self) -> Iterator[Payload]:
        """Messages of all workers until every client has ended."""
        while busy := {worker.pipe: worker for worker in self.workers if worker.client is not None}:
            for pipe in wait(list(busy)):
                worker = busy[pipe]  # type: ignore[index]
                try:
                    what, content = worker.pipe.recv()
                except (EOFError, OSError):
                    self.bury(worker)
                    continue
                yield from self.handle(worker, what, content)

    def handle(self, worker: Worker, what: str, content: Any) -> Iterator[Payload]:
        match what:
            case "event":
                self.emit(content)
            case "upload":
                client, round_, samples, data = content
                yield Payload(client, round_, samples, load(data))
            case "state":
                client, data = content
                self.vault.keep(client, load(data))
            case "ended":
                self.assign(worker)
            case "interrupted":
                worker.client = None
            case _:
                raise RuntimeError(f"in a worker process:\n{content}")

    def bury(self, worker: Worker) -> None:
        """A worker died over its client: another goes on from the last state, a bounded number of times."""
        client = worker.client
        assert client is not None
        worker.client = None
        worker.process.join()
        self.workers.remove(worker)
        self.deaths[client] = self.deaths.get(client, 0) + 1
        if self.deaths[client] < LIVES:
            self.waiting.insert(0, client)
        else:
            reason = f"client {client}: {LIVES} workers died over it (exit code {worker.process.exitcode})"
            self.emit(failure(client, TrainingError(reason, "lower engine.workers or look for a lack of memory")))
        if self.waiting:
            self.hire()

    def stop(self) -> Iterator[Payload]:
        """Ask every worker for its state, and wait for it."""
        self.waiting.clear()
        for worker in self.workers:
            if worker.client is not None:
                worker.pipe.send("stop")
        yield from self.receive()


@contextmanager
def without_main() -> Iterator[None]:
    """Start processes that do not run the caller's script again: no `if __name__ == "__main__"` is needed."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script
