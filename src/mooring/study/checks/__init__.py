"""Checks: the rule that decides a claim, written beside it."""

from mooring.study.checks.alike import Alike
from mooring.study.checks.base import Check, Verdict
from mooring.study.checks.below import Below
from mooring.study.checks.correlation import Correlation
from mooring.study.checks.given import Given
from mooring.study.checks.order import Order
from mooring.study.checks.trend import Trend
from mooring.study.checks.within import Within

CHECKS: dict[str, type[Check]] = {
    "alike": Alike,
    "below": Below,
    "correlation": Correlation,
    "given": Given,
    "order": Order,
    "trend": Trend,
    "within": Within,
}

__all__ = ["CHECKS", "Alike", "Below", "Check", "Correlation", "Given", "Order", "Trend", "Verdict", "Within"]
