"""The work of one worker of a sweep: one training and all its fusions."""

import os
from _thread import interrupt_main
from dataclasses import dataclass, field, replace
from pathlib import Path

from mooring.config import Experiment, Trust, parse, trusted_code_of
from mooring.data import HeldImages, hold
from mooring.engines import Local
from mooring.errors import MooringError
from mooring.execution import fuse, run_experiment
from mooring.processes import Link, Stopped
from mooring.record import require_folder, write_record
from mooring.schema import Tree, strict_json
from mooring.sweeps._members import SOME_FAILED

Outcome = dict[str, str]  # member -> empty, or why it failed


@dataclass(frozen=True)
class Task:
    """A training, and the members that are fused from it: (name, experiment, file of its row)."""

    name: str
    tree: Tree
    folder: str
    others: tuple[tuple[str, Tree, str], ...] = ()
    held: tuple[HeldImages, ...] = field(default=(), repr=False)  # images that no file holds

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *(name for name, _, _ in self.others))

    @property
    def is_bound(self) -> bool:
        """Does it name code of the user's script or notebook, which no other process can import?"""
        return "__main__:" in strict_json([self.tree, self.others])


@dataclass(frozen=True)
class TaskRunner:
    """Runs tasks in a worker process; if it is stopped, its run saves its state as after Ctrl-C."""

    workers: int  # for the clients of one run
    command: str | None = None

    def __call__(self, task: Task, link: Link) -> None:
        link.on_stop = interrupt_main
        try:
            link.send(carry_out(task, self.workers, self.command))
        except KeyboardInterrupt:
            raise Stopped from None


def carry_out(task: Task, workers: int, command: str | None = None) -> Outcome:
    """The outcome of each member by name. Nothing is fused from some clients only."""
    for held in task.held:
        hold(held)
    try:
        require_folder(Path(task.folder).parents[1])  # do not restart a sweep whose folder was removed
        complete = run_experiment(build_experiment(task.tree, task.folder, workers), threads_of_server=1, command=command).complete
    except Exception as error:
        return dict.fromkeys(task.names, reason(error))
    if not complete:
        return dict.fromkeys(task.names, SOME_FAILED)
    trust = trusted_code_of(task.tree)
    return {task.name: ""} | {name: fused(tree, task.folder, Path(file), trust) for name, tree, file in task.others}


def fused(tree: Tree, folder: str, file: Path, trust: Trust) -> str:
    """Fuse a member that differs only in its fusion; `trust` is that of its training."""
    try:
        rule = build_experiment(tree, folder, 1).method.fusion
        assert rule is not None
        [row] = fuse(folder, [rule], trust=trust)
        write_record(file, row, file.parents[1])
    except Exception as error:
        return reason(error)
    return ""


def reason(error: Exception) -> str:
    """Why a member failed, in one line of the table; an error that is not the user's mistake is shown with its type."""
    line = " ".join(str(error).split())
    return line if isinstance(error, MooringError) else f"{type(error).__name__}: {line}"


def build_experiment(tree: Tree, folder: str, workers: int) -> Experiment:
    [experiment] = parse(tree)
    engine = experiment.engine
    if isinstance(engine, Local):
        engine = replace(engine, workers=workers)
    return replace(experiment, engine=engine, out=folder)


def cores() -> int:
    return os.cpu_count() or 1
