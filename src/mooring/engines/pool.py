"""A pool of worker processes, each behind a pipe of its own: no lock is shared, so none can be left behind."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from signal import SIG_BLOCK, SIG_SETMASK, SIGINT, pthread_sigmask
from threading import Event
from types import ModuleType
from typing import Any

from safetensors.torch import load
from torch import multiprocessing

from mooring.client import ClientJob
from mooring.client.checkpoint import Vault
from mooring.client.device import CPU, Device
from mooring.data.clients import Federation
from mooring.engines.interruption import patient
from mooring.engines.worker import NO_MEMORY, failure, out_of_memory, work
from mooring.errors import TrainingError
from mooring.types import Emit, Upload

LIVES = 3  # workers that may die over one client
GLANCE_SECONDS = 0.2  # between two looks at the keyboard


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
    devices: Sequence[Device] = (CPU,)
    hired: int = 0
    waiting: list[int] = field(default_factory=list)
    deaths: dict[int, int] = field(default_factory=dict)
    workers: list[Worker] = field(default_factory=list)
    interrupted: Event = field(default_factory=Event)
    stopping: bool = False

    def collect(self, clients: list[int], workers: int) -> Iterator[Upload]:
        self.federation.train.images.share_memory_()
        self.federation.train.labels.share_memory_()
        self.waiting = list(clients)
        try:
            with patient() as self.interrupted:
                for _ in range(workers):
                    self.hire()
                yield from self.receive()
            if self.interrupted.is_set():
                raise KeyboardInterrupt  # and every state is safe
        finally:
            for worker in self.workers:
                worker.process.kill()
                worker.process.join()

    def hire(self) -> None:
        """One more worker, with the next client that waits."""
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        device = self.devices[self.hired % len(self.devices)]
        self.hired += 1
        arguments = (self.job, self.federation, self.vault, there, self.seconds, device)
        process = context.Process(target=work, args=arguments, daemon=True)
        with without_main(), deaf_to_interrupts():
            process.start()
        there.close()  # the worker's end lives in the worker alone: when it dies, the pipe says so
        worker = Worker(process, here)
        self.workers.append(worker)
        self.assign(worker)

    def assign(self, worker: Worker) -> None:
        worker.client = self.waiting.pop(0) if self.waiting else None
        self.tell(worker, worker.client)  # None: go home

    def tell(self, worker: Worker, what: object) -> None:
        with suppress(OSError):  # it died: the end of its pipe comes next
            worker.pipe.send(what)

    def receive(self) -> Iterator[Upload]:
        """Messages of all workers until every client has ended, or everybody has stopped after Ctrl-C."""
        while busy := {worker.pipe: worker for worker in self.workers if worker.client is not None}:
            if self.interrupted.is_set() and not self.stopping:
                self.stop()
            for pipe in wait(list(busy), GLANCE_SECONDS):
                worker = busy[pipe]  # type: ignore[index]
                try:
                    what, content = worker.pipe.recv()
                except (EOFError, OSError):
                    self.bury(worker)
                    continue
                yield from self.handle(worker, what, content)

    def handle(self, worker: Worker, what: str, content: Any) -> Iterator[Upload]:
        match what:
            case "event":
                self.emit(content)
            case "upload":
                client, round_, samples, data = content
                yield Upload(client, round_, samples, load(data))
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
            self.emit(failure(client, hopeless(client, worker.process.exitcode)))
        if self.waiting and not self.stopping:
            self.hire()

    def stop(self) -> None:
        """Ask every worker for its state; nobody begins another client."""
        self.stopping = True
        self.waiting.clear()
        for worker in self.workers:
            if worker.client is not None:
                self.tell(worker, "stop")


def hopeless(client: int, exit_code: int | None) -> TrainingError:
    """Why nobody tries this client again."""
    if exit_code == NO_MEMORY:
        return out_of_memory(client)
    died = f"client {client}: {LIVES} workers died over it, the last with exit code {exit_code}"
    return TrainingError(died, "lower engine.workers, and look into the system's log for a lack of memory")


@contextmanager
def deaf_to_interrupts() -> Iterator[None]:
    """Ctrl-C reaches the whole group: processes started here never hear it, and the parent decides what it means."""
    before = pthread_sigmask(SIG_BLOCK, {SIGINT})
    try:
        yield
    finally:
        pthread_sigmask(SIG_SETMASK, before)


@contextmanager
def without_main() -> Iterator[None]:
    """Start processes that do not run the caller's script again: no `if __name__ == "__main__"` is needed."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script
