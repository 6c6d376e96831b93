"""A sweep on an existing Ray cluster: each training, with all its fusions, is one task of one core.

Every machine of the cluster has the same mooring installed, and sees the folder of the sweep and the data under the
same paths. Only this process writes the tables; a task writes its run folder, as a worker on this machine would.
"""

import logging
import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mooring.engines.flower import QUIET_ENVIRONMENT
from mooring.errors import ConfigError, needed
from mooring.sweeps._worker import Outcome, Task, carry_out

GLANCE_SECONDS = 0.2  # between two checks for Ctrl-C
SAVING_SECONDS = 60.0  # for interrupted runs to save their state
ANSWER_SECONDS = 3.0  # to connect to an address
ADDRESS = "RAY_ADDRESS"
RETRIES = 2  # of a task whose process died; its run continues from its last state


def outcomes_on_ray(tasks: Sequence[Task], workers: int | None, command: str | None) -> Iterator[Outcome]:
    """What became of the members of each task, as tasks end, on the cluster that this process is connected to; an empty
    one while all are busy.

    `workers`: at most so many tasks at a time; without it, as many as the cluster has cores.
    """
    ray = needed("ray", "flower")
    carried_out = ray.remote(num_cpus=1, max_retries=RETRIES)(carry_out)
    left, running = [anywhere(task) for task in reversed(tasks)], dict[Any, Task]()
    try:
        while left or running:
            while left and len(running) < (workers or len(tasks)):
                task = left.pop()
                running[carried_out.remote(task, 1, command)] = task
            done, _ = ray.wait(list(running), timeout=GLANCE_SECONDS)
            if not done:
                yield {}
            for reference in done:
                yield outcome_of(ray, reference, running.pop(reference))
    finally:
        for reference in running:  # like Ctrl-C: the run saves its state
            ray.cancel(reference)
        if running:
            ray.wait(list(running), num_returns=len(running), timeout=SAVING_SECONDS)


def anywhere(task: Task) -> Task:
    """With absolute paths, because Ray processes work in another folder."""
    others = tuple((name, tree, str(Path(file).absolute())) for name, tree, file in task.others)
    return replace(task, folder=str(Path(task.folder).absolute()), others=others)


@contextmanager
def cluster() -> Iterator[None]:
    """Connect to the cluster on this machine, or to the one in RAY_ADDRESS; no cluster is started."""
    os.environ.update({name: value for name, value in QUIET_ENVIRONMENT.items() if name not in os.environ})
    ray = needed("ray", "flower")
    if ray.is_initialized():
        yield
        return
    reject_unreachable(os.environ.get(ADDRESS, ""))
    try:
        ray.init(address="auto", logging_level=logging.ERROR, log_to_driver=False)
    except ConnectionError:
        raise ConfigError(
            [f"--engine ray: there is no Ray cluster; start one with `ray start --head`, or name it in {ADDRESS}"]
        ) from None
    try:
        yield
    finally:
        ray.shutdown()


def reject_unreachable(address: str) -> None:
    """Reject an address that does not answer; Ray itself would try for minutes."""
    remedy = f"correct {ADDRESS}, or start the cluster with `ray start --head`"
    try:
        named = urlsplit(address if "://" in address else f"//{address}")
        if named.hostname and named.port:  # or a word that Ray knows, such as auto
            socket.create_connection((named.hostname, named.port), ANSWER_SECONDS).close()
    except ValueError:
        raise ConfigError([f"--engine ray: {ADDRESS}={address}: is not host:port; {remedy}"]) from None
    except OSError as error:
        why = error.strerror or str(error)
        raise ConfigError([f"--engine ray: {ADDRESS}={address}: no answer ({why}); {remedy}"]) from None


def outcome_of(ray: Any, reference: object, task: Task) -> Outcome:
    """A task that ended, or whose processes died; an exception of our own code is a bug and is raised."""
    try:
        found: Outcome = ray.get(reference)
        return found
    except ray.exceptions.WorkerCrashedError:
        return dict.fromkeys(task.names, "its workers died again and again; look for a lack of memory")
