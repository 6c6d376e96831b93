"""Many runs that differ in a few factors: one pool of workers, one table, resumable."""

from mooring.config.plan import Plan, load_plan
from mooring.sweep.members import Member, members
from mooring.sweep.run import SweepOutcome, sweep

__all__ = ["Member", "Plan", "SweepOutcome", "load_plan", "members", "sweep"]
