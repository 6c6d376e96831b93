"""From a plan to its table, in a folder that stays the plan's own or goes to one that contains it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from mooring.config import as_yaml
from mooring.config.plan import Plan, Point, plan_of
from mooring.config.tree import read_file
from mooring.errors import StoreError
from mooring.store import locked, write_atomically
from mooring.sweep.members import PLAN, Member, members_of
from mooring.sweep.pool import outcomes
from mooring.sweep.search import searched
from mooring.sweep.summary import mean_validation
from mooring.sweep.tables import write_tables
from mooring.sweep.worker import STOPPED, Task, cores
from mooring.types import Emit, Event


def sweep(plan: Plan, out: Path, workers: int | None = None, emit: Emit = lambda _: None) -> list[Member]:
    """Run what is not finished yet, then write `results.csv` and `summary.csv`; the members of the plan.

    A member that fails is an event and a line of the table; the others go on. Interrupted, the same call goes on.
    """
    failures: dict[str, str] = {}

    def conduct(chosen: Plan) -> None:
        every = list(members_of(chosen, out))
        tasks = unfinished(every)
        emit(Event("sweep", {"runs": len(every), "finished": sum(member.finished for member in every)}))
        for outcome in outcomes(tasks, workers or cores()):
            emit(Event("glance", {}))
            for name, reason in outcome.items():
                if reason == STOPPED:
                    raise KeyboardInterrupt
                failures[name] = reason
                emit(Event("member", {"name": name, "reason": reason}))

    def score(chosen: Plan, trial: Point) -> float | None:
        results = [m.result for m in members_of(chosen, out) if trial.items() <= m.factors.items()]
        return mean_validation([None if result is None else result["validation_accuracy"] for result in results])

    with locked(out):
        take_folder(plan, out)
        if plan.search is None:
            conduct(plan)
        else:
            plan = searched(plan, out, conduct, score)
        every = list(members_of(plan, out))
        write_tables(plan, every, failures, out)
    return every


def unfinished(every: Sequence[Member]) -> list[Task]:
    """One task for each training that some member still needs."""
    tasks = []
    for trainer in (member for member in every if member.trains):
        others = [member for member in every if member.trainer is trainer and not member.finished]
        if others or not trainer.finished:
            rest = tuple((m.name, m.experiment.tree(), str(m.fused_file)) for m in others)
            tasks.append(Task(trainer.name, trainer.experiment.tree(), str(trainer.folder), rest))
    return tasks


def take_folder(plan: Plan, out: Path) -> None:
    """The folder belongs to this plan from now on; another plan's runs are not thrown away."""
    path = out / PLAN
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
