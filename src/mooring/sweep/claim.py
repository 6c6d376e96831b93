"""Whose folder it is: a sweep goes on in its own, and one that contains it may take it over."""

from dataclasses import replace
from pathlib import Path

from mooring.config import as_yaml
from mooring.config.plan import Plan, plan_of
from mooring.config.tree import read_file
from mooring.errors import StoreError
from mooring.record import write_atomically
from mooring.sweep.members import PLAN, members_of


def claim(plan: Plan, out: Path) -> None:
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
