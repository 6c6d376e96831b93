"""What runs inside a worker process: the tasks it is given, everything sent home as messages."""

import gc
import os
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from multiprocessing.connection import Connection
from queue import SimpleQueue
from time import monotonic
from traceback import format_exc
from typing import Any, Protocol

from mooring.processes._memory import keep_freed_memory, lacks_memory, one_thread

NO_MEMORY = 77  # exit code of a worker that ran out of it
STOP, HOME = "stop", None  # what a parent says beside tasks
BEGUN, MESSAGES, ENDED, STOPPED, CRASHED = "begun", "messages", "ended", "stopped", "crashed"  # what a worker says
GATHERED_SECONDS = 0.05  # for which messages may wait for those that follow


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
