"""What runs inside a worker of a sweep: one training and every fusion of it."""

import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any

from mooring.conductor import run
from mooring.config import Experiment, parse
from mooring.config.tree import Tree
from mooring.engines import Local
from mooring.engines.worker import leave_with_parent
from mooring.errors import MooringError
from mooring.store import strict_json, write_atomically
from mooring.workbench import fuse

STOPPED = "stopped"
SOME_FAILED = "some clients failed"
_stopping = Event()


@dataclass(frozen=True)
class Task:
    """A training, and the members that are fused from it: (name, experiment, file of its row)."""

    name: str
    tree: Tree
    folder: str
    others: tuple[tuple[str, Tree, str], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *(name for name, _, _ in self.others))


def settle(path: Sequence[str]) -> None:
    """A worker ends with its parent, finds the user's modules, and saves its run when it is asked to end."""
    leave_with_parent()
    sys.path[:] = path
    signal.signal(signal.SIGTERM, _stop)


def _stop(*_: object) -> None:
    """As Ctrl-C: the run saves its clients and stops; a second time leaves at once."""
    _stopping.set()
    handler = signal.getsignal(signal.SIGINT)
    if callable(handler):
        handler(signal.SIGINT, None)


def carry_out(task: Task, workers: int) -> dict[str, str]:
    """The outcome of each member by name: nothing to say, or why it failed. Nothing is fused from some clients only."""
    if _stopping.is_set():
        return dict.fromkeys(task.names, STOPPED)
    try:
        experiment = built(task.tree, task.folder, workers)
        complete = run(experiment, threads=1)["complete"]
    except KeyboardInterrupt:
        return dict.fromkeys(task.names, STOPPED)
    except Exception as error:
        return dict.fromkeys(task.names, reason(error))
    if not complete:
        return dict.fromkeys(task.names, SOME_FAILED)
    outcomes = {task.name: ""}
    for name, tree, file in task.others:
        outcomes[name] = fused(tree, task.folder, Path(file)) if not _stopping.is_set() else STOPPED
    return outcomes


def fused(tree: Tree, folder: str, file: Path) -> str:
    """One member that differs in its fusion alone."""
    try:
        rule = built(tree, folder, 1).method.fusion
        assert rule is not None
        [row] = fuse(folder, [rule])
        write_atomically(file, (strict_json(row, indent=1) + "\n").encode())
    except KeyboardInterrupt:
        return STOPPED
    except Exception as error:
        return reason(error)
    return ""


def reason(error: Exception) -> str:
    """Why a member failed, in one line of the table; what is no mistake of the user's is told with its type."""
    line = " ".join(str(error).split())
    return line if isinstance(error, MooringError) else f"{type(error).__name__}: {line}"


def built(tree: Tree, folder: str, workers: int) -> Experiment:
    [experiment] = parse(tree)
    engine: Any = experiment.engine
    if isinstance(engine, Local):
        engine = replace(engine, workers=workers)
    return replace(experiment, engine=engine, out=folder)


def cores() -> int:
    return os.cpu_count() or 1
