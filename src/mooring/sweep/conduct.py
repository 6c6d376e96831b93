"""From a plan to its table."""

from collections.abc import Sequence
from pathlib import Path

from mooring.config.plan import Plan, Point
from mooring.store import locked
from mooring.sweep.claim import claim
from mooring.sweep.members import Member, members_of
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
        claim(plan, out)
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
