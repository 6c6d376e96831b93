"""Is lambda where it should be: tracking, lagging, running away, capped, or beyond what SGD can follow?"""

from collections.abc import Iterator

from mooring.doctor._case import Case, Course, courses_of, distance, gathered, progress_of, reference
from mooring.doctor._finding import Finding, FindingEvidence, Severity, at_clients
from mooring.events import ClientRecord
from mooring.weighting import full_local_weight, stability_limit
from mooring.wording import UNBOUNDED, bound_text, digits, percent

TENFOLD = 10.0  # a lambda this many times L_b / L_a(start) has left its start for good
FOLLOWING = 0.5  # of a logarithm: nearer than this, lambda follows its equilibrium
CAPPED = 0.95  # of a known bound
FELL = 0.9  # of the peak: above, an accuracy has held


def check(case: Case) -> Iterator[Finding]:
    """Findings over all clients whose lambda is recorded."""
    courses = list(courses_of(case))
    away = gathered(case, courses, runaway)
    if away:
        words = f"Lambda ran away {at_clients(away, case.clients)}{meanwhile(case)}."
        yield Finding("running-away", "ill", words, by_round(away))
    caps = list(held_by_cap(case, courses))
    yield from caps
    moved = {shown.client for shown in away}.union(*(finding.clients for finding in caps))
    yield from on_its_way(case, [course for course in courses if course.client.client not in moved])
    above = gathered(case, courses, unstable)
    if above:
        words = f"Lambda was too large for SGD {at_clients(above, case.clients)}."
        yield Finding("unstable", "ill", words, by_round(above))


def by_round(found: list[FindingEvidence]) -> tuple[FindingEvidence, ...]:
    return tuple(sorted(found, key=lambda shown: shown.round or 0))


def unheld(moment: ClientRecord) -> float:
    """s * raw lambda: the effective lambda without a guard."""
    return (moment.lambda_raw or 0.0) * (1.0 if moment.schedule_factor is None else moment.schedule_factor)


def runaway(case: Case, course: Course) -> FindingEvidence | None:
    """s * raw lambda passes ten times its reference, whatever a guard lets through, and the raw one stays there.

    A crossing in the last round has nothing to show that it stays, unless it is tenfold growth by itself.
    """
    client, seen, outlook = course.client, course.seen, course.outlook
    calm = reference(client, case)
    if calm is None or (outlook is not None and outlook.bounded):
        return None
    for i, moment in enumerate(seen):
        raw, before = moment.lambda_raw or 0, seen[i - 1].lambda_raw or 0 if i else calm
        stays = all((later.lambda_raw or 0) >= 0.5 * raw for later in seen[i:])
        if unheld(moment) >= TENFOLD * calm and stays and (moment is not seen[-1] or raw >= TENFOLD * before):
            return onset_of(course, i, calm)
    return None


def bounded_by(largest: float) -> str:
    return text if (text := bound_text(largest)) == UNBOUNDED else f"bound {text}"


def onset_of(course: Course, i: int, calm: float) -> FindingEvidence:
    client, seen, outlook = course.client, course.seen, course.outlook
    onset, last = seen[i], max(seen, key=lambda moment: moment.lambda_raw or 0)
    before = seen[i - 1] if i else seen[i]
    growth = (onset.lambda_raw or 1) / (before.lambda_raw or 1)
    cause = f"; L_a {digits(onset.align_loss)}" if onset.align_loss is not None else ""
    free = outlook is not None and outlook.cap is None  # a cap has a finding of its own
    bound = f", {bounded_by(outlook.largest)}" if outlook is not None and free else ""
    return FindingEvidence(
        f"raw {digits(onset.lambda_raw)} (x{growth:.2g}) to {last.lambda_raw or 0:.1e}{bound}{cause}",
        client.client,
        onset.round,
        {
            "raw": onset.lambda_raw,
            "growth": growth,
            "largest_raw": last.lambda_raw,
            "align_loss": onset.align_loss,
            "base_loss": onset.base_loss,
            "reference": calm,
            "bound": None if outlook is None else outlook.largest,
            "steps": onset.steps,
        },
    )


def meanwhile(case: Case) -> str:
    """; fused accuracy fell from 48 % to 23 %"""
    fused = case.record.fused
    if not fused:
        return ""
    peak, last = max(fused.values()), fused[max(fused)]
    if last < FELL * peak:
        return f"; fused accuracy fell from {percent(peak, 0)} to {percent(last, 0)}"
    return f"; fused accuracy held ({percent(last, 0)})"


