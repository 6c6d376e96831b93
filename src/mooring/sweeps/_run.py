"""Run a plan and write its tables into a folder, which belongs to this plan or to one that it contains."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from mooring.config import Plan, Point, as_yaml, plan_of, read_file
from mooring.data import InMemory
from mooring.errors import StoreError
from mooring.events import Emit, RunEnded, SweepBegan, SweepWaits, silent
from mooring.processes import Died, Message, Waiting, WorkerPool
from mooring.record import locked, write_atomically, write_sweep
from mooring.sweeps._members import PLAN_FILE, Member, members_of, sweep_record
from mooring.sweeps._on_ray import cluster, outcomes_on_ray
from mooring.sweeps._search import searched
from mooring.sweeps._summary import mean_validation
from mooring.sweeps._tables import SweepTables, tables_of, write_tables
from mooring.sweeps._worker import Outcome, Task, TaskRunner, carry_out, cores

SweepEngine = Literal["local", "ray"]  # processes of this machine, or tasks of a cluster


@dataclass(frozen=True)
class SweepOutcome:
    """Every member of a sweep, and its two tables."""

    members: tuple[Member, ...]
    tables: SweepTables


def run_plan(
    plan: Plan,
    out: Path,
    workers: int | None = None,
    emit: Emit = silent,
    command: str | None = None,
    engine: SweepEngine = "local",
) -> SweepOutcome:
    """Run what is not finished yet, then write the record and both tables; the members and the tables.

    A member that fails is an event and a line of the table; the others go on. Interrupted, the same call goes on.
    """
    failures: dict[str, str] = {}

    def run_members(chosen: Plan) -> None:
        every = list(members_of(chosen, out))
        write_sweep(out, sweep_record(every, [member.record() for member in every], chosen.baseline))
        tasks = unfinished(every)
        emit(SweepBegan(len(every), sum(member.finished for member in every)))
        for outcome in ENGINES[engine](tasks, workers, command):
            emit(SweepWaits())
            for name, reason in outcome.items():
                failures[name] = reason
                emit(RunEnded(name, reason))

    def score(chosen: Plan, trial: Point) -> float | None:
        results = [m.result for m in members_of(chosen, out) if trial.items() <= m.factors.items()]
        return mean_validation([None if result is None else result.validation_accuracy for result in results])

    with CONNECTED[engine](), locked(out):  # without a cluster, no folder is created
        take_folder(plan, out)
        if plan.search is None:
            run_members(plan)
        else:
            plan = searched(plan, out, run_members, score)
        every = tuple(members_of(plan, out))
        runs = [member.record(failures.get(member.name, "")) for member in every]
        tables = tables_of(plan, runs)
        write_sweep(out, sweep_record(every, runs, plan.baseline))
        write_tables(tables, out)
    return SweepOutcome(every, tables)


def outcomes_here(tasks: Sequence[Task], workers: int | None, command: str | None) -> Iterator[Outcome]:
    """What became of the members of each task, as tasks end; an empty one while all are busy.

    Parallel over runs, because that leaves no core waiting for the last client. A worker that dies is replaced, and
    its run goes on from where it was saved.
    """
    workers = workers or cores()
    for task in (task for task in tasks if task.is_bound):
        yield carry_out(task, 1, command)
    tasks = [task for task in tasks if not task.is_bound]
    processes = min(workers, len(tasks))
    pool: WorkerPool[Task] = WorkerPool(TaskRunner(max(1, workers // max(processes, 1)), command), processes)
    for said in pool.run(tasks):
        match said:
            case Message(content=outcome):
                yield outcome
            case Died(task=task):
                yield dict.fromkeys(task.names, "its workers died again and again; look for a lack of memory")
            case Waiting():
                yield {}


ENGINES: dict[SweepEngine, Callable[[Sequence[Task], int | None, str | None], Iterator[Outcome]]] = {
    "local": outcomes_here,
    "ray": outcomes_on_ray,
}
CONNECTED: dict[SweepEngine, Callable[[], AbstractContextManager[None]]] = {"local": nullcontext, "ray": cluster}


def unfinished(every: Sequence[Member]) -> list[Task]:
    """One task for each training that some member still needs."""
    tasks = []
    for trainer in (member for member in every if member.trains):
        others = [member for member in every if member.trainer is trainer and not member.finished]
        if others or not trainer.finished:
            rest = tuple((m.name, m.experiment.tree(), str(m.fused_file)) for m in others)
            source = trainer.experiment.data
            held = (source.held,) if isinstance(source, InMemory) else ()
            tasks.append(Task(trainer.name, trainer.experiment.tree(), str(trainer.folder), rest, held))
    return tasks


def take_folder(plan: Plan, out: Path) -> None:
    """Write the plan into the folder; a folder with another plan is an error."""
    path = out / PLAN_FILE
    if path.exists() and not contains(plan, plan_of(read_file(path), str(path)), out):
        raise StoreError(f"out={out}: holds another sweep", "choose another folder with out=...")
    foreign = [file.name for file in out.iterdir() if file.name != ".lock"]
    if foreign and not path.exists():
        raise StoreError(f"out={out}: holds {foreign[0]!r} and no sweep", "choose an empty folder with out=...")
    write_atomically(path, as_yaml(plan.tree()).encode())


def contains(plan: Plan, old: Plan, out: Path) -> bool:
    """Is every run of the old plan one of this plan too: the same settings, name and folder, trained by the same run?

    A search keeps its factors, because what it tries next depends on all runs of a trial.
    """
    if replace(plan, factors=old.factors).identity() != old.identity():
        return False
    if plan.identity() == old.identity():
        return True
    points = plan.points()
    if plan.search is not None or not all(point in points for point in old.points()):
        return False
    here = {member.name: member for member in members_of(plan, out)}
    return all(here.get(member.name) == member for member in members_of(old, out))
