"""What runs inside a worker process: its tasks, the messages it sends home, and its memory and threads.

Keep freed memory: without this, glibc returns every large activation to the system and pays for it again. A step of
ResNet-8 on a batch of 64 took 14,000 page faults and 36 ms in the kernel before, 600 faults and 1 ms after.

Torch is imported where it is used: the process that forks workers starts before this one imports it.
"""

import ctypes
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from math import inf
from multiprocessing.connection import Connection
from queue import SimpleQueue
from time import monotonic
from traceback import format_exc
from typing import Any, Protocol

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
LARGE = 2**30
NO_MEMORY = 77  # exit code of a worker that ran out of it
STOP, HOME = "stop", None  # what a parent says beside tasks
BEGUN, MESSAGES, ENDED, STOPPED, CRASHED = "begun", "messages", "ended", "stopped", "crashed"  # what a worker says
GATHERED_SECONDS = 0.05  # for which messages may wait for those that follow


def keep_freed_memory() -> None:
    """Ask glibc to re-use large blocks; elsewhere this does nothing."""
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    mallopt = getattr(libc, "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, LARGE)
        mallopt(M_TRIM_THRESHOLD, LARGE)


def return_freed_memory() -> None:
    """Give back what `keep_freed_memory` has kept: for the moment between two pieces of work that need much of it."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


def lacks_memory(error: BaseException) -> bool:
    """Torch has no type of its own for a CPU that has no memory left."""
    import torch

    return isinstance(error, MemoryError | torch.OutOfMemoryError) or "can't allocate memory" in str(error)


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Torch with so many threads for as long as the block lasts; the caller's number is restored."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def one_thread() -> None:
    """One thread per worker: the same bytes for any number of workers."""
    import torch

    torch.set_num_threads(1)


class Stopped(Exception):  # noqa: N818
    """What a task relies on is safe; it stops here."""


@dataclass
class Link:
    """A worker's line to its parent. `stopping` is set when the parent asks it to save and stop.

    Messages that follow each other closely travel together: a client of a few images has seven, and each would wake
    the parent, which has no core of its own.
    """

    pipe: Connection
    worker: int  # its number
    stopping: threading.Event = field(default_factory=threading.Event)
    on_stop: Callable[[], None] = field(default=lambda: None)
    tasks: SimpleQueue[Any] = field(default_factory=SimpleQueue)
    gathered: list[object] = field(default_factory=list)
    sent: float = -inf  # when the parent last heard of a task

    def send(self, content: object) -> None:
        """At once, after all that was gathered."""
        self.gathered.append(content)
        self.say(MESSAGES)

    def gather(self, content: object) -> None:
        """With what follows, unless the parent has heard nothing for a moment; the end of a task says all of it."""
        self.gathered.append(content)
        if monotonic() - self.sent > GATHERED_SECONDS:
            self.say(MESSAGES)

    def say(self, what: str, detail: str | None = None) -> None:
        messages, self.gathered = self.gathered, []
        self.pipe.send((what, messages, detail))
        if messages:
            self.sent = monotonic()

    def listen(self) -> None:
        """Until the parent is gone, however it went: a worker without one works for nobody."""
        while True:
            try:
                said = self.pipe.recv()
            except (EOFError, OSError):
                os._exit(1)
            if said == STOP:
                self.stopping.set()
                self.on_stop()
            else:
                self.tasks.put(said)


class Handler(Protocol):
    """Carries out one task; it travels to the worker once, when the process starts."""

    def __call__(self, task: Any, link: Link) -> None: ...


def work(handler: Handler, pipe: Connection, worker: int) -> None:
    """Carry out the tasks that come through the pipe, until none comes."""
    if not hasattr(signal, "pthread_sigmask"):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()  # what was imported stays
    gc.enable()
    link = Link(pipe, worker)
    threading.Thread(target=link.listen, daemon=True).start()
    one_thread()
    keep_freed_memory()
    try:
        link.say(BEGUN)
        while (task := link.tasks.get()) is not HOME:
            if link.stopping.is_set():
                raise Stopped
            handler(task, link)
            link.say(ENDED)
    except (Stopped, KeyboardInterrupt):
        link.say(STOPPED)
    except (EOFError, BrokenPipeError):
        os._exit(1)  # nobody is left to work for
    except BaseException as error:
        if lacks_memory(error):
            os._exit(NO_MEMORY)  # there may be more when the others are done
        link.say(CRASHED, format_exc())


_CHECK: ContextVar[Callable[[], None]] = ContextVar("check", default=lambda: None)


class StopRequested(Exception):  # noqa: N818
    """What was being computed is not wanted any more."""


@contextmanager
def stopping_if(asked: Callable[[], bool]) -> Iterator[None]:
    """Within the block, `check_stop` raises StopRequested once somebody has asked for it."""

    def check() -> None:
        if asked():
            raise StopRequested

    token = _CHECK.set(check)
    try:
        yield
    finally:
        _CHECK.reset(token)


def check_stop() -> None:
    _CHECK.get()()
