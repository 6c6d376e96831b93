"""Is lambda where it should be: tracking, lagging, cancelled, running away, capped, or beyond what SGD can follow?"""

from collections.abc import Iterator
from math import exp, log
from statistics import median

from mooring.doctor.case import Case, Setting
from mooring.doctor.finding import Finding, number
from mooring.events import ClientRecord
from mooring.record import ClientHistory
from mooring.types import ClientFacts, Progress
from mooring.weighting.base import Outlook
from mooring.weighting.equilibrium import stability_limit

TENFOLD = 10.0  # a felt lambda this many times L_b / L_a(start) has left its start for good
CLOSE = 0.2  # of a logarithm: "within 20 %"
FOLLOWING = 0.5  # of a logarithm: nearer than this, lambda follows its equilibrium
CAPPED = 0.95  # of a known bound


def check(case: Case) -> Iterator[Finding]:
    """Findings for every client whose lambda is recorded."""
    for client in case.record.clients:
        seen = [moment for moment in client.rounds if moment.lambda_felt is not None and moment.lambda_raw is not None]
        if not seen:
            continue
        outlook = outlook_of(client, case.setting)
        away = runaway(client, seen, case, outlook)
        cap = capped(client, seen, outlook, case.setting)
        if cap is not None:
            yield cap
        elif away is not None:
            yield away
        else:
            yield from course(client, seen, outlook)
        yield from cancelled(client, seen, outlook)
        yield from unstable(client, seen, case.setting, outlook)


def outlook_of(client: ClientHistory, setting: Setting) -> Outlook | None:
    """What was known of this client's lambda before it trained."""
    if setting.rule is None or setting.lr is None or setting.momentum is None:
        return None
    steps = max((moment.steps or 0 for moment in client.rounds), default=0)
    facts = ClientFacts(client.client, client.label_counts, steps)
    largest = max((moment.base_loss for moment in client.rounds if moment.base_loss), default=10.0)
    return setting.rule.outlook(facts, setting.lr, setting.momentum, largest)


def progress_of(client: ClientHistory, row: ClientRecord, setting: Setting) -> Progress:
    """Where the client stood at the last step of this round."""
    steps = max(client.rounds[-1].steps or 0, client.started.steps if client.started else 0, 1)
    rounds = max(setting.rounds, row.round + 1)
    return Progress(max((row.steps or 0) - 1, 0), steps, round=row.round, rounds=rounds)


def reference(client: ClientHistory, case: Case) -> float | None:
    """L_b / L_a at the start: the lambda of an equilibrium before anything has moved.

    A log holds no losses; there the median felt lambda of all clients after the first round stands for it.
    """
    first = client.rounds[0]
    if first.base_loss is not None and client.started is not None and client.started.align_loss:
        return first.base_loss / client.started.align_loss
    begun = [felt for other in case.record.clients if other.rounds and (felt := other.rounds[0].lambda_felt)]
    return median(begun) if begun else None


def runaway(client: ClientHistory, seen: list[ClientRecord], case: Case, outlook: Outlook | None) -> Finding | None:
    """The felt lambda passes ten times its reference, and the raw one never comes back."""
    calm = reference(client, case)
    if calm is None or (outlook is not None and outlook.bounded):
        return None
    for i, moment in enumerate(seen):
        stays = all((later.lambda_raw or 0) >= 0.5 * (moment.lambda_raw or 0) for later in seen[i:])
        if (moment.lambda_felt or 0) >= TENFOLD * calm and stays:
            return _runaway(client, seen, i, calm, outlook)
    return None


def _runaway(client: ClientHistory, seen: list[ClientRecord], i: int, calm: float, outlook: Outlook | None) -> Finding:
    onset, last = seen[i], max(seen, key=lambda moment: moment.lambda_raw or 0)
    before = seen[i - 1] if i else seen[i]
    growth = (onset.lambda_raw or 1) / (before.lambda_raw or 1)
    cause = f"L_a {number(onset.align_loss)}" if onset.align_loss is not None else "L_a -> 0 (inferred)"
    bound = "" if outlook is None else f", bound {outlook.largest:.0e}"
    grown = f"raw {number(onset.lambda_raw)} (x{growth:.0f}) to {last.lambda_raw or 0:.1e}"
    return Finding(
        "running-away",
        f"from round {onset.round}: {grown}; {cause}{bound}",
        ill=True,
        client=client.client,
        round=onset.round,
        evidence={
            "onset": onset.round,
            "raw": onset.lambda_raw,
            "growth": growth,
            "largest_raw": last.lambda_raw,
            "align_loss": onset.align_loss,
            "base_loss": onset.base_loss,
            "reference": calm,
            "bound": None if outlook is None else outlook.largest,
        },
        remedy="method=closed-form",
    )


def order(found: list[Finding]) -> list[Finding]:
    """In which order clients ran away: it follows their steps per round, not their skew."""
    away = sorted((f for f in found if f.kind == "running-away"), key=lambda f: f.round or 0)
    if len(away) < 2:
        return []
    told = ", ".join(f"{f.client} (round {f.round})" for f in away)
    evidence = {"clients": [f.client for f in away], "rounds": [f.round for f in away]}
    return [Finding("runaway-order", f"clients ran away in the order {told}", round=away[0].round, evidence=evidence)]


