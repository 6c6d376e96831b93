"""Many runs that differ in a few factors: one pool of workers, one table, resumable."""

from mooring.config import Plan, load_plan
from mooring.sweeps._best import Best, Entrant, best_of_each
from mooring.sweeps._members import PLAN_FILE, Member, members, planned_members, recorded_sweep
from mooring.sweeps._run import SweepOutcome, run_plan
from mooring.sweeps._summary import (
    SAME_ACCURACY,
    AccuracyPair,
    Difference,
    Factors,
    SummaryRow,
    baseline_pairs,
    difference,
    half_width,
)
from mooring.sweeps._tables import SweepTables

__all__ = [
    "PLAN_FILE",
    "SAME_ACCURACY",
    "AccuracyPair",
    "Best",
    "Difference",
    "Entrant",
    "Factors",
    "Member",
    "Plan",
    "SummaryRow",
    "SweepOutcome",
    "SweepTables",
    "baseline_pairs",
    "best_of_each",
    "difference",
    "half_width",
    "load_plan",
    "members",
    "planned_members",
    "recorded_sweep",
    "run_plan",
]
