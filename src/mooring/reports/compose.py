"""From a book to a report: a handful of numbers, the verdicts, then the sections in their order."""

from mooring.record import DecidedClaim
from mooring.reports.book import Book, Run, SeedGroup
from mooring.reports.section import Card, Report, Tone, VerdictLine
from mooring.reports.sections import SECTIONS
from mooring.reports.table import average, shown, size, spread
from mooring.types import CONFIRMED, REFUTED, UNSEEN

TONES: dict[str, Tone] = {CONFIRMED: "good", REFUTED: "bad", UNSEEN: "open"}


def compose(book: Book) -> Report:
    """Sections that have nothing to say are left out."""
    sections = tuple(section for section in (build(book) for build in SECTIONS) if not section.empty)
    return Report(book.title, subtitle(book), cards(book), verdicts(book), sections, book.command, book.seeds)


def subtitle(book: Book) -> str:
    data = ", ".join(dict.fromkeys(run.dataset for run in book.runs))
    told = [f"A {book.kind}", book.subtitle if book.subtitle != data else "", data]
    return " · ".join(part for part in told if part)


def cards(book: Book) -> tuple[Card, ...]:
    claims = tuple(
        Card(str(sum(claim.verdict == verdict for claim in book.claims)), verdict, f"of {len(book.claims)} claims")
        for verdict in TONES
        if book.claims
    )
    if not book.groups:
        return claims
    if len(book.members) == 1:
        return (*claims, *single(book.groups[0]))
    return (*claims, *many(book))


def mean_of_own(run: Run) -> str:
    fewer = run.result.alone_told
    return "mean of their own models" + (f", on {fewer}" if fewer else "")


def single(group: SeedGroup) -> tuple[Card, ...]:
    """Of one run; what it does not have is left out."""
    run = group.first
    alone = [] if run.alone is None else [Card(shown(run.alone), "clients alone", mean_of_own(run))]
    seconds = sum(run.seconds.values())
    time = [Card(f"{seconds:.0f} s", "client time", "all clients together")] if run.seconds else []
    clients = f"all {len(run.last.clients)} clients, once"
    upload = [] if run.upload_bytes is None else [Card(size(run.upload_bytes), "upload", clients)]
    return (
        Card(shown(run.result.accuracy), "test accuracy", f"round {run.last.round}, n = 1, seed {run.seed_told}"),
        *alone,
        *upload,
        *time,
        Card(run.fingerprint, "fingerprint", run.dataset),
    )


def many(book: Book) -> tuple[Card, ...]:
    """Of several experiments; a study's sweeps are different problems, among which there is no best."""
    left = f"{len(book.unfinished)} not finished" if book.unfinished else "all finished"
    counted = (
        Card(str(len(book.runs)), "runs", left),
        Card(str(len(book.lines)), "experiments", seeds(book)),
    )
    if book.kind == "study":
        return counted
    best = max(book.lines, key=lambda group: average(group.values("accuracy")) or 0)
    told = spread(best.values("accuracy"))
    return (
        *counted,
        Card(shown(told), "best accuracy", f"{best.label}, n = {len(best.runs)}"),
        Card(size(average(run.upload_bytes for run in book.runs) or 0), "upload", "all clients of a run, mean"),
    )


def seeds(book: Book) -> str:
    fewest, most = (best(len(group.runs) for group in book.lines) for best in (min, max))
    return f"n = {most} each" if fewest == most else f"n = {fewest} to {most}"


def verdicts(book: Book) -> tuple[VerdictLine, ...]:
    """A study's claims first, then what the doctor says: every ill experiment, and all others in one line."""
    ill = [group for group in book.groups if any(run.diagnosis.ill for run in group.runs)]
    well = [group for group in book.groups if group not in ill]
    return (*map(judged, book.claims), *map(ill_line, ill), *healthy(well))


def judged(claim: DecidedClaim) -> VerdictLine:
    documented = f"documented: {claim.documented}" if claim.documented else ""
    measured = f"measured: {claim.measured}" if claim.measured else ""
    detail = " · ".join(part for part in (documented, measured) if part)
    return VerdictLine(TONES[claim.verdict], claim.verdict, claim.claim, detail, claim.phrase, claim.why)


def ill_line(group: SeedGroup) -> VerdictLine:
    """How many runs are ill, of what, and the first thing that is wrong."""
    ill = [run for run in group.runs if run.diagnosis.ill]
    kinds = ", ".join(dict.fromkeys(f.kind for run in ill for f in run.diagnosis.findings if f.ill))
    first = next(finding for finding in ill[0].diagnosis.findings if finding.ill)
    told = f"{group.label}: {kinds} in {len(ill)} of {runs(len(group.runs))}"
    return VerdictLine("bad", "ill", told, first.words)


def healthy(groups: list[SeedGroup]) -> tuple[VerdictLine, ...]:
    if not groups:
        return ()
    count = runs(sum(len(group.runs) for group in groups))
    names = ", ".join(group.label for group in groups)
    return (VerdictLine("good", "nothing ill", f"The doctor finds nothing ill in {count}", names),)


def runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"