def held_by_cap(case: Case, courses: list[Course]) -> Iterator[Finding]:
    """A guard or a bound limits the effective lambda.

    It is a problem if a learned lambda reaches a cap ten times its initial value: the cap limits a runaway but does not
    prevent it. A rule with a built-in bound, such as the closed form, gets a note.
    """
    found: list[FindingEvidence] = []
    severity: Severity = "note"
    for course in courses:
        at = rounds_at_cap(case, course)
        if not at or course.outlook is None:
            continue
        (moment, cap), calm = at[0], reference(course.client, case)
        if calm is not None and cap >= TENFOLD * calm and not course.outlook.bounded:
            severity = "ill"
        felt = f"lambda {digits(moment.lambda_felt)}, cap {digits(cap)} ({course.outlook.guard})"
        values = {"felt": moment.lambda_felt, "cap": cap, "rounds": len(at), "reference": calm}
        text = f"{felt}, in {len(at)} of {len(course.seen)} rounds"
        found.append(FindingEvidence(text, course.client.client, moment.round, values))
    if found:
        words = f"Lambda stood at its cap {at_clients(found, case.clients)}."
        yield Finding("capped", severity, words, by_round(found))


def rounds_at_cap(case: Case, course: Course) -> list[tuple[ClientRecord, float]]:
    """The rounds in which a guard binds, with the effective lambda that it allows."""
    if course.outlook is None or course.outlook.cap is None:
        return []
    found = []
    for moment in course.seen:
        cap = course.outlook.cap(moment.base_loss or 0.0, progress_of(course.client, moment, case.setting))
        if cap > 0 and (moment.lambda_felt or 0) >= CAPPED * cap:
            found.append((moment, cap))
    return found


def on_its_way(case: Case, calm: list[Course]) -> Iterator[Finding]:
    """A calm lambda: does it follow its equilibrium, or does it lag behind?"""
    lagging: list[FindingEvidence] = []
    tracking: list[FindingEvidence] = []
    for course in calm:
        client, seen, outlook = course.client, course.seen, course.outlook
        apart = distance(seen)
        if outlook is None or outlook.relaxation is None or apart is None:
            continue
        steps = seen[-1].steps or 0
        shown = FindingEvidence(
            f"median |log(lambda/lambda*)| {apart:.2f}, relaxation {digits(outlook.relaxation)} of {steps} steps",
            client.client,
            values={"distance": apart, "relaxation_steps": outlook.relaxation, "steps": steps},
        )
        (lagging if outlook.relaxation > steps or apart > FOLLOWING else tracking).append(shown)
    if lagging:
        words = f"Lambda lagged behind its equilibrium {at_clients(lagging, case.clients)}."
        yield Finding("lagging", "note", words, tuple(lagging))
    if tracking:
        words = f"Lambda followed its equilibrium {at_clients(tracking, case.clients)}."
        yield Finding("tracking", "note", words, tuple(tracking))


def unstable(case: Case, course: Course) -> FindingEvidence | None:
    """Momentum SGD on the mean-squared alignment oscillates where w_local lambda is above (1 + m) C d / lr.

    With joint gradients w_local = 1 / (2 sigma_local^2): the limit of lambda is 2 sigma_local^2 times as high.
    """
    client, seen, outlook = course.client, course.seen, course.outlook
    setting = case.setting
    if not setting.mean_squared or None in (setting.lr, setting.momentum, setting.classes, setting.dimension):
        return None
    limit = stability_limit(setting.lr or 0, setting.momentum or 0, setting.classes or 0, setting.dimension or 0)
    weight = most_lenient if outlook is None else outlook.local_weight
    for moment in seen:
        felt = moment.lambda_felt or 0.0
        own = limit / weight(felt, moment.sigma_sq_local)
        if felt > own:
            return FindingEvidence(
                f"lambda {digits(felt)}, SGD limit {digits(own)}",
                client.client,
                moment.round,
                {"limit": own, "felt": felt},
            )
    return None


def most_lenient(felt: float, sigma_sq_local: float | None) -> float:
    """A log does not say whether its gradients were joint: nothing is claimed that either reading would deny."""
    return min(full_local_weight(felt, sigma_sq_local), 1 / (2 * sigma_sq_local) if sigma_sq_local else 1.0)
