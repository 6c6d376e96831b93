"""Many runs that differ in a few factors: one pool of workers, one table, resumable."""

from mooring.config.plan import Plan, load_plan
from mooring.sweep.conduct import SweepOutcome, sweep
from mooring.sweep.members import Member, members

__all__ = ["Member", "Plan", "SweepOutcome", "load_plan", "members", "sweep"]
