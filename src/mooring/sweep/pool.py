"""A pool of processes for whole runs: parallel over runs, because that leaves no core waiting for the last client."""

import multiprocessing
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from mooring.engines.pool import deaf_to_interrupts, without_main
from mooring.sweep.worker import Task, carry_out, settle

GLANCE_SECONDS = 0.5
LIVES = 3  # pools that may break without a single task ending in between


def outcomes(tasks: Sequence[Task], workers: int) -> Iterator[dict[str, str]]:
    """What became of the members of each task, as tasks end; an empty one at every glance between.

    A worker that is killed breaks its pool: another is opened, and its runs go on from where they were saved.
    """
    left, lives = list(tasks), LIVES
    while left:
        before = len(left)
        try:
            for task, outcome in attempt(left, workers):
                if task is not None:
                    left.remove(task)
                yield outcome
            return
        except BrokenProcessPool:
            lives = LIVES if len(left) < before else lives - 1
            if not lives:
                names = [name for task in left for name in task.names]
                yield dict.fromkeys(names, "its workers died again and again; look for a lack of memory")
                return


def attempt(tasks: Sequence[Task], workers: int) -> Iterator[tuple[Task | None, dict[str, str]]]:
    """Until all tasks have ended, or a worker dies."""
    processes = min(workers, len(tasks))
    with open_pool(processes) as pool:
        waiting: dict[Future[dict[str, str]], Task] = {}
        with without_main(), deaf_to_interrupts():
            for task in tasks:
                waiting[pool.submit(carry_out, task, max(1, workers // processes))] = task
        while waiting:
            ended, _ = wait(waiting, GLANCE_SECONDS, FIRST_COMPLETED)
            yield None, {}
            for future in ended:
                yield waiting.pop(future), future.result()


@contextmanager
def open_pool(processes: int) -> Iterator[ProcessPoolExecutor]:
    """When the block is left early, runs are asked to save themselves; when it is left again, they are killed."""
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processes, context, settle, (list(sys.path),))
    try:
        yield pool
    except BaseException:
        running = list((pool._processes or {}).values())
        try:
            for process in running:
                process.terminate()
            pool.shutdown(wait=True, cancel_futures=True)
        except KeyboardInterrupt:
            for process in running:
                process.kill()
        raise
    pool.shutdown()
