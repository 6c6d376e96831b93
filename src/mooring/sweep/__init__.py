"""Many runs that differ in a few factors: one pool of workers, one table, resumable."""

from mooring.config import Plan, load_plan
from mooring.sweep._best import Best, Entrant, best_of_each
from mooring.sweep._members import PLAN, Member, members, members_of, recorded_sweep
from mooring.sweep._run import SweepOutcome, sweep
from mooring.sweep._search import read_trials
from mooring.sweep._summary import NO_SPREAD, Difference, Factors, Pair, SummaryRow, difference, interval, paired
from mooring.sweep._tables import SweepTables, of_class

__all__ = [
    "NO_SPREAD",
    "PLAN",
    "Best",
    "Difference",
    "Entrant",
    "Factors",
    "Member",
    "Pair",
    "Plan",
    "SummaryRow",
    "SweepOutcome",
    "SweepTables",
    "best_of_each",
    "difference",
    "interval",
    "load_plan",
    "members",
    "members_of",
    "of_class",
    "paired",
    "read_trials",
    "recorded_sweep",
    "sweep",
]
