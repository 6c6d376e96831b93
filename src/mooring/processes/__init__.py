"""Supervised worker processes: tasks in, messages out; a worker that dies is replaced, Ctrl-C saves before it stops."""

from mooring.processes._pool import Died, Message, Waiting, WorkerPool
from mooring.processes._starting import remembered_interrupt, start_early
from mooring.processes._worker import (
    NO_MEMORY,
    Link,
    Stopped,
    StopRequested,
    check_stop,
    keep_freed_memory,
    lacks_memory,
    one_thread,
    return_freed_memory,
    stopping_if,
    threads,
)

__all__ = [
    "NO_MEMORY",
    "Died",
    "Link",
    "Message",
    "StopRequested",
    "Stopped",
    "Waiting",
    "WorkerPool",
    "check_stop",
    "keep_freed_memory",
    "lacks_memory",
    "one_thread",
    "remembered_interrupt",
    "return_freed_memory",
    "start_early",
    "stopping_if",
    "threads",
]