def capped(
    client: ClientHistory, seen: list[ClientRecord], outlook: Outlook | None, setting: Setting
) -> Finding | None:
    """A guard or a bound holds lambda where the losses alone would not."""
    if outlook is None or outlook.cap is None:
        return None
    for moment in seen:
        cap = outlook.cap(moment.base_loss or 0.0, progress_of(client, moment, setting))
        if (moment.lambda_felt or 0) >= CAPPED * cap and cap > 0:
            return Finding(
                "capped",
                f"capped by its {outlook.guard} from round {moment.round}: felt lambda {number(moment.lambda_felt)}, "
                f"cap {number(cap)}",
                client=client.client,
                round=moment.round,
                evidence={"felt": moment.lambda_felt, "cap": cap},
            )
    return None


def course(client: ClientHistory, seen: list[ClientRecord], outlook: Outlook | None) -> Iterator[Finding]:
    """A calm lambda: does it follow its equilibrium, or does it lag behind?"""
    apart = distance(seen)
    if outlook is None or outlook.relaxation is None or apart is None:
        return
    steps = seen[-1].steps or 0
    evidence = {"distance": apart, "relaxation_steps": outlook.relaxation, "steps": steps}
    facts = f"median |log(lambda/lambda*)| {apart:.2f}, relaxation {number(outlook.relaxation)} of {steps} steps"
    if outlook.relaxation > steps or apart > FOLLOWING:
        rate = 20 * (1 - (outlook.momentum or 0)) / max(steps, 1)  # relaxes ten times: 2 (1 - m) / eta = T / 10
        text = f"lags behind its equilibrium: {facts}"
        yield Finding(
            "lagging", text, client=client.client, evidence=evidence, remedy=f"sigma.lr={rate:.2g} sigma.lr_scale=1"
        )
    else:
        yield Finding("tracking", f"tracks its equilibrium: {facts}", client=client.client, evidence=evidence)


def cancelled(client: ClientHistory, seen: list[ClientRecord], outlook: Outlook | None) -> Iterator[Finding]:
    """Annealing undone: the factor has at least halved and the felt lambda has not followed.

    Measured: a * lambda stays within 20 % of L_b / L_a. By construction: the rule has a in both places, so that its
    equilibrium does not know a; a lambda that runs away may then be far behind an L_b / L_a that runs faster.
    """
    halved = [moment for moment in seen if moment.schedule_factor is not None and 0 < moment.schedule_factor <= 0.5]
    if not halved:
        return
    ratios = [
        moment.lambda_felt / (moment.base_loss / moment.align_loss)
        for moment in halved
        if moment.lambda_felt and moment.base_loss and moment.align_loss
    ]
    measured = bool(ratios) and abs(log(median(ratios))) <= log(1 + CLOSE)
    by_design = outlook is not None and outlook.cancels
    annealed = (halved[-1].lambda_felt or 0) < 2 * (halved[-1].schedule_factor or 0) * (seen[0].lambda_felt or 0)
    if (measured and not annealed) or (by_design and not annealed):
        first, last = halved[0], halved[-1]
        how = (
            "measured: a*lambda is within 20 % of L_b/L_a"
            if measured
            else "by construction: lambda* = L_b/L_a for any a"
        )
        yield Finding(
            "cancelled",
            f"annealing is cancelled ({how}); a went to {number(last.schedule_factor)}, felt lambda from "
            f"{number(seen[0].lambda_felt)} to {number(last.lambda_felt)}",
            client=client.client,
            round=first.round,
            evidence={
                "factor": last.schedule_factor,
                "felt_first": seen[0].lambda_felt,
                "felt_last": last.lambda_felt,
                "ratio_to_losses": median(ratios) if ratios else None,
                "measured": measured,
            },
            remedy="weight.data=constant",
        )


def unstable(
    client: ClientHistory, seen: list[ClientRecord], setting: Setting, outlook: Outlook | None
) -> Iterator[Finding]:
    """Momentum SGD on the mean-squared alignment oscillates above (1 + m) C d / lr."""
    if not setting.mean_squared or None in (setting.lr, setting.momentum, setting.classes, setting.dimension):
        return
    limit = stability_limit(setting.lr or 0, setting.momentum or 0, setting.classes or 0, setting.dimension or 0)
    above = [moment for moment in seen if (moment.lambda_felt or 0) > limit]
    guardable = outlook is not None and outlook.guardable
    bound = f"weight.guard.kind=bound weight.guard.maximum={exp(int(log(limit))):.0f}"
    if above:
        felt = number(above[0].lambda_felt)
        yield Finding(
            "unstable",
            f"felt lambda {felt} in round {above[0].round} is above the SGD limit {number(limit)}",
            ill=True,
            client=client.client,
            round=above[0].round,
            evidence={"limit": limit, "felt": above[0].lambda_felt},
            remedy=bound if guardable else "method=closed-form",
        )


def distance(seen: list[ClientRecord]) -> float | None:
    """Median over rounds of |log(lambda / lambda*)|."""
    apart = [
        abs(log(moment.lambda_felt / moment.lambda_star))
        for moment in seen
        if moment.lambda_felt and moment.lambda_star
    ]
    return median(apart) if apart else None
