"""Is the fused predictor as good as its clients?"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import pairwise
from math import sqrt

from mooring.doctor._case import Case
from mooring.doctor._finding import Finding, FindingEvidence, Severity
from mooring.wording import digits, percent, round_number

COLLAPSE = 0.3  # below the peak
LOUD = 3.0  # times the norm of another client's prototypes
HELD = 0.95  # of the clients' mean accuracy at the peak: "has not fallen"
LITTLE = 0.1  # of what is between guessing and knowing


@dataclass(frozen=True)
class Fall:
    """The fused accuracy ended at least 30 % below its peak."""

    peak_round: int
    peak: float
    round: int  # the first after the peak that is as far below it
    last: float
    clients_at_peak: float | None
    clients_at_end: float | None

    @property
    def clients_held(self) -> bool:
        known = self.clients_at_peak is not None and self.clients_at_end is not None
        return known and (self.clients_at_end or 0.0) >= HELD * (self.clients_at_peak or 0.0)


@dataclass(frozen=True)
class NormContrast:
    """Prototypes of unequal norm in one round: whose they are, and whose data."""

    round: int
    ratio: float  # of the norms of the loudest and the quietest client
    loud: int
    quiet: int
    shares: dict[int, float]  # client -> of the global prototypes
    data_shares: dict[int, float]
    shares_by_class: dict[int, list[float]]


def check(case: Case) -> Iterator[Finding]:
    """Collapse of the fused accuracy, norm domination, chance, and prototypes of classes that a client never saw."""
    fall = fallen(case)
    if fall is not None:
        yield collapsed(fall)
    yield from domination(case, fall)
    yield from at_chance(case)
    yield from never_seen(case)


def fallen(case: Case) -> Fall | None:
    fused = case.record.fused
    if not fused:
        return None
    peak, last = max(fused, key=lambda round_: fused[round_]), max(fused)
    low = (1 - COLLAPSE) * fused[peak]
    if fused[last] > low or not fused[peak]:
        return None
    begun = next(round_ for round_ in sorted(fused) if round_ > peak and fused[round_] <= low)
    own = case.record.mean_accuracy
    return Fall(peak, fused[peak], begun, fused[last], own(peak), own(last))


def collapsed(fall: Fall) -> Finding:
    peak = f"{percent(fall.peak, 0)} in round {round_number(fall.peak_round)}"
    words = f"Fused accuracy fell from {peak} to {percent(fall.last, 0)}"
    if fall.clients_at_peak is not None and fall.clients_at_end is not None:
        however = "while the clients' own held" if fall.clients_held else "and the clients' own fell too"
        words += f", {however} ({percent(fall.clients_at_peak, 0)}, then {percent(fall.clients_at_end, 0)})"
    text = (
        f"{fall.peak:.3f} at its peak, {fall.last:.3f} at the end; "
        f"{percent(COLLAPSE, 0)} below from round {round_number(fall.round)}"
    )
    return Finding("collapsed", "ill", f"{words}.", (FindingEvidence(text, round=fall.round, values=asdict(fall)),))


def domination(case: Case, fall: Fall | None) -> Iterator[Finding]:
    """Prototypes of unequal norm under a plain mean: the loud ones speak for all. Silent where norms are unknown."""
    if not case.setting.plain_mean:
        return
    found = [known for round_ in sorted(case.record.fused) if (known := contrast(case, round_)) is not None]
    unequal = [known for known in found if known.ratio >= LOUD]
    if not unequal:
        return
    falls = drops(case, fall) if fall is not None else {}
    falling = max((known for known in unequal if known.round in falls), key=lambda at: falls[at.round], default=None)
    seen = falling or max(unequal, key=lambda known: known.ratio)
    when = ", where the fused accuracy fell" if falling else ""
    words = (
        f"Client {seen.loud} gave {percent(seen.shares[seen.loud], 0)} of the global prototypes with "
        f"{percent(seen.data_shares[seen.loud], 0)} of the images in round {round_number(seen.round)}{when}."
    )
    text = (
        f"norms differ {digits(seen.ratio)}-fold; client {seen.quiet} gave {percent(seen.shares[seen.quiet], 0)} "
        f"with {percent(seen.data_shares[seen.quiet], 0)} of the images"
    )
    severity: Severity = "ill" if falling and fall and fall.clients_held else "note"
    yield Finding("norm-domination", severity, words, (FindingEvidence(text, round=seen.round, values=asdict(seen)),))


def drops(case: Case, fall: Fall) -> dict[int, float]:
    """Round -> by how much the fused accuracy fell in it, between its peak and where it was down."""
    fused = case.record.fused
    rounds = [round_ for round_ in sorted(fused) if fall.peak_round <= round_ <= fall.round]
    lost = {after: fused[before] - fused[after] for before, after in pairwise(rounds)}
    return {round_: loss for round_, loss in lost.items() if loss > 0}


def contrast(case: Case, round_: int) -> NormContrast | None:
    """How far prototype norms differ between clients in a round, if they are known."""
    by_class = {
        client.client: moment.prototype_norms
        for client in case.record.clients
        for moment in client.rounds
        if moment.round == round_ and moment.prototype_norms
    }
    norms = {client: sum(row) for client, row in by_class.items()}
    if len(norms) < 2 or min(norms.values()) <= 0:
        return None
    samples = {client.client: client.samples or 0 for client in case.record.clients}
    total = max(sum(samples[client] for client in norms), 1)
    loud, quiet = max(norms, key=lambda c: norms[c]), min(norms, key=lambda c: norms[c])
    return NormContrast(
        round_,
        norms[loud] / norms[quiet],
        loud,
        quiet,
        {client: norm / sum(norms.values()) for client, norm in norms.items()},
        {client: samples[client] / total for client in norms},
        shares_by_class(by_class),
    )


def shares_by_class(norms: dict[int, tuple[float, ...]]) -> dict[int, list[float]]:
    """|P_kc| / sum_j |P_jc|: how much of each global prototype comes from each client."""
    totals = [sum(column) for column in zip(*norms.values(), strict=True)]
    return {client: [n / t for n, t in zip(row, totals, strict=True)] for client, row in norms.items()}


def at_chance(case: Case) -> Iterator[Finding]:
    """At the end no better than guessing: within two standard errors of 1/C, and within a tenth of what is above."""
    result, classes, fused = case.record.result, case.setting.classes or 0, case.record.fused
    if classes < 2 or not fused:
        return
    balanced = result.last.metrics.balanced_accuracy if result else None
    score, name = (fused[max(fused)], "accuracy") if balanced is None else (balanced, "balanced accuracy")
    chance, images = 1 / classes, result.test_images if result else None
    error = sqrt(chance * (1 - chance) / images) if images else 0.0
    if score <= chance + min(2 * error, LITTLE * (1 - chance)):
        words = f"The fused predictor is at chance: {percent(score, 0)}, and guessing reaches {percent(chance, 0)}."
        values = {"score": score, "chance": chance, "standard_error": error}
        text = f"{name} {score:.3f}, 1/C {chance:.3f}, standard error {error:.3f}"
        yield Finding("at-chance", "ill", words, (FindingEvidence(text, round=max(fused), values=values),))


def never_seen(case: Case) -> Iterator[Finding]:
    """Prototypes of absent classes are averaged in as if they had been learned."""
    counts = [client.label_counts for client in case.record.clients if sum(client.label_counts)]
    if not case.setting.plain_mean or not counts:
        return
    empty = sum(count == 0 for row in counts for count in row)
    cells = sum(len(row) for row in counts)
    if empty:
        words = f"{percent(empty / cells, 0)} of the prototypes that are averaged were never trained."
        text = f"{empty} of {cells} belong to classes that their client never saw"
        yield Finding(
            "never-seen", "note", words, (FindingEvidence(text, values={"untrained": empty, "prototypes": cells}),)
        )
