"""Identify the formula behind a version of the published code, or say that it cannot be determined.

One version number was used for several formulas.

Names that go beyond the versions:

    v5-drcl, v6-drcl  prototypes drawn to random unit anchors; note 1's V6 is `v6`, its V5 `v5-bank`
    v10-preheated     V10 from u = log lambda_k       v11-none, v11-consensus   V11 with other annealing factors
    v12-as-run        s, a cosine, on sigma's data term; the weights get the raw lambda
    v13-gamma         the same + g / sigma_align^2 (November 2025; whether g u^2 is added too cannot be seen)
    v13               s on the log term + g relu(lambda - lmax)^2 (December 2025; `v14-december` is the same)
    v14-november      v13-gamma + .01 relu(lambda - 50)     v14   v13 with a linear hinge (January 2026, AURORA)
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import cos, log, pi, sqrt
from statistics import median
from typing import Literal

from mooring.notes._logged import Logged

Known = Literal["read", "inferred", "unknown"]
NOVEMBER, DECEMBER, JANUARY = (2025, 11), (2025, 12), (2026, 1)
RAN_AWAY = 10.0  # times its first value
FLAT, GROWN = 0.25, 0.5  # of a growth like 1 / a
CLOSE = 2e-3  # between a printed annealing factor and its schedule
PINNED = 60.0  # above what the hinge of November lets through: 50
EXPLODED = 1_000.0  # a lambda that no hinge lets through


@dataclass(frozen=True)
class Identified:
    """The method of a log, and how it is known."""

    method: str
    version: str | None  # of the published code
    known: Known
    evidence: tuple[str, ...]


Identification = tuple[str | None, Known, str]  # the name, or none if it cannot be determined; how it is known; why


def identified(version: str, logged: Logged, known: Known, evidence: list[str]) -> Identified:
    """The formula behind a version; `known` is how the version itself is known."""
    choose = VARIANTS.get(version)
    name, sure, why = choose(logged) if choose else (NAMES.get(version, version.lower()), "read", "")
    reasons = (*evidence, *([why] if why else []))
    if name is None:
        return Identified(f"unknown variant of {version}", version, "unknown", reasons)
    return Identified(name, version, "inferred" if "inferred" in (known, sure) else "read", reasons)


NAMES = {  # version -> name, where it is one formula
    "V5": "v5-drcl",
    "V6": "v6-drcl",
    "fedavg": "fedavg-1",
    "fafifedavg": "fafi-fedavg",
    "aurorafedavg": "aurora-fedavg",
}


def v4(logged: Logged) -> Identification:
    """Note 1's V5 and V6 bear the header of V4: a public feature bank, and a first stage that only aligns."""
    if logged.marks.stages:
        return "v6", "read", "'Running in Stage' is note 1's V6, which bears the header of V4"
    if set(logged.marks.bank) & {"enabled", "created"}:
        return "v5-bank", "read", "a public feature bank without stages is note 1's V5, which bears the header of V4"
    if not logged.marks.headers and logged.configured != "read":
        return None, "unknown", "what stood before round 0 is missing: there may have been a public feature bank"
    return "v4", "read", "a header without a number is V4's" if logged.marks.headers else ""


def v9(logged: Logged) -> Identification:
    own = logged.section("v9_config")
    adaptive, server = own.get("use_adaptive_lambda"), own.get("use_server_optimization")
    if server is True:
        return "v9-server-optimised", "read", "use_server_optimization is true: the server trains the anchors"
    if adaptive is True or logged.marks.entropies_in_rounds:
        return "v9", "read", "lambda follows the label entropy"
    if adaptive is False:
        return "v9-fixed", "read", "use_adaptive_lambda is false: lambda_align_initial for every client"
    return None, "unknown", "neither a configuration nor an entropy says whether lambda follows the label entropy"


def v10(logged: Logged) -> Identification:
    marks = logged.marks
    if marks.preheated:
        return "v10-preheated", "read", "sigma starts where V9's entropy rule puts lambda"
    if any("heat" in header.text.lower() for header in marks.headers):
        return None, "unknown", "the header mentions pre-heating, but no line shows it"
    return "v10", "read", ""


def v11(logged: Logged) -> Identification:
    """By the printed strategy, or else by the annealing factors; then by whether lambda grew as they fell."""
    strategies = logged.marks.strategies
    if len(strategies) > 1:
        return None, "unknown", f"it names several annealing strategies: {', '.join(strategies)}"
    schedule = strategies[0] if strategies else shape(logged)
    if schedule is None:
        return None, "unknown", "its annealing factors follow no known schedule"
    how = f"it prints the strategy {schedule}" if strategies else f"its annealing factors are {schedule}"
    if schedule not in SCHEDULES:
        return f"v11-{schedule}", "read" if strategies else "inferred", how
    growth = against_annealing(logged)
    if growth and max(growth) < FLAT:
        return f"v11-detached-{schedule}", "inferred", f"{how}; lambda does not grow as they fall"
    if growth and median(growth) > GROWN:
        why = f"{how}, lambda grows against them; the public code rescales, and v11-{schedule} would look the same"
        return f"v11-as-run-{schedule}", "inferred", why
    return None, "unknown", f"{how}; they do not show whether lambda grows as they fall (detached sigmas)"


