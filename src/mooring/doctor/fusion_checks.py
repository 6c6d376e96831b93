"""Is the fused predictor hurt by what its parts weigh?"""

from collections.abc import Iterator

from mooring.doctor.case import Case
from mooring.doctor.finding import Finding, number

COLLAPSE = 0.3  # below the peak
LOUD = 3.0  # times the norm of another client's prototypes
HELD = 0.95  # of the clients' mean accuracy at the peak: "has not fallen"


def check(case: Case) -> Iterator[Finding]:
    """Norm domination, collapse of the fused accuracy, and prototypes of classes that a client never saw."""
    collapse = fallen(case)
    yield from domination(case, collapse)
    yield from never_seen(case)


def fallen(case: Case) -> dict[str, float] | None:
    """The last fused accuracy at least 30 % below the peak, with what the clients did meanwhile."""
    if not case.record.fused:
        return None
    peak = max(case.record.fused, key=lambda round_: case.record.fused[round_])
    last = max(case.record.fused)
    best, end = case.record.fused[peak], case.record.fused[last]
    if end > (1 - COLLAPSE) * best:
        return None
    facts = {"peak_round": float(peak), "peak": best, "last": end}
    before, after = case.record.mean_accuracy(peak), case.record.mean_accuracy(last)
    if before is not None and after is not None:
        facts |= {"clients_at_peak": before, "clients_at_end": after}
    return facts


def domination(case: Case, collapse: dict[str, float] | None) -> Iterator[Finding]:
    """Prototypes of unequal norm under a plain mean: the loud ones speak for all."""
    if not case.setting.plain_mean:
        return
    worst = loudest(case)
    held = collapse is not None and collapse.get("clients_at_end", 0.0) >= HELD * collapse.get("clients_at_peak", 1.0)
    if worst is None and not (held and case.record.remarks):
        return
    text, evidence = ("prototype norms are not in this log (inferred)", {}) if worst is None else worst
    if collapse is not None:
        text += (
            f"; fused accuracy fell from {collapse['peak']:.3f} in round {collapse['peak_round']:.0f} to "
            f"{collapse['last']:.3f}"
        )
        evidence = {**evidence, **collapse}
    if held and collapse is not None:
        text += f", the clients alone went from {collapse['clients_at_peak']:.3f} to {collapse['clients_at_end']:.3f}"
    yield Finding(
        "norm-domination",
        text,
        ill=held,
        round=int(collapse["peak_round"]) if collapse else None,
        evidence=evidence,
        remedy="fusion=class-expert",
    )


def loudest(case: Case) -> tuple[str, dict[str, object]] | None:
    """The round in which prototype norms differ most between clients, if they differ threefold."""
    worst: tuple[float, str, dict[str, object]] | None = None
    samples = {client.client: client.samples or 0 for client in case.record.clients}
    for round_ in sorted(case.record.fused):
        by_class = {
            client.client: moment.prototype_norms
            for client in case.record.clients
            for moment in client.rounds
            if moment.round == round_ and moment.prototype_norms
        }
        norms = {client: sum(row) for client, row in by_class.items()}
        if len(norms) < 2 or min(norms.values()) <= 0:
            continue
        loud, quiet = max(norms, key=lambda c: norms[c]), min(norms, key=lambda c: norms[c])
        contrast = norms[loud] / norms[quiet]
        if contrast < LOUD or (worst is not None and contrast <= worst[0]):
            continue
        share = {client: norm / sum(norms.values()) for client, norm in norms.items()}
        data = {client: samples[client] / max(sum(samples[c] for c in norms), 1) for client in norms}
        text = (
            f"norms differ {number(contrast)}-fold in round {round_}: client {loud} gives {share[loud]:.0%} of the "
            f"global prototypes with {data[loud]:.0%} of the data, client {quiet} gives {share[quiet]:.0%} with "
            f"{data[quiet]:.0%}"
        )
        evidence = {"round": round_, "contrast": contrast, "shares": share, "data_shares": data}
        worst = contrast, text, {**evidence, "shares_by_class": shares_by_class(by_class)}
    return None if worst is None else (worst[1], worst[2])


def shares_by_class(norms: dict[int, tuple[float, ...]]) -> dict[int, list[float]]:
    """|P_kc| / sum_j |P_jc|: how much of each global prototype comes from each client."""
    totals = [sum(column) for column in zip(*norms.values(), strict=True)]
    return {client: [n / t for n, t in zip(row, totals, strict=True)] for client, row in norms.items()}


def never_seen(case: Case) -> Iterator[Finding]:
    """Prototypes of absent classes are averaged in as if they had been learned."""
    counts = [client.label_counts for client in case.record.clients if sum(client.label_counts)]
    if not case.setting.plain_mean or not counts:
        return
    empty = sum(count == 0 for row in counts for count in row)
    cells = sum(len(row) for row in counts)
    if empty:
        yield Finding(
            "never-seen",
            f"{empty} of {cells} client prototypes belong to classes their client never saw, and are averaged in",
            evidence={"untrained": empty, "prototypes": cells},
            remedy="fusion=class-expert",
        )
