"""How worker processes begin: forked from one process that has imported everything and runs no thread of ours.

Importing torch takes seconds. The process that forks imports it once for all workers of a program, however many pools
they belong to; it ends with the program. Where there is no fork (Windows), every worker imports for itself.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from torch import multiprocessing

from mooring.processes.interrupts import children_deaf_to_interrupts
from mooring.processes.worker import Handler, work

FORKED = "forkserver" in multiprocessing.get_all_start_methods()


def start_process(handler: Handler, pipe: Any, worker: int) -> Any:
    """A process that carries out the tasks that come through the pipe."""
    context: Any = multiprocessing.get_context("forkserver" if FORKED else "spawn")
    if FORKED:
        context.set_forkserver_preload([__name__, handler.__module__])  # counts for the first pool of a program
    process = context.Process(target=work_here, args=(dict(os.environ), handler, pipe, worker), daemon=False)
    with without_main(), children_deaf_to_interrupts():
        process.start()
    return process


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
