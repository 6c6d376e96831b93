"""What a reader sees first: a handful of numbers and the verdicts."""

from mooring.reports.book import Book, Group
from mooring.reports.section import Card, Verdict
from mooring.reports.sections.accuracy import mean_alone
from mooring.reports.sizes import size
from mooring.reports.table import average, shown, spread

TONES = {"confirmed": "good", "not confirmed": "bad", "cannot be seen at this scale": "open"}


def cards(book: Book) -> tuple[Card, ...]:
    claims = tuple(
        Card(str(sum(claim.verdict == verdict for claim in book.claims)), verdict, f"of {len(book.claims)} claims")
        for verdict in TONES
        if book.claims
    )
    if not book.groups:
        return claims
    if len(book.groups) == 1 and len(book.runs) == 1:
        return (*claims, *single(book.groups[0]))
    return (*claims, *many(book))


def single(group: Group) -> tuple[Card, ...]:
    run = group.first
    alone = mean_alone(run)
    return (
        Card(f"{run.result['accuracy']:.3f}", "test accuracy", f"round {run.last['round']}, n = 1, seed {run.seed}"),
        Card(shown(alone), "clients alone", "mean of their own models"),
        Card(size(run.upload_bytes), "upload", f"all {len(run.last['clients'])} clients, once"),
        Card(f"{sum(run.seconds.values()):.0f} s", "client time", "all clients together"),
        Card(run.fingerprint, "fingerprint", run.result["dataset"]),
    )


def many(book: Book) -> tuple[Card, ...]:
    best = max(book.groups, key=lambda group: average(group.values("accuracy")) or 0)
    left = f"{len(book.unfinished)} not finished" if book.unfinished else "all finished"
    told = spread(best.values("accuracy"))
    return (
        Card(str(len(book.runs)), "runs", left),
        Card(str(len(book.groups)), "experiments", f"{min(n_of(book))} to {max(n_of(book))} seeds each"),
        Card(shown(told), "best accuracy", f"{best.label}, n = {len(best.runs)}"),
        Card(size(average(run.upload_bytes for run in book.runs) or 0), "upload", "all clients of a run, mean"),
    )


def n_of(book: Book) -> list[int]:
    return [len(group.runs) for group in book.groups]


def verdicts(book: Book) -> tuple[Verdict, ...]:
    """A study's claims first, then what the doctor says of every experiment."""
    claims = [
        Verdict(TONES[claim.verdict], claim.verdict, claim.claim, claim.reason or claim.measured)
        for claim in book.claims
    ]
    return (*claims, *(examined(group) for group in book.groups))


def examined(group: Group) -> Verdict:
    """Ill runs of a group, and the first thing that is wrong."""
    ill = [run for run in group.runs if run.diagnosis.ill]
    if not ill:
        return Verdict("good", "nothing ill", f"{group.label}: the doctor finds nothing ill in {runs(len(group.runs))}")
    kinds = ", ".join(dict.fromkeys(f.kind for run in ill for f in run.diagnosis.findings if f.ill))
    first = next(finding for finding in ill[0].diagnosis.findings if finding.ill)
    where = "" if first.client is None else f"client {first.client} "
    return Verdict(
        "bad", "ill", f"{group.label}: {kinds} in {len(ill)} of {runs(len(group.runs))}", f"{where}{first.text}"
    )


def runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"
