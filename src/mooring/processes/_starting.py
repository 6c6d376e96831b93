"""How worker processes begin: forked from one process that has imported everything and runs no thread of ours.

Importing torch takes seconds. The process that forks imports it once for all workers of a program, however many pools
they belong to; it ends with the program. Started early, it does so while the program itself still imports. Where there
is no fork (Windows), every worker imports for itself.

The first Ctrl-C is remembered until the states are safe; the second acts at once.
"""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import resource_tracker
from types import ModuleType
from typing import Any

from mooring.processes._worker import Handler, work

FORKED = "forkserver" in multiprocessing.get_all_start_methods()
TUNABLES = "GLIBC_TUNABLES"


@contextmanager
def remembered_interrupt() -> Iterator[threading.Event]:
    """While this lasts, the event is set by the first Ctrl-C; the next one is the usual one."""
    interrupted = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield interrupted
        return
    before = signal.getsignal(signal.SIGINT)

    def remember(*_: object) -> None:
        interrupted.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, remember)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def children_deaf_to_interrupts() -> Iterator[None]:
    """Ctrl-C reaches the whole group: processes started here never hear it, and the parent decides what it means.

    Where signals can be blocked, children inherit the mask from their first instruction on. Elsewhere (Windows) a
    worker ignores the signal as soon as it can.
    """
    block = getattr(signal, "pthread_sigmask", None)
    if block is None:
        yield
        return
    resource_tracker.ensure_running()  # started within the block, it would unblock the signal for the next child
    before = block(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        block(signal.SIG_SETMASK, before)


def start_early(module: str) -> None:
    """Start the process that forks workers, with the module of their handler; nothing happens where it runs already."""
    if not FORKED:
        return
    from multiprocessing import forkserver

    forkserver.set_forkserver_preload(["mooring.processes._forking", "torch", __name__, module])
    with without_main(), children_deaf_to_interrupts(), huge_pages():
        forkserver.ensure_running()


def start_process(handler: Handler, pipe: Any, worker: int) -> Any:
    """A process that carries out the tasks that come through the pipe."""
    import torch.multiprocessing  # noqa: F401  # teaches pickle to hand tensors over in shared memory

    start_early(handler.__module__)
    context: Any = multiprocessing.get_context("forkserver" if FORKED else "spawn")
    process = context.Process(target=work_here, args=(dict(os.environ), handler, pipe, worker), daemon=False)
    with without_main(), children_deaf_to_interrupts():
        process.start()
    return process


@contextmanager
def huge_pages() -> Iterator[None]:
    """Processes that start within ask for memory in pages of 2 MB where the system has them: steps of ResNet-8 take a
    twentieth less. Only glibc reads this; whoever has set it already knows better."""
    if TUNABLES in os.environ:
        yield
        return
    os.environ[TUNABLES] = "glibc.malloc.hugetlb=1"
    try:
        yield
    finally:
        del os.environ[TUNABLES]


def work_here(environment: Mapping[str, str], handler: Handler, pipe: Any, worker: int) -> None:
    """In the parent's environment as it is now, not as it was when the first pool began."""
    os.environ.clear()
    os.environ.update(environment)
    work(handler, pipe, worker)


@contextmanager
def without_main() -> Iterator[None]:
    """Start processes that do not run the caller's script again: no `if __name__ == "__main__"` is needed."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script
