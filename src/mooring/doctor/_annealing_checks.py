"""Did annealing act, or was it undone?"""

from collections.abc import Iterator
from math import log
from statistics import linear_regression, median

from mooring.doctor._case import Case, Course, courses_of, gathered
from mooring.doctor._finding import Finding, FindingEvidence, at_clients
from mooring.events import ClientRecord
from mooring.wording import digits

CLOSE = 0.2  # of a logarithm: "within 20 %"


def check(case: Case) -> Iterator[Finding]:
    """Annealing undone: the factor has at least halved, and the effective lambda has not followed."""
    look = undone_in_log if case.setting.inferred else undone
    found = gathered(case, courses_of(case), look)
    if found:
        words = f"Annealing had no effect {at_clients(found, case.clients)}."
        yield Finding("cancelled", "note", words, tuple(found))


def halved(seen: list[ClientRecord]) -> list[ClientRecord]:
    return [moment for moment in seen if moment.schedule_factor is not None and 0 < moment.schedule_factor <= 0.5]


def undone(case: Case, course: Course) -> FindingEvidence | None:
    """Measured: a * lambda stays within 20 % of L_b / L_a. By construction: the rule has a in both places.

    In the second case its equilibrium does not know a; a lambda that runs away may be far behind an L_b / L_a that
    runs faster.
    """
    seen, outlook = course.seen, course.outlook
    late = halved(seen)
    ratios = [
        moment.lambda_felt / (moment.base_loss / moment.align_loss)
        for moment in late
        if moment.lambda_felt and moment.base_loss and moment.align_loss
    ]
    measured = bool(ratios) and abs(log(median(ratios))) <= log(1 + CLOSE)
    by_design = outlook is not None and outlook.cancels
    if not late or not (measured or by_design):
        return None
    last = late[-1]
    if (last.lambda_felt or 0) < 2 * (last.schedule_factor or 0) * (seen[0].lambda_felt or 0):
        return None  # it was annealed
    how = "a*lambda is within 20 % of L_b/L_a" if measured else "lambda* = L_b/L_a for any a"
    return faded(course, late, how, {"measured": measured, "ratio_to_losses": median(ratios) if ratios else None})


def undone_in_log(case: Case, course: Course) -> FindingEvidence | None:
    """effective lambda ~ a^x: x is 1 where annealing acts and 0 where it is cancelled.

    A log's losses are inferred from its sigmas. L_b / L_a then always equals lambda, which proves nothing.
    """
    seen = course.seen
    late = halved(seen)
    points = [(log(m.schedule_factor), log(m.lambda_felt)) for m in seen if m.schedule_factor and m.lambda_felt]
    if not late or len({x for x, _ in points}) < 2:
        return None
    slope = linear_regression([x for x, _ in points], [y for _, y in points]).slope
    if abs(slope) > CLOSE:
        return None
    return faded(course, late, f"lambda ~ a^{slope:.2f}", {"measured": True, "exponent": slope})


def faded(course: Course, late: list[ClientRecord], how: str, values: dict[str, object]) -> FindingEvidence:
    first, last = course.seen[0], late[-1]
    return FindingEvidence(
        f"{how}; a fell to {digits(last.schedule_factor)}, lambda went from {digits(first.lambda_felt)} to "
        f"{digits(last.lambda_felt)}",
        course.client.client,
        late[0].round,
        {"factor": last.schedule_factor, "felt_first": first.lambda_felt, "felt_last": last.lambda_felt, **values},
    )