def factors_of(logged: Logged) -> dict[int, float]:
    found: dict[int, float] = {}
    for (round_, _), said in sorted(logged.said.items()):
        if said.schedule_factor is not None:
            found[round_] = said.schedule_factor
    return found


def shape(logged: Logged) -> str | None:
    """The schedule of r / R that all factors lie on; R is configured, or else any that fits."""
    factors = factors_of(logged)
    if len(factors) < 2:
        return None
    if all(abs(factor - 1) < CLOSE for factor in factors.values()):
        return "none"
    planned = logged.section("server").get("num_rounds")
    lengths = [planned] if type(planned) is int and 0 < planned < 10_000 else range(max(factors) + 1, 1_001)
    fitting = {
        name
        for name, schedule in SCHEDULES.items()
        for total in lengths
        if all(abs(schedule(round_ / total) - factor) < CLOSE for round_, factor in factors.items())
    }
    if len(fitting) == 1:
        return next(iter(fitting))
    return "linear" if not fitting and equal_steps(factors) else None


def equal_steps(factors: dict[int, float]) -> bool:
    """Do the factors fall linearly?"""
    points = list(factors.items())
    steps = [(b - a) / (s - r) for (r, a), (s, b) in pairwise(points)]
    return len(steps) > 1 and max(steps) < 0 and max(steps) - min(steps) < CLOSE


SCHEDULES: dict[str, Callable[[float], float]] = {
    "linear": lambda p: 1 - p,
    "cosine": lambda p: 0.5 * (1 + cos(pi * p)),
}


def against_annealing(logged: Logged) -> list[float]:
    """log growth of lambda / log fall of its factor: 1 (joint) or 0 (detached). If the factor fell below a third."""
    growth = []
    for client in logged.clients:
        rows = [
            (said.schedule_factor, said.lambda_raw)
            for (_, who), said in sorted(logged.said.items())
            if who == client and said.schedule_factor and said.lambda_raw
        ]
        if len(rows) > 1 and rows[-1][0] < rows[0][0] / 3:
            growth.append(log(rows[-1][1] / rows[0][1]) / log(rows[0][0] / rows[-1][0]))
    return growth


def largest(logged: Logged) -> float | None:
    return max((value for client in logged.clients for value in logged.course(client)), default=None)


def ran_away(logged: Logged) -> bool:
    return any(course[-1] > RAN_AWAY * course[0] > 0 for client in logged.clients if (course := logged.course(client)))


def v12(logged: Logged) -> Identification:
    if logged.month is not None and logged.month < DECEMBER:
        return "v12-as-run", "read", "before December 2025 s acted on sigma's data term, and the weights got raw lambda"
    if ran_away(logged):
        return "v12-as-run", "inferred", "a lambda that runs away as s falls: s acted on sigma's data term"
    return None, "unknown", f"{dated(logged)}; from December 2025 on, s acted on the log term"


def v13(logged: Logged) -> Identification:
    most = largest(logged)
    if logged.month is not None and logged.month < DECEMBER:
        return "v13-gamma", "inferred", "before December 2025; v13-gamma-local, which adds g u^2, looks the same"
    if logged.month is not None and most is not None and most <= squared_cap(logged):
        return "v13", "read", f"from December 2025 on: the squared hinge; the largest lambda is {most:.1f}"
    if logged.month is None and most is not None and most > EXPLODED:
        return "v13-gamma", "inferred", f"lambda reaches {most:.3g}, which no hinge lets through"
    return None, "unknown", f"{dated(logged)}, {reached(most)}"


def gamma(logged: Logged) -> float:
    """The smallest printed gamma, which allows the largest lambda; the published value if none is printed."""
    return max(min(logged.marks.gammas, default=1e-5), 1e-12)


def squared_cap(logged: Logged) -> float:
    """A little above .5 (lmax + sqrt(lmax^2 + 1 / g)) with lmax = 50."""
    return 0.55 * (50 + sqrt(2500 + 1 / gamma(logged)))


def v14(logged: Logged) -> Identification:
    """By the date and the largest lambda; unknown if they do not agree."""
    month, most = logged.month, largest(logged)
    why = f"{dated(logged)}, {reached(most)}"
    if month is None or most is None:
        return None, "unknown", why
    if month <= NOVEMBER and most <= PINNED:
        return "v14-november", "read", f"{why}: pinned at 1 / (2 x .01) = 50"
    if month == DECEMBER and most <= squared_cap(logged):
        return "v14-december", "read", f"{why}: the squared hinge"
    if month >= JANUARY and most <= max(PINNED, 1.1 / (2 * gamma(logged))):
        return "v14", "read", f"{why}: the linear hinge"
    return None, "unknown", f"{why}, which are not of one variant"


VARIANTS: dict[str, Callable[[Logged], Identification]] = {
    "V4": v4,
    "V9": v9,
    "V10": v10,
    "V11": v11,
    "V12": v12,
    "V13": v13,
    "V14": v14,
}


def dated(logged: Logged) -> str:
    return "no line is dated" if logged.month is None else f"it is of {logged.month[0]}-{logged.month[1]:02d}"


def reached(most: float | None) -> str:
    return "no learned lambda is a number" if most is None else f"the largest lambda is {most:.3g}"
