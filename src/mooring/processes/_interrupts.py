"""Ctrl-C: the first is remembered until the states are safe, the second acts at once."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker


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
