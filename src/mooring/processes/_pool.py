"""A pool of worker processes, each behind a pipe of its own: no lock is shared, so none can be left behind."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe, wait
from threading import Event
from typing import Any, Generic, TypeVar

from mooring.processes._starting import remembered_interrupt, start_process
from mooring.processes._worker import BEGUN, CRASHED, ENDED, HOME, STOP, STOPPED, Handler

LIVES = 3  # workers that may die over one task
GLANCE_SECONDS = 0.2  # between two looks at the keyboard

T = TypeVar("T")


@dataclass(frozen=True)
class Message(Generic[T]):
    """Something a worker sent while it carried out a task."""

    task: T
    content: Any


@dataclass(frozen=True)
class Died(Generic[T]):
    """So many workers died over this task that nobody tries it again."""

    task: T
    exit_code: int | None
    workers: int = LIVES


@dataclass(frozen=True)
class Waiting:
    """Nobody sent anything for a moment."""


@dataclass
class Worker(Generic[T]):
    process: Any
    pipe: Connection
    task: T | None = None  # that it carries out
    begun: bool = False  # or is the process still starting?


@dataclass
class WorkerPool(Generic[T]):
    """Gives tasks to workers in the order given, and hands over what they send; a worker that dies is replaced.

    The first Ctrl-C asks every worker to save and stop, and ends in KeyboardInterrupt when all have; the second ends
    at once.
    """

    handler: Handler
    size: int
    started: int = 0
    waiting: list[T] = field(default_factory=list)
    deaths: list[T] = field(default_factory=list)
    workers: list[Worker[T]] = field(default_factory=list)
    interrupted: Event = field(default_factory=Event)
    stopping: bool = False

    def run(self, tasks: Sequence[T]) -> Iterator[Message[T] | Died[T] | Waiting]:
        self.waiting = list(tasks)
        try:
            with remembered_interrupt() as self.interrupted:
                for _ in range(min(self.size, len(tasks))):
                    self._start_worker()
                yield from self._receive()
            if self.interrupted.is_set():
                raise KeyboardInterrupt  # and everything is safe
        finally:
            for worker in self.workers:
                worker.process.kill()
                worker.process.join()

    def add(self, task: T) -> None:
        """One more, after all that wait: whoever hears from a task may add one before that task ends."""
        if not self.stopping:
            self.waiting.append(task)

    def _start_worker(self) -> None:
        """One more worker, with the next task that waits."""
        here, there = Pipe()
        process = start_process(self.handler, there, self.started)
        self.started += 1
        there.close()  # the worker's end lives in the worker alone: when it dies, the pipe says so
        worker: Worker[T] = Worker(process, here)
        self.workers.append(worker)
        self._assign(worker)

    def _assign(self, worker: Worker[T]) -> None:
        worker.task = self.waiting.pop(0) if self.waiting else None
        self._tell(worker, HOME if worker.task is None else worker.task)

    def _tell(self, worker: Worker[T], what: object) -> None:
        with suppress(OSError):  # it died: the end of its pipe comes next
            worker.pipe.send(what)

    def _receive(self) -> Iterator[Message[T] | Died[T] | Waiting]:
        """Messages of all workers until every task has ended, or everybody has stopped after Ctrl-C."""
        while True:
            if self.interrupted.is_set() and not self.stopping:
                self._stop()
            busy = {worker.pipe: worker for worker in self.workers if worker.task is not None}
            if not busy:
                return
            ready = wait(list(busy), GLANCE_SECONDS)
            if not ready:
                yield Waiting()
            for pipe in ready:
                worker = busy[pipe]  # type: ignore[index]
                try:
                    what, messages, detail = worker.pipe.recv()
                except (EOFError, OSError):
                    yield from self._replace_worker(worker)
                    continue
                assert worker.task is not None
                for content in messages:
                    yield Message(worker.task, content)
                self._heed(worker, what, detail)

    def _heed(self, worker: Worker[T], what: str, detail: str | None) -> None:
        """What a worker says of itself."""
        if what == BEGUN:
            worker.begun = True
        elif what == ENDED:
            self._assign(worker)
        elif what == STOPPED:
            worker.task = None
        elif what == CRASHED:
            raise RuntimeError(f"in a worker process:\n{detail}")

    def _replace_worker(self, worker: Worker[T]) -> Iterator[Died[T]]:
        """A worker died over its task: another goes on with it, a bounded number of times."""
        task = worker.task
        assert task is not None
        worker.task = None
        worker.process.join()
        self.workers.remove(worker)
        self.deaths.append(task)
        if self.deaths.count(task) < LIVES:
            self.waiting.insert(0, task)
        else:
            yield Died(task, worker.process.exitcode)
        if self.waiting and not self.stopping:
            self._start_worker()

    def _stop(self) -> None:
        """Ask every worker to save and stop; nobody begins another task, and one that is only starting just ends."""
        self.stopping = True
        self.waiting.clear()
        for worker in self.workers:
            if worker.task is not None and worker.begun:
                self._tell(worker, STOP)
            elif worker.task is not None:
                worker.task = None
                worker.process.kill()
